#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "events/base/value.h"

namespace shiplog {

/// An object with the members of `base` and what `merge` makes of those of `patch`. `merge(key, old, value)` is called
/// for each member of the patch, with nullptr when `base` has none, and answers with the member's new value or, with
/// nullopt, that there is to be none. Takes time for the members of both: setting them one by one would move all
/// members behind each.
template <class Merge>
Value merged_members(const Value& base, const Value& patch, const Merge& merge) {
  const auto old_members = base.members();
  Value::Object result;
  result.reserve(old_members.size() + patch.members().size());
  auto old = old_members.begin();
  for (const auto& member : patch.members()) {
    while (old != old_members.end() && old->key() < member.key()) result.push_back(*old++);
    const bool both = old != old_members.end() && old->key() == member.key();
    std::optional<Value> made = merge(member.key(), both ? &old->value : nullptr, member.value);
    if (made) result.push_back({member.key_text, *std::move(made)});
    if (both) ++old;
  }
  result.insert(result.end(), old, old_members.end());
  return Value::object(std::move(result));
}

}  // namespace shiplog
