#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "events/state/object.h"
#include "services/interpreter/native/native.h"

// A member may report lists of any length: each is walked once, whatever the other list has.

namespace shiplog::interpreter::native {
namespace {

void keep(Value& desired, const Value& observed, std::string_view field) {
  if (!observed["spec"][field].is_empty()) desired.edit("spec").set(field, observed["spec"][field]);
}

/// The items of a list by name, of several with one name the first. They are those of `list`, which stays as it is.
std::map<std::string_view, const Value*> by_name(const Value& list) {
  std::map<std::string_view, const Value*> items;
  for (const Value& item : list.items()) items.emplace(item["name"].as_string(), &item);
  return items;
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
  // An ephemeral container that was added in the member (`kubectl debug`) can never be taken away.
  for (const char* field : {"ephemeralContainers", "nodeName", "serviceAccountName", "volumes"}) {
    keep(pod, observed, field);
  }
  for (const char* list : {"containers", "initContainers"}) {
    if (!pod["spec"][list].is_array()) continue;
    const auto members = by_name(observed["spec"][list]);
    for (Value& container : pod.edit("spec").edit(list).edit_items()) {
      const auto member = members.find(container["name"].as_string());
      if (member == members.end()) continue;
      const Value& mounts = (*member->second)["volumeMounts"];
      if (mounts.is_array()) container.set("volumeMounts", mounts);
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
  std::map<std::pair<int64_t, std::string_view>, const Value*> allocated;
  for (const Value& port : observed["spec"]["ports"].items()) {
    const Value& node_port = port["nodePort"];
    if (!node_port.is_empty())
      allocated.insert_or_assign({port["port"].as_int(), port["name"].as_string()}, &node_port);
  }
  for (Value& port : service.edit("spec").edit("ports").edit_items()) {
    if (!port["nodePort"].is_empty()) continue;
    const auto found = allocated.find({port["port"].as_int(), port["name"].as_string()});
    if (found != allocated.end()) port.set("nodePort", *found->second);
  }
}

void retain_service_account(Value& account, const Value& observed) {
  for (const char* list : {"secrets", "imagePullSecrets"}) {
    std::set<std::string> names;
    for (const Value& secret : account[list].items()) names.insert(secret["name"].str());
    for (const Value& secret : observed[list].items()) {
      if (names.insert(secret["name"].str()).second) account.edit(list).push_back(secret);
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
