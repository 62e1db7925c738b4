#include "services/api/auth/rbac/bootstrap.h"

#include <string>
#include <string_view>

#include "services/api/auth/rbac/policy.h"
#include "services/roles/clusterrole_aggregation/aggregate.h"

// Source: Kubernetes 1.36, plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go; KIND-22.

namespace shiplog::api {
namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) found.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

constexpr const char* kProxyAdmin = "cluster-proxy-admin";
constexpr const char* kRead = "get list watch";
constexpr const char* kWrite = "create delete deletecollection patch update";
constexpr const char* kAll = "create delete deletecollection get list patch update watch";

Rule on(const char* verbs, const char* group, const char* resources) {
  return {words(verbs), {group}, words(resources), {}, {}};
}
Rule paths(const char* urls) { return {{"get"}, {}, {}, {}, words(urls)}; }

struct BootstrapRole {
  const char* name;
  std::string label;    // aggregate-to-LABEL of those that gather; empty: none
  const char* gathers;  // LABEL of those it gathers; nullptr: it has rules of its own
  Rules rules;
  bool karmada = false;  // of Karmada's: not among Kubernetes' own
};

std::string aggregate_label(const std::string& to) { return "rbac.authorization.k8s.io/aggregate-to-" + to; }

Rules view_rules() {
  return {on(kRead, "",
             "pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status "
             "endpoints persistentvolumeclaims persistentvolumeclaims/status configmaps"),
          on(kRead, "",
             "limitranges resourcequotas bindings events pods/status resourcequotas/status namespaces/status "
             "replicationcontrollers/status pods/log"),
          on(kRead, "", "namespaces"),
          on(kRead, "discovery.k8s.io", "endpointslices"),
          on(kRead, "apps",
             "controllerrevisions statefulsets statefulsets/status statefulsets/scale daemonsets daemonsets/status "
             "deployments deployments/status deployments/scale replicasets replicasets/status replicasets/scale"),
          on(kRead, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"),
          on(kRead, "batch", "jobs cronjobs cronjobs/status jobs/status"),
          on(kRead, "policy", "poddisruptionbudgets poddisruptionbudgets/status"),
          on(kRead, "networking.k8s.io", "networkpolicies ingresses ingresses/status"),
          on(kRead, "resource.k8s.io", "resourceclaims resourceclaims/status resourceclaimtemplates")};
}

Rules edit_rules() {
  return {
      on(kRead, "", "pods/attach pods/proxy pods/exec pods/portforward secrets services/proxy"),
      on("impersonate", "", "serviceaccounts"),
      on(kWrite, "", "pods pods/attach pods/proxy pods/exec pods/portforward"),
      on("create", "", "pods/eviction"),
      on(kWrite, "",
         "replicationcontrollers replicationcontrollers/scale serviceaccounts services services/proxy "
         "persistentvolumeclaims configmaps secrets events"),
      on("create", "", "serviceaccounts/token"),
      on(kWrite, "apps",
         "statefulsets statefulsets/scale daemonsets deployments deployments/scale deployments/rollback replicasets "
         "replicasets/scale"),
      on(kWrite, "autoscaling", "horizontalpodautoscalers"),
      on(kWrite, "batch", "jobs cronjobs"),
      on(kWrite, "policy", "poddisruptionbudgets"),
      on(kWrite, "networking.k8s.io", "networkpolicies ingresses"),
      on(kWrite, "resource.k8s.io", "resourceclaims resourceclaimtemplates"),
      on(kAll, "coordination.k8s.io", "leases")};
}

/// KIND-22: kinds of namespace users; quotas and what is cluster-scoped are not among them.
Rules karmada_rules(const char* verbs) {
  return {
      on(verbs, "autoscaling.karmada.io",
         "cronfederatedhpas cronfederatedhpas/status federatedhpas federatedhpas/status"),
      on(verbs, "multicluster.x-k8s.io", "serviceexports serviceexports/status serviceimports serviceimports/status"),
      on(verbs, "networking.karmada.io",
         "multiclusteringresses multiclusteringresses/status multiclusterservices multiclusterservices/status"),
      on(verbs, "policy.karmada.io", "overridepolicies propagationpolicies"),
      on(verbs, "work.karmada.io", "resourcebindings resourcebindings/status works works/status")};
}

std::vector<BootstrapRole> roles() {
  return {{"cluster-admin", "", nullptr, {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}}},
          {"admin", "", "admin", {}},
          {"edit", "admin", "edit", {}},
          {"view", "edit", "view", {}},
          {"system:aggregate-to-admin",
           "admin",
           nullptr,
           {on("create", "authorization.k8s.io", "localsubjectaccessreviews"),
            on(kAll, rbac::kGroup, "roles rolebindings")}},
          {"system:aggregate-to-edit", "edit", nullptr, edit_rules()},
          {"system:aggregate-to-view", "view", nullptr, view_rules()},
          {"system:auth-delegator",
           "",
           nullptr,
           {on("create", "authentication.k8s.io", "tokenreviews"),
            on("create", "authorization.k8s.io", "subjectaccessreviews")}},
          {"system:basic-user",
           "",
           nullptr,
           {on("create", "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews"),
            on("create", "authentication.k8s.io", "selfsubjectreviews")}},
          {"system:discovery",
           "",
           nullptr,
           {paths("/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/")}},
          {"system:monitoring",
           "",
           nullptr,
           {paths("/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*")}},
          {"system:node-bootstrapper",
           "",
           nullptr,
           {on("create get list watch", "certificates.k8s.io", "certificatesigningrequests")}},
          {"system:public-info-viewer", "", nullptr, {paths("/healthz /livez /readyz /version /version/")}},
          {"system:service-account-issuer-discovery",
           "",
           nullptr,
           {paths("/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks "
                  "/openid/v1/jwks/")}},
          // Who may send requests to be carried out later needs the permission for each of them besides.
          {"shiplog:request-producer",
           "",
           nullptr,
           {{{"get", "post"}, {}, {}, {}, words("/shiplog/v1/requests /shiplog/v1/requests/results")}},
           true},
          {"karmada-edit", "edit", nullptr, karmada_rules(kWrite), true},
          {"karmada-view", "view", nullptr, karmada_rules(kRead), true},
          // Access to members: what may be done there, each of them decides for the user (1.16.8).
          {kProxyAdmin, "", nullptr, {on("*", "cluster.karmada.io", "clusters/proxy")}, true},
          // Feeds contain the objects of all namespaces, so that no role of a namespace's users includes them.
          {"shiplog:feed-reader", "", nullptr, {paths("/feeds/*")}, true}};
}

