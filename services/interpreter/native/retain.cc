#include "events/state/object.h"
#include "services/interpreter/native/native.h"

namespace shiplog::interpreter::native {
namespace {

void keep(Value& desired, const Value& observed, std::string_view field) {
  if (!observed["spec"][field].is_empty()) desired.edit("spec").set(field, observed["spec"][field]);
}

const Value& named(const Value& list, std::string_view name) {
  static const Value kNone;
  for (const Value& item : list.items()) {
    if (item["name"].as_string() == name) return item;
  }
  return kNone;
}

Result<void> retain_deployment(Value& deployment, const Value& observed) {
  if (label_of(deployment, "resourcetemplate.karmada.io/retain-replicas") != "true") return ok();
  const Value& replicas = observed["spec"]["replicas"];
  if (!replicas.is_number()) {
    return Error{ErrorCode::kInvalid,
                 "Deployment " + observed["metadata"]["name"].str() +
                     ": its replicas are to be kept, but the member's object has no spec.replicas"};
  }
  deployment.edit("spec").set("replicas", replicas);  // also 0: the member's autoscaler may have scaled to zero
  return ok();
}

void retain_pod(Value& pod, const Value& observed) {
  for (const char* field : {"nodeName", "serviceAccountName", "volumes"}) keep(pod, observed, field);
  for (const char* list : {"containers", "initContainers"}) {
    if (!pod["spec"][list].is_array()) continue;
    for (Value& container : pod.edit("spec").edit(list).edit_items()) {
      const Value& member_container = named(observed["spec"][list], container["name"].as_string());
      if (member_container["volumeMounts"].is_array()) container.set("volumeMounts", member_container["volumeMounts"]);
    }
  }
}

void retain_service(Value& service, const Value& observed) {
  keep(service, observed, "clusterIP");
  // The first IP family of a Service is immutable, and may differ between the control plane and the member.
  if (!observed["spec"]["clusterIP"].is_empty() && observed["spec"]["ipFamilies"].size() > 0 &&
      service["spec"]["ipFamilies"].size() > 0 &&
      observed["spec"]["ipFamilies"][0] != service["spec"]["ipFamilies"][0]) {
    keep(service, observed, "ipFamilies");
    keep(service, observed, "ipFamilyPolicy");
  }
  if (service["spec"]["type"].as_string() == observed["spec"]["type"].as_string()) {
    keep(service, observed, "healthCheckNodePort");
  }
  // Not all servers keep allocated node ports if an update omits them.
  if (!service["spec"]["ports"].is_array() || service["spec"]["type"] != observed["spec"]["type"]) return;
  for (Value& port : service.edit("spec").edit("ports").edit_items()) {
    if (!port["nodePort"].is_empty()) continue;
    for (const Value& member_port : observed["spec"]["ports"].items()) {
      if (member_port["port"] == port["port"] && member_port["name"].as_string() == port["name"].as_string() &&
          !member_port["nodePort"].is_empty()) {
        port.set("nodePort", member_port["nodePort"]);
      }
    }
  }
}

void retain_service_account(Value& account, const Value& observed) {
  for (const char* list : {"secrets", "imagePullSecrets"}) {
    for (const Value& secret : observed[list].items()) {
      if (named(account[list], secret["name"].as_string()).is_null()) account.edit(list).push_back(secret);
    }
  }
}

void retain_job(Value& job, const Value& observed) {
  const Value& selector = observed["spec"]["selector"]["matchLabels"];
  if (selector.is_object()) job.edit("spec").edit("selector").set("matchLabels", selector);
  const Value& labels = observed["spec"]["template"]["metadata"]["labels"];
  if (labels.is_object()) job.edit("spec").edit("template").edit("metadata").set("labels", labels);
}

}  // namespace

Result<std::optional<Value>> retain(const Value& desired, const Value& observed) {
  const std::string kind = kind_of(desired);
  Value kept = desired;
  if (kind == "apps/v1/Deployment") {
    SHIPLOG_TRY(retain_deployment(kept, observed));
  } else if (kind == "v1/Pod") {
    retain_pod(kept, observed);
  } else if (kind == "v1/Service") {
    retain_service(kept, observed);
  } else if (kind == "v1/ServiceAccount") {
    retain_service_account(kept, observed);
  } else if (kind == "v1/PersistentVolumeClaim") {
    keep(kept, observed, "volumeName");
  } else if (kind == "v1/PersistentVolume") {
    keep(kept, observed, "claimRef");
  } else if (kind == "batch/v1/Job") {
    retain_job(kept, observed);
  } else if (kind == "v1/Secret") {
    if (kept["type"].as_string() == "kubernetes.io/service-account-token" && !observed["data"].is_null()) {
      kept.set("data", observed["data"]);
    }
  } else {
    return std::nullopt;
  }
  return std::optional{std::move(kept)};
}

}  // namespace shiplog::interpreter::native
