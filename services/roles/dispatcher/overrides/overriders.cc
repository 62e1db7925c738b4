#include "services/roles/dispatcher/overrides/overriders.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "events/base/json_patch.h"
#include "events/base/utf8.h"
#include "services/roles/dispatcher/overrides/image.h"
#include "services/roles/dispatcher/overrides/patched_text.h"

namespace shiplog::dispatcher {
namespace {

/// The pod spec that a kind is known to hold; nullptr for kinds that overriders of containers leave alone.
const Value* pod_spec(const Value& object) {
  const auto kind = object["kind"].as_string();
  if (kind == "Pod") return &object["spec"];
  const bool templated =
      kind == "ReplicaSet" || kind == "Deployment" || kind == "DaemonSet" || kind == "StatefulSet" || kind == "Job";
  return templated ? &object["spec"]["template"]["spec"] : nullptr;
}

Value::Array& edit_containers(Value& object) {
  Value& spec = object.edit("spec");
  Value& pod = object["kind"].as_string() == "Pod" ? spec : spec.edit("template").edit("spec");
  return pod.edit("containers").edit_items();
}

size_t container_count(const Value& object) {
  const Value* pod = pod_spec(object);
  return pod == nullptr ? 0 : (*pod)["containers"].size();
}

Error invalid(std::string message) { return {ErrorCode::kInvalid, std::move(message)}; }

// --- image -----------------------------------------------------------------------------------------------------------

Result<std::string> overridden_image(std::string_view present, const Value& overrider) {
  SHIPLOG_TRY(Image image, parse_image(present));
  const auto component = overrider["component"].as_string();
  const auto op = overrider["operator"].as_string();
  const std::string value = overrider["value"].str();
  const auto put = [&](std::string& part) {
    if (op == "add") part += value;
    if (op == "replace") part = value;
    if (op == "remove") part.clear();
  };
  if (component == "Registry") {
    put(image.registry);
  } else if (component == "Repository") {
    put(image.repository);
  } else if (component == "Tag") {
    if (op == "add") image.set_tag_or_digest(image.tag_or_digest() + value);
    if (op == "replace") image.set_tag_or_digest(value);
    if (op == "remove") (image.tag.empty() ? image.digest : image.tag).clear();
  } else {
    return invalid("unsupported image component(" + printable(component) + ")");
  }
  return image.str();
}

/// The predicate's path is split at slashes and nothing else: ~1 is no slash here.
std::optional<JsonPointer> predicate_pointer(std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  JsonPointer pointer;
  for (size_t begin = 1; begin <= path.size();) {
    const size_t slash = std::min(path.find('/', begin), path.size());
    pointer.emplace_back(path.substr(begin, slash - begin));
    begin = slash + 1;
  }
  return pointer;
}

Result<void> override_image(Value& object, const Value& overrider) {
  if (const Value* predicate = overrider.find("predicate"); predicate != nullptr && predicate->is_object()) {
    const auto path = (*predicate)["path"].as_string();
    const auto pointer = predicate_pointer(path);
    if (!pointer) return invalid("predicate path(" + printable(path) + ") does not begin with a slash");
    const Value* present = find_at(object, *pointer);
    if (present == nullptr || !present->is_string()) {
      return invalid("there is no string at the predicate path(" + printable(path, 253) + ")");
    }
    SHIPLOG_TRY(const std::string image, overridden_image(present->as_string(), overrider));
    edit_at(object, *pointer) = image;
    return ok();
  }
  if (container_count(object) == 0) return ok();
  for (Value& container : edit_containers(object)) {
    SHIPLOG_TRY(const std::string image, overridden_image(container["image"].as_string(), overrider));
    container.set("image", image);
  }
  return ok();
}

// --- command and args ------------------------------------------------------------------------------------------------

Result<void> override_strings(Value& object, const Value& overrider, const char* field) {
  const auto named = [&](const Value& container) { return container["name"] == overrider["containerName"]; };
  if (container_count(object) == 0 || std::ranges::none_of((*pod_spec(object))["containers"].items(), named)) {
    return ok();
  }
  const auto op = overrider["operator"].as_string();
  std::set<std::string_view> removed;  // of `overrider`, and both lists may be long
  if (op == "remove") {
    for (const Value& item : overrider["value"].items()) removed.insert(item.as_string());
  }
  for (Value& container : edit_containers(object)) {
    if (!named(container)) continue;
    const Value& present = container[field];
    if (!present.is_null() && !present.is_array()) {
      return invalid("the " + std::string{field} + " of container " + printable(container["name"].as_string()) +
                     " is no list");
    }
    Value list = present.is_null() ? Value::array() : present;
    if (op == "add") {
      for (const Value& item : overrider["value"].items()) list.push_back(item);
    } else if (op == "remove") {
      std::erase_if(list.edit_items(),
                    [&](const Value& item) { return item.is_string() && removed.contains(item.as_string()); });
    }
    container.set(field, std::move(list));
  }
  return ok();
}

// --- labels and annotations ------------------------------------------------------------------------------------------

Result<void> override_map(Value& object, const Value& overrider, const char* field) {
  const auto op = overrider["operator"].as_string();
  for (const auto& member : overrider["value"].members()) {
    const bool present = object["metadata"][field].contains(member.key());
    if (op != "add" && !present) continue;
    Value& map = object.edit("metadata").edit(field);
    if (op == "remove") {
      map.erase(member.key());
    } else {
      map.set(member.key(), member.value);
    }
  }
  return ok();
}

// --- JSON patches ----------------------------------------------------------------------------------------------------

/// RFC 6902 operations of entries {operator, `path_field`, value}.
Value patch_of(const Value& entries, const char* path_field) {
  Value patch = Value::array();
  for (const Value& entry : entries.items()) {
    Value operation = Value::object({{"op", entry["operator"]}, {"path", entry[path_field]}});
    if (entry["operator"].as_string() != "remove") operation.set("value", entry["value"]);
    patch.push_back(std::move(operation));
  }
  return patch;
}

Result<void> override_field(Value& object, const Value& overrider) {
  const auto path = overrider["fieldPath"].as_string();
  const auto pointer = parse_json_pointer(path);
  if (!pointer) return invalid("fieldPath(" + printable(path, 253) + ") is no JSON pointer");
  const Value* present = find_at(object, *pointer);
  if (present == nullptr || !present->is_string()) {
    return invalid("there is no string at fieldPath(" + printable(path, 253) + ")");
  }
  std::string text = present->str();
  if (overrider["json"].size() > 0) {
    SHIPLOG_TRY(text, patched_json(text, patch_of(overrider["json"], "subPath")));
  }
  if (overrider["yaml"].size() > 0) {
    SHIPLOG_TRY(text, patched_yaml(text, patch_of(overrider["yaml"], "subPath")));
  }
  edit_at(object, *pointer) = text;
  return ok();
}

// ---------------------------------------------------------------------------------------------------------------------

/// Each entry of a list sees what the one before it has made of the object.
template <class Apply>
Result<void> each(const Value& overriders, const char* list, Apply apply) {
  size_t index = 0;
  for (const Value& entry : overriders[list].items()) {
    if (auto applied = apply(entry); !applied) {
      return applied.error().context(std::string{list} + "[" + std::to_string(index) + "]");
    }
    ++index;
  }
  return ok();
}

}  // namespace

Result<Value> apply_overriders(Value object, const Value& overriders) {
  SHIPLOG_TRY(
      each(overriders, "imageOverrider", [&](const Value& overrider) { return override_image(object, overrider); }));
  for (const auto& [list, field] : {std::pair{"commandOverrider", "command"}, std::pair{"argsOverrider", "args"}}) {
    const char* strings = field;
    SHIPLOG_TRY(
        each(overriders, list, [&](const Value& overrider) { return override_strings(object, overrider, strings); }));
  }
  for (const auto& [list, field] :
       {std::pair{"labelsOverrider", "labels"}, std::pair{"annotationsOverrider", "annotations"}}) {
    const char* map = field;
    SHIPLOG_TRY(each(overriders, list, [&](const Value& overrider) { return override_map(object, overrider, map); }));
  }
  SHIPLOG_TRY(
      each(overriders, "fieldOverrider", [&](const Value& overrider) { return override_field(object, overrider); }));
  if (overriders["plaintext"].size() == 0) return object;
  auto patched = apply_json_patch(object, patch_of(overriders["plaintext"], "path"));
  if (!patched) return patched.error().context("plaintext");
  return std::move(patched).value();
}

}  // namespace shiplog::dispatcher
