#include "events/kinds/whole_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace shiplog {
namespace {

bool is_whole_double(const Value& value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (value.kind() != Value::Kind::kDouble) return false;
  const double number = value.as_double();
  return std::trunc(number) == number && number >= -kLimit && number < kLimit;
}

bool has_whole_double(const Value& value) {
  return is_whole_double(value) || std::ranges::any_of(value.items(), has_whole_double) ||
         std::ranges::any_of(value.members(), [](const auto& member) { return has_whole_double(member.value); });
}

}  // namespace

Value with_whole_numbers(Value value) {
  if (!has_whole_double(value)) return value;  // hardly any value has one: it is not copied
  if (value.is_number()) return Value{static_cast<int64_t>(value.as_double())};
  if (value.is_array()) {
    for (Value& item : value.edit_items()) item = with_whole_numbers(std::move(item));
    return value;
  }
  Value::Object members;
  members.reserve(value.size());
  for (const auto& member : value.members()) members.push_back({member.key_text, with_whole_numbers(member.value)});
  return Value::object(std::move(members));
}

}  // namespace shiplog
