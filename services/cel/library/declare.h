#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "services/cel/cel_function.h"

/// How the libraries declare their functions.
namespace shiplog::cel {

using CelArguments = std::span<const CelValue>;
using CelKind = CelType::Kind;

/// A tenth of `size`, rounded up: what cel-go counts for reading a text.
inline uint64_t traversal_cost(uint64_t size, double factor = 1.0) {
  return static_cast<uint64_t>(std::ceil(static_cast<double>(size) * factor * 0.1));
}

/// The cost of reading one argument `factor` times.
inline CelCost cost_of_reading(size_t argument, double factor = 1.0) {
  return [argument, factor](CelArguments arguments, const CelValue&) {
    return traversal_cost(cost_size(arguments[argument]), factor);
  };
}

/// The size of one argument: of functions that look at every item of a list.
inline CelCost cost_of_items(size_t argument) {
  return [argument](CelArguments arguments, const CelValue&) { return cost_size(arguments[argument]); };
}

inline void add_function(CelFunctions& functions, std::string name, std::vector<CelType> arguments, CelType result,
                         CelImplementation call, CelCost cost = {}) {
  functions.add(std::move(name),
                CelOverload{std::move(arguments), std::move(result), std::move(call), false, std::move(cost)});
}

inline void add_member(CelFunctions& functions, std::string name, std::vector<CelType> arguments, CelType result,
                       CelImplementation call, CelCost cost = {}) {
  functions.add(std::move(name),
                CelOverload{std::move(arguments), std::move(result), std::move(call), true, std::move(cost)});
}

/// Charges the meter for work that is out of proportion to the sizes of the arguments. False: it must not be done.
inline bool affordable(CelMeter& meter, uint64_t units) { return meter.charge(units); }
inline CelValue unaffordable() { return CelValue::error("operation cancelled: actual cost limit exceeded"); }

/// A value of a library's type that holds a plain C++ value.
template <class Held>
class CelHolder final : public CelExtension {
 public:
  CelHolder(const std::string& type_name, Held held, size_t text_size)
      : type_name_{&type_name}, held_{std::move(held)}, text_size_{text_size} {}
  const std::string& type_name() const override { return *type_name_; }
  bool equals(const CelExtension& other) const override {
    const auto* same = dynamic_cast<const CelHolder*>(&other);
    return same != nullptr && held_ == same->held_;
  }
  size_t text_size() const override { return text_size_; }
  const Held& held() const { return held_; }

 private:
  const std::string* type_name_;  // of a static string
  Held held_;
  size_t text_size_;
};

/// What an extension value holds. The overload has made sure that it is one.
template <class Held>
const Held& held(const CelValue& value) {
  return value.as<CelHolder<Held>>()->held();
}

/// `text_size`: bytes of the texts in it.
template <class Held>
CelValue extension_of(const std::string& static_type_name, Held value, size_t text_size = 0) {
  return CelValue::extension(std::make_shared<const CelHolder<Held>>(static_type_name, std::move(value), text_size));
}

/// What compareTo() returns.
inline int64_t sign_of(std::strong_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

/// A list of strings.
inline CelValue string_list(const std::vector<std::string>& texts) {
  std::vector<CelValue> items;
  items.reserve(texts.size());
  for (const std::string& text : texts) items.push_back(CelValue::string(text));
  return CelValue::list(std::move(items));
}

}  // namespace shiplog::cel
