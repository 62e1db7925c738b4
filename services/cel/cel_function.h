#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "services/cel/cel_type.h"
#include "services/cel/cel_value.h"

namespace shiplog::cel {

/// What an evaluation may still cost.
class CelMeter {
 public:
  explicit CelMeter(uint64_t limit) : limit_{limit} {}
  /// False once the limit is exceeded: stop and return any error; the evaluation ends with "cost limit exceeded".
  bool charge(uint64_t units) {
    spent_ = units > UINT64_MAX - spent_ ? UINT64_MAX : spent_ + units;
    return spent_ <= limit_;
  }
  bool exceeded() const { return spent_ > limit_; }
  uint64_t spent() const { return spent_; }
  uint64_t left() const { return exceeded() ? 0 : limit_ - spent_; }

 private:
  friend class CelDescent;
  uint64_t limit_;
  uint64_t spent_ = 0;
  size_t depth_ = 0;
};

/// On the stack of a function that recurses over values: a map whose values are computed when they are read may have
/// itself among them. Too deep a recursion exceeds the meter.
class CelDescent {
 public:
  explicit CelDescent(CelMeter& meter) : meter_{meter} {
    constexpr size_t kDeepest = 1000;  // the values that an expression makes are half as deep
    if (++meter_.depth_ > kDeepest) meter_.charge(UINT64_MAX);
  }
  ~CelDescent() { --meter_.depth_; }
  CelDescent(const CelDescent&) = delete;
  CelDescent& operator=(const CelDescent&) = delete;

 private:
  CelMeter& meter_;
};

// What one unit of cost pays for where upstream charges nothing, or the same for all sizes.
inline constexpr uint64_t kItemsOfUnit = 8;     ///< items of lists, or keys, that are looked at
inline constexpr uint64_t kFieldsOfUnit = 2;    ///< fields that are compared: each is found by its name
inline constexpr uint64_t kBytesOfUnit = 100;   ///< bytes of texts that are looked at
inline constexpr uint64_t kLiteralsOfUnit = 4;  ///< literals that are evaluated, or put into lists

/// The arguments are none of them errors; the receiver of a member function is the first. Returns a value, or an error
/// value. Pure. For the texts among its arguments, the meter has been charged one unit for each kBytesOfUnit. What may
/// take longer than that and its cost say charges the meter before it begins (each unit is about 10 bytes made).
using CelImplementation = std::function<CelValue(std::span<const CelValue> arguments, CelMeter& meter)>;
/// The cost of a call, charged after it. Empty: 1.
using CelCost = std::function<uint64_t(std::span<const CelValue> arguments, const CelValue& result)>;

/// An implementation that was made for a literal argument.
struct CelPrepared {
  CelImplementation call;  ///< has all arguments
  size_t memory = 0;       ///< bytes, about, that it keeps or that it took to make it
};

/// One signature of a function.
struct CelOverload {
  std::vector<CelType> arguments;  ///< the receiver first, for a member function
  CelType result;
  CelImplementation call;
  bool member = false;  ///< `a.f(b)`; otherwise `f(a, b)`
  CelCost cost = {};
  /// If this argument is a literal, `prepare` makes the implementation once, when the expression is compiled; its
  /// error is one of the compilation (a regular expression that cannot be read).
  int literal_argument = -1;
  std::function<Result<CelPrepared>(const CelValue& literal)> prepare = {};
};

/// Functions by name. Names may have dots: "ip.isCanonical", "optional.none", "math.greatest". The checker chooses the
/// overloads that fit the declared types; with dyn arguments several may. An evaluation takes the first one, in the
/// order of add(), whose arguments have the values' kinds (extensions: type_name()): items of lists and maps are not
/// looked at. So overloads that differ only in types of items share an implementation, which looks at the items itself.
class CelFunctions {
 public:
  /// Several of one name and number of arguments may be added.
  void add(std::string name, CelOverload overload) { functions_[std::move(name)].push_back(std::move(overload)); }
  /// nullptr: no such function.
  const std::vector<CelOverload>* find(std::string_view name) const {
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : &found->second;
  }
  /// A name of a type that expressions may use as a value, e.g. in `type(x) == net.IP`.
  void add_type(std::string name, CelType type) { types_.insert_or_assign(std::move(name), std::move(type)); }
  const CelType* find_type(std::string_view name) const {
    const auto found = types_.find(name);
    return found == types_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, std::vector<CelOverload>, std::less<>> functions_;
  std::map<std::string, CelType, std::less<>> types_;
};

}  // namespace shiplog::cel
