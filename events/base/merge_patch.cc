#include "events/base/merge_patch.h"

#include <string_view>
#include <utility>

#include "events/base/merged_members.h"

namespace shiplog {
namespace {

const Value kNothing;

}  // namespace

Value merge_patched(const Value& target, const Value& patch) {
  if (!patch.is_object()) return patch;
  return merged_members(target, patch, [](std::string_view, const Value* old, const Value& value) {
    return value.is_null() ? std::nullopt : std::optional{merge_patched(old == nullptr ? kNothing : *old, value)};
  });
}

std::optional<Value> merge_patch(const Value& before, const Value& after) {
  if (!after.is_object()) return std::nullopt;
  const auto old_members = before.members();
  Value::Object patch;
  auto old = old_members.begin();
  const auto remove_before = [&](std::string_view key) {
    for (; old != old_members.end() && old->key() < key; ++old) patch.push_back({old->key_text, kNothing});
  };
  for (const auto& [key_text, value] : after.members()) {
    remove_before(key_text.as_string());
    const bool both = old != old_members.end() && old->key() == key_text.as_string();
    const Value& was = both ? old++->value : kNothing;
    if (both && was == value) continue;
    if (value.is_null()) return std::nullopt;
    std::optional<Value> change = value.is_object() ? merge_patch(was, value) : value;
    if (!change) return std::nullopt;
    patch.push_back({key_text, *std::move(change)});
  }
  for (; old != old_members.end(); ++old) patch.push_back({old->key_text, kNothing});
  return Value::object(std::move(patch));
}

}  // namespace shiplog
