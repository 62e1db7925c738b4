#include "services/api/views/revision_view.h"

#include <algorithm>
#include <string>

#include "events/base/json.h"
#include "events/state/object.h"
#include "events/state/pod_template.h"

namespace shiplog::api {
namespace {

Value parsed(const std::string& json) {
  auto value = parse_stored_json(json);
  return value ? std::move(value).value() : Value::object();
}

/// The user's annotations as they were then, and the control plane's own as they are now: `kubectl rollout undo` writes
/// all of them to the workload.
Value annotations_of(const Value& workload, const TemplateRevision& revision) {
  Value annotations = parsed(revision.annotations);
  for (const auto& annotation : workload["metadata"]["annotations"].members()) {
    if (is_own_annotation(annotation.key()) && annotation.key() != "kubectl.kubernetes.io/last-applied-configuration") {
      annotations.set(annotation.key(), annotation.value);
    }
  }
  return annotations;
}

Value metadata_of(const Value& workload, const TemplateRevision& revision, Value labels, Value annotations) {
  labels.set(kViewLabel, "true");
  Value owner = Value::object({{"apiVersion", workload["apiVersion"]},
                               {"kind", workload["kind"]},
                               {"name", workload["metadata"]["name"]},
                               {"uid", workload["metadata"]["uid"]},
                               {"controller", true},
                               {"blockOwnerDeletion", true}});
  Value metadata = Value::object({{"name", revision.workload.name + "-" + revision.hash},
                                  {"namespace", revision.workload.ns},
                                  {"uid", template_view_uid(uid_of(workload), revision.hash)},
                                  {"resourceVersion", workload["metadata"]["resourceVersion"]},
                                  {"generation", 1},
                                  {"creationTimestamp", revision.created},
                                  {"labels", std::move(labels)},
                                  {"ownerReferences", Value::array({std::move(owner)})}});
  if (annotations.size() > 0) metadata.set("annotations", std::move(annotations));
  return metadata;
}

struct Counts {
  int64_t wanted = 0, pods = 0, ready = 0, available = 0;
};

Counts counts_of(const Value& deployment, const TemplateRevision& revision, size_t age) {
  const Value& status = deployment["status"];
  const int64_t pods = status["replicas"].as_int();
  const int64_t ready = status["readyReplicas"].as_int();
  const int64_t available = status["availableReplicas"].as_int();
  // Until every member has observed the template, the counts are about the ones before it.
  const bool observed = age > 0 || status["observedGeneration"].as_int() >= revision.generation;
  const int64_t updated = std::min(pods, status["updatedReplicas"].as_int());
  const int64_t old = pods - updated;
  if (age == 1) return {old, old, std::min(ready, old), std::min(available, old)};
  if (age > 1) return {};
  const int64_t wanted = deployment["spec"]["replicas"].as_int(1);
  if (!observed) return {wanted, 0, 0, 0};
  const int64_t all = available + status["unavailableReplicas"].as_int();
  const auto certain = [&](int64_t count) {
    const int64_t sure = std::max<int64_t>(0, count - old);
    const int64_t missing = std::max<int64_t>(0, all - old - sure);
    return std::clamp<int64_t>(std::min(sure, wanted - missing), 0, wanted);
  };
  return {wanted, std::min(updated, wanted), certain(ready), certain(available)};
}

}  // namespace

Value replica_set_view(const Value& deployment, const TemplateRevision& revision, size_t age) {
  constexpr const char* kHash = "pod-template-hash";
  Value pod_template = parsed(revision.pod_template);
  pod_template.edit("metadata").edit("labels").set(kHash, revision.hash);
  Value selector = deployment["spec"]["selector"];
  selector.edit("matchLabels").set(kHash, revision.hash);
  Value annotations = annotations_of(deployment, revision);
  annotations.set("deployment.kubernetes.io/revision", std::to_string(revision.number));
  const Counts counts = counts_of(deployment, revision, age);
  Value labels = pod_template["metadata"]["labels"];
  Value spec = Value::object({{"replicas", counts.wanted}, {"selector", std::move(selector)}});
  if (const Value* seconds = deployment["spec"].find("minReadySeconds")) spec.set("minReadySeconds", *seconds);
  spec.set("template", std::move(pod_template));
  Value status = Value::object({{"replicas", counts.pods}, {"observedGeneration", 1}});
  for (const auto& [field, count] : {std::pair{"fullyLabeledReplicas", counts.pods},
                                     {"readyReplicas", counts.ready},
                                     {"availableReplicas", counts.available}}) {
    if (count > 0) status.set(field, count);
  }
  return Value::object({{"apiVersion", "apps/v1"},
                        {"kind", "ReplicaSet"},
                        {"metadata", metadata_of(deployment, revision, std::move(labels), std::move(annotations))},
                        {"spec", std::move(spec)},
                        {"status", std::move(status)}});
}

Value controller_revision_view(const Value& workload, const TemplateRevision& revision) {
  Value pod_template = parsed(revision.pod_template);
  Value labels = pod_template["metadata"]["labels"];
  labels.set("controller-revision-hash", revision.hash);
  pod_template.set("$patch", "replace");  // `kubectl rollout undo` sends it as a strategic merge patch
  return Value::object(
      {{"apiVersion", "apps/v1"},
       {"kind", "ControllerRevision"},
       {"metadata", metadata_of(workload, revision, std::move(labels), annotations_of(workload, revision))},
       {"data", Value::object({{"spec", Value::object({{"template", std::move(pod_template)}})}})},
       {"revision", revision.number}});
}

}  // namespace shiplog::api
