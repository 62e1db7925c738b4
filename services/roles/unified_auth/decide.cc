#include "services/roles/unified_auth/decide.h"

#include <string>
#include <utility>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/state/impersonation.h"
#include "events/state/manifest.h"
#include "events/state/new_work.h"
#include "events/state/rbac.h"

namespace shiplog::unified_auth {
namespace {

constexpr const char* kRbacVersion = "rbac.authorization.k8s.io/v1";

Value manifest_of(const char* kind) {
  return Value::object(
      {{"apiVersion", kRbacVersion},
       {"kind", kind},
       {"metadata", Value::object({{"name", kImpersonator}, {"labels", Value::object({{label::kSystem, "true"}})}})}});
}

Value cluster_role(const ProxyGrants& grants, const std::string& cluster) {
  Value role = manifest_of("ClusterRole");
  role.set("rules", grants.impersonation_rules(cluster));
  return role;
}

Value cluster_role_binding(const Value& cluster) {
  Value binding = manifest_of("ClusterRoleBinding");
  binding.set("roleRef", Value::object({{"apiGroup", rbac::kGroup}, {"kind", "ClusterRole"}, {"name", kImpersonator}}));
  binding.set("subjects",
              Value::array({Value::object({{"kind", "ServiceAccount"},
                                           {"name", kImpersonator},
                                           {"namespace", cluster["spec"]["impersonatorSecretRef"]["namespace"]}})}));
  return binding;
}

/// `before`: the present Work, or null.
Value work_around(Value manifest, const ObjectKey& work, const Value& cluster, const Value& before) {
  const auto old_id = label_of(before, label::kWorkId);
  const std::string id = old_id.empty() ? new_work_id(work, "") : std::string{old_id};
  Value& head = manifest.edit("metadata");
  head.edit("labels").set(label::kManaged, "true");
  head.edit("labels").set(label::kWorkId, id);
  head.set("annotations", Value::object({{annotation::kTemplateUid, ""},
                                         {annotation::kWorkName, work.name},
                                         {annotation::kWorkNamespace, work.ns}}));
  record_managed_keys(manifest);

  Value rendered = before;
  rendered.set("apiVersion", "work.karmada.io/v1alpha1");
  rendered.set("kind", "Work");
  Value& metadata = rendered.edit("metadata");
  metadata.set("name", work.name);
  metadata.set("namespace", work.ns);
  metadata.edit("labels").set(label::kWorkId, id);
  if (!has_finalizer(before, finalizer::kWork)) metadata.edit("finalizers").push_back(finalizer::kWork);
  metadata.set("ownerReferences", Value::array({Value::object({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                                                               {"blockOwnerDeletion", true},
                                                               {"controller", true},
                                                               {"kind", "Cluster"},
                                                               {"name", cluster["metadata"]["name"]},
                                                               {"uid", uid_of(cluster)}})}));
  rendered.set("spec",
               Value::object({{"suspendDispatching", false},
                              {"preserveResourcesOnDeletion", false},
                              {"workload", Value::object({{"manifests", Value::array({std::move(manifest)})}})}}));
  return rendered;
}

Result<void> put(const State& state, Value manifest, const std::string& cluster, const Value& object, UtcMillis now,
                 DecisionBuilder& decision) {
  const std::string kind = manifest["kind"].str();
  const ObjectKey work = impersonation_work(kind, cluster);
  const Value& before = state.value_of(work);
  if (deleting(before)) return ok();  // its removal triggers the cluster again
  if (!before.is_null() && !owned_by_cluster(before, cluster)) {
    return Error{ErrorCode::kConflict, to_string(work) + " belongs to a binding: a " + kind + " named " +
                                           kImpersonator +
                                           " is propagated to the cluster, so that its impersonator cannot get its "
                                           "rights; give that one another name"};
  }
  Value rendered = work_around(std::move(manifest), work, object, before);
  if (rendered == before) return ok();
  if (before.is_null()) {
    rendered.set("status", Value::object({{"conditions", Value::array({dispatching_condition(false, now)})}}));
  }
  Explanation why;
  why.summary = ManifestRendered{kind, kImpersonator, cluster};
  why.inputs_digest = to_string(siphash128(to_json(rendered["spec"])));
  decision.add(WorkRendered{work, std::move(rendered), std::move(why)}, {work, state.revision_of(work)});
  return ok();
}

void take_away(const State& state, const std::string& cluster, DecisionBuilder& decision) {
  for (const char* kind : {"ClusterRole", "ClusterRoleBinding"}) {
    const ObjectKey work = impersonation_work(kind, cluster);
    const Object* present = state.find(work);
    if (present == nullptr || deleting(present->value) || !owned_by_cluster(present->value, cluster)) continue;
    decision.add(DeletionRequested{.object = work}, {work, present->revision});
  }
}

}  // namespace

Result<Decided> decide_with(const State& state, const ProxyGrants& grants, const ObjectKey& key, UtcMillis now) {
  if (key.type != type::kCluster) return Nothing{};
  const Value& cluster = state.value_of(key);
  if (cluster.is_null() || deleting(cluster)) return Nothing{};
  DecisionBuilder decision;
  if (cluster["spec"]["impersonatorSecretRef"]["name"].is_empty()) {
    take_away(state, key.name.str(), decision);
    return std::move(decision).build();
  }
  const Value& space = state.value_of({type::kNamespace, "", execution_space(key.name)});
  if (space.is_null() || deleting(space)) return Nothing{};
  SHIPLOG_TRY(put(state, cluster_role(grants, key.name.str()), key.name.str(), cluster, now, decision));
  SHIPLOG_TRY(put(state, cluster_role_binding(cluster), key.name.str(), cluster, now, decision));
  return std::move(decision).build();
}

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  return decide_with(state, ProxyGrants::of(state), key, now);
}

}  // namespace shiplog::unified_auth
