#include "tests/simulation/objects.h"

#include <utility>

namespace shiplog::simulation {
namespace {

Value object_of(const char* api_version, const char* kind, const std::string& ns, const std::string& name) {
  Value metadata = Value::object({{"name", name}});
  if (!ns.empty()) metadata.set("namespace", ns);
  return Value::object({{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}});
}

Value generated(Value object) {
  object.edit("metadata").set("generation", 1);
  return object;
}

Value labelled(Value object, const std::string& app) {
  object.edit("metadata").set("labels", Value::object({{"app", app}}));
  return object;
}

Value milli(int64_t cpu) { return std::to_string(cpu) + "m"; }

}  // namespace

Value cluster_object(const std::string& name, const std::string& region) {
  Value cluster = generated(object_of("cluster.karmada.io/v1alpha1", "Cluster", "", name));
  cluster.edit("metadata").set("labels", Value::object({{"tier", region == "north" ? "gold" : "silver"}}));
  const Value impersonator = Value::object({{"namespace", "karmada-cluster"}, {"name", name + "-impersonator"}});
  cluster.set("spec", Value::object({{"syncMode", "Push"},
                                     {"apiEndpoint", "https://" + name},
                                     {"region", region},
                                     {"impersonatorSecretRef", impersonator}}));
  return cluster;
}

Value deployment(const std::string& ns, const std::string& name, const std::string& app, int64_t replicas,
                 int64_t cpu_milli) {
  const Value labels = Value::object({{"app", name}});
  Value container = Value::object({{"name", "main"}, {"image", "nginx:1"}});
  if (cpu_milli > 0) {
    container.set("resources", Value::object({{"requests", Value::object({{"cpu", milli(cpu_milli)}})}}));
  }
  Value value = generated(labelled(object_of("apps/v1", "Deployment", ns, name), app));
  value.set("spec",
            Value::object(
                {{"replicas", replicas},
                 {"selector", Value::object({{"matchLabels", labels}})},
                 {"template", Value::object({{"metadata", Value::object({{"labels", labels}})},
                                             {"spec", Value::object({{"containers", Value::array({container})}})}})}}));
  return value;
}

Value config_map(const std::string& ns, const std::string& name, const std::string& app, const std::string& text) {
  Value value = labelled(object_of("v1", "ConfigMap", ns, name), app);
  value.set("data", Value::object({{"text", text}}));
  return value;
}

Value cluster_role(const std::string& name, const std::string& app) {
  Value value = labelled(object_of("rbac.authorization.k8s.io/v1", "ClusterRole", "", name), app);
  value.set("rules", Value::array());
  return value;
}

Value proxy_role(const std::string& name, const std::string& cluster) {
  Value rule = Value::object({{"verbs", Value::array({"*"})},
                              {"apiGroups", Value::array({"cluster.karmada.io"})},
                              {"resources", Value::array({"clusters/proxy"})}});
  if (!cluster.empty()) rule.set("resourceNames", Value::array({cluster}));
  Value value = object_of("rbac.authorization.k8s.io/v1", "ClusterRole", "", name);
  value.set("rules", Value::array({std::move(rule)}));
  return value;
}

Value proxy_binding(const std::string& name, const std::string& role, const std::string& user) {
  Value value = object_of("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", name);
  const Value group = "rbac.authorization.k8s.io";
  value.set("roleRef", Value::object({{"apiGroup", group}, {"kind", "ClusterRole"}, {"name", role}}));
  value.set("subjects", Value::array({Value::object({{"apiGroup", group}, {"kind", "User"}, {"name", user}})}));
  return value;
}

Value federated_quota(const std::string& ns, const std::string& name, int64_t cpu_milli) {
  Value value = generated(object_of("policy.karmada.io/v1alpha1", "FederatedResourceQuota", ns, name));
  value.set("spec", Value::object({{"overall", Value::object({{"cpu", milli(cpu_milli)}})}}));
  return value;
}

Value taint_policy(const std::string& name, bool evict) {
  const auto conditions = [](const char* op, const char* status) {
    return Value::array(
        {Value::object({{"conditionType", "Ready"}, {"operator", op}, {"statusValues", Value::array({status})}})});
  };
  Value taints = Value::array({Value::object({{"key", "sim/away"}, {"effect", "NoSchedule"}})});
  if (evict) taints.push_back(Value::object({{"key", "sim/away"}, {"effect", "NoExecute"}}));
  Value value = generated(object_of("policy.karmada.io/v1alpha1", "ClusterTaintPolicy", "", name));
  value.set("spec", Value::object({{"addOnConditions", conditions("NotIn", "True")},
                                   {"removeOnConditions", conditions("In", "True")},
                                   {"taints", std::move(taints)}}));
  return value;
}

Value random_placement(Chance& chance, const std::vector<std::string>& clusters) {
  Value placement = Value::object();
  if (chance.permille(150)) {
    const Value labels = Value::object({{"tier", chance.permille(500) ? "gold" : "silver"}});
    placement.set("clusterAffinity", Value::object({{"labelSelector", Value::object({{"matchLabels", labels}})}}));
  } else if (!chance.permille(150)) {
    Value names = Value::array();
    for (const std::string& cluster : clusters) {
      if (chance.permille(600)) names.push_back(cluster);
    }
    if (names.size() == 0) names.push_back(chance.one_of(clusters));
    placement.set("clusterAffinity", Value::object({{"clusterNames", std::move(names)}}));
  }
  if (chance.permille(500)) {
    Value tolerations = Value::array();
    const char* key = chance.permille(700) ? "sim/away" : "sim/user";
    for (const char* effect : {"NoSchedule", "NoExecute"}) {
      Value one = Value::object({{"key", key}, {"operator", "Exists"}, {"effect", effect}});
      if (std::string_view{effect} == "NoExecute") one.set("tolerationSeconds", chance.between(1, 40));
      if (chance.permille(700)) tolerations.push_back(std::move(one));
    }
    if (tolerations.size() > 0) placement.set("clusterTolerations", std::move(tolerations));
  }
  switch (chance.below(4)) {
    case 0:
      placement.set("replicaScheduling", Value::object({{"replicaSchedulingType", "Duplicated"}}));
      break;
    case 1:
      placement.set("replicaScheduling",
                    Value::object({{"replicaSchedulingType", "Divided"}, {"replicaDivisionPreference", "Aggregated"}}));
      break;
    case 2:
      placement.set("replicaScheduling",
                    Value::object({{"replicaSchedulingType", "Divided"},
                                   {"replicaDivisionPreference", "Weighted"},
                                   {"weightPreference", Value::object({{"dynamicWeight", "AvailableReplicas"}})}}));
      break;
    default: {
      Value weights = Value::array();
      for (const std::string& cluster : clusters) {
        const Value target = Value::object({{"clusterNames", Value::array({cluster})}});
        weights.push_back(Value::object({{"targetCluster", target}, {"weight", chance.between(1, 3)}}));
      }
      placement.set("replicaScheduling",
                    Value::object({{"replicaSchedulingType", "Divided"},
                                   {"replicaDivisionPreference", "Weighted"},
                                   {"weightPreference", Value::object({{"staticWeightList", std::move(weights)}})}}));
    }
  }
  return placement;
}

Value policy(const std::string& ns, const std::string& name, Value selectors, Value placement) {
  Value value = generated(
      object_of("policy.karmada.io/v1alpha1", ns.empty() ? "ClusterPropagationPolicy" : "PropagationPolicy", ns, name));
  value.set("spec", Value::object({{"resourceSelectors", std::move(selectors)},
                                   {"placement", std::move(placement)},
                                   {"priority", 0},
                                   {"conflictResolution", "Abort"},
                                   {"preemption", "Never"},
                                   {"schedulerName", "default-scheduler"}}));
  return value;
}

Value selector(const char* api_version, const char* kind, const std::string& ns, const std::string& name,
               const std::string& app) {
  Value one = Value::object({{"apiVersion", api_version}, {"kind", kind}});
  if (!ns.empty()) one.set("namespace", ns);
  if (!name.empty()) one.set("name", name);
  if (!app.empty()) {
    one.set("labelSelector", Value::object({{"matchLabels", Value::object({{"app", app}})}}));
  }
  return one;
}

Value override_policy(Chance& chance, const std::string& ns, const std::string& name,
                      const std::vector<std::string>& clusters) {
  const std::string number = std::to_string(chance.below(5));
  Value selectors = Value::array();
  switch (chance.below(4)) {
    case 0:
      selectors.push_back(selector("apps/v1", "Deployment", ns, "", chance.permille(500) ? "red" : ""));
      break;
    case 1:
      selectors.push_back(selector("v1", "ConfigMap", ns, "", chance.permille(500) ? "green" : ""));
      break;
    case 2:
      selectors.push_back(selector("apps/v1", "Deployment", ns, "web-" + number, ""));
      selectors.push_back(selector("v1", "ConfigMap", ns, "settings-" + number, "blue"));
      break;
    default:
      break;  // everything
  }
  Value rules = Value::array();
  for (int64_t count = chance.between(1, 2); count > 0; --count) {
    Value overriders = Value::object();
    const std::string word = name + "-" + std::to_string(chance.below(100));
    overriders.set("labelsOverrider",
                   Value::array({Value::object({{"operator", "add"}, {"value", Value::object({{"team", word}})}})}));
    if (chance.permille(300)) {
      overriders.set("imageOverrider",
                     Value::array({Value::object({{"component", "Tag"}, {"operator", "replace"}, {"value", word}})}));
    }
    // A Deployment has no data.
    if (chance.permille(100)) {
      overriders.set("plaintext",
                     Value::array({Value::object({{"path", "/data/text"}, {"operator", "replace"}, {"value", word}})}));
    }
    Value rule = Value::object({{"overriders", std::move(overriders)}});
    if (chance.permille(300)) {
      rule.set("targetCluster", Value::object({{"clusterNames", Value::array({chance.one_of(clusters)})}}));
    } else if (chance.permille(300)) {
      const Value labels = Value::object({{"tier", chance.permille(500) ? "gold" : "silver"}});
      rule.set("targetCluster", Value::object({{"labelSelector", Value::object({{"matchLabels", labels}})}}));
    }
    rules.push_back(std::move(rule));
  }
  Value value = generated(
      object_of("policy.karmada.io/v1alpha1", ns.empty() ? "ClusterOverridePolicy" : "OverridePolicy", ns, name));
  value.set("spec", Value::object({{"overrideRules", std::move(rules)}}));
  if (selectors.size() > 0) value.edit("spec").set("resourceSelectors", std::move(selectors));
  return value;
}

}  // namespace shiplog::simulation
