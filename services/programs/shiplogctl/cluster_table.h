#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {

/// What a table of `get` shows beside the server's columns.
struct TableForm {
  bool wide = false;
  bool namespaces = false;  ///< NAMESPACE first
  bool events = false;      ///< EVENT before it
  bool labels = false;      ///< LABELS last
  std::vector<std::string> label_columns = {};
  std::string name_prefix = {};     ///< of the names: "deployment.apps/"
  bool adoption_wide_only = false;  ///< for pods
};

/// One table of the objects of a kind in several clusters, from the tables (meta.k8s.io/v1) that their servers print.
/// CLUSTER is the second column, ADOPTION the last one. A column that only some servers print is appended, and is
/// <none> for the others. Pure. Cells from servers are printed without control characters.
class ClusterTable {
 public:
  struct Row {
    std::vector<std::string> cells;
    Value object;  ///< the row's object, or its metadata
  };

  explicit ClusterTable(TableForm form) : form_{std::move(form)} {}

  /// Adds the columns of a server's table that are not there yet.
  void learn(const Value& table);
  /// The rows of a server's table; `columns` as in the last table of that server that had them. `event` as in a watch.
  std::vector<Row> rows(const std::string& cluster, bool is_plane, const Value& table, const Value& columns,
                        const std::string& event = {}) const;
  std::vector<std::string> header() const;

 private:
  struct Column {
    std::string name;
    bool wide = false;
  };
  bool shown(const Column& column) const { return form_.wide || !column.wide; }
  bool shows_adoption() const { return form_.wide || !form_.adoption_wide_only; }

  TableForm form_;
  std::vector<Column> columns_;
};

/// The objects of a list as a table with NAME and AGE, for a server that does not print tables.
Value plain_table(const Value& list, const std::string& now_rfc3339);

/// Sorts by the values at a JSONPath ("{.metadata.name}", ".metadata.name"): quantities and numbers by size, other
/// texts in natural order. Error: kInvalid, the path cannot be read.
Result<void> sort_rows(std::vector<ClusterTable::Row>& rows, const std::string& path);
/// The same for objects.
Result<void> sort_objects(std::vector<Value>& objects, const std::string& path);

}  // namespace shiplog::ctl
