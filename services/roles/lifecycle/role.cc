#include "services/roles/lifecycle/role.h"

#include <utility>

#include "events/state/answers.h"
#include "events/state/definition_status.h"
#include "events/state/pod_template.h"
#include "events/state/protection.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"
#include "services/interpreter/customizations.h"
#include "services/interpreter/quarantine.h"
#include "services/roles/lifecycle/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

const Value& references(const Value& object) { return object["metadata"]["ownerReferences"]; }

void wake_all(const std::set<ObjectKey>& keys, std::vector<ObjectKey>& wake) {
  wake.insert(wake.end(), keys.begin(), keys.end());
}

class LifecycleRole final : public Role {
 public:
  explicit LifecycleRole(Decide decide) : decide_{std::move(decide)} {}

  std::string_view name() const override { return "lifecycle"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    const Value& latest = change.latest();
    if (change.removed() || deleting(latest)) wake_all(state.dependents(uid_of(latest)), wake);
    if (!change.removed() && (deleting(latest) || change.object.type == type::kCluster)) wake.push_back(change.object);
    if (!change.removed() && references(latest).size() > 0 &&
        (references(change.before) != references(latest) ||
         deletion_protected(change.before) != deletion_protected(latest))) {
      wake.push_back(change.object);
    }
    if (!change.removed() && lifecycle::expiry_of_job(change.object, change.after)) wake.push_back(change.object);
    wake_owners(state, change, wake);
    wake_dependents_of_views(state, change, wake);
    wake_space(state, change, wake);
    wake_pods(state, change, wake);
    wake_answers(state, change, wake);
    wake_definitions(state, change, wake);
    if (change.object.type == interpreter::kCustomizationType && !change.removed() &&
        interpreter::quarantine_is_over(change.after)) {
      wake.push_back(change.object);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const std::string& type : state.types()) {
      for (const auto& [name, object] : state.objects(type)) {
        const bool ends_quarantine =
            type == interpreter::kCustomizationType && interpreter::quarantine_is_over(object.value);
        ObjectKey key{type, name.ns, name.name};
        const bool waits = type == type::kCustomResourceDefinition && waits_for_names(object.value);
        if (type == type::kCluster || deleting(object.value) || references(object.value).size() > 0 ||
            ends_quarantine || waits || lifecycle::expiry_of_job(key, object.value)) {
          wake.push_back(std::move(key));
        }
      }
    }
  }

  void reconcile(TaskPtr task) override { follow(decide_, task); }

 private:
  // An owner that waits for its dependents is reconciled again when one of them is deleted or orphaned.
  static void wake_owners(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    if (change.before.is_null() || references(change.before).size() == 0) return;
    if (!change.removed() && references(change.before) == references(change.after)) return;
    for (const Value& reference : references(change.before).items()) {
      const auto served = served_kind(state, reference["apiVersion"].as_string(), reference["kind"].as_string());
      if (!served) continue;
      const ObjectKey owner = served->key(change.object.ns, reference["name"].as_string());
      if (deleting(state.value_of(owner))) wake.push_back(owner);
    }
  }

  // The view of a workload's template is no object that changes: it is gone with the workload. Dependents of the views
  // of earlier templates are found at the next start.
  static void wake_dependents_of_views(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    const std::string_view type = change.object.type;
    if (!change.removed() || (type != "deployments.apps" && type != "statefulsets.apps" && type != "daemonsets.apps")) {
      return;
    }
    const std::string hash = template_hash(change.before["spec"]["template"]);
    wake_all(state.dependents(template_view_uid(uid_of(change.before), hash)), wake);
  }

  // The answers of a webhook that no longer exists are not needed.
  static void wake_answers(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    if (change.object.type == kAnswersType && !change.removed() && references(change.after).size() == 0) {
      wake.push_back(change.object);
    }
    if (change.object.type != kInterpreterWebhookType || change.before["webhooks"] == change.after["webhooks"]) return;
    for (const auto& [name, answers] : state.objects(kAnswersType)) {
      if (answers_obsolete(state, answers.value)) wake.push_back({kAnswersType, name.ns, name.name});
    }
  }

  // A definition that goes, or changes, may leave names that others of its group wait for; itself too, as a server that
  // lags may have found them in use when they were free already.
  static void wake_definitions(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    if (change.object.type != type::kCustomResourceDefinition) return;
    const Value& group = change.latest()["spec"]["group"];
    for (const auto& [name, definition] : state.objects(type::kCustomResourceDefinition)) {
      if (definition.value["spec"]["group"] != group || !waits_for_names(definition.value)) continue;
      wake.push_back({type::kCustomResourceDefinition, "", name.name});
    }
  }

  // No kubelet is left to end the pods of a node that was deleted.
  static void wake_pods(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    if (!change.removed() || change.object.type != "nodes") return;
    for (const auto& [name, pod] : state.objects("pods")) {
      if (deleting(pod.value) && pod.value["spec"]["nodeName"].as_string() == change.object.name) {
        wake.push_back({"pods", name.ns, name.name});
      }
    }
  }

  // Any change inside a terminating namespace, or to a terminating cluster, may have been the last one.
  static void wake_space(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    if (change.removed() || change.before.is_null()) {
      const ObjectKey definition{type::kCustomResourceDefinition, "", change.object.type};
      if (deleting(state.value_of(definition))) wake.push_back(definition);
    }
    const ObjectKey ns{type::kNamespace, "", change.object.ns};
    if (!change.object.ns.empty() && deleting(state.value_of(ns))) wake.push_back(ns);
    if (change.object.type == type::kNamespace) {
      const std::string cluster = cluster_of_space(change.object.name);
      if (state.cluster(cluster) != nullptr) wake.push_back({type::kCluster, "", cluster});
    }
    if (is_binding(change.object.type)) {
      for (const Value& target : change.before["spec"]["clusters"].items()) {
        const Cluster* cluster = state.cluster(target["name"].as_string());
        if (cluster != nullptr && cluster->deleting) wake.push_back({type::kCluster, "", cluster->name});
      }
    }
  }

  const Decide decide_;
};

}  // namespace

std::unique_ptr<Role> make_lifecycle_role(bool deletion_protection) {
  return std::make_unique<LifecycleRole>(deletion_protection ? lifecycle::decide : lifecycle::decide_unprotected);
}

}  // namespace shiplog
