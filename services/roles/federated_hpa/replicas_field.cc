#include "services/roles/federated_hpa/replicas_field.h"

#include <algorithm>
#include <utility>

#include "events/kinds/structural_schema.h"

namespace shiplog::federated_hpa {
namespace {

/// Of metadata.managedFields.
constexpr const char* kManager = "federated-hpa";

using JsonSteps = std::vector<std::string>;

/// "f:spec" of "spec".
JsonSteps field_steps(const Served& served) {
  JsonSteps steps = steps_of(served.replicas);
  for (std::string& step : steps) step.insert(0, "f:");
  return steps;
}

bool owns(const Value& fields, const JsonSteps& path) {
  const Value* at = &fields;
  for (const std::string& step : path) at = &(*at)[step];
  return at->is_object();
}

/// Removes the field, and each object that is empty without it.
void disown(Value& fields, const JsonSteps& path, size_t index = 0) {
  if (index + 1 == path.size()) {
    fields.erase(path[index]);
    return;
  }
  Value& below = fields.edit(path[index]);
  disown(below, path, index + 1);
  if (below.size() == 0) fields.erase(path[index]);
}

bool is_own(const Value& manager, const std::string& api_version) {
  return manager["manager"].as_string() == kManager && manager["operation"].as_string() == "Update" &&
         manager["subresource"].as_string() == "scale" && manager["apiVersion"].as_string() == api_version;
}

/// metadata.managedFields after the role has changed the field.
Value taken_over(const Value& managers, const Served& served, UtcMillis now) {
  const JsonSteps path = field_steps(served);
  const std::string api_version = served.group.empty() ? served.version : served.group + "/" + served.version;
  Value own = Value::object({{"apiVersion", api_version},
                             {"fieldsType", "FieldsV1"},
                             {"manager", kManager},
                             {"operation", "Update"},
                             {"subresource", "scale"}});
  Value all = Value::array();
  for (const Value& each : managers.items()) {
    if (is_own(each, api_version)) continue;
    Value rest = each;
    if (owns(each["fieldsV1"], path)) disown(rest.edit("fieldsV1"), path);
    if (rest["fieldsV1"].size() > 0) all.push_back(std::move(rest));
  }
  Value* field = &own.edit("fieldsV1");
  for (const std::string& step : path) field = &field->edit(step);
  *field = Value::object();
  own.set("time", rfc3339(now));
  all.push_back(std::move(own));
  return all;
}

/// The schema of the field, as its definition has it; null: it has none.
const Value& schema_in(const State& state, const Served& served) {
  static const Value none;
  const Value& definition = state.value_of({type::kCustomResourceDefinition, "", served.type()});
  for (const Value& version : definition["spec"]["versions"].items()) {
    if (version["name"].as_string() != served.version) continue;
    const Value* at = &version["schema"]["openAPIV3Schema"];
    for (const std::string& step : steps_of(served.replicas)) at = &(*at)["properties"][step];
    return *at;
  }
  return none;
}

}  // namespace

std::vector<std::string> steps_of(std::string_view json_path) {
  std::vector<std::string> steps;
  while (!json_path.empty()) {
    json_path.remove_prefix(1);
    const size_t end = std::min(json_path.find('.'), json_path.size());
    steps.emplace_back(json_path.substr(0, end));
    json_path.remove_prefix(end);
  }
  return steps;
}

const Value& value_at(const Value& object, std::string_view json_path) {
  const Value* at = &object;
  for (const std::string& step : steps_of(json_path)) at = &(*at)[step];
  return *at;
}

Value with_replicas(const Value& object, const Served& served, int64_t replicas, UtcMillis now) {
  Value scaled = object;
  Value* at = &scaled;
  for (const std::string& step : steps_of(served.replicas)) at = &at->edit(step);
  *at = replicas;
  // Without a list, the next apply attributes all there is to "before-first-apply", and keeps it.
  const Value& managers = object["metadata"]["managedFields"];
  if (managers.size() > 0) scaled.edit("metadata").set("managedFields", taken_over(managers, served, now));
  return scaled;
}

std::string replicas_refusal(const State& state, const Served& served, int64_t replicas) {
  // Errors name the whole path: the field stands in an object that has nothing else.
  Value schema = schema_in(state, served);
  if (schema.is_null()) return "";
  Value value = replicas;
  const JsonSteps steps = steps_of(served.replicas);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    schema = Value::object({{"type", "object"}, {"properties", Value::object({{*step, schema}})}});
    value = Value::object({{*step, value}});
  }
  std::vector<FieldCause> causes;
  const auto readable = read_structural_schema(schema, "", causes);
  if (readable == nullptr || !causes.empty()) return "";
  causes = validate(*readable, value);
  return causes.empty() ? "" : causes.front().field + ": " + causes.front().message;
}

}  // namespace shiplog::federated_hpa
