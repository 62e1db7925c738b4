#pragma once

#include <algorithm>
#include <cstdint>

#include "events/base/time.h"

namespace shiplog {

/// How much of something is allowed: `burst` at once, and `per_second` in the long run. Knows no clock.
class TokenBucket {
 public:
  TokenBucket(double burst, double per_second) : burst_{burst}, per_second_{per_second}, left_{burst} {}

  /// False: not now.
  bool take(double amount, UtcMillis now) {
    if (filled_ != UtcMillis{} && now > filled_) {
      left_ = std::min(burst_, left_ + per_second_ * static_cast<double>((now - filled_).value) / 1000);
    }
    filled_ = std::max(filled_, now);
    if (left_ < std::min(amount, burst_)) return false;
    left_ -= amount;
    return true;
  }

 private:
  double burst_, per_second_, left_;
  UtcMillis filled_ = {};
};

}  // namespace shiplog