Value metadata(const std::string& name, bool karmada) {
  Value metadata = Value::object({{"name", name}});
  if (karmada) return metadata;
  metadata.set("labels", Value::object({{"kubernetes.io/bootstrapping", "rbac-defaults"}}));
  metadata.set("annotations", Value::object({{"rbac.authorization.kubernetes.io/autoupdate", "true"}}));
  return metadata;
}

Value object_of(const BootstrapRole& role) {
  Value object = Value::object({{"apiVersion", std::string{rbac::kGroup} + "/v1"}, {"kind", "ClusterRole"}});
  object.set("metadata", metadata(role.name, role.karmada));
  if (!role.label.empty()) object.edit("metadata").edit("labels").set(aggregate_label(role.label), "true");
  if (role.gathers != nullptr) {
    const Value labels = Value::object({{aggregate_label(role.gathers), "true"}});
    object.edit("aggregationRule")
        .set("clusterRoleSelectors", Value::array({Value::object({{"matchLabels", labels}})}));
  }
  object.set("rules", to_value(role.rules));
  return object;
}

/// What an aggregated server is bound to, to learn whose X-Remote headers it may trust.
std::pair<ObjectKey, Value> extension_authentication_reader() {
  ObjectKey key{rbac::kRole, "kube-system", "extension-apiserver-authentication-reader"};
  Value object = Value::object({{"apiVersion", std::string{rbac::kGroup} + "/v1"}, {"kind", "Role"}});
  object.set("metadata", metadata(key.name.str(), false));
  object.edit("metadata").set("namespace", key.ns);
  Rule rule = on(kRead, "", "configmaps");
  rule.resource_names = {"extension-apiserver-authentication"};
  object.set("rules", to_value(Rules{rule}));
  return {std::move(key), std::move(object)};
}

Value binding_of(const char* role, const std::vector<const char*>& names, const char* kind = "Group") {
  Value object = Value::object({{"apiVersion", std::string{rbac::kGroup} + "/v1"}, {"kind", "ClusterRoleBinding"}});
  object.set("metadata", metadata(role, std::string_view{role} == kProxyAdmin));
  object.set("roleRef", Value::object({{"apiGroup", rbac::kGroup}, {"kind", "ClusterRole"}, {"name", role}}));
  Value subjects = Value::array();
  for (const char* name : names) {
    subjects.push_back(Value::object({{"apiGroup", rbac::kGroup}, {"kind", kind}, {"name", name}}));
  }
  object.set("subjects", std::move(subjects));
  return object;
}

std::vector<std::pair<ObjectKey, Value>> make_bootstrap_access() {
  State::Objects made;
  for (const BootstrapRole& role : roles()) made[{"", role.name}].value = object_of(role);
  // Aggregates gather from aggregates: until nothing changes any more.
  using clusterrole_aggregation::outdated_aggregates;
  for (auto outdated = outdated_aggregates(made); !outdated.empty(); outdated = outdated_aggregates(made)) {
    for (auto& [key, object] : outdated) made[{"", key.name}].value = std::move(object);
  }
  std::vector<std::pair<ObjectKey, Value>> objects;
  for (const auto& [name, role] : made) {
    objects.emplace_back(ObjectKey{rbac::kClusterRole, "", name.name}, role.value);
  }
  objects.push_back(extension_authentication_reader());
  const auto bind = [&](const char* role, const std::vector<const char*>& groups) {
    objects.emplace_back(ObjectKey{rbac::kClusterRoleBinding, "", role}, binding_of(role, groups));
  };
  bind("cluster-admin", {kMastersGroup});
  bind("system:basic-user", {kAuthenticatedGroup});
  bind("system:discovery", {kAuthenticatedGroup});
  bind("shiplog:request-producer", {kAuthenticatedGroup});
  bind("system:monitoring", {"system:monitoring"});
  bind("system:public-info-viewer", {kAuthenticatedGroup, kUnauthenticatedGroup});
  bind("system:service-account-issuer-discovery", {"system:serviceaccounts"});
  // The administrators of upstream's installers, and of the kubeconfig that is written here.
  objects.emplace_back(ObjectKey{rbac::kClusterRoleBinding, "", kProxyAdmin},
                       binding_of(kProxyAdmin, {"system:admin", "kubernetes-admin"}, "User"));
  return objects;
}

}  // namespace

const std::vector<std::pair<ObjectKey, Value>>& bootstrap_access() {
  static const auto objects = make_bootstrap_access();
  return objects;
}

std::vector<Event> missing_access(const State& state) {
  std::vector<Event> missing;
  for (const auto& [key, object] : bootstrap_access()) {
    if (state.find(key) == nullptr) missing.emplace_back(ObjectCreated{key, object});
  }
  return missing;
}

}  // namespace shiplog::api
