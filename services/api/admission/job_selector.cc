#include "services/api/admission/job_selector.h"

namespace shiplog::api {
namespace {

void set_missing(Value& map, const char* key, const Value& value) {
  if (!map.is_object()) map = Value::object();
  if (!map.contains(key)) map.set(key, value);
}

}  // namespace

void generate_job_selector(Value& job) {
  if (!job["spec"].is_object() || job["spec"]["manualSelector"].as_bool()) return;
  const Value name = job["metadata"]["name"];
  const Value uid = job["metadata"]["uid"];
  Value& spec = job.edit("spec");
  Value& labels = spec.edit("template").edit("metadata").edit("labels");
  for (const char* key : {"job-name", "batch.kubernetes.io/job-name"}) set_missing(labels, key, name);
  for (const char* key : {"controller-uid", "batch.kubernetes.io/controller-uid"}) set_missing(labels, key, uid);
  set_missing(spec.edit("selector").edit("matchLabels"), "batch.kubernetes.io/controller-uid", uid);
}

}  // namespace shiplog::api
