#include "services/api/admission/metadata.h"

#include <algorithm>
#include <set>

#include "events/base/ascii.h"
#include "events/base/names.h"
#include "events/base/utf8.h"
#include "events/state/object.h"
#include "services/api/admission/field_checks.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostAnnotationBytes = 256U << 10U;

Problem address_name_problem(std::string_view name) {
  const auto address = parse_ip(name);
  if (!address) return kNoAddress;
  const std::string canonical = ip_text(*address);
  if (canonical == name) return std::nullopt;
  return "must be in canonical form (\"" + canonical + "\")";
}

Problem name_problem(const Kind& kind, std::string_view name) {
  const std::string type = kind.type();
  if (type == type::kNamespace || type == "services") return label_problem(name);
  if (kind.builtin && kind.group == "rbac.authorization.k8s.io") return path_segment_problem(name);
  if (type == "apiservices.apiregistration.k8s.io") return path_segment_problem(name);  // "v1." is the core group's
  // Of nodes and users: "node-csr-AbC_d", "system:node.17ab".
  if (type == "certificatesigningrequests.certificates.k8s.io" || type == "events") return path_segment_problem(name);
  if (type == "ipaddresses.networking.k8s.io") return address_name_problem(name);
  return subdomain_problem(name);
}

/// Kinds that kube-apiserver checks by the validation of its core API. The definitions of kinds, API services and
/// webhooks are not among them.
bool has_core_validation(const Kind& kind) {
  static constexpr const char* kOthers[] = {"apiextensions.k8s.io", "apiregistration.k8s.io",
                                            "admissionregistration.k8s.io"};
  return kind.builtin && std::ranges::find(kOthers, kind.group) == std::end(kOthers);
}

bool is_standard_finalizer(std::string_view name) {
  return name == "orphan" || name == "foregroundDeletion" || name == "kubernetes";
}

void check_new_finalizer_names(const Value& finalizers, Causes& causes) {
  const auto holds = [&](const char* name) {
    return std::any_of(finalizers.items().begin(), finalizers.items().end(),
                       [&](const Value& each) { return each.as_string() == name; });
  };
  for (const Value& finalizer : finalizers.items()) {
    if (const auto problem = qualified_name_problem(finalizer.as_string())) {
      causes.invalid("metadata.finalizers", finalizer, *problem);
    }
  }
  if (holds("orphan") && holds("foregroundDeletion")) {
    causes.invalid("metadata.finalizers", finalizers, "finalizer orphan and foregroundDeletion cannot be both set");
  }
}

void check_finalizers(const Kind& kind, const Value& finalizers, bool creates, Causes& causes) {
  const bool core = has_core_validation(kind);
  // As upstream, which looks at the names of a replacement in its core API only.
  if (creates || core) check_new_finalizer_names(finalizers, causes);
  for (size_t i = 0; core && i < finalizers.size(); ++i) {
    const std::string_view name = finalizers[i].as_string();
    if (name.find('/') != std::string_view::npos || is_standard_finalizer(name)) continue;
    causes.invalid(at("metadata.finalizers", i), finalizers[i],
                   "name is neither a standard finalizer name nor is it fully qualified");
  }
}

}  // namespace

void check_owners(const Value& owners, const std::string& list, Causes& causes) {
  size_t controllers = 0;
  for (size_t i = 0; i < owners.size(); ++i) {
    const std::string field = at(list, i);
    for (const char* each : {"apiVersion", "kind", "name", "uid"}) {
      if (owners[i][each].as_string().empty()) causes.required(field + "." + each, "must not be empty");
    }
    if (owners[i]["kind"].as_string() == "Event" && owners[i]["apiVersion"].as_string() == "v1") {
      causes.invalid(field, owners[i]["kind"], "is disallowed from being an owner");
    }
    controllers += owners[i]["controller"].as_bool() ? 1U : 0U;
  }
  if (controllers > 1) {
    causes.invalid(list, owners, "Only one reference can have Controller set to true");
  }
}

void check_annotations(const Value& annotations, Causes& causes, const std::string& field) {
  size_t size = 0;
  for (const auto& annotation : annotations.members()) {
    // Kubernetes compares keys of annotations in lower case: their prefix may be written in capitals.
    if (const auto problem = qualified_name_problem(lower_case(annotation.key()))) {
      causes.invalid(field, Value{annotation.key()}, *problem);
    }
    size += annotation.key().size() + annotation.value.as_string().size();
  }
  if (size > kMostAnnotationBytes) causes.too_long(field, kMostAnnotationBytes);
}

void unite_owners(Value& metadata, std::vector<std::string>& warnings, bool after_webhooks) {
  const Value* owners = metadata.find("ownerReferences");
  if (owners == nullptr) return;
  constexpr size_t kMostShown = 1024;  // bytes
  Value::Array kept;
  std::set<std::string_view> uids;
  std::string duplicates;
  for (const Value& owner : owners->items()) {
    const Value& uid = owner["uid"];
    if (uid.is_empty() || uids.insert(uid.as_string()).second) {
      kept.push_back(owner);
    } else if (duplicates.size() < kMostShown) {
      duplicates += (duplicates.empty() ? "" : ", ") + printable(uid.as_string());
    }
  }
  if (duplicates.empty()) return;
  warnings.push_back(std::string{".metadata.ownerReferences contains duplicate entries"} +
                     (after_webhooks ? " after mutating admission happens" : "") +
                     "; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; "
                     "please fix your requests; duplicate UID(s) observed: " +
                     duplicates);
  metadata.set("ownerReferences", Value::array(std::move(kept)));
}

void check_labels(const Value& labels, const std::string& field, Causes& causes) {
  for (const auto& label : labels.members()) {
    if (const auto problem = qualified_name_problem(label.key())) causes.invalid(field, Value{label.key()}, *problem);
    if (const auto problem = label_value_problem(label.value.as_string())) causes.invalid(field, label.value, *problem);
  }
}

void check_metadata(const Kind& kind, const Value& metadata, bool creates, Causes& causes) {
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
  check_finalizers(kind, metadata["finalizers"], creates, causes);
  check_owners(metadata["ownerReferences"], "metadata.ownerReferences", causes);
}

void warn_of_finalizers(const Value& before, const Value& metadata, std::vector<std::string>& warnings) {
  constexpr size_t kMostWarnings = 100;
  const auto known = before["finalizers"].items();
  std::set<std::string_view> added;
  for (const Value& finalizer : metadata["finalizers"].items()) {
    if (std::ranges::find(known, finalizer) == known.end()) added.insert(finalizer.as_string());
  }
  for (const std::string_view name : added) {
    const std::string named = "metadata.finalizers: \"" + printable(name, 317) + "\": ";
    if (warnings.size() >= kMostWarnings) return;
    if (const auto problem = qualified_name_problem(name)) warnings.push_back(named + std::string{*problem});
    if (name.find('/') != std::string_view::npos || is_standard_finalizer(name)) continue;
    warnings.push_back(named + "prefer a domain-qualified finalizer name " +
                       (name.find('.') == std::string_view::npos ? "" : "including a path (/) ") +
                       "to avoid accidental conflicts with other finalizer writers");
  }
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
