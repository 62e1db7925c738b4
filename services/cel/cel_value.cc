#include "services/cel/cel_value.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "services/cel/cel_function.h"

namespace shiplog::cel {
namespace {

using Kind = CelValue::Kind;

bool is_number(Kind kind) { return kind == Kind::kInt || kind == Kind::kUint || kind == Kind::kDouble; }

/// The number as an exact key for maps: a whole number in int64 or uint64; nullopt: no whole number.
std::optional<CelValue> whole(const CelValue& value) {
  if (value.is(Kind::kInt)) return value;
  if (value.is(Kind::kUint)) {
    const uint64_t number = value.as_uint();
    return number <= INT64_MAX ? CelValue::integer(static_cast<int64_t>(number)) : value;
  }
  if (!value.is(Kind::kDouble)) return std::nullopt;
  const double number = value.as_double();
  if (std::trunc(number) != number || number < -0x1p63 || number >= 0x1p64) return std::nullopt;
  if (number < 0x1p63) return CelValue::integer(static_cast<int64_t>(number));
  return CelValue::unsigned_integer(static_cast<uint64_t>(number));
}

int three_way(auto a, auto b) { return a < b ? -1 : b < a ? 1 : 0; }

std::optional<int> compare_double(double number, double other) {
  if (std::isnan(number) || std::isnan(other)) return std::nullopt;
  return three_way(number, other);
}

std::optional<int> compare_double_int(double number, int64_t other) {
  if (std::isnan(number)) return std::nullopt;
  if (number < -0x1p63) return -1;
  if (number >= 0x1p63) return 1;
  const auto truncated = static_cast<int64_t>(number);
  if (truncated != other) return three_way(truncated, other);
  return three_way(number, std::trunc(number));
}

std::optional<int> compare_double_uint(double number, uint64_t other) {
  if (std::isnan(number)) return std::nullopt;
  if (number < 0) return -1;
  if (number >= 0x1p64) return 1;
  const auto truncated = static_cast<uint64_t>(number);
  if (truncated != other) return three_way(truncated, other);
  return three_way(number, std::trunc(number));
}

std::optional<int> compare_numbers(const CelValue& a, const CelValue& b) {
  const auto reversed = [](std::optional<int> order) { return order ? std::optional{-*order} : order; };
  if (a.is(Kind::kInt)) {
    if (b.is(Kind::kInt)) return three_way(a.as_int(), b.as_int());
    if (b.is(Kind::kUint)) return a.as_int() < 0 ? -1 : three_way(static_cast<uint64_t>(a.as_int()), b.as_uint());
    return reversed(compare_double_int(b.as_double(), a.as_int()));
  }
  if (a.is(Kind::kUint)) {
    if (b.is(Kind::kUint)) return three_way(a.as_uint(), b.as_uint());
    if (b.is(Kind::kInt)) return b.as_int() < 0 ? 1 : three_way(a.as_uint(), static_cast<uint64_t>(b.as_int()));
    return reversed(compare_double_uint(b.as_double(), a.as_uint()));
  }
  if (b.is(Kind::kInt)) return compare_double_int(a.as_double(), b.as_int());
  if (b.is(Kind::kUint)) return compare_double_uint(a.as_double(), b.as_uint());
  return compare_double(a.as_double(), b.as_double());
}

// A value is compared, written and destroyed by recursion. Expressions themselves are half as deep at most.
constexpr size_t kDeepestValue = 500;

CelValue too_deep() { return CelValue::error("values are nested too deeply"); }

/// Levels of lists, maps and optional values.
size_t depth_of(const CelValue& value) {
  if (value.is(Kind::kList)) return value.as_list().depth();
  if (value.is(Kind::kMap)) return value.as_map().depth();
  if (!value.is(Kind::kOptional) || value.as_optional() == nullptr) return 0;
  return 1 + depth_of(*value.as_optional());
}

class ValueList final : public CelList {
 public:
  ValueList(std::vector<CelValue> items, size_t depth) : items_{std::move(items)}, depth_{depth} {}
  size_t size() const override { return items_.size(); }
  CelValue at(size_t index) const override { return items_[index]; }
  size_t depth() const override { return depth_; }

