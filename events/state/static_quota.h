#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/object.h"
#include "events/state/work.h"

// The static assignments of FederatedResourceQuotas: Works with a ResourceQuota each.

namespace shiplog {

namespace label {
inline constexpr const char* kQuotaNamespace = "federatedresourcequota.karmada.io/namespace";
inline constexpr const char* kQuotaName = "federatedresourcequota.karmada.io/name";
}  // namespace label

/// The quota that a Work was rendered for; nullopt: none.
inline std::optional<ObjectKey> quota_of_work(const Value& work) {
  const auto name = label_of(work, label::kQuotaName);
  if (name.empty()) return std::nullopt;
  return ObjectKey{type::kFederatedResourceQuota, std::string{label_of(work, label::kQuotaNamespace)},
                   std::string{name}};
}

/// Where the Work of a quota for a cluster is.
inline ObjectKey work_of_quota(const ObjectKey& quota, std::string_view cluster) {
  return {type::kWork, execution_space(cluster), work_name("ResourceQuota", quota.ns, quota.name)};
}

}  // namespace shiplog
