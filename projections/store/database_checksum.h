#pragma once

#include <cstdint>
#include <string>

#include "events/base/result.h"

namespace shiplog::store {

/// The checksum of a database file, which is in its header, where SQLite has a number for the application (PRAGMA
/// user_version), and is computed as if it was 0 there: the CRC-32C of the CRC-32Cs of the file's parts, which several
/// threads compute. Not in a file that was written to since, or by an earlier build.
struct DatabaseChecksum {
  uint32_t computed = 0, recorded = 0;
  /// Every byte is as it was written. False says nothing.
  bool as_written() const { return recorded != 0 && recorded == computed; }
};

// Files that no connection has open. Errors: kIo.
Result<DatabaseChecksum> checksum_of(const std::string& path);
/// Copies a file to one that does not exist yet.
Result<DatabaseChecksum> copy_with_checksum(const std::string& from, const std::string& to);
Result<void> record_checksum(const std::string& path);

}  // namespace shiplog::store