 private:
  std::vector<CelValue> items_;
  size_t depth_;
};

/// What two equal keys have in common: a text that a hash table can hold.
std::optional<std::string> key_text(const CelValue& key) {
  if (key.is(Kind::kBool)) return key.as_bool() ? "b1" : "b0";
  if (key.is(Kind::kString)) return "s" + std::string{key.as_string()};
  if (!key.is(Kind::kInt) && !key.is(Kind::kUint) && !key.is(Kind::kDouble)) return std::nullopt;
  const auto number = whole(key);
  if (!number) return std::nullopt;
  return "n" + (number->is(Kind::kInt) ? std::to_string(number->as_int()) : std::to_string(number->as_uint()));
}

class ValueMap final : public CelMap {
 public:
  ValueMap(std::vector<std::pair<CelValue, CelValue>> entries, size_t depth) : depth_{depth} {
    for (auto& [key, value] : entries) {
      const auto text = key_text(key);
      if (!text || !places_.emplace(*text, entries_.size()).second) continue;
      entries_.emplace_back(std::move(key), std::move(value));
    }
  }
  size_t size() const override { return entries_.size(); }
  std::optional<CelValue> find(const CelValue& key) const override {
    const auto text = key_text(key);
    if (!text) return std::nullopt;
    const auto found = places_.find(*text);
    if (found == places_.end()) return std::nullopt;
    return entries_[found->second].second;
  }
  std::vector<CelValue> keys() const override {
    std::vector<CelValue> keys;
    keys.reserve(entries_.size());
    for (const auto& entry : entries_) keys.push_back(entry.first);
    return keys;
  }
  size_t depth() const override { return depth_; }

 private:
  std::vector<std::pair<CelValue, CelValue>> entries_;
  std::unordered_map<std::string, size_t> places_;
  size_t depth_;
};

bool equal_lists(const CelList& a, const CelList& b, CelMeter& meter) {
  if (a.size() != b.size()) return false;
  const CelDescent descent{meter};
  if (!meter.charge(1 + a.size() / kItemsOfUnit)) return false;
  if (const auto equals = a.equals(b, meter)) return *equals;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!equal(a.at(i), b.at(i), meter)) return false;
  }
  return true;
}

bool equal_maps(const CelMap& a, const CelMap& b, CelMeter& meter) {
  if (a.size() != b.size()) return false;
  const CelDescent descent{meter};
  if (!meter.charge(1 + a.size() / kFieldsOfUnit)) return false;
  if (const auto equals = a.equals(b, meter)) return *equals;
  for (const CelValue& key : a.keys()) {
    const auto in_a = a.find(key);
    const auto in_b = b.find(key);
    if (in_a.has_value() != in_b.has_value()) return false;
    if (in_a && !equal(*in_a, *in_b, meter)) return false;
  }
  return true;
}

/// `type(x)` does not tell what is in a list or map, and an object is a map.
CelType erased(const CelType& type) {
  if (type.is(CelType::Kind::kObject)) return CelType::map({}, {});
  if (type.is(CelType::Kind::kList)) return CelType::list({});
  if (type.is(CelType::Kind::kMap)) return CelType::map({}, {});
  if (type.is(CelType::Kind::kOptional)) return CelType::optional({});
  if (type.is(CelType::Kind::kType)) return CelType::type_of({});
  return type;
}

}  // namespace

std::optional<bool> CelList::equals(const CelList&, CelMeter&) const { return std::nullopt; }
std::optional<CelValue> CelList::plus(const CelList&, CelMeter&) const { return std::nullopt; }
std::optional<CelValue> CelMap::field(std::string_view name) const { return find(CelValue::string(name)); }
std::optional<bool> CelMap::equals(const CelMap&, CelMeter&) const { return std::nullopt; }

CelValue CelValue::list(std::vector<CelValue> items) {
  size_t depth = 1;
  for (const CelValue& item : items) depth = std::max(depth, 1 + depth_of(item));
  if (depth > kDeepestValue) return too_deep();
  return list(std::shared_ptr<const CelList>{std::make_shared<ValueList>(std::move(items), depth)});
}

CelValue CelValue::map(std::vector<std::pair<CelValue, CelValue>> entries) {
  size_t depth = 1;
  for (const auto& entry : entries) depth = std::max(depth, 1 + depth_of(entry.second));
  if (depth > kDeepestValue) return too_deep();
  return map(std::shared_ptr<const CelMap>{std::make_shared<ValueMap>(std::move(entries), depth)});
}

CelValue CelValue::none() { return {Kind::kOptional, std::shared_ptr<const CelValue>{}}; }

