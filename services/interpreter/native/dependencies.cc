#include <algorithm>
#include <set>
#include <string>

#include "services/interpreter/native/native.h"

namespace shiplog::interpreter::native {
namespace {

using Names = std::set<std::string>;

void add(Names& names, const Value& name) {
  if (!name.is_empty()) names.insert(name.str());
}

struct References {
  Names config_maps, secrets, claims;
};

void of_container(References& found, const Value& container) {
  for (const Value& source : container["envFrom"].items()) {
    add(found.config_maps, source["configMapRef"]["name"]);
    add(found.secrets, source["secretRef"]["name"]);
  }
  for (const Value& variable : container["env"].items()) {
    add(found.config_maps, variable["valueFrom"]["configMapKeyRef"]["name"]);
    add(found.secrets, variable["valueFrom"]["secretKeyRef"]["name"]);
  }
}

void of_volume(References& found, const Value& volume) {
  add(found.config_maps, volume["configMap"]["name"]);
  add(found.secrets, volume["secret"]["secretName"]);
  add(found.secrets, volume["azureFile"]["secretName"]);
  for (const char* source : {"cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos"}) {
    add(found.secrets, volume[source]["secretRef"]["name"]);
  }
  add(found.secrets, volume["csi"]["nodePublishSecretRef"]["name"]);
  for (const Value& source : volume["projected"]["sources"].items()) {
    add(found.config_maps, source["configMap"]["name"]);
    add(found.secrets, source["secret"]["name"]);
  }
  add(found.claims, volume["persistentVolumeClaim"]["claimName"]);
}

std::vector<Dependency> of_stateful_set(const Value& object, const std::string& ns) {
  auto found = pod_dependencies(object["spec"]["template"]["spec"], ns);
  Names own;  // created by the member's StatefulSet for each of its pods
  for (const Value& claim : object["spec"]["volumeClaimTemplates"].items()) add(own, claim["metadata"]["name"]);
  std::erase_if(found, [&](const Dependency& dependency) {
    return dependency.kind == "PersistentVolumeClaim" && own.contains(dependency.name);
  });
  return found;
}

std::vector<Dependency> of_ingress(const Value& object, const std::string& ns) {
  std::vector<Dependency> found;
  // An entry without a secret uses the ingress controller's own certificate.
  Names secrets;
  for (const Value& tls : object["spec"]["tls"].items()) add(secrets, tls["secretName"]);
  for (const std::string& name : secrets) found.push_back({"v1", "Secret", ns, name, {}});
  return found;
}

std::vector<Dependency> of_service_import(const Value& object, const std::string& ns) {
  const std::string derived = "derived-" + object["metadata"]["name"].str();
  const Value labels = Value::object({{"kubernetes.io/service-name", derived}});
  return {{"v1", "Service", ns, derived, {}},
          {"discovery.k8s.io/v1", "EndpointSlice", ns, "", Value::object({{"matchLabels", labels}})}};
}

}  // namespace

std::vector<Dependency> pod_dependencies(const Value& pod_spec, const std::string& ns) {
  References found;
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const Value& container : pod_spec[list].items()) of_container(found, container);
  }
  for (const Value& reference : pod_spec["imagePullSecrets"].items()) add(found.secrets, reference["name"]);
  for (const Value& volume : pod_spec["volumes"].items()) of_volume(found, volume);
  Names accounts;
  add(accounts, pod_spec["serviceAccountName"]);
  accounts.erase("default");  // exists in every namespace of a member

  std::vector<Dependency> all;
  const auto append = [&](const char* kind, const Names& names) {
    for (const std::string& name : names) all.push_back({"v1", kind, ns, name, {}});
  };
  append("ConfigMap", found.config_maps);
  append("Secret", found.secrets);
  append("ServiceAccount", accounts);
  append("PersistentVolumeClaim", found.claims);
  return all;
}

std::optional<std::vector<Dependency>> dependencies(const Value& object) {
  const std::string kind = kind_of(object);
  const std::string ns = object["metadata"]["namespace"].str();
  const Value& spec = object["spec"];
  if (kind == "apps/v1/Deployment" || kind == "apps/v1/ReplicaSet" || kind == "apps/v1/DaemonSet" ||
      kind == "batch/v1/Job") {
    return pod_dependencies(spec["template"]["spec"], ns);
  }
  if (kind == "apps/v1/StatefulSet") return of_stateful_set(object, ns);
  if (kind == "batch/v1/CronJob") return pod_dependencies(spec["jobTemplate"]["spec"]["template"]["spec"], ns);
  if (kind == "v1/Pod") return pod_dependencies(spec, ns);
  if (kind == "networking.k8s.io/v1/Ingress") return of_ingress(object, ns);
  if (kind == "multicluster.x-k8s.io/v1alpha1/ServiceImport") return of_service_import(object, ns);
  return std::nullopt;
}

}  // namespace shiplog::interpreter::native
