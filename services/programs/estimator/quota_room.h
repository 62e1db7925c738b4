#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/value.h"
#include "events/state/quota.h"

namespace shiplog::estimator {

/// What the ResourceQuotas of one namespace of a member leave for pods (S-73, gate ResourceQuotaEstimate): cpu, memory
/// and extended resources, by requests. Pure.
class QuotaRoom {
 public:
  /// Of the member's ResourceQuotas those of the namespace.
  QuotaRoom(const std::map<std::string, Value>& quotas, std::string_view ns);

  /// What so many pods of this priority class request is used, too; at most what there is.
  void take(std::string_view priority_class, const ResourceList& request, int64_t pods);

  /// One of the kinds of pods that a set consists of.
  struct Part {
    std::string priority_class;
    ResourceList request;  ///< of one pod
    int64_t pods = 1;
  };
  /// How many of such sets fit; nullopt: no quota limits them.
  std::optional<int64_t> sets(const std::vector<Part>& parts) const;

 private:
  struct Limit {
    const Value* spec;
    ResourceList free;
  };
  std::vector<Limit> limits_;
};

}  // namespace shiplog::estimator
