#include <algorithm>
#include <string>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/names.h"
#include "events/base/utf8.h"
#include "events/state/object.h"
#include "events/state/system_priority_classes.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"
#include "services/api/pod_security/levels.h"

// Namespace, ConfigMap, Secret, PriorityClass and Lease. Source: CRU-8 to CRU-10, NSP-3.

namespace shiplog::api {
namespace {

constexpr size_t kMostData = 1U << 20U;  // of a ConfigMap or Secret

// --- Namespace

/// Also of a status write, which may leave the labels out.
void fill_namespace_label(Value& object, const Write&) {
  object.edit("metadata").edit("labels").set("kubernetes.io/metadata.name", object["metadata"]["name"]);
}

void fill_namespace(Value& object, const Write& write) {
  if (write.subresource == "finalize" && write.old != nullptr) {  // SUB-4: nothing but these
    Value finalized = *write.old;
    if (object["spec"]["finalizers"].size() > 0) {
      finalized.edit("spec").set("finalizers", object["spec"]["finalizers"]);
    } else {
      finalized.edit("spec").erase("finalizers");
    }
    object = std::move(finalized);
    return;
  }
  fill_namespace_label(object, write);
  Value& spec = object.edit("spec");
  if (write.old != nullptr) {
    // Only the finalize subresource takes from these: they hold the namespace until its content is removed.
    spec.set("finalizers", (*write.old)["spec"]["finalizers"]);
  } else if (std::ranges::find(spec["finalizers"].items(), Value{"kubernetes"}) == spec["finalizers"].items().end()) {
    spec.edit("finalizers").push_back("kubernetes");
  }
}

/// The names of the finalizers that are new, on a create and through the finalize subresource.
void check_namespace(const Value& object, const Write& write, Causes& causes) {
  const auto check_finalizers = [&](const Value& finalizers, Causes& found) {
    for (size_t i = 0; i < finalizers.size(); ++i) {
      const std::string field = write.old == nullptr ? "spec.finalizers" : at("spec.finalizers", i);
      const std::string_view name = finalizers[i].as_string();
      if (const auto problem = qualified_name_problem(name)) found.invalid(field, finalizers[i], *problem);
      if (name.find('/') != std::string_view::npos || name == "kubernetes") continue;
      if (name == "orphan" || name == "foregroundDeletion") continue;
      found.invalid(field, finalizers[i], "name is neither a standard finalizer name nor is it fully qualified");
    }
  };
  check_new(object["spec"]["finalizers"], old_of(write)["spec"]["finalizers"], check_finalizers, causes);
  const auto problems = pod_security_of(object["metadata"]["labels"]).second;
  if (write.old != nullptr && problems == pod_security_of((*write.old)["metadata"]["labels"]).second) return;
  for (const PodSecurityProblem& problem : problems) {
    causes.invalid("metadata.labels[" + problem.label + "]", problem.value, problem.message);
  }
}

// --- ConfigMap and Secret

void check_keys(const Value& data, const char* field, Causes& causes) {
  for (const auto& entry : data.members()) {
    if (const auto problem = config_key_problem(entry.key())) {
      causes.invalid(std::string{field} + "[" + std::string{entry.key()} + "]", Value{entry.key()}, *problem);
    }
  }
}

/// `immutable: true` holds until the object is deleted.
void check_frozen(const Value& object, const Write& write, std::initializer_list<const char*> fields, Causes& causes) {
  if (!old_of(write)["immutable"].as_bool()) return;
  if (!object["immutable"].as_bool()) causes.forbidden("immutable", "field is immutable when `immutable` is set");
  for (const char* field : fields) {
    const Value& before = old_of(write)[field];
    const Value& after = object[field];
    if (before != after && (before.size() > 0 || after.size() > 0)) {
      causes.forbidden(field, "field is immutable when `immutable` is set");
    }
  }
}

void check_config_map(const Value& object, const Write& write, Causes& causes) {
  check_keys(object["data"], "data", causes);
  check_keys(object["binaryData"], "binaryData", causes);
  size_t size = 0;
  for (const auto& entry : object["data"].members()) size += entry.value.as_string().size();
  for (const auto& entry : object["binaryData"].members()) {
    size += base64_decoded_size(entry.value.as_string());
    if (object["data"].contains(entry.key())) {
      causes.invalid("data[" + std::string{entry.key()} + "]", Value{entry.key()},
                     "duplicate of key present in binaryData");
    }
  }
  if (size > kMostData) causes.too_long("data", kMostData);
  check_frozen(object, write, {"data", "binaryData"}, causes);
}

void fill_secret(Value& object, const Write&) {
  const Value plain = object["stringData"];
  for (const auto& entry : plain.members())
    object.edit("data").set(entry.key(), base64_encode(entry.value.as_string()));
  object.erase("stringData");
}

/// The logins of a registry are a JSON object. Their text is not shown.
void check_logins(const Value& data, const char* key, Causes& causes) {
  const auto text = base64_decode(data[key].as_string());
  if (!data.contains(key) || !text || !is_utf8(*text)) return;  // Go reads what is no UTF-8, too
  const auto logins = parse_json(*text);
  if (logins && (logins.value().is_object() || logins.value().is_null())) return;
  causes.invalid(std::string{"data["} + key + "]", Value{"<secret contents redacted>"}, "must be a JSON object");
}

void check_secret_values(const Value& object, Causes& causes) {
  const std::string_view type = object["type"].as_string();
  if (type == "kubernetes.io/dockercfg") check_logins(object["data"], ".dockercfg", causes);
  if (type == "kubernetes.io/dockerconfigjson") check_logins(object["data"], ".dockerconfigjson", causes);
}

void check_secret(const Value& object, const Write& write, Causes& causes) {
  const Value& data = object["data"];
  check_keys(data, "data", causes);
  size_t size = 0;
  for (const auto& entry : data.members()) size += base64_decoded_size(entry.value.as_string());
  if (size > kMostData) causes.too_long("data", kMostData);
  const auto needs = [&](const char* key) {
    if (!data.contains(key)) causes.required(std::string{"data["} + key + "]");
  };
  const std::string_view type = object["type"].as_string();
  if (type == "kubernetes.io/dockercfg") needs(".dockercfg");
  if (type == "kubernetes.io/dockerconfigjson") needs(".dockerconfigjson");
  if (type == "kubernetes.io/ssh-auth") needs("ssh-privatekey");
  if (type == "kubernetes.io/tls") {
    needs("tls.crt");
    needs("tls.key");
  }
  if (type == "kubernetes.io/basic-auth" && !data.contains("username") && !data.contains("password")) {
    causes.required("data[username]");
    causes.required("data[password]");
  }
  if (type == "kubernetes.io/service-account-token" &&
      annotation_of(object, "kubernetes.io/service-account.name").empty()) {
    causes.required("metadata.annotations[kubernetes.io/service-account.name]");
  }
  if (write.old != nullptr && old_of(write)["type"] != object["type"]) {
    causes.invalid("type", object["type"], "field is immutable");
  }
  check_new(object, old_of(write), check_secret_values, causes);
  check_frozen(object, write, {"data"}, causes);
}

// --- PriorityClass

/// The value is shown though it is the default.
void fill_priority_class(Value& object, const Write&) {
  if (object["value"].is_null()) object.set("value", 0);
}

void check_new_priority_class(const Value& object, Causes& causes) {
  constexpr int64_t kMostOfUsers = 1'000'000'000;
  const std::string name = object["metadata"]["name"].str();
  const int64_t value = object["value"].as_int();
  const SystemPriorityClass* system = system_priority_class(name);
  if (name.starts_with("system-")) {
    const std::string wrong =
        system == nullptr        ? name + " is not a known system priority class"
        : system->value != value ? "value of " + name + " PriorityClass must be " + std::to_string(system->value)
        : object["globalDefault"].as_bool() ? "globalDefault of " + name + " PriorityClass must be false"
                                            : "";
    if (!wrong.empty()) {
      causes.forbidden("metadata.name",
                       "priority class names with 'system-' prefix are reserved for system use only. error: " + wrong);
    }
  } else if (value > kMostOfUsers) {
    causes.forbidden("value", "maximum allowed value of a user defined priority is " + std::to_string(kMostOfUsers));
  }
  check_one_of(object["preemptionPolicy"], "preemptionPolicy", {"PreemptLowerPriority", "Never"}, causes);
}

/// That there is one default only is checked behind admission (pipeline/validate.cc).
void check_priority_class(const Value& object, const Write& write, Causes& causes) {
  if (write.old == nullptr) return check_new_priority_class(object, causes);
  if (old_of(write)["value"].as_int() != object["value"].as_int()) {
    causes.forbidden("value", "may not be changed in an update.");
  }
  if (old_of(write)["preemptionPolicy"] != object["preemptionPolicy"]) {
    causes.invalid("preemptionPolicy", object["preemptionPolicy"], "field is immutable");
  }
}

// --- Lease

void check_lease(const Value& object, const Write&, Causes& causes) {
  const Value& spec = object["spec"];
  if (const Value& seconds = spec["leaseDurationSeconds"]; !seconds.is_null() && seconds.as_int() <= 0) {
    causes.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0");
  }
  if (const Value& count = spec["leaseTransitions"]; count.as_int() < 0) {
    causes.invalid("spec.leaseTransitions", count, "must be greater than or equal to 0");
  }
}

}  // namespace

const std::vector<Rules>& core_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "namespaces", .fill = fill_namespace, .check = check_namespace, .fill_status = fill_namespace_label},
      {.type = "configmaps", .check = check_config_map},
      {.type = "secrets", .fill = fill_secret, .check = check_secret},
      {.type = "priorityclasses.scheduling.k8s.io", .fill = fill_priority_class, .check = check_priority_class},
      {.type = "leases.coordination.k8s.io", .check = check_lease},
  };
  return kRules;
}

}  // namespace shiplog::api
