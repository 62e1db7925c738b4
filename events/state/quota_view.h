#pragma once

#include <map>
#include <string>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/feature_gates.h"
#include "events/state/object.h"
#include "events/state/object_store.h"
#include "events/state/quota.h"

namespace shiplog {

/// FederatedResourceQuotas, and what the bindings of the namespaces that have one use.
class QuotaView {
 public:
  static bool wants(std::string_view type) {
    return type == type::kResourceBinding || type == type::kFederatedResourceQuota || type == kFeatureGatesType;
  }
  void update(const ObjectKey& key, const Value& before, const Value& after, const ObjectStore& objects);
  bool operator==(const QuotaView&) const = default;

  /// By namespace and name.
  const std::map<ObjectStore::Name, Quota>& all() const { return quotas_; }
  /// Empty when the namespace has no quota.
  const ResourceList& usage(std::string_view ns) const;

 private:
  ResourceList sum(const ObjectStore& objects, std::string_view ns) const;

  std::map<ObjectStore::Name, Quota> quotas_;
  std::map<std::string, ResourceList, std::less<>> usage_;  // of the namespaces in quotas_
  bool components_ = false;  // gate MultiplePodTemplatesScheduling: components of a binding are counted
};

}  // namespace shiplog
