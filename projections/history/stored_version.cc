#include "projections/history/stored_version.h"

#include <array>
#include <bit>

#include "events/journal/crc32c.h"

namespace shiplog {

static_assert(std::endian::native == std::endian::little, "checksums are stored as this machine computes them");

uint32_t checksum_of(const StoredVersion& version) {
  // The lengths keep ("ab", "c") and ("a", "bc") apart.
  const std::array<int64_t, 9> numbers{version.revision,
                                       version.object,
                                       version.type,
                                       version.operation,
                                       version.offset,
                                       version.event_index,
                                       version.previous,
                                       static_cast<int64_t>(version.ns.size()),
                                       static_cast<int64_t>(version.name.size())};
  const std::string_view bytes{reinterpret_cast<const char*>(numbers.data()), sizeof numbers};
  return crc32c(version.json, crc32c(version.name, crc32c(version.ns, crc32c(bytes))));
}

std::string version_columns(const std::string& alias) {
  std::string columns;
  for (const char* column :
       {"revision", "object", "type", "ns", "name", "operation", "offset", "event_index", "previous", "json", "crc"}) {
    columns += (columns.empty() ? "" : ", ") + alias + "." + column;
  }
  return columns;
}

Result<StoredVersion> stored_version(const sqlite::Connection& connection, const sqlite::Statement& row, int first) {
  const StoredVersion version{row.integer(first),     row.integer(first + 1), row.integer(first + 2),
                              row.text(first + 3),    row.text(first + 4),    row.integer(first + 5),
                              row.integer(first + 6), row.integer(first + 7), row.integer(first + 8),
                              row.text(first + 9)};
  if (row.integer(first + kVersionColumns - 1) == checksum_of(version)) return version;
  return Error{ErrorCode::kCorrupt,
               "projection " + connection.path() + ": the version at revision " + std::to_string(version.revision) +
                   " is damaged (its checksum differs): stop the process, delete the file and start again, and it is "
                   "rebuilt from the journal"};
}

}  // namespace shiplog
