#include <algorithm>
#include <set>

#include "events/base/names.h"
#include "events/state/object.h"
#include "events/state/policy_author.h"
#include "events/state/policy_identity.h"
#include "services/api/admission/metadata.h"
#include "services/api/admission/rules.h"

// Propagation and override policies: D-33, D-34; KIND-3 to KIND-8.

namespace shiplog::api {
namespace {

/// The type of one of the four kinds decides the namespace rule and the permanent id.
bool is_cluster_scoped(const Write& write) { return !write.kind.namespaced; }

const char* permanent_id(const Write& write) { return policy_id_label(is_cluster_scoped(write)); }

void fill_selector_namespaces(Value& spec, const Value& ns) {
  if (spec["resourceSelectors"].size() == 0) return;
  for (Value& selector : spec.edit("resourceSelectors").edit_items()) {
    if (selector["namespace"].is_empty()) selector.set("namespace", ns);
  }
}

void check_selector_namespaces(const Value& object, const Write& write, Causes& causes) {
  if (is_cluster_scoped(write)) return;
  const Value& selectors = object["spec"]["resourceSelectors"];
  for (size_t i = 0; i < selectors.size(); ++i) {
    if (selectors[i]["namespace"] == object["metadata"]["namespace"]) continue;
    causes.invalid(at("spec.resourceSelectors", i) + ".namespace", selectors[i]["namespace"],
                   "the namespace of resource selector should be the same as the policy");
  }
}

void fill_propagation(Value& object, const Write& write) {
  if (write.old == nullptr && object["metadata"]["labels"].contains(permanent_id(write))) {
    // A copy of a policy contains its identity; a new one gets its own when it is stored.
    object.edit("metadata").edit("labels").erase(permanent_id(write));
  }
  if (!object["spec"].is_object()) return;
  Value& spec = object.edit("spec");
  if (!is_cluster_scoped(write)) fill_selector_namespaces(spec, object["metadata"]["namespace"]);
  const auto selectors = spec["resourceSelectors"].items();
  if (std::any_of(selectors.begin(), selectors.end(), [](const Value& selector) {
        return selector["apiVersion"].as_string() == "multicluster.x-k8s.io/v1alpha1" &&
               selector["kind"].as_string() == "ServiceImport";
      })) {
    spec.set("propagateDeps", true);
  }
  if (spec["placement"]["spreadConstraints"].size() > 0) {
    for (Value& constraint : spec.edit("placement").edit("spreadConstraints").edit_items()) {
      if (constraint["spreadByField"].is_empty() && constraint["spreadByLabel"].is_empty()) {
        constraint.set("spreadByField", "cluster");
      }
      if (constraint["minGroups"].as_int() == 0) constraint.set("minGroups", 1);
    }
  }
  const Value scheduling = spec["placement"]["replicaScheduling"];
  if (scheduling["replicaSchedulingType"].as_string() == "Divided" &&
      scheduling["replicaDivisionPreference"].is_empty()) {
    spec.edit("placement").edit("replicaScheduling").set("replicaDivisionPreference", "Weighted");
  }
  const Value application = spec["failover"]["application"];
  if (application["purgeMode"].as_string() == "Gracefully" && application["gracePeriodSeconds"].is_null()) {
    spec.edit("failover").edit("application").set("gracePeriodSeconds", 600);
  }
}

/// Decision 0028. What a client sends under the annotation's name does not count.
void fill_author(Value& object, const Write& write) {
  const std::string before{write.old == nullptr ? "" : annotation_of(*write.old, kPolicyAuthorAnnotation)};
  const bool written = write.old == nullptr || (*write.old)["spec"] != object["spec"];
  const bool record = written || (before.empty() && !write.author.empty());
  const std::string author = record ? std::string{write.author} : before;
  if (!author.empty()) {
    object.edit("metadata").edit("annotations").set(kPolicyAuthorAnnotation, author);
  } else if (object["metadata"]["annotations"].contains(kPolicyAuthorAnnotation)) {
    object.edit("metadata").edit("annotations").erase(kPolicyAuthorAnnotation);
  }
}

void fill_policy(Value& object, const Write& write) {
  fill_propagation(object, write);
  fill_author(object, write);
}

void check_affinity(const Value& affinity, const std::string& field, Causes& causes) {
  const Value& expressions = affinity["fieldSelector"]["matchExpressions"];
  for (size_t i = 0; i < expressions.size(); ++i) {
    const std::string here = at(field + ".fieldSelector.matchExpressions", i);
    const std::string_view key = expressions[i]["key"].as_string();
    if (key != "provider" && key != "region" && key != "zone") {
      causes.not_supported(here + ".key", expressions[i]["key"], {"provider", "region", "zone"});
    }
    const std::string_view op = expressions[i]["operator"].as_string();
    if (op != "In" && op != "NotIn")
      causes.not_supported(here + ".operator", expressions[i]["operator"], {"In", "NotIn"});
  }
}

bool has_criterion(const Value& affinity) {
  return !affinity["labelSelector"].is_null() || !affinity["fieldSelector"].is_null() ||
         affinity["clusterNames"].size() > 0 || affinity["exclude"].size() > 0;
}

void check_affinity_name(const Value& name, const std::string& field, std::set<std::string>& names, Causes& causes) {
  if (const auto problem = qualified_name_problem(name.as_string())) causes.invalid(field, name, *problem);
  if (!names.insert(name.str()).second) {
    causes.invalid(field, name, "each affinity term in a policy must have a unique name");
  }
}

void check_affinities(const Value& placement, Causes& causes) {
  check_affinity(placement["clusterAffinity"], "spec.placement.clusterAffinity", causes);
  const Value& terms = placement["clusterAffinities"];
  if (!terms.is_null() && !placement["clusterAffinity"].is_null()) {
    causes.invalid("spec.placement.clusterAffinities", terms, "clusterAffinities cannot co-exist with clusterAffinity");
  }
  const Value& scheduling = placement["replicaScheduling"];
  const std::string_view preference = scheduling["replicaDivisionPreference"].as_string();
  const bool may_overflow = scheduling["replicaSchedulingType"].as_string() == "Divided" &&
                            (preference == "Aggregated" ||
                             (preference == "Weighted" && !scheduling["weightPreference"]["dynamicWeight"].is_empty()));
  std::set<std::string> names;
  for (size_t i = 0; i < terms.size(); ++i) {
    const Value& term = terms[i];
    const std::string field = at("spec.placement.clusterAffinities", i);
    check_affinity_name(term["affinityName"], field + ".affinityName", names, causes);
    check_affinity(term, field, causes);
    const Value& tiers = term["overflowAffinities"];
    if (tiers.is_null()) continue;
    const std::string overflow = field + ".overflowAffinities";
    if (!may_overflow) {
      causes.invalid(overflow, tiers,
                     "overflowAffinities needs replicaSchedulingType Divided with preference Aggregated, or Weighted "
                     "with dynamicWeight");
    }
    if (!has_criterion(term)) {
      causes.invalid(overflow, tiers, "overflowAffinities needs a cluster affinity of the term's own");
    }
    std::set<std::string> tier_names{term["affinityName"].str()};
    for (size_t j = 0; j < tiers.size(); ++j) {
      check_affinity_name(tiers[j]["affinityName"], at(overflow, j) + ".affinityName", tier_names, causes);
      check_affinity(tiers[j], at(overflow, j), causes);
    }
  }
}

void check_spread(const Value& constraints, Causes& causes) {
  std::set<std::string> fields;
  const std::string root = "spec.placement.spreadConstraints";
  for (size_t i = 0; i < constraints.size(); ++i) {
    const Value& constraint = constraints[i];
    const std::string here = at(root, i);
    const std::string by_field = constraint["spreadByField"].str();
    if (!by_field.empty() && !constraint["spreadByLabel"].is_empty()) {
      causes.invalid(here + ".spreadByLabel", constraint["spreadByLabel"],
                     "spreadByLabel should not co-exist with spreadByField");
    }
    const int64_t least = constraint["minGroups"].as_int();
    const int64_t most = constraint["maxGroups"].as_int();
    if (least < 0)
      causes.invalid(here + ".minGroups", constraint["minGroups"], "minGroups lower than 0 is not allowed");
    if (most < 0) {
      causes.invalid(here + ".maxGroups", constraint["maxGroups"], "maxGroups lower than 0 is not allowed");
    } else if (most > 0 && most < least) {
      causes.invalid(here + ".maxGroups", constraint["maxGroups"], "maxGroups lower than minGroups is not allowed");
    }
    if (!by_field.empty() && !fields.insert(by_field).second) {
      causes.invalid(root, constraints, "multiple " + by_field + " spread constraints are not allowed");
    }
  }
  if (!fields.empty() && !fields.contains("cluster")) {
    causes.invalid(
        root, constraints,
        "the cluster spread constraint must be enabled in one of the constraints in case of SpreadByField is "
        "enabled");
  }
}

void check_workload_affinity(const Value& affinity, Causes& causes) {
  const std::string root = "spec.placement.workloadAffinity";
  for (const char* side : {"affinity", "antiAffinity"}) {
    if (affinity[side].is_null()) continue;
    const Value& key = affinity[side]["groupByLabelKey"];
    if (const auto problem = qualified_name_problem(key.as_string())) {
      causes.invalid(root + "." + side + ".groupByLabelKey", key, *problem);
    }
  }
  const Value& key = affinity["affinity"]["groupByLabelKey"];
  if (!key.is_null() && key == affinity["antiAffinity"]["groupByLabelKey"]) {
    causes.invalid(root, affinity, "affinity and antiAffinity must not use the same groupByLabelKey");
  }
}

void check_failover(const Value& spec, Causes& causes) {
  const Value& application = spec["failover"]["application"];
  const auto check_rules = [&](const Value& owner, const std::string& field) {
    const Value& rules = owner["statePreservation"]["rules"];
    for (size_t i = 0; i < rules.size(); ++i) {
      const Value& alias = rules[i]["aliasLabelName"];
      if (const auto problem = qualified_name_problem(alias.as_string())) {
        causes.invalid(at(field + ".statePreservation.rules", i) + ".aliasLabelName", alias, *problem);
      }
    }
  };
  check_rules(spec["failover"]["cluster"], "spec.failover.cluster");
  if (application.is_null()) return;
  const std::string field = "spec.failover.application";
  check_rules(application, field);
  if (!spec["propagateDeps"].as_bool()) {
    causes.invalid("spec.propagateDeps", Value{false}, "application failover is set, propagateDeps must be true");
  }
  const Value& toleration = application["decisionConditions"]["tolerationSeconds"];
  if (toleration.as_int() < 0) {
    causes.invalid(field + ".decisionConditions.tolerationSeconds", toleration, "must be greater than or equal to 0");
  }
  const Value& grace = application["gracePeriodSeconds"];
  const bool gracefully = application["purgeMode"].as_string() == "Gracefully";
  if (gracefully && grace.is_null()) {
    causes.invalid(field + ".gracePeriodSeconds", grace, "should not be empty when purgeMode is gracefully");
  } else if (!gracefully && !grace.is_null()) {
    causes.invalid(field + ".gracePeriodSeconds", grace, "only takes effect when purgeMode is gracefully");
  }
  if (!grace.is_null() && grace.as_int() <= 0) {
    causes.invalid(field + ".gracePeriodSeconds", grace, "must be greater than 0");
  }
}

void check_policy_update(const Value& object, const Write& write, Causes& causes) {
  const Value& before = (*write.old)["spec"]["schedulerName"];
  const Value& after = object["spec"]["schedulerName"];
  if (before != after) causes.invalid("spec.schedulerName", after, "the schedulerName should not be updated");
  const std::string key = permanent_id(write);
  const std::string_view id = label_of(*write.old, key);
  // A policy that an earlier version of this server stored may have none yet.
  if (!id.empty() && label_of(object, key) != id) {
    causes.invalid("metadata.labels." + key, Value{label_of(object, key)}, "the " + key + " should not be changed");
  }
}

void check_propagation_policy(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  const Value& placement = spec["placement"];
  check_selector_namespaces(object, write, causes);
  if (spec["preemption"].as_string() == "Always") {
    for (size_t i = 0; i < spec["resourceSelectors"].size(); ++i) {
      if (!spec["resourceSelectors"][i]["name"].is_empty()) continue;
      causes.invalid(at("spec.resourceSelectors", i) + ".name", Value{""},
                     "name cannot be empty if preemption is Always, the empty name may cause unexpected resources "
                     "preemption");
    }
  }
  check_affinities(placement, causes);
  check_spread(placement["spreadConstraints"], causes);
  check_workload_affinity(placement["workloadAffinity"], causes);
  const Value& tolerations = placement["clusterTolerations"];
  for (size_t i = 0; i < tolerations.size(); ++i) {
    const std::string_view op = tolerations[i]["operator"].as_string();
    if (!op.empty() && op != "Exists" && op != "Equal") {
      causes.not_supported(at("spec.placement.clusterTolerations", i) + ".operator", tolerations[i]["operator"],
                           {"Equal", "Exists"});
    }
  }
  check_failover(spec, causes);
  const Value& suspension = spec["suspension"];
  if (suspension["dispatching"].as_bool() && suspension["dispatchingOnClusters"]["clusterNames"].size() > 0) {
    causes.invalid("spec.suspension", suspension,
                   "suspension dispatching cannot co-exist with dispatchingOnClusters.clusterNames");
  }
  if (write.old != nullptr) check_policy_update(object, write, causes);
}

// --- OverridePolicy and ClusterOverridePolicy

void fill_override(Value& object, const Write& write) {
  if (!is_cluster_scoped(write) && object["spec"].is_object()) {
    fill_selector_namespaces(object.edit("spec"), object["metadata"]["namespace"]);
  }
  fill_author(object, write);
}

void check_pointer(const Value& pointer, const std::string& field, Causes& causes) {
  const std::string_view text = pointer.as_string();
  if (!text.empty() && text.front() != '/') {
    causes.invalid(field, pointer, "must be a JSON pointer: non-empty references must begin with a '/' character");
    return;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1'))) {
      causes.invalid(field, pointer, "must be a JSON pointer: '~' must be followed by 0 or 1");
      return;
    }
  }
}

/// Overrides fail where they would make another object of a template (see events/state/identity.h). A path that can do
/// nothing else is refused when it is written.
void check_not_identity(const Value& pointer, const std::string& field, Causes& causes) {
  for (const std::string_view identity : {"/apiVersion", "/kind", "/metadata/name", "/metadata/namespace"}) {
    if (pointer.as_string() != identity) continue;
    causes.forbidden(field, "an override may not change " + std::string{identity} +
                                ": an object keeps its apiVersion, kind, "
                                "namespace and name in every cluster");
  }
}

void check_identity_paths(const Value& overriders, const std::string& field, Causes& causes) {
  for (size_t i = 0; i < overriders["plaintext"].size(); ++i) {
    check_not_identity(overriders["plaintext"][i]["path"], at(field + ".plaintext", i) + ".path", causes);
  }
  for (size_t i = 0; i < overriders["fieldOverrider"].size(); ++i) {
    check_not_identity(overriders["fieldOverrider"][i]["fieldPath"], at(field + ".fieldOverrider", i) + ".fieldPath",
                       causes);
  }
  for (size_t i = 0; i < overriders["imageOverrider"].size(); ++i) {
    check_not_identity(overriders["imageOverrider"][i]["predicate"]["path"],
                       at(field + ".imageOverrider", i) + ".predicate.path", causes);
  }
}

void check_field_overrider(const Value& overrider, const std::string& field, Causes& causes) {
  check_pointer(overrider["fieldPath"], field + ".fieldPath", causes);
  if ((overrider["json"].size() > 0) == (overrider["yaml"].size() > 0)) {
    causes.invalid(field, overrider, "fieldOverrider has not or more than one JSON or YAML operations");
  }
  for (const char* form : {"json", "yaml"}) {
    for (size_t i = 0; i < overrider[form].size(); ++i) {
      const Value& patch = overrider[form][i];
      const std::string here = at(field + "." + form, i);
      check_pointer(patch["subPath"], here + ".subPath", causes);
      const std::string_view op = patch["operator"].as_string();
      const bool has_value = patch.contains("value") && !patch["value"].is_null();
      if (op == "remove" && has_value) {
        causes.invalid(here + ".value", patch["value"], "value should not be present for remove operations");
      }
      if (op != "remove" && !has_value) {
        causes.required(here + ".value", "value is required for add or replace operations");
      }
    }
  }
}

void check_override(const Value& object, const Write& write, Causes& causes) {
  check_selector_namespaces(object, write, causes);
  const Value& spec = object["spec"];
  const Value& rules = spec["overrideRules"];
  if (!rules.is_null()) {
    if (!spec["targetCluster"].is_null()) {
      causes.invalid("spec.targetCluster", spec["targetCluster"], "overrideRules and targetCluster can't co-exist");
    }
    const auto overriders = spec["overriders"].members();
    // Upstream's test for emptiness overlooks fieldOverrider, so a policy may have that beside rules.
    if (std::any_of(overriders.begin(), overriders.end(), [](const Value::Member& overrider) {
          return overrider.key() != "fieldOverrider" && overrider.value.size() > 0;
        })) {
      causes.invalid("spec.overriders", spec["overriders"], "overrideRules and overriders can't co-exist");
    }
  }
  // What was stored before this check existed can still be labelled and deleted.
  const bool new_spec = write.old == nullptr || (*write.old)["spec"] != spec;
  if (new_spec) check_identity_paths(spec["overriders"], "spec.overriders", causes);
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string rule = at("spec.overrideRules", i);
    if (new_spec) check_identity_paths(rules[i]["overriders"], rule + ".overriders", causes);
    check_affinity(rules[i]["targetCluster"], rule + ".targetCluster", causes);
    const Value& overriders = rules[i]["overriders"];
    const std::string field = rule + ".overriders";
    for (size_t j = 0; j < overriders["imageOverrider"].size(); ++j) {
      const Value& predicate = overriders["imageOverrider"][j]["predicate"];
      if (!predicate.is_null()) {
        check_pointer(predicate["path"], at(field + ".imageOverrider", j) + ".predicate.path", causes);
      }
    }
    for (size_t j = 0; j < overriders["fieldOverrider"].size(); ++j) {
      check_field_overrider(overriders["fieldOverrider"][j], at(field + ".fieldOverrider", j), causes);
    }
    for (size_t j = 0; j < overriders["labelsOverrider"].size(); ++j) {
      check_labels(overriders["labelsOverrider"][j]["value"], at(field + ".labelsOverrider", j) + ".value", causes);
    }
    for (size_t j = 0; j < overriders["annotationsOverrider"].size(); ++j) {
      for (const auto& annotation : overriders["annotationsOverrider"][j]["value"].members()) {
        if (const auto problem = qualified_name_problem(annotation.key())) {
          causes.invalid(at(field + ".annotationsOverrider", j) + ".value", Value{annotation.key()}, *problem);
        }
      }
    }
  }
}

}  // namespace

const std::vector<Rules>& policy_rules() {
  static const std::vector<Rules> kRules = {
      {.type = type::kPropagationPolicy,
       .webhook = "propagationpolicy.karmada.io",
       .fill = fill_policy,
       .check = check_propagation_policy},
      {.type = type::kClusterPropagationPolicy,
       .webhook = "clusterpropagationpolicy.karmada.io",
       .fill = fill_policy,
       .check = check_propagation_policy},
      {.type = "overridepolicies.policy.karmada.io",
       .webhook = "overridepolicy.karmada.io",
       .fill = fill_override,
       .check = check_override},
      {.type = "clusteroverridepolicies.policy.karmada.io",
       .webhook = "clusteroverridepolicy.karmada.io",
       .fill = fill_override,
       .check = check_override},
  };
  return kRules;
}

}  // namespace shiplog::api
