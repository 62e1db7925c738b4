#include "events/base/hash.h"
#include "events/state/new_namespace.h"
#include "events/state/object.h"
#include "events/state/quota.h"
#include "services/api/kubernetes_version.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/member.h"

namespace shiplog {
namespace {

Value node_condition(const char* type, const char* status, const char* reason, const char* message) {
  return Value::object({{"type", type}, {"status", status}, {"reason", reason}, {"message", message}});
}

Value node_object(const MemberOptions& options, int number) {
  const std::string name = options.name + "-node-" + std::to_string(number);
  // Nodes of different members have different addresses, except for hash collisions.
  const int block = static_cast<int>(fnv1a32(options.name) % 256) + number / 254;
  const std::string address = "172.18." + std::to_string(block % 256) + "." + std::to_string(1 + number % 254);
  const Value capacity = to_value(ResourceList{
      {"cpu", options.node_cpu}, {"memory", options.node_memory}, {"pods", Quantity::from_units(options.node_pods)}});
  const Value conditions = Value::array(
      {node_condition("MemoryPressure", "False", "KubeletHasSufficientMemory",
                      "kubelet has sufficient memory available"),
       node_condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
       node_condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
       node_condition("Ready", "True", "KubeletReady", "kubelet is posting ready status")});
  const Value labels = Value::object({{"kubernetes.io/hostname", name},
                                      {"kubernetes.io/os", "linux"},
                                      {"kubernetes.io/arch", "amd64"},
                                      {"beta.kubernetes.io/os", "linux"},
                                      {"beta.kubernetes.io/arch", "amd64"}});
  const Value info = Value::object({{"architecture", "amd64"},
                                    {"operatingSystem", "linux"},
                                    {"kubeletVersion", api::kKubernetesVersion},
                                    {"kubeProxyVersion", api::kKubernetesVersion},
                                    {"containerRuntimeVersion", "simulated://0.1.0"},
                                    {"osImage", "simulated"},
                                    {"kernelVersion", "simulated"},
                                    {"machineID", ""},
                                    {"systemUUID", ""},
                                    {"bootID", ""}});
  return Value::object(
      {{"apiVersion", "v1"},
       {"kind", "Node"},
       {"metadata", Value::object({{"name", name}, {"labels", labels}})},
       {"spec", Value::object({{"providerID", "shiplog://" + options.name + "/" + name}})},
       {"status",
        Value::object({{"capacity", capacity},
                       {"allocatable", capacity},
                       {"conditions", conditions},
                       {"addresses", Value::array({Value::object({{"type", "InternalIP"}, {"address", address}}),
                                                   Value::object({{"type", "Hostname"}, {"address", name}})})},
                       {"nodeInfo", info}})}});
}

}  // namespace

std::vector<Event> initial_objects(const MemberOptions& options) {
  std::vector<Event> events;
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    events.emplace_back(ObjectCreated{{type::kNamespace, "", name}, new_namespace(name)});
  }
  for (int number = 1; number <= options.nodes; ++number) {
    Value node = node_object(options, number);
    const ObjectKey key{member::kNodes, "", node["metadata"]["name"].str()};
    events.emplace_back(ObjectCreated{key, std::move(node)});
  }
  return events;
}

}  // namespace shiplog
