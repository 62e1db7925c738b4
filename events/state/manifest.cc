#include "events/state/manifest.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "events/state/work.h"

namespace shiplog {
namespace {

/// Sorted, as members are. `always` are sorted, too.
std::string joined_keys(const Value& map, std::initializer_list<std::string_view> always = {}) {
  std::string text;
  size_t size = 0;
  for (const std::string_view key : always) size += key.size() + 1;
  for (const auto& member : map.members()) size += member.key().size() + 1;
  text.reserve(size);
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

bool has_any(const Value& object, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return object.contains(name); });
}

/// A copy that takes no more memory than what is left needs.
Value without(const Value& object, std::span<const std::string_view> names) {
  Value::Object kept;
  kept.reserve(object.size());
  for (const auto& member : object.members()) {
    if (std::ranges::find(names, member.key()) == names.end()) kept.push_back(member);
  }
  return Value::object(std::move(kept));
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
  constexpr std::array<std::string_view, 10> kOfServers = {"creationTimestamp", "deletionGracePeriodSeconds",
                                                           "deletionTimestamp", "finalizers",
                                                           "generation",        "managedFields",
                                                           "ownerReferences",   "resourceVersion",
                                                           "selfLink",          "uid"};
  manifest.erase("status");
  if (has_any(manifest["metadata"], kOfServers)) manifest.set("metadata", without(manifest["metadata"], kOfServers));
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
  } else if (kind == "Pod") {
    // No server takes them when a pod is created or updated (SUB-7): they would keep the pod from every member.
    erase_at(manifest, {"spec"}, "ephemeralContainers");
  } else if (kind == "PersistentVolumeClaim") {
    erase_at(manifest, {"metadata", "annotations"}, "volume.kubernetes.io/selected-node");
  }
  return manifest;
}

void record_managed_keys(Value& manifest, const Value& like) {
  static_assert(std::string_view{annotation::kManagedAnnotations} < std::string_view{annotation::kManagedLabels});
  const Value& alike = like["metadata"]["annotations"];
  const auto shared = [&](const char* key, const std::string& text) {
    const Value& same = alike[key];
    return same.is_string() && same.as_string() == text ? same : Value{text};
  };
  Value labels = shared(annotation::kManagedLabels, joined_keys(manifest["metadata"]["labels"]));
  Value& annotations = manifest.edit("metadata").edit("annotations");
  annotations.set(annotation::kManagedLabels, std::move(labels));
  annotations.set(annotation::kManagedAnnotations,
                  shared(annotation::kManagedAnnotations,
                         joined_keys(annotations, {annotation::kManagedAnnotations, annotation::kManagedLabels})));
}

}  // namespace shiplog
