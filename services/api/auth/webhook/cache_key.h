#pragma once

#include <string>
#include <string_view>

#include "events/base/random.h"

namespace shiplog::api {

/// Names what is cached, such as a token, without storing it: SHA-256 with a salt of this process, so that keys cannot
/// be computed, or made to collide, by who chooses the text. Threads: any.
class CacheKeys {
 public:
  explicit CacheKeys(Random& random);
  std::string key_of(std::string_view text) const;

 private:
  std::string salt_;
};

}  // namespace shiplog::api
