#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "events/base/result.h"
#include "services/http/http.h"

/// Header blocks of SPDY/3.1: names and values with their lengths, compressed by zlib with a dictionary. All blocks of
/// one direction of a connection are one zlib stream.
namespace shiplog::spdy {

class HeaderInflater {
 public:
  static constexpr size_t kLongestBlock = 64 * 1024;  ///< of what it decompresses to
  static constexpr size_t kMostHeaders = 100;

  HeaderInflater();
  ~HeaderInflater();
  HeaderInflater(const HeaderInflater&) = delete;
  HeaderInflater& operator=(const HeaderInflater&) = delete;

  /// A value of several NUL-separated ones becomes as many fields. Errors: kBadRequest, kTooLarge.
  Result<HttpHeaders> inflate(std::string_view block);

 private:
  Result<std::string> decompress(std::string_view block);
  struct Stream;
  std::unique_ptr<Stream> stream_;  ///< from the first block on
};

class HeaderDeflater {
 public:
  HeaderDeflater();
  ~HeaderDeflater();
  HeaderDeflater(const HeaderDeflater&) = delete;
  HeaderDeflater& operator=(const HeaderDeflater&) = delete;

  std::string deflate(const HttpHeaders& headers);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace shiplog::spdy
