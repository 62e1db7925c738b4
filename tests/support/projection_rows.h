#pragma once

#include <string>
#include <utility>
#include <vector>

#include "events/sqlite/connection.h"
#include "projections/store/open.h"

namespace shiplog {

/// Every row of every table of a projection as text, to compare files.
inline Result<std::vector<std::string>> projection_rows(const std::string& path) {
  SHIPLOG_TRY(auto connection, store::open_reader(path));
  SHIPLOG_TRY(auto tables, connection->prepare(
                               "SELECT t.name, group_concat('quote(' || c.name || ')', '||'',''||') FROM sqlite_schema "
                               "t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' GROUP BY t.name ORDER BY "
                               "t.name"));
  std::vector<std::string> rows;
  while (true) {
    SHIPLOG_TRY(const bool another, tables.next());
    if (!another) return rows;
    const std::string table{tables.text(0)};
    SHIPLOG_TRY(auto row,
                connection->prepare("SELECT " + std::string{tables.text(1)} + " FROM " + table + " ORDER BY 1"));
    while (true) {
      SHIPLOG_TRY(const bool found, row.next());
      if (!found) break;
      rows.push_back(table + ": " + std::string{row.text(0)});
    }
  }
}

}  // namespace shiplog
