#include "services/adapters/vault/live_keys.h"

#include <algorithm>

#include "events/state/object.h"

namespace shiplog::vault {
namespace {

void collect(const Value& value, std::vector<std::string>& ids) {
  if (value.is_string()) {
    if (const auto id = key_id_of(value.as_string()); !id.empty()) ids.emplace_back(id);
  }
  for (const Value& item : value.items()) collect(item, ids);
  for (const auto& member : value.members()) collect(member.value, ids);
}

}  // namespace

std::string_view key_id_of(std::string_view text) {
  if (!text.starts_with(kSealedPrefix)) return {};
  text.remove_prefix(kSealedPrefix.size());
  return text.substr(0, text.find(':'));
}

std::vector<std::string> key_ids_in(const Value& object) {
  std::vector<std::string> ids;
  collect(object, ids);
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  return ids;
}

void LiveKeys::load(const State& state) {
  std::map<ObjectKey, Live> live;
  for (const auto& [name, secret] : state.objects(type::kSecret)) {
    live[{type::kSecret, name.ns, name.name}] = {std::string{uid_of(secret.value)}, key_ids_in(secret.value)};
  }
  const std::lock_guard lock{mutex_};
  live_ = std::move(live);
}

void LiveKeys::note(const Change& change) {
  if (change.object.type != type::kSecret) return;
  if (change.removed()) {
    const std::lock_guard lock{mutex_};
    live_.erase(change.object);
    return;
  }
  Live now{std::string{uid_of(change.after)}, key_ids_in(change.after)};
  const std::lock_guard lock{mutex_};
  live_[change.object] = std::move(now);
}

bool LiveKeys::needs(std::string_view id, const Value& holder) const {
  const std::lock_guard lock{mutex_};
  const auto has = [&](const Live& live) {
    return std::ranges::binary_search(live.ids, id, {}, [](const auto& known) { return std::string_view{known}; });
  };
  const Value& metadata = holder["metadata"];
  const bool named = holder["kind"].as_string() == "Secret" && !metadata["name"].is_empty();
  if (!named) return std::ranges::any_of(live_, [&](const auto& entry) { return has(entry.second); });
  const auto found = live_.find({type::kSecret, metadata["namespace"].str(), metadata["name"].str()});
  if (found == live_.end()) return false;
  const auto uid = metadata["uid"].as_string();
  return uid.empty() ? has(found->second) : uid == found->second.uid;
}

std::map<ObjectKey, LiveKeys::Live> LiveKeys::all() const {
  const std::lock_guard lock{mutex_};
  return live_;
}

}  // namespace shiplog::vault
