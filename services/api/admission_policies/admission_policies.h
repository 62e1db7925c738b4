#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "services/api/admission_policies/admission_policy.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// A policy with the bindings that put it into force.
struct BoundPolicy {
  std::shared_ptr<const AdmissionPolicy> policy;
  std::vector<std::shared_ptr<const AdmissionPolicyBinding>> bindings;  ///< by name; not empty
};

/// The types of policies and of what binds them.
struct PolicyTypes {
  const char* policies;
  const char* bindings;
};
inline constexpr PolicyTypes kValidatingTypes{kAdmissionPolicies, kAdmissionPolicyBindings};
inline constexpr PolicyTypes kMutatingTypes{kMutatingPolicies, kMutatingPolicyBindings};

/// The admission policies of one type that are in force now. Kept up to date on the fold thread, so that a policy
/// applies to every write at this server after it has answered that of the policy. Threads: load() and on_folded() on
/// the executor; the rest on any.
class AdmissionPoliciesInForce final : public Observer {
 public:
  using Bound = std::shared_ptr<const std::vector<BoundPolicy>>;  ///< by the name of the policy

  explicit AdmissionPoliciesInForce(PolicyTypes types)
      : types_{types}, bound_{std::make_shared<const std::vector<BoundPolicy>>()} {}

  /// Takes in what a restored state holds.
  void load(const State& state);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

  bool none() const { return none_.load(); }
  Bound in_force() const;

 private:
  void publish();

  PolicyTypes types_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const AdmissionPolicy>> policies_;
  std::map<std::string, std::shared_ptr<const AdmissionPolicyBinding>> bindings_;
  Bound bound_;
  std::atomic<bool> none_{true};
};

}  // namespace shiplog::api
