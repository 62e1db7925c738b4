#include "projections/history/stored_version.h"

#include "events/sqlite/row_checksum.h"
#include "projections/store/checked_table.h"

namespace shiplog {

uint32_t checksum_of(const StoredVersion& version) {
  sqlite::RowChecksum sum;  // in the order of the columns
  for (const int64_t number : {version.revision, version.object, version.type}) sum.add(number);
  sum.add(version.ns);
  sum.add(version.name);
  for (const int64_t number : {version.operation, version.offset, version.event_index, version.previous}) {
    sum.add(number);
  }
  sum.add(version.json);
  return sum.value();
}

std::string version_columns(const std::string& alias) {
  std::string columns;
  for (const std::string& column : store::version_table().columns) columns += alias + "." + column + ", ";
  return columns + alias + ".crc";
}

Result<StoredVersion> stored_version(const sqlite::Connection& connection, const sqlite::Statement& row, int first) {
  const StoredVersion version{row.integer(first),     row.integer(first + 1), row.integer(first + 2),
                              row.text(first + 3),    row.text(first + 4),    row.integer(first + 5),
                              row.integer(first + 6), row.integer(first + 7), row.integer(first + 8),
                              row.text(first + 9)};
  if (row.integer(first + kVersionColumns - 1) == checksum_of(version)) return version;
  return Error{
      ErrorCode::kCorrupt,
      "projection " + connection.path() + ": the version at revision " + std::to_string(version.revision) +
          " is damaged (the row of the table \"version\" does not match its checksum): the scrub writes it again "
          "from the journal; if this remains, stop the process, delete the file and start again, and it is "
          "rebuilt"};
}

}  // namespace shiplog
