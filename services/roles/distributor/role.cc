#include "services/roles/distributor/role.h"

#include <algorithm>

#include "events/state/binding.h"
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
  explicit DistributorRole(QuestionResolver* resolver) : resolver_{resolver} {}

  std::string_view name() const override { return "distributor"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == type::kResourceBinding) return on_binding(state, change, wake);
    if (change.object.type == type::kWork) return;
    if (interpreter::interprets(change.object.type)) return wake_referrers(state, wake);
    const ObjectKey binding = attached_binding(change.object, change.latest()["kind"].as_string(), change.object.name);
    if (!state.dependencies().referrers(binding).empty() || !state.dependencies().selecting(binding.ns).empty()) {
      wake.push_back(binding);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
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

  void reconcile(TaskPtr task) override { follow(distributor::decide, task, {.resolver = resolver_}); }

 private:
  static void on_binding(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
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

  static void wake_attached(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    const auto& followers = state.dependencies().attached_to(change.object);
    wake.insert(wake.end(), followers.begin(), followers.end());
    for (const Value* version : {&change.before, &change.after}) {
      for (ObjectKey& attachable_key : distributor::attachable(state, change.object, *version))
        wake.push_back(std::move(attachable_key));
    }
  }

  static void wake_referrers(const State& state, std::vector<ObjectKey>& wake) {
    for (const auto& [name, object] : state.objects(type::kResourceBinding)) {
      if (refers(object.value)) wake.push_back({type::kResourceBinding, name.ns, name.name});
    }
  }

  QuestionResolver* const resolver_;
};

}  // namespace

std::unique_ptr<Role> make_distributor_role(QuestionResolver* resolver) {
  return std::make_unique<DistributorRole>(resolver);
}

}  // namespace shiplog
