#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "events/base/result.h"
#include "projections/store/checked_table.h"
#include "projections/store/reader.h"

namespace shiplog {

/// The primary key of a row.
using RowKey = std::vector<std::variant<int64_t, std::string>>;
/// "7" or "3 default web": as logs show it.
std::string text_of(const RowKey& key);

/// What is damaged in a projection.
struct ProjectionDamage {
  struct Row {
    const store::CheckedTable* table = nullptr;
    RowKey key;
    auto operator<=>(const Row&) const = default;
  };
  std::set<Row> rows;             ///< their checksums differ; of `type` also those that objects refer to and are lost
  std::set<std::string> indexes;  ///< they do not lead to a row that is there
  std::set<RowKey> unnamed;       ///< versions whose object is not in the table of names
  std::set<RowKey> unfound;       ///< entries that one of their objects does not lead to

  size_t size() const { return rows.size() + indexes.size() + unnamed.size() + unfound.size(); }
  bool empty() const { return size() == 0; }
};

/// What scrub_rows() read.
struct ScrubbedRows {
  std::optional<RowKey> last;  ///< continue after it; nullopt: the table is done
  size_t rows = 0;
  size_t bytes = 0;
};

/// Rows of `type` refer to nothing, and all others to them: when one is damaged, it is to be repaired first.
/// Reads the rows of a table after a key, at most `most` of them, compares their checksums, and looks each of them up
/// in the table's indexes. What is damaged is added to `damage`.
/// Error: kCorrupt, SQLite cannot read the table, so no single row can be named.
Result<ScrubbedRows> scrub_rows(const View& view, const store::CheckedTable& table, const std::optional<RowKey>& after,
                                size_t most, ProjectionDamage& damage);

}  // namespace shiplog
