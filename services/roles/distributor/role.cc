#include "services/roles/distributor/role.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "events/state/binding.h"
#include "events/state/policy_author.h"
#include "events/state/rbac.h"
#include "services/interpreter/customizations.h"
#include "services/roles/distributor/attached.h"
#include "services/roles/distributor/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

bool refers(const Value& binding) {
  return binding["spec"]["propagateDeps"].as_bool() || has_finalizer(binding, kDistributorFinalizer);
}

bool attached(const Value& binding) { return binding["spec"]["requiredBy"].size() > 0; }

class DistributorRole final : public Role {
 public:
  DistributorRole(QuestionResolver* resolver, ReportConflict report)
      : resolver_{resolver}, report_{std::move(report)} {}

  std::string_view name() const override { return "distributor"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == type::kResourceBinding) return on_binding(state, change, wake);
    if (change.object.type == type::kWork) return;
    if (interpreter::interprets(change.object.type)) return wake_referrers(state, wake);
    if (state.options().checks_policy_authors() && concerns_authors(change)) wake_all(state, wake);
    const ObjectKey binding = attached_binding(change.object, change.latest()["kind"].as_string(), change.object.name);
    if (!state.dependencies().referrers(binding).empty() || !state.dependencies().selecting(binding.ns).empty()) {
      begin_cycle(binding, wake);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    acting_ = true;
    begun_.clear();
    wake_all(state, wake);
  }

  void on_stop() override {
    acting_ = false;
    begun_.clear();
  }

  void reconcile(TaskPtr task) override {
    const auto decided = [this](const State& state, const ObjectKey& key, UtcMillis now) {
      auto answer = distributor::decide(state, key, now);
      // A decision about the binding has the conflict in its explanation, from which it is reported.
      const bool unchanged = answer && std::holds_alternative<Nothing>(answer.value());
      if (begun_.erase(key) == 0 || !unchanged || !report_) return answer;
      if (const auto conflict = distributor::policy_conflict(state, key)) report_(state, key, *conflict, now);
      return answer;
    };
    follow(decided, task, {.resolver = resolver_});
  }

 private:
  /// Triggers a binding because of a referrer or of the object: upstream reports a conflict each time (B-34).
  void begin_cycle(const ObjectKey& attached, std::vector<ObjectKey>& wake) {
    if (acting_ && report_) begun_.insert(attached);
    wake.push_back(attached);
  }

  void on_binding(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    if (change.removed()) begun_.erase(change.object);
    const Value& before = change.before;
    const Value& after = change.after;
    const auto differs = [&](const char* field) { return before["metadata"][field] != after["metadata"][field]; };
    if (before["spec"] == after["spec"] && !differs("annotations") && !differs("finalizers") && !differs("labels") &&
        deleting(before) == deleting(after) && !change.removed()) {
      return;  // the status alone
    }
    const bool concerned = refers(before) || refers(after) || attached(before) || attached(after) || change.removed();
    if (!concerned) return;
    wake.push_back(change.object);
    if (refers(before) || refers(after)) wake_attached(state, change, wake);
    if (before["spec"]["requiredBy"] != after["spec"]["requiredBy"]) {
      // A referrer that was released may drop its finalizer.
      for (const Value& requirer : before["spec"]["requiredBy"].items()) {
        const Value& referrer =
            state.value_of({type::kResourceBinding, requirer["namespace"].str(), requirer["name"].str()});
        if (has_finalizer(referrer, kDistributorFinalizer) &&
            (deleting(referrer) || !referrer["spec"]["propagateDeps"].as_bool())) {
          wake.push_back({type::kResourceBinding, requirer["namespace"].str(), requirer["name"].str()});
        }
      }
    }
  }

  void wake_attached(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    for (const ObjectKey& follower : state.dependencies().attached_to(change.object)) begin_cycle(follower, wake);
    for (const Value* version : {&change.before, &change.after}) {
      for (const ObjectKey& attachable_key : distributor::attachable(state, change.object, *version)) {
        begin_cycle(attachable_key, wake);
      }
    }
  }

  /// Who the author of a policy is, or what the author may get, is another.
  static bool concerns_authors(const Change& change) {
    if (rbac::is_rbac(change.object.type)) return true;
    return is_propagation_policy(change.object.type) && annotation_of(change.before, kPolicyAuthorAnnotation) !=
                                                            annotation_of(change.after, kPolicyAuthorAnnotation);
  }

  static void wake_all(const State& state, std::vector<ObjectKey>& wake) {
    for (const auto& [name, object] : state.objects(type::kResourceBinding)) {
      const ObjectKey key{type::kResourceBinding, name.ns, name.name};
      if (refers(object.value)) {
        wake.push_back(key);
        // Also those that do not exist yet.
        for (ObjectKey& attachable_key : distributor::attachable(state, key, object.value))
          wake.push_back(std::move(attachable_key));
      }
      if (attached(object.value)) wake.push_back(key);
    }
  }

  static void wake_referrers(const State& state, std::vector<ObjectKey>& wake) {
    for (const auto& [name, object] : state.objects(type::kResourceBinding)) {
      if (refers(object.value)) wake.push_back({type::kResourceBinding, name.ns, name.name});
    }
  }

  QuestionResolver* const resolver_;
  const ReportConflict report_;
  bool acting_ = false;
  std::set<ObjectKey> begun_;  ///< attached bindings that a referrer or the object has triggered
};

}  // namespace

std::unique_ptr<Role> make_distributor_role(QuestionResolver* resolver, ReportConflict report) {
  return std::make_unique<DistributorRole>(resolver, std::move(report));
}

}  // namespace shiplog
