#include <algorithm>
#include <string>
#include <string_view>

#include "events/fold/staged.h"
#include "events/state/cluster.h"

namespace shiplog {
namespace {

constexpr uint32_t kMembersOnceFoldVersion = 8;

std::string_view id_of(const Value& cluster) { return cluster["spec"]["id"].as_string(); }

/// As kube-apiserver words a value that is taken, since clients get it.
Refusal member_taken(std::string_view id, const ObjectKey& by) {
  Refusal refusal{ErrorCode::kConflict,
                  "Duplicate value: \"" + std::string{id} + "\": the member is registered as the cluster " + by.name,
                  by};
  refusal.member_taken = true;
  return refusal;
}

}  // namespace

Applied Staged::check_members() const {
  if (state_.fold_version() < kMembersOnceFoldVersion) return std::nullopt;
  for (const Touched& staged : touched_) {
    if (staged.key.type != type::kCluster || staged.value.is_null()) continue;
    const std::string_view id = id_of(staged.value);
    if (id.empty() || id == id_of(state_.value_of(staged.key))) continue;
    const auto is_other = [&](const ObjectKey& key) { return key.type == type::kCluster && key != staged.key; };
    const auto twin = std::ranges::find_if(
        touched_, [&](const Touched& other) { return is_other(other.key) && id_of(other.value) == id; });
    if (twin != touched_.end()) return member_taken(id, twin->key);
    for (const auto& [name, cluster] : state_.clusters()) {
      const ObjectKey key{type::kCluster, "", name};
      if (cluster.id == id && is_other(key) && touched(key) == nullptr) return member_taken(id, key);
    }
  }
  return std::nullopt;
}

}  // namespace shiplog
