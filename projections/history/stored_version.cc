#include "projections/history/stored_version.h"

#include "projections/store/checked_table.h"

namespace shiplog {

std::string version_columns(const std::string& alias, const std::string& base) {
  std::string columns;
  for (const char* column :
       {"revision", "object", "type", "ns", "name", "operation", "offset", "event_index", "previous"}) {
    columns += alias + "." + column + ", ";
  }
  return columns + "CASE " + alias + ".crc WHEN " + store::version_table().checksum(alias) + " THEN " +
         (base.empty() ? store::version_json(alias) : store::version_json(alias, base)) + " END";
}

Result<StoredVersion> stored_version(const sqlite::Connection& connection, const sqlite::Statement& row, int first) {
  const StoredVersion version{row.integer(first),     row.integer(first + 1), row.integer(first + 2),
                              row.text(first + 3),    row.text(first + 4),    row.integer(first + 5),
                              row.integer(first + 6), row.integer(first + 7), row.integer(first + 8),
                              row.text(first + 9)};
  if (!row.is_null(first + 9)) return version;
  return Error{
      ErrorCode::kCorrupt,
      "projection " + connection.path() + ": the version at revision " + std::to_string(version.revision) +
          " is damaged (the row of the table \"version\" does not match its checksum): the scrub writes it again "
          "from the journal; if this remains, stop the process, delete the file and start again, and it is "
          "rebuilt"};
}

}  // namespace shiplog
