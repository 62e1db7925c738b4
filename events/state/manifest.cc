#include "events/state/manifest.h"

#include <initializer_list>
#include <string>
#include <string_view>

#include "events/state/work.h"

namespace shiplog {
namespace {

/// Sorted, as members are. `always` are sorted, too.
std::string joined_keys(const Value& map, std::initializer_list<std::string_view> always = {}) {
  std::string text;
  const auto add = [&](std::string_view key) {
    if (!text.empty()) text += ',';
    text += key;
  };
  const auto* next = always.begin();
  for (const auto& member : map.members()) {
    for (; next != always.end() && *next < member.key(); ++next) add(*next);
    if (next != always.end() && *next == member.key()) ++next;
    add(member.key());
  }
  for (; next != always.end(); ++next) add(*next);
  return text;
}

/// Erases a member below a path, without making what is not there.
void erase_at(Value& object, std::initializer_list<const char*> path, std::string_view member) {
  const Value* there = &object;
  for (const char* step : path) there = &(*there)[step];
  if (!there->contains(member)) return;
  Value* edited = &object;
  for (const char* step : path) edited = &edited->edit(step);
  edited->erase(member);
  // A map that held nothing else was the server's doing too.
  if (edited->size() == 0 && path.size() > 0) {
    Value* parent = &object;
    for (auto step = path.begin(); step + 1 != path.end(); ++step) parent = &parent->edit(*step);
    parent->erase(*(path.end() - 1));
  }
}

void prune_job(Value& job) {
  if (!job["spec"]["manualSelector"].as_bool()) {
    for (const char* key : {"controller-uid", "batch.kubernetes.io/controller-uid"}) {
      erase_at(job, {"spec", "selector", "matchLabels"}, key);
      erase_at(job, {"spec", "template", "metadata", "labels"}, key);
    }
    if (job["spec"].contains("selector") && job["spec"]["selector"].size() == 0) job.edit("spec").erase("selector");
    for (const char* key : {"job-name", "batch.kubernetes.io/job-name"}) {
      erase_at(job, {"spec", "template", "metadata", "labels"}, key);
    }
  }
  erase_at(job, {"spec"}, "ttlSecondsAfterFinished");
}

void prune_service_account(Value& account) {
  if (!account["secrets"].is_array()) return;
  const std::string token_prefix = account["metadata"]["name"].str() + "-token-";
  std::erase_if(account.edit("secrets").edit_items(),
                [&](const Value& volume) { return volume["name"].as_string().starts_with(token_prefix); });
  if (account["secrets"].size() == 0) account.erase("secrets");
}

}  // namespace

Value pruned(Value manifest) {
  for (const char* field : {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation",
                            "managedFields", "resourceVersion", "selfLink", "uid", "ownerReferences", "finalizers"}) {
    if (manifest["metadata"].contains(field)) manifest.edit("metadata").erase(field);
  }
  manifest.erase("status");
  const std::string kind = manifest["kind"].str();
  if (kind == "Deployment") {
    erase_at(manifest, {"metadata", "annotations"}, "deployment.kubernetes.io/revision");
    erase_at(manifest, {"metadata", "annotations"}, "deployment.kubernetes.io/revision-history");
  } else if (kind == "Job") {
    prune_job(manifest);
  } else if (kind == "Secret" && manifest["type"].as_string() == "kubernetes.io/service-account-token") {
    manifest.erase("data");
    erase_at(manifest, {"metadata", "annotations"}, "kubernetes.io/service-account.uid");
  } else if (kind == "ServiceAccount") {
    prune_service_account(manifest);
  } else if (kind == "Service" && manifest["spec"]["clusterIP"].as_string() != "None") {
    erase_at(manifest, {"spec"}, "clusterIP");
    erase_at(manifest, {"spec"}, "clusterIPs");
  } else if (kind == "PersistentVolumeClaim") {
    erase_at(manifest, {"metadata", "annotations"}, "volume.kubernetes.io/selected-node");
  }
  return manifest;
}

void record_managed_keys(Value& manifest) {
  static_assert(std::string_view{annotation::kManagedAnnotations} < std::string_view{annotation::kManagedLabels});
  const std::string labels = joined_keys(manifest["metadata"]["labels"]);
  Value& annotations = manifest.edit("metadata").edit("annotations");
  annotations.set(annotation::kManagedLabels, labels);
  annotations.set(annotation::kManagedAnnotations,
                  joined_keys(annotations, {annotation::kManagedAnnotations, annotation::kManagedLabels}));
}

}  // namespace shiplog
