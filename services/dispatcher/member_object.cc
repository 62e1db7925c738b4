#include "services/dispatcher/member_object.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "events/state/work.h"

namespace shiplog::dispatcher {
namespace {

std::set<std::string, std::less<>> split(std::string_view list) {
  std::set<std::string, std::less<>> keys;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    keys.emplace(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return keys;
}

/// Keys that only the member has stay, except those that we once put there and no longer want.
void keep_members_own(Value& desired, const Value& observed, const char* map, std::string_view formerly_ours) {
  const auto ours = split(formerly_ours);
  for (const auto& member : observed["metadata"][map].members()) {
    if (desired["metadata"][map].contains(member.key()) || ours.contains(member.key())) continue;
    desired.edit("metadata").edit(map).set(member.key(), member.value);
  }
}

void keep(Value& desired, const Value& observed, std::string_view field) {
  if (!observed["spec"][field].is_empty()) desired.edit("spec").set(field, observed["spec"][field]);
}

const Value& named(const Value& list, std::string_view name) {
  static const Value kNone;
  for (const Value& one : list.items()) {
    if (one["name"].as_string() == name) return one;
  }
  return kNone;
}

void retain_pod(Value& pod, const Value& observed) {
  for (const char* field : {"nodeName", "serviceAccountName", "volumes"}) keep(pod, observed, field);
  for (const char* list : {"containers", "initContainers"}) {
    if (!pod["spec"][list].is_array()) continue;
    for (Value& container : pod.edit("spec").edit(list).edit_items()) {
      const Value& there = named(observed["spec"][list], container["name"].as_string());
      if (there["volumeMounts"].is_array()) container.set("volumeMounts", there["volumeMounts"]);
    }
  }
}

void retain_service(Value& service, const Value& observed) {
  keep(service, observed, "clusterIP");
  if (service["spec"]["type"].as_string() == observed["spec"]["type"].as_string()) {
    keep(service, observed, "healthCheckNodePort");
  }
  // Some servers keep allocated node ports through an update that does not name them; not all do.
  if (!service["spec"]["ports"].is_array() || service["spec"]["type"] != observed["spec"]["type"]) return;
  for (Value& port : service.edit("spec").edit("ports").edit_items()) {
    if (!port["nodePort"].is_empty()) continue;
    for (const Value& there : observed["spec"]["ports"].items()) {
      if (there["port"] == port["port"] && there["name"].as_string() == port["name"].as_string() &&
          !there["nodePort"].is_empty()) {
        port.set("nodePort", there["nodePort"]);
      }
    }
  }
}

void retain_service_account(Value& account, const Value& observed) {
  for (const char* list : {"secrets", "imagePullSecrets"}) {
    for (const Value& there : observed[list].items()) {
      if (named(account[list], there["name"].as_string()).is_null()) account.edit(list).push_back(there);
    }
  }
}

void retain_job(Value& job, const Value& observed) {
  const Value& selector = observed["spec"]["selector"]["matchLabels"];
  if (selector.is_object()) job.edit("spec").edit("selector").set("matchLabels", selector);
  const Value& labels = observed["spec"]["template"]["metadata"]["labels"];
  if (labels.is_object()) job.edit("spec").edit("template").edit("metadata").set("labels", labels);
}

void retain_by_kind(Value& desired, const Value& observed) {
  const std::string kind = desired["kind"].str();
  if (kind == "Deployment") {
    if (label_of(desired, "resourcetemplate.karmada.io/retain-replicas") == "true") keep(desired, observed, "replicas");
  } else if (kind == "Pod") {
    retain_pod(desired, observed);
  } else if (kind == "Service") {
    retain_service(desired, observed);
  } else if (kind == "ServiceAccount") {
    retain_service_account(desired, observed);
  } else if (kind == "PersistentVolumeClaim") {
    keep(desired, observed, "volumeName");
  } else if (kind == "PersistentVolume") {
    keep(desired, observed, "claimRef");
  } else if (kind == "Job") {
    retain_job(desired, observed);
  } else if (kind == "Secret" && desired["type"].as_string() == "kubernetes.io/service-account-token") {
    if (!observed["data"].is_null()) desired.set("data", observed["data"]);
  } else if (kind == "Namespace") {
    keep(desired, observed, "finalizers");
  }
}

}  // namespace

Value stamped(Value manifest, Revision acted_upon, const std::string& manifest_hash) {
  Value& annotations = manifest.edit("metadata").edit("annotations");
  annotations.set(annotation::kRevision, std::to_string(acted_upon.value));
  annotations.set(annotation::kManifestHash, manifest_hash);
  return manifest;
}

bool may_update(const Value& observed, const Value& manifest) {
  return label_of(observed, label::kManaged) == "true" ||
         annotation_of(manifest, annotation::kConflictResolution) == "overwrite";
}

bool written_later(const Value& observed, const Value& manifest, Revision acted_upon) {
  // Another fleet's revisions, or those of a Work of an earlier life, say nothing about ours.
  if (label_of(observed, label::kWorkId) != label_of(manifest, label::kWorkId)) return false;
  const auto text = annotation_of(observed, annotation::kRevision);
  uint64_t revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return revision > acted_upon.value;
}

Value retained(Value desired, const Value& observed) {
  for (const char* field : {"resourceVersion", "finalizers", "ownerReferences"}) {
    if (!observed["metadata"][field].is_empty()) desired.edit("metadata").set(field, observed["metadata"][field]);
  }
  keep_members_own(desired, observed, "annotations", annotation_of(observed, annotation::kManagedAnnotations));
  keep_members_own(desired, observed, "labels", annotation_of(observed, annotation::kManagedLabels));
  retain_by_kind(desired, observed);
  return desired;
}

bool up_to_date(const Value& observed, const Value& desired) {
  if (annotation_of(observed, annotation::kManifestHash) != annotation_of(desired, annotation::kManifestHash)) {
    return false;
  }
  Value wanted = desired;
  wanted.edit("metadata").edit("annotations").erase(annotation::kRevision);
  return holds(observed, wanted);
}

Value preserved(Value observed) {
  const bool namespaced = !observed["metadata"]["namespace"].is_empty();
  const char* claim = namespaced ? "propagationpolicy.karmada.io" : "clusterpropagationpolicy.karmada.io";
  Value& labels = observed.edit("metadata").edit("labels");
  for (const std::string& key : {std::string{label::kBindingId}, std::string{label::kWorkId},
                                 std::string{label::kManaged}, std::string{claim} + "/permanent-id"}) {
    labels.erase(key);
  }
  Value& annotations = observed.edit("metadata").edit("annotations");
  for (const std::string& key :
       {std::string{annotation::kManagedAnnotations}, std::string{annotation::kManagedLabels},
        std::string{annotation::kBindingNamespace}, std::string{annotation::kBindingName},
        std::string{annotation::kTemplateUid}, std::string{annotation::kTemplateGeneration},
        std::string{annotation::kWorkName}, std::string{annotation::kWorkNamespace}, std::string{annotation::kRevision},
        std::string{annotation::kManifestHash}, std::string{claim} + "/namespace", std::string{claim} + "/name"}) {
    annotations.erase(key);
  }
  return observed;
}

}  // namespace shiplog::dispatcher
