#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "events/base/result.h"
#include "projections/store/reader.h"

namespace shiplog {

/// A row, table or index of a projection that is not what the journal makes of it.
struct RowFinding {
  std::string table;  ///< empty: the file as a whole
  std::string key;    ///< its primary key; empty: the table as a whole
  std::string what;   ///< "differs from what the journal makes of it"
};

struct ComparedProjection {
  uint64_t rows = 0;     ///< of the file
  uint64_t missing = 0;  ///< rows of the audit trail and decisions that retention has deleted
  uint64_t findings = 0;
};

/// Compares every row of a projection with `made`, a projection that was made of the journal up to the same offset and
/// whose history was trimmed as far, and checks the structure of the file: pages, indexes and the list of tables. Rows
/// of the audit trail and of decisions may be missing at the beginning, as retention leaves them. Errors: those of
/// reading `made`; what cannot be read of `given` is a finding.
Result<ComparedProjection> compare_projections(const View& given, const View& made,
                                               const std::function<void(const RowFinding&)>& found);

/// Checks a projection by itself, for one that nothing can be compared with: the structure of the file, and the
/// checksum of every row.
Result<ComparedProjection> check_projection(const View& given, const std::function<void(const RowFinding&)>& found);

}  // namespace shiplog
