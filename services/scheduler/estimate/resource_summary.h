#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "services/scheduler/demand.h"

namespace shiplog::scheduler {

/// How many further replicas of a binding fit on a cluster, judged by its status.resourceSummary (S-62 to S-64): by the
/// grades of its nodes where these are told (S-66, S-70), else by what is free in all. What depends on the binding
/// alone is worked out once.
class Estimate {
 public:
  explicit Estimate(const Binding& binding);
  int64_t operator()(const Cluster& cluster) const;

 private:
  struct Request {
    std::string resource;
    int64_t amount = 0;
    bool in_milli = false;
  };
  int64_t by_grades(const Cluster& cluster) const;
  int64_t by_sums(const Cluster& cluster) const;

  int64_t replicas_;
  bool required_;  ///< replicaRequirements are given: else only pods count
  std::vector<Request> requests_;
};

}  // namespace shiplog::scheduler
