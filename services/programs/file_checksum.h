#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "events/base/result.h"

namespace shiplog {

struct FileChecksum {
  uint64_t bytes = 0;
  std::string sha256;  ///< 64 lower-case hexadecimal digits
  bool operator==(const FileChecksum&) const = default;
};

/// Reads the whole file. Errors: kNotFound; kIo.
Result<FileChecksum> checksum_of_file(const std::string& path);
std::string sha256(std::string_view bytes);

/// Copies a file to a new one that only its owner may read (mode 0600), on disk when this returns. Errors: kNotFound;
/// kIo.
Result<void> copy_private_file(const std::string& from, const std::string& to);

/// Makes the content of a file durable. Error: kIo.
Result<void> sync_file(const std::string& path);

}  // namespace shiplog
