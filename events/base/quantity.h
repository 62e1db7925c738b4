#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "events/base/result.h"

namespace shiplog {

/// A Kubernetes resource quantity as a whole number of thousandths ("100m" is 100, "2" is 2000, "1Ki" is 1024000), in
/// 128 bits so that sums of bytes cannot overflow. Finer than a thousandth is rounded up, as apimachinery does.
class Quantity {
 public:
  __extension__ typedef __int128 Int;  // an alias declaration takes no __extension__ with -Wpedantic

  Quantity() = default;
  static Quantity from_milli(Int milli) { return Quantity{milli}; }
  static Quantity from_units(int64_t units) { return Quantity{static_cast<Int>(units) * 1000}; }

  /// Units rounded away from zero, as Quantity.Value() does; saturates at the ends of int64.
  int64_t units() const;
  /// Thousandths; saturates at the ends of int64.
  int64_t milli() const;
  /// Thousandths, all of them.
  Int whole_milli() const { return milli_; }
  bool is_zero() const { return milli_ == 0; }
  bool negative() const { return milli_ < 0; }

  /// All three stop at the largest number they can hold, which no sum of what parse_quantity reads approaches.
  Quantity operator+(const Quantity& other) const;
  Quantity operator-(const Quantity& other) const;
  Quantity operator*(int64_t times) const;
  /// How often `other` fits, rounded down. `other` must be positive.
  int64_t divided_by(const Quantity& other) const;
  auto operator<=>(const Quantity&) const = default;

 private:
  explicit Quantity(Int milli) : milli_{milli} {}
  Int milli_ = 0;
};

/// Reads "1", "1.5", "100m", "1Gi", "1e3", "5k". Capped, as apimachinery does for binary suffixes, at the end of int64;
/// for decimal ones at 10^24. Error: kBadRequest, naming the text.
Result<Quantity> parse_quantity(std::string_view text);

/// How the number is written: Kubernetes keeps binary suffixes for what was given in binary.
enum class QuantityFormat { kDecimal, kBinary };
/// kBinary when `text` ends in a binary suffix.
QuantityFormat quantity_format(std::string_view text);

/// Canonical form: no fraction, the largest suffix that leaves a whole number ("1500m", "2", "1536Mi"). Binary suffixes
/// are for whole numbers from 1024 on; anything else is written in decimal.
std::string to_string(const Quantity& quantity, QuantityFormat format = QuantityFormat::kDecimal);

}  // namespace shiplog
