#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/result.h"

namespace shiplog::member {

/// One member of a tar archive.
struct TarEntry {
  std::string name;
  bool directory = false;
  uint32_t mode = 0644;
  int64_t modified = 0;
  std::string content;
};

/// An archive's bytes into its members: ustar, and GNU's and pax' long names. Links and devices are left out.
class TarReader {
 public:
  /// `longest_file`: a larger one is an error.
  explicit TarReader(size_t longest_file) : longest_file_{longest_file} {}

  void feed(std::string_view bytes) { held_.append(bytes); }
  /// The next member; nullopt: more bytes are needed, or the archive has ended. Errors: kInvalid, it is no tar archive;
  /// kTooLarge.
  Result<std::optional<TarEntry>> next();
  bool ended() const { return ended_; }
  size_t held_bytes() const { return held_.size(); }

 private:
  Result<std::optional<TarEntry>> member();

  size_t longest_file_;
  std::string held_;
  std::string long_name_;  ///< of the member that follows
  bool ended_ = false;
};

/// What an archive holds in front of a member's content of `size` bytes, and behind it. An archive ends with kTarEnd
/// zeros.
std::string tar_header(const TarEntry& entry, size_t size);
std::string tar_padding(size_t size);
inline constexpr size_t kTarEnd = 1024;

}  // namespace shiplog::member
