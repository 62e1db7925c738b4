#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "events/base/result.h"

// The only place that knows zstd. Journal and projection use it.
namespace shiplog {

/// The number of the dictionary that compress() uses; it is stored with what was compressed. A dictionary never
/// changes: a better one gets the next number, and those before it are kept for what they have compressed.
inline constexpr uint32_t kNewestDictionary = 1;

/// Compresses texts of some kilobytes, one by one. Threads: one at a time.
class Compressor {
 public:
  Compressor();
  Compressor(Compressor&&) noexcept;
  Compressor& operator=(Compressor&&) noexcept;
  ~Compressor();

  /// With the newest dictionary, which has what entries and objects have in common. nullopt: that saves nothing. The
  /// result is valid until the next call.
  std::optional<std::string_view> compress(std::string_view bytes);
  /// As the difference to another text, which is needed to read it. The result is valid until the next call.
  std::optional<std::string_view> compress_against(std::string_view bytes, std::string_view base);

  // What was compressed; valid until the next call. Error: kCorrupt, these bytes are not what was made of at most
  // `most` bytes, or there is no such dictionary in this build.
  Result<std::string_view> decompress(std::string_view packed, uint32_t dictionary, size_t most);
  Result<std::string_view> decompress_against(std::string_view packed, std::string_view base, size_t most);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
