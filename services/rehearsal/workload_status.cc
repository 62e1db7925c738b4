#include "services/rehearsal/workload_status.h"

#include <string_view>

#include "services/interpreter/native/native.h"

namespace shiplog {
namespace {

Value condition(const char* type, bool holds) {
  return Value::object({{"type", type}, {"status", holds ? "True" : "False"}});
}

void set_counted(Value& status, const char* field, int64_t count) {
  if (count > 0) status.set(field, count);
}

Value replicated(const Value& object, int64_t wanted, int64_t running) {
  Value status = Value::object({{"observedGeneration", object["metadata"]["generation"]}});
  set_counted(status, "replicas", wanted);
  set_counted(status, "updatedReplicas", wanted);
  set_counted(status, "readyReplicas", running);
  set_counted(status, "availableReplicas", running);
  set_counted(status, "unavailableReplicas", wanted - running);
  return status;
}

}  // namespace

Value workload_status(const Value& object, int64_t wanted, int64_t running, int64_t nodes) {
  const std::string kind = interpreter::native::kind_of(object);
  if (kind == "apps/v1/Deployment") {
    Value status = replicated(object, wanted, running);
    status.set("conditions", Value::array({condition("Available", running >= wanted), condition("Progressing", true)}));
    return status;
  }
  if (kind == "apps/v1/ReplicaSet") {
    Value status = replicated(object, wanted, running);
    status.erase("updatedReplicas");
    return status;
  }
  if (kind == "apps/v1/StatefulSet") {
    Value status = replicated(object, wanted, running);
    set_counted(status, "currentReplicas", wanted);
    return status;
  }
  if (kind == "apps/v1/DaemonSet") {
    Value status = Value::object({{"observedGeneration", object["metadata"]["generation"]}});
    for (const char* field : {"currentNumberScheduled", "desiredNumberScheduled", "numberAvailable", "numberReady",
                              "updatedNumberScheduled"}) {
      status.set(field, nodes);
    }
    return status;
  }
  if (kind == "batch/v1/Job") return Value::object({{"active", running}});
  if (kind == "v1/Pod") {
    return Value::object({{"phase", running < wanted ? "Pending" : "Running"},
                          {"conditions", Value::array({condition("Ready", running >= wanted)})}});
  }
  if (kind == "v1/PersistentVolumeClaim") return Value::object({{"phase", "Bound"}});
  const bool balanced = kind == "v1/Service" && object["spec"]["type"].as_string() == "LoadBalancer";
  if (balanced || kind == "networking.k8s.io/v1/Ingress") {
    const Value address = Value::object({{"hostname", "rehearsal.invalid"}});
    return Value::object({{"loadBalancer", Value::object({{"ingress", Value::array({address})}})}});
  }
  return {};
}

}  // namespace shiplog
