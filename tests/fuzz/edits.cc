#include "tests/fuzz/edits.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "events/base/json.h"

namespace shiplog::fuzz {
namespace {

constexpr size_t kMostParts = 4096;  // copies of copies grow fast

size_t count_parts(const Value& value) {
  size_t count = 1;
  if (value.is_array()) {
    for (const Value& item : value.items()) count += count_parts(item);
  } else if (value.is_object()) {
    for (const auto& member : value.members()) count += count_parts(member.value);
  }
  return count;
}

/// What checks may not expect: another type, a bound, an empty or a long text, a text of another form.
Value unexpected(uint8_t which, const Value& before) {
  const Value values[] = {Value{},
                          Value{true},
                          Value{0},
                          Value{-1},
                          Value{INT64_MAX},
                          Value{INT64_MIN},
                          Value{1.5},
                          Value{1e300},
                          Value{""},
                          Value{"a"},
                          Value{"*"},
                          Value{"A_b/c.d-"},
                          Value{"10.0.0.1"},
                          Value{"::ffff:10.0.0.1"},
                          Value{"10.0.0.0/33"},
                          Value{"101%"},
                          Value{"99999999999999999999"},
                          Value{"1e99999Ki"},
                          Value{"2026-01-02T03:04:05Z"},
                          Value{std::string(300, 'x')},
                          Value{to_json(before).substr(0, 400)},
                          Value::array(),
                          Value::array({Value{}}),
                          Value::array({before, before}),
                          Value::object(),
                          Value::object({{"", Value{}}}),
                          Value::object({{"key", 1}, {"name", Value{}}, {"operator", "In"}}),
                          Value::object({{"a", before}})};
  return values[which % std::size(values)];
}

/// Takes away, repeats or moves an item or a member; other values are replaced.
Value changed(const Value& before, uint8_t how, uint8_t which) {
  const size_t at = before.size() == 0 ? 0 : which % before.size();
  Value after = before;
  if (before.is_array() && before.size() > 0 && how % 4 != 0) {
    auto& items = after.edit_items();
    const auto place = items.begin() + static_cast<std::ptrdiff_t>(at);
    if (how % 4 == 1) {
      items.erase(place);
    } else if (how % 4 == 2) {
      items.insert(place, Value{items[at]});
    } else {
      items.push_back(unexpected(which, before[at]));
    }
    return after;
  }
  if (before.is_object() && before.size() > 0 && how % 4 != 0) {
    const std::string key{before.members()[at].key()};
    Value content = before[key];
    if (how % 4 == 1) {
      after.erase(key);
    } else if (how % 4 == 2) {
      after.set(key, unexpected(static_cast<uint8_t>(how / 4), content));
    } else {
      after.set(key + "Of", std::move(content));
    }
    return after;
  }
  return unexpected(which, before);
}

/// Of the part with this number, the value itself and what is in it being counted.
bool change_part(Value& value, size_t& number, uint8_t how, uint8_t which) {
  if (number == 0) {
    value = changed(value, how, which);
    return true;
  }
  --number;
  if (value.is_array()) {
    for (Value& item : value.edit_items()) {
      if (change_part(item, number, how, which)) return true;
    }
  } else if (value.is_object()) {
    std::vector<std::string> keys;
    for (const auto& member : value.members()) keys.emplace_back(member.key());
    for (const std::string& key : keys) {
      if (change_part(value.edit(key), number, how, which)) return true;
    }
  }
  return false;
}

}  // namespace

void edit(Value& object, std::string_view bytes) {
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(bytes[at]); };
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    const size_t parts = count_parts(object);
    if (parts > kMostParts) return;
    // Not the whole object: its kind would be lost.
    size_t number = 1 + (byte(at) * size_t{256} + byte(at + 1)) % parts;
    change_part(object, number, byte(at + 2), byte(at + 3));
  }
}

}  // namespace shiplog::fuzz
