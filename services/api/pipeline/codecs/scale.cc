#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "services/api/admission/admission.h"
#include "services/api/apply/managed_fields.h"
#include "services/api/patch/patch.h"
#include "services/api/pipeline/admission_input.h"
#include "services/api/pipeline/codecs/codecs.h"

namespace shiplog::api {
namespace {

constexpr const char* kApplyPatch = "application/apply-patch+yaml";

std::vector<std::string> steps_of(const std::string& json_path) {
  std::vector<std::string> steps;
  size_t begin = json_path.starts_with('.') ? 1 : 0;
  while (begin < json_path.size()) {
    const size_t end = std::min(json_path.find('.', begin), json_path.size());
    steps.push_back(json_path.substr(begin, end - begin));
    begin = end + 1;
  }
  return steps;
}

const Value& at_path(const Value& object, const std::string& json_path) {
  const Value* at = &object;
  for (const std::string& step : steps_of(json_path)) at = &(*at)[step];
  return *at;
}

/// "a=b,c in (d,e)" of a label selector: Scale.status.selector is text.
std::string selector_text(const Value& selector) {
  if (selector.is_string()) return selector.str();
  std::string text;
  const auto add = [&](const std::string& requirement) { text += (text.empty() ? "" : ",") + requirement; };
  for (const auto& label : selector["matchLabels"].members()) {
    add(std::string{label.key()} + "=" + label.value.str());
  }
  for (const auto& label : selector.members()) {  // of a ReplicationController: labels, without more
    if (label.value.is_string()) add(std::string{label.key()} + "=" + label.value.str());
  }
  for (const Value& requirement : selector["matchExpressions"].items()) {
    const std::string key = requirement["key"].str();
    const std::string_view op = requirement["operator"].as_string();
    if (op == "Exists") add(key);
    if (op == "DoesNotExist") add("!" + key);
    if (op != "In" && op != "NotIn") continue;
    std::string values;
    for (const Value& value : requirement["values"].items()) values += (values.empty() ? "" : ",") + value.str();
    add(key + (op == "In" ? " in (" : " notin (") + values + ")");
  }
  return text;
}

/// Strategic merge patches are those of built-in kinds (CRD-9).
Result<Value> read_scale_patch(const Kind& kind, const std::string& type, const std::string& body) {
  if (type == kApplyPatch) return parse_yaml(body);
  const bool strategic = type == "application/strategic-merge-patch+json" && kind.builtin;
  if (strategic || type == "application/json-patch+json" || type == "application/merge-patch+json") {
    return parse_json(body);
  }
  return unknown_patch_type(kind, type);
}

/// The Scale that a patch makes of the current one.
Result<Value> patched_scale(const std::string& type, const Value& before, const Value& patch) {
  if (type == "application/json-patch+json") return apply_json_patch(before, patch, JsonPatchRules::kKubernetes);
  SHIPLOG_TRY(Value scale, apply_merge_patch(before, patch));
  if (type == "application/merge-patch+json") return scale;
  // SMP-11: Ansible's k8s_scale names the kind of the workload in a strategic merge patch.
  for (const char* field : {"apiVersion", "kind"}) {
    if (scale[field].is_string()) scale.set(field, before[field]);
  }
  return scale;
}

/// The body as a Scale, whose kind the client may leave out: admission sees it.
Result<Value> as_scale(Value body) {
  if (!body.is_object()) return Error{ErrorCode::kBadRequest, "the body of the request must be a JSON object"};
  for (const auto& [field, expected] : {std::pair{"apiVersion", "autoscaling/v1"}, std::pair{"kind", "Scale"}}) {
    if (!body[field].is_empty() && body[field].as_string() != expected) {
      return Error{ErrorCode::kBadRequest, std::string{"the "} + field + " in the data (" + body[field].str() +
                                               ") does not match the expected one (" + expected + ")"};
    }
    body.set(field, expected);
  }
  return body;
}

/// The object with new replicas, checked by its schema as any update of it is. Built-in kinds have no such schema.
StageResult<Value> checked(const Server& server, const RequestContext& context, const WriteParameters& parameters,
                           const Value& old, Value object) {
  if (context.kind->builtin) return object;
  WriteRequest write;
  write.parameters = parameters;
  Proposal proposal;
  Admission admission = admission_for(server, context, write, proposal);
  SHIPLOG_TRY(auto admitted, admit_update(admission, old, std::move(object)));
  if (const Value& managed = old["metadata"]["managedFields"]; !managed.is_null()) {
    admitted.edit("metadata").set("managedFields", managed);
  }
  return admitted;
}

/// Why Go's JSON decoder reads no int32, in its words; nullopt: it reads one.
std::optional<std::string> unreadable_replicas(const Value& replicas) {
  const bool fits = replicas.is_int() && replicas.as_int() >= INT32_MIN && replicas.as_int() <= INT32_MAX;
  if (replicas.is_null() || fits) return std::nullopt;
  const std::string found = replicas.is_string()   ? "string"
                            : replicas.is_bool()   ? "bool"
                            : replicas.is_array()  ? "array"
                            : replicas.is_object() ? "object"
                                                   : "number " + to_json(replicas);
  return "json: cannot unmarshal " + found + " into Go struct field ScaleSpec.spec.replicas of type int32";
}

Error unreadable_scale(const std::string& problem) {
  return {ErrorCode::kBadRequest, "Scale in version \"v1\" cannot be handled as a Scale: " + problem};
}

Value with_replicas(const Kind& kind, Value object, const Value& replicas) {
  Value* field = &object;
  for (const std::string& step : steps_of(kind.scale->spec_replicas)) field = &field->edit(step);
  *field = replicas;
  return object;
}

FieldWriter scale_writer(const Server& server, const RequestContext& context, const WriteParameters& parameters) {
  return {manager_of(parameters.field_manager, context.request.headers.get("User-Agent")), context.kind->api_version(),
          "scale", server.options.clock->now()};
}

/// The object with a Scale applied to it, whose replicas are a field of the object (SSA-8).
StageResult<Value> applied_scale(const Server& server, const RequestContext& context, const WriteParameters& parameters,
                                 const Value& object, const Value& scale) {
  if (scale["apiVersion"].as_string() != "autoscaling/v1" || scale["kind"].as_string() != "Scale") {
    return Error{ErrorCode::kBadRequest,
                 "Incorrect version specified in apply patch. Specified patch version: " + scale["apiVersion"].str() +
                     " " + scale["kind"].str() + ", expected: autoscaling/v1 Scale"};
  }
  const Value& replicas = scale["spec"]["replicas"];
  if (const auto problem = unreadable_replicas(replicas)) return unreadable_scale(*problem);
  Value patch = Value::object();
  if (!replicas.is_null()) patch = with_replicas(*context.kind, std::move(patch), replicas);
  SHIPLOG_TRY(auto applied,
              apply_fields(scale_writer(server, context, parameters), *context.kind, object, patch, parameters.force));
  if (!applied.conflicts.empty()) return conflict_error(applied.conflicts);
  return std::move(applied.object);
}

/// The object with the replicas of the Scale.
StageResult<Value> scaled(const Server& server, const RequestContext& context, const WriteParameters& parameters,
                          const Proposal& proposal) {
  const Value& old = proposal.current;
  const Value& replicas = proposal.object["spec"]["replicas"];
  if (const auto problem = unreadable_replicas(replicas)) return unreadable_scale(*problem);
  // Of a custom resource the check of the whole object reports it.
  if (context.kind->builtin && replicas.as_int() < 0) {
    const StatusDetails subject{"autoscaling", "Scale", "scales", context.path.name};
    Rejection rejection{
        invalid(subject, {{"spec.replicas", "FieldValueInvalid",
                           "Invalid value: " + to_json(replicas) + ": must be greater than or equal to 0"}})};
    rejection.subject = subject;
    return rejection;
  }
  Value object = with_replicas(*context.kind, old, replicas.as_int());
  SHIPLOG_TRY(object, checked(server, context, parameters, old, std::move(object)));
  if (!proposal.applied) {
    return track_update(scale_writer(server, context, parameters), *context.kind, old, std::move(object));
  }
  Value& metadata = object.edit("metadata");
  if (proposal.managed.is_null()) {
    metadata.erase("managedFields");
  } else {
    metadata.set("managedFields", proposal.managed);
  }
  return object;
}

}  // namespace

Value scale_of(const Kind& kind, const Value& object) {
  const ScalePaths& paths = *kind.scale;
  const Value& metadata = object["metadata"];
  Value scale = Value::object({{"apiVersion", "autoscaling/v1"}, {"kind", "Scale"}});
  Value& about = scale.edit("metadata");
  for (const char* field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const Value* value = metadata.find(field)) about.set(field, *value);
  }
  // Built-in workloads without the field have one replica by default.
  const int64_t replicas = at_path(object, paths.spec_replicas).as_int(kind.builtin ? 1 : 0);
  scale.set("spec", replicas == 0 ? Value::object() : Value::object({{"replicas", replicas}}));
  Value& status = scale.edit("status");
  status.set("replicas", at_path(object, paths.status_replicas).as_int());
  const std::string selector = paths.label_selector.empty() ? selector_text(object["spec"]["selector"])
                                                            : selector_text(at_path(object, paths.label_selector));
  if (!selector.empty()) status.set("selector", selector);
  return scale;
}

