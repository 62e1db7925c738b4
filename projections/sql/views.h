#pragma once

#include <span>
#include <string>
#include <vector>

namespace shiplog {

/// A column of a view: "INTEGER" or "TEXT", and what it means. Any may be NULL where it does not apply.
struct SqlColumn {
  std::string name, type, meaning;
};

/// A view that users query with SQL. Names, columns and types stay; columns may be added. docs/guide/audit.md lists
/// them, and a test compares the two.
struct SqlView {
  std::string name;
  std::string meaning;
  std::vector<SqlColumn> columns;
  std::string select;  ///< over the tables of the projection
};

/// All of them. Every row that they read is compared with its checksum.
const std::vector<SqlView>& sql_views();

}  // namespace shiplog
