#include "services/api/admission/metadata.h"

#include <algorithm>
#include <set>

#include "events/base/ascii.h"
#include "events/base/names.h"
#include "events/base/utf8.h"
#include "events/state/object.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostAnnotationBytes = 256U << 10U;

Problem name_problem(const Kind& kind, std::string_view name) {
  const std::string type = kind.type();
  if (type == type::kNamespace) return label_problem(name);
  if (type == "services") return service_name_problem(name);
  if (kind.builtin && kind.group == "rbac.authorization.k8s.io") return path_segment_problem(name);
  if (type == "apiservices.apiregistration.k8s.io") return path_segment_problem(name);  // "v1." is the core group's
  return subdomain_problem(name);
}

void check_finalizers(const Value& finalizers, Causes& causes) {
  for (size_t i = 0; i < finalizers.size(); ++i) {
    const std::string_view name = finalizers[i].as_string();
    if (const auto problem = qualified_name_problem(name)) {
      causes.invalid(at("metadata.finalizers", i), finalizers[i], *problem);
    } else if (name.find('/') == std::string_view::npos && name != "orphan" && name != "foregroundDeletion" &&
               name != "kubernetes") {
      causes.invalid(at("metadata.finalizers", i), finalizers[i],
                     "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
  const auto holds = [&](const char* name) {
    return std::any_of(finalizers.items().begin(), finalizers.items().end(),
                       [&](const Value& each) { return each.as_string() == name; });
  };
  if (holds("orphan") && holds("foregroundDeletion")) {
    causes.invalid("metadata.finalizers", finalizers, "finalizer orphan and foregroundDeletion cannot be both set");
  }
}

void check_owners(const Value& owners, Causes& causes) {
  size_t controllers = 0;
  for (size_t i = 0; i < owners.size(); ++i) {
    const std::string field = at("metadata.ownerReferences", i);
    for (const char* each : {"apiVersion", "kind", "name", "uid"}) {
      if (owners[i][each].as_string().empty()) causes.required(field + "." + each, "must not be empty");
    }
    if (owners[i]["kind"].as_string() == "Event" && owners[i]["apiVersion"].as_string() == "v1") {
      causes.invalid(field, owners[i]["kind"], "is disallowed from being an owner");
    }
    controllers += owners[i]["controller"].as_bool() ? 1U : 0U;
  }
  if (controllers > 1) {
    causes.invalid("metadata.ownerReferences", owners, "Only one reference can have Controller set to true");
  }
}

}  // namespace

void check_annotations(const Value& annotations, Causes& causes) {
  size_t size = 0;
  for (const auto& annotation : annotations.members()) {
    // Kubernetes compares keys of annotations in lower case: their prefix may be written in capitals.
    if (const auto problem = qualified_name_problem(lower_case(annotation.key()))) {
      causes.invalid("metadata.annotations", Value{annotation.key()}, *problem);
    }
    size += annotation.key().size() + annotation.value.as_string().size();
  }
  if (size > kMostAnnotationBytes) causes.too_long("metadata.annotations", kMostAnnotationBytes);
}

void unite_owners(Value& metadata, std::vector<std::string>& warnings) {
  const Value* owners = metadata.find("ownerReferences");
  if (owners == nullptr) return;
  constexpr size_t kMostWarnings = 10;
  Value::Array kept;
  std::set<std::string_view> uids;
  for (const Value& owner : owners->items()) {
    const Value& uid = owner["uid"];
    if (uid.is_empty() || uids.insert(uid.as_string()).second) {
      kept.push_back(owner);
      continue;
    }
    if (warnings.size() >= kMostWarnings) continue;
    warnings.push_back(
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references, and "
        "may reject such requests in the future; UID " +
        printable(uid.as_string()) + " stands there more than once");
  }
  if (kept.size() != owners->size()) metadata.set("ownerReferences", Value::array(std::move(kept)));
}

void check_labels(const Value& labels, const std::string& field, Causes& causes) {
  for (const auto& label : labels.members()) {
    if (const auto problem = qualified_name_problem(label.key())) causes.invalid(field, Value{label.key()}, *problem);
    if (const auto problem = label_value_problem(label.value.as_string())) causes.invalid(field, label.value, *problem);
  }
}

void check_metadata(const Kind& kind, const Value& metadata, Causes& causes) {
  const std::string_view name = metadata["name"].as_string();
  const std::string_view prefix = metadata["generateName"].as_string();
  if (name.empty()) {
    causes.required("metadata.name", "name or generateName is required");
  } else if (const auto problem = name_problem(kind, name)) {
    // Of a generated name the user has written only the beginning.
    const bool generated = !prefix.empty() && name.starts_with(prefix.substr(0, 58));
    causes.invalid(generated ? "metadata.generateName" : "metadata.name", Value{generated ? prefix : name}, *problem);
  }
  check_labels(metadata["labels"], "metadata.labels", causes);
  check_annotations(metadata["annotations"], causes);
  check_finalizers(metadata["finalizers"], causes);
  check_owners(metadata["ownerReferences"], causes);
}

void check_new_finalizers(const Value& old, const Value& metadata, Causes& causes) {
  if (!deleting(old)) return;
  std::set<std::string_view> there;
  for (const Value& finalizer : old["metadata"]["finalizers"].items()) there.insert(finalizer.as_string());
  std::string added;
  for (const Value& finalizer : metadata["finalizers"].items()) {
    if (there.contains(finalizer.as_string()) || added.size() > Causes::kLongestMessage) continue;
    added += (added.empty() ? "" : ", ") + quoted(finalizer.as_string());
  }
  if (added.empty()) return;
  causes.forbidden(
      "metadata.finalizers",
      "no new finalizers can be added if the object is being deleted, found new finalizers []string{" + added + "}");
}

}  // namespace shiplog::api