bool has_scale(const Kind& kind, const Value& object) {
  return kind.builtin || !at_path(object, kind.scale->spec_replicas).is_null();
}

StageResult<WriteRequest> decode_scale(const Server& server, const RequestContext& context, const std::string& body) {
  WriteRequest write;
  SHIPLOG_TRY(write.parameters, write_parameters(context.request));
  write.key = context.key();
  write.form = WriteForm::kSubresource;
  const bool put = context.request.method == "PUT";
  const std::string_view header = context.request.headers.get("Content-Type");
  const std::string type = media_type(header);
  Value given;
  const bool applies = !put && type == kApplyPatch;
  if (applies && write.parameters.field_manager.empty()) return field_manager_required();
  if (put) {
    SHIPLOG_TRY(given, read_body(header, body, *context.kinds, *context.kind, nullptr));
  } else {
    SHIPLOG_TRY(given, read_scale_patch(*context.kind, type, body));
  }
  write.retries_conflicts = !put || given["metadata"]["resourceVersion"].is_empty();
  write.propose = [&server, &context, put, type, applies, parameters = write.parameters,
                   given = std::move(given)](Result<Value> current) -> StageResult<Proposal> {
    if (!current) return current.error();
    Proposal proposal{.operation = "UPDATE", .verb = put ? "update" : "patch"};
    proposal.name = context.path.name;
    proposal.old = scale_of(*context.kind, current.value());
    proposal.object = given;
    if (applies) {
      SHIPLOG_TRY(const Value object, applied_scale(server, context, parameters, current.value(), given));
      proposal.object = scale_of(*context.kind, object);
      if (const Value* stated = given["metadata"].find("resourceVersion")) {
        proposal.object.edit("metadata").set("resourceVersion", *stated);
      }
      proposal.applied = true;
      proposal.managed = object["metadata"]["managedFields"];
    } else if (!put) {
      SHIPLOG_TRY(proposal.object, patched_scale(type, proposal.old, given));
    }
    SHIPLOG_TRY(proposal.object, as_scale(std::move(proposal.object)));
    const Value& stated = proposal.object["metadata"]["resourceVersion"];
    if (!stated.is_empty() && stated != current.value()["metadata"]["resourceVersion"]) {
      return conflict(context.subject());
    }
    proposal.current = std::move(current).value();
    return proposal;
  };
  write.changes = [&server, &context, parameters = write.parameters](Proposal& proposal) -> StageResult<WriteChanges> {
    WriteChanges changes;
    changes.put = WriteChanges::Put::kReplace;
    changes.expected = revision_of(proposal.current);
    SHIPLOG_TRY(changes.object, scaled(server, context, parameters, proposal));
    if (same_but_for_times(proposal.current, changes.object)) {  // META-3, SSA-10
      changes.put = WriteChanges::Put::kNothing;
      changes.object = proposal.current;
    }
    return changes;
  };
  write.answer = [&context](const Proposal&, const Committed& committed) -> Result<WriteAnswer> {
    WriteAnswer answer;
    answer.body = scale_of(*context.kind, committed.object);
    return answer;
  };
  return write;
}

}  // namespace shiplog::api