CelValue CelValue::some(CelValue value) {
  if (depth_of(value) >= kDeepestValue) return too_deep();
  return {Kind::kOptional, std::shared_ptr<const CelValue>{std::make_shared<const CelValue>(std::move(value))}};
}

CelValue CelValue::error(std::string message) {
  return {Kind::kError, std::shared_ptr<const std::string>{std::make_shared<const std::string>(std::move(message))}};
}

CelType CelValue::type_of() const {
  switch (kind_) {
    case Kind::kNull:
      return CelType::Kind::kNull;
    case Kind::kBool:
      return CelType::Kind::kBool;
    case Kind::kInt:
      return CelType::Kind::kInt;
    case Kind::kUint:
      return CelType::Kind::kUint;
    case Kind::kDouble:
      return CelType::Kind::kDouble;
    case Kind::kString:
      return CelType::Kind::kString;
    case Kind::kBytes:
      return CelType::Kind::kBytes;
    case Kind::kList:
      return CelType::list({});
    case Kind::kMap:
      return CelType::map({}, {});
    case Kind::kTimestamp:
      return CelType::Kind::kTimestamp;
    case Kind::kDuration:
      return CelType::Kind::kDuration;
    case Kind::kType:
      return CelType::type_of({});
    case Kind::kOptional:
      return CelType::optional({});
    case Kind::kExtension:
      return CelType::extension(as_extension()->type_name());
    case Kind::kError:
      return CelType::Kind::kError;
  }
  return {};
}

bool equal(const CelValue& a, const CelValue& b, CelMeter& meter) {
  if (is_number(a.kind()) && is_number(b.kind())) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return a.as_bool() == b.as_bool();
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
      return compare_numbers(a, b) == 0;
    case Kind::kString:
    case Kind::kBytes:
      return meter.charge(std::min(text_size(a), text_size(b)) / kBytesOfUnit) && a.as_string() == b.as_string();
    case Kind::kList:
      return equal_lists(a.as_list(), b.as_list(), meter);
    case Kind::kMap:
      return equal_maps(a.as_map(), b.as_map(), meter);
    case Kind::kTimestamp:
      return a.as_timestamp() == b.as_timestamp();
    case Kind::kDuration:
      return a.as_duration() == b.as_duration();
    case Kind::kType:
      return erased(a.as_type()) == erased(b.as_type());
    case Kind::kOptional:
      if (a.as_optional() == nullptr || b.as_optional() == nullptr) return a.as_optional() == b.as_optional();
      return meter.charge(1) && equal(*a.as_optional(), *b.as_optional(), meter);
    case Kind::kExtension:
      return a.as_extension()->type_name() == b.as_extension()->type_name() &&
             meter.charge(std::min(text_size(a), text_size(b)) / kBytesOfUnit) &&
             a.as_extension()->equals(*b.as_extension());
    case Kind::kError:
      return false;
  }
  return false;
}

std::optional<int> compare(const CelValue& a, const CelValue& b) {
  if (is_number(a.kind()) && is_number(b.kind())) return compare_numbers(a, b);
  if (a.kind() != b.kind()) return std::nullopt;
  if (a.is(Kind::kBool)) return three_way(a.as_bool(), b.as_bool());
  // The order of bytes of UTF-8 is that of code points.
  if (a.is(Kind::kString) || a.is(Kind::kBytes)) return three_way(a.as_string(), b.as_string());
  if (a.is(Kind::kTimestamp)) return three_way(a.as_timestamp(), b.as_timestamp());
  if (a.is(Kind::kDuration)) return three_way(a.as_duration(), b.as_duration());
  return std::nullopt;
}

uint64_t cost_size(const CelValue& value) {
  switch (value.kind()) {
    case Kind::kString:
      return code_points(value.as_string());
    case Kind::kBytes:
      return value.as_string().size();
    case Kind::kList:
      return value.as_list().size();
    case Kind::kMap:
      return value.as_map().size();
    case Kind::kOptional:
      return value.as_optional() == nullptr ? 1 : cost_size(*value.as_optional());
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kTimestamp:
    case Kind::kDuration:
    case Kind::kType:
    case Kind::kExtension:
    case Kind::kError:
      return 1;
  }
  return 1;
}

size_t text_size(const CelValue& value) {
  if (value.is(Kind::kString) || value.is(Kind::kBytes)) return value.as_string().size();
  return value.is(Kind::kExtension) ? value.as_extension()->text_size() : 0;
}

size_t code_points(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace shiplog::cel
