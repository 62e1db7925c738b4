#include "services/programs/member/many/generated_objects.h"

#include <array>

namespace shiplog::member {
namespace {

constexpr const char* kTime = R"("2026-01-01T00:00:00Z")";
constexpr uint32_t kPendingEvery = 200;
constexpr uint32_t kApplications = 40;

struct PodSize {
  const char *cpu, *memory;
};
constexpr std::array<PodSize, 6> kSizes = {
    {{"50m", "64Mi"}, {"100m", "128Mi"}, {"250m", "256Mi"}, {"500m", "512Mi"}, {"1", "2Gi"}, {"2", "4Gi"}}};

std::string uid(const std::string& member, const char* kind, uint64_t number) {
  return member + "-" + kind + "-" + std::to_string(number);
}

/// Fields as server-side apply records them. No client reads them, but all of them are sent.
std::string managed_fields(const char* manager, size_t fields) {
  std::string text = R"([{"manager":")" + std::string{manager} +
                     R"(","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","time":)" + kTime +
                     R"(,"fieldsV1":{)";
  for (size_t field = 0; field < fields; ++field) {
    text += (field == 0 ? "" : ",") + (R"("f:field-)" + std::to_string(field)) + R"(":{".":{},"f:value":{}})";
  }
  return text + "}}]";
}

std::string condition(const char* type, const char* status, const char* reason) {
  return R"({"type":")" + std::string{type} + R"(","status":")" + status + R"(","reason":")" + reason +
         R"(","message":"","lastHeartbeatTime":)" + kTime + R"(,"lastTransitionTime":)" + kTime + "}";
}

}  // namespace

std::string generated_node_name(const std::string& member, uint32_t number) {
  return member + "-node-" + std::to_string(number);
}

std::string generated_node(const std::string& member, uint32_t number, int64_t version) {
  static const std::string kFields = managed_fields("kubelet", 30);
  static const std::string kImages = [] {
    std::string images;
    for (int image = 0; image < 20; ++image) {
      images += (image == 0 ? "" : ",") + (R"({"names":["registry.example.com/image-)" + std::to_string(image)) +
                R"(:1.0"],"sizeBytes":104857600})";
    }
    return images;
  }();
  const std::string name = generated_node_name(member, number);
  const std::string amounts = R"({"cpu":"32","ephemeral-storage":"100Gi","memory":"128Gi","pods":"110"})";
  return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"(","uid":")" +
         uid(member, "node", number) + R"(","resourceVersion":")" + std::to_string(version) +
         R"(","creationTimestamp":)" + kTime + R"(,"labels":{"kubernetes.io/hostname":")" + name +
         R"(","kubernetes.io/os":"linux","kubernetes.io/arch":"amd64"},"managedFields":)" + kFields +
         R"(},"spec":{"podCIDR":"10.0.0.0/24","providerID":"simulated:///)" + name + R"("},"status":{"capacity":)" +
         amounts + R"(,"allocatable":)" + amounts + R"(,"conditions":[)" +
         condition("MemoryPressure", "False", "KubeletHasSufficientMemory") + "," +
         condition("DiskPressure", "False", "KubeletHasNoDiskPressure") + "," +
         condition("PIDPressure", "False", "KubeletHasSufficientPID") + "," +
         condition("Ready", "True", "KubeletReady") + R"(],"addresses":[{"type":"Hostname","address":")" + name +
         R"("}],"nodeInfo":{"kubeletVersion":"v1.34.0","osImage":"simulated","architecture":"amd64"},"images":[)" +
         kImages + "]}}";
}

std::string generated_pod_name(const GeneratedPod& pod) {
  return "app-" + std::to_string(pod.slot % kApplications) + "-" + std::to_string(pod.slot) + "-" +
         std::to_string(pod.serial);
}

std::string generated_pod(const std::string& member, uint32_t nodes, const GeneratedPod& pod) {
  static const std::string kFields = managed_fields("kube-controller-manager", 35);
  const std::string name = generated_pod_name(pod);
  const std::string app = "app-" + std::to_string(pod.slot % kApplications);
  const PodSize& size = kSizes[(pod.slot + pod.serial) % kSizes.size()];
  const bool pending = nodes == 0 || pod.slot % kPendingEvery == kPendingEvery - 1;
  const std::string node = pending ? "" : R"("nodeName":")" + generated_node_name(member, 1 + pod.slot % nodes) + "\",";
  const std::string amounts = std::string{R"({"cpu":")"} + size.cpu + R"(","memory":")" + size.memory + "\"}";
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name + R"(","namespace":"generated","uid":")" +
         uid(member, "pod", (uint64_t{pod.serial} << 32U) + pod.slot) + R"(","resourceVersion":")" +
         std::to_string(pod.version) + R"(","creationTimestamp":)" + kTime + R"(,"labels":{"app":")" + app +
         R"(","pod-template-hash":"5d4f8c7b9"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":")" +
         app + R"(-5d4f8c7b9","uid":"x","controller":true,"blockOwnerDeletion":true}],"managedFields":)" + kFields +
         R"(},"spec":{)" + node +
         R"("restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",)"
         R"("serviceAccountName":"default","schedulerName":"default-scheduler","containers":[{"name":"web",)"
         R"("image":"registry.example.com/web:1.27.3","ports":[{"containerPort":8080,"protocol":"TCP"}],)"
         R"("env":[{"name":"REGION","value":"simulated"}],"resources":{"requests":)" +
         amounts + R"(,"limits":)" + amounts +
         R"(},"volumeMounts":[{"name":"token","mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],)"
         R"("terminationMessagePath":"/dev/termination-log","imagePullPolicy":"IfNotPresent"}],"volumes":[{"name":)"
         R"("token","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}}]}}],)"
         R"("tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",)"
         R"("tolerationSeconds":300}]},"status":{"phase":")" +
         (pending ? "Pending" : "Running") + R"(","qosClass":"Guaranteed","conditions":[)" +
         condition("PodScheduled", pending ? "False" : "True", pending ? "Unschedulable" : "") + "," +
         condition("Ready", pending ? "False" : "True", "") + "]}}";
}

}  // namespace shiplog::member
