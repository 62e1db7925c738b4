#include "services/api/insight/diff.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

// Paths as they are written below, of what every write touches.
constexpr std::array<std::string_view, 4> kNoise = {
    "metadata.resourceVersion", "metadata.generation", "metadata.managedFields",
    "metadata.annotations[\"kubectl.kubernetes.io/last-applied-configuration\"]"};
constexpr std::array<std::string_view, 3> kHeartbeats = {"lastHeartbeatTime", "lastProbeTime", "lastUpdateTime"};

// What identifies the items of Kubernetes' lists, most specific first.
constexpr std::array<const char*, 5> kItemKeys = {"name", "type", "clusterName", "cluster", "key"};

std::string shortened(const Value& value) { return api::shortened(to_json(value)); }

std::string member_path(const std::string& parent, std::string_view key) {
  if (key.find_first_of("./[]\"") != std::string_view::npos) return parent + "[\"" + std::string{key} + "\"]";
  return parent.empty() ? std::string{key} : parent + "." + std::string{key};
}

using Keyed = std::map<std::string, const Value*>;

// nullopt: some item has no such member, or two have the same.
std::optional<Keyed> keyed_by(const Value& list, const char* key) {
  Keyed items;
  for (const Value& item : list.items()) {
    const Value& name = item[key];
    if (!name.is_string() || !items.emplace(name.str(), &item).second) return std::nullopt;
  }
  return items;
}

class Differ {
 public:
  std::vector<FieldChange> changes;

  void compare(const std::string& path, const Value& before, const Value& after) {
    if (before == after || std::ranges::find(kNoise, path) != kNoise.end()) return;
    if (before.is_object() && after.is_object()) return compare_members(path, before, after);
    if (before.is_array() && after.is_array()) return compare_items(path, before, after);
    changes.push_back({path, FieldChange::Kind::kChanged, shortened(before), shortened(after)});
  }

 private:
  void added(const std::string& path, const Value& value) {
    if (std::ranges::find(kNoise, path) != kNoise.end()) return;
    changes.push_back({path, FieldChange::Kind::kAdded, "", shortened(value)});
  }
  void removed(const std::string& path, const Value& value) {
    if (std::ranges::find(kNoise, path) != kNoise.end()) return;
    changes.push_back({path, FieldChange::Kind::kRemoved, shortened(value), ""});
  }

  void compare_members(const std::string& path, const Value& before, const Value& after) {
    // Both are sorted by key: one walk over the two.
    auto old_at = before.members().begin();
    auto new_at = after.members().begin();
    const auto old_end = before.members().end();
    const auto new_end = after.members().end();
    while (old_at != old_end || new_at != new_end) {
      const bool only_old = new_at == new_end || (old_at != old_end && old_at->key() < new_at->key());
      const bool only_new = old_at == old_end || (new_at != new_end && new_at->key() < old_at->key());
      const std::string_view key = only_new ? new_at->key() : old_at->key();
      const std::string at = member_path(path, key);
      const bool heartbeat = std::ranges::find(kHeartbeats, key) != kHeartbeats.end();
      if (only_old) {
        removed(at, (old_at++)->value);
      } else if (only_new) {
        added(at, (new_at++)->value);
      } else {
        if (!heartbeat) compare(at, old_at->value, new_at->value);
        ++old_at;
        ++new_at;
      }
    }
  }

  void compare_items(const std::string& path, const Value& before, const Value& after) {
    for (const char* key : kItemKeys) {
      const auto old_items = keyed_by(before, key);
      const auto new_items = keyed_by(after, key);
      if (old_items && new_items) return compare_keyed(path, before, after, *old_items, *new_items);
    }
    const size_t both = std::min(before.size(), after.size());
    for (size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
      const std::string at = path + "[" + std::to_string(i) + "]";
      if (i < both) {
        compare(at, before[i], after[i]);
      } else if (i < before.size()) {
        removed(at, before[i]);
      } else {
        added(at, after[i]);
      }
    }
  }

  void compare_keyed(const std::string& path, const Value& before, const Value& after, const Keyed& old_items,
                     const Keyed& new_items) {
    bool same_items = old_items.size() == new_items.size();
    for (const auto& [name, item] : old_items) {
      const auto now = new_items.find(name);
      const std::string at = path + "[" + name + "]";
      if (now == new_items.end()) {
        removed(at, *item);
      } else {
        same_items = same_items && *item == *now->second;
        compare(at, *item, *now->second);
      }
    }
    for (const auto& [name, item] : new_items) {
      if (!old_items.contains(name)) added(path + "[" + name + "]", *item);
    }
    // The same items and yet a difference: only their order has changed.
    if (same_items &&
        std::ranges::all_of(old_items, [&](const auto& entry) { return new_items.contains(entry.first); })) {
      changes.push_back({path, FieldChange::Kind::kChanged, shortened(before), shortened(after)});
    }
  }
};

void collect(const std::string& path, const Value& value, std::map<std::string, std::string>& into) {
  if (std::ranges::find(kNoise, path) != kNoise.end()) return;
  if (value.is_object() && value.members().begin() != value.members().end()) {
    for (const auto& member : value.members()) {
      if (std::ranges::find(kHeartbeats, member.key()) == kHeartbeats.end())
        collect(member_path(path, member.key()), member.value, into);
    }
    return;
  }
  if (!value.is_array() || value.size() == 0) {
    into.emplace(path, to_json(value));
    return;
  }
  for (const char* key : kItemKeys) {
    if (const auto items = keyed_by(value, key)) {
      for (const auto& [name, item] : *items) collect(path + "[" + name + "]", *item, into);
      return;
    }
  }
  for (size_t index = 0; index < value.size(); ++index) {
    collect(path + "[" + std::to_string(index) + "]", value[index], into);
  }
}

}  // namespace

std::string shortened(std::string text) {
  if (text.size() <= kLongestValue) return text;
  size_t end = kLongestValue;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  text.resize(end);
  return text + "...";
}

std::map<std::string, std::string> leaves(const Value& object) {
  std::map<std::string, std::string> found;
  collect("", object, found);
  return found;
}

const char* name_of(FieldChange::Kind kind) {
  switch (kind) {
    case FieldChange::Kind::kAdded:
      return "added";
    case FieldChange::Kind::kRemoved:
      return "removed";
    case FieldChange::Kind::kChanged:
      return "changed";
  }
  return "";
}

std::vector<FieldChange> diff(const Value& before, const Value& after) {
  Differ differ;
  differ.compare("", before, after);
  return std::move(differ.changes);
}

}  // namespace shiplog::api
