#include "services/roles/dispatcher/member_object.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "events/state/work.h"
#include "services/interpreter/interpreter.h"

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
  // Another fleet's revisions, or those of a Work of an earlier life, are not comparable with ours.
  if (label_of(observed, label::kWorkId) != label_of(manifest, label::kWorkId)) return false;
  const auto text = annotation_of(observed, annotation::kRevision);
  uint64_t revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return revision > acted_upon.value;
}

interpreter::Interpreted<Value> retained(const State& state, Value desired, const Value& observed, UtcMillis now,
                                         const Value* answer) {
  for (const char* field : {"resourceVersion", "finalizers", "ownerReferences"}) {
    if (!observed["metadata"][field].is_empty()) desired.edit("metadata").set(field, observed["metadata"][field]);
  }
  keep_members_own(desired, observed, "annotations", annotation_of(observed, annotation::kManagedAnnotations));
  keep_members_own(desired, observed, "labels", annotation_of(observed, annotation::kManagedLabels));
  // Not every server keeps these through an update, as Kubernetes does.
  if (desired["kind"].as_string() == "Namespace" && !observed["spec"]["finalizers"].is_empty()) {
    desired.edit("spec").set("finalizers", observed["spec"]["finalizers"]);
  }
  SHIPLOG_TRY(auto interpreted, interpreter::retain(state, desired, observed, now, answer));
  return interpreted ? std::move(*interpreted) : std::move(desired);
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
