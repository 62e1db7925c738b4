#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ascii.h"
#include "events/base/quantity.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"

// The kinds of storage.k8s.io. Source: KIND-1; pkg/apis/storage/validation of Kubernetes 1.36.

namespace shiplog::api {
namespace {

// --- StorageClass

void check_storage_class(const Value& object, const Write& write, Causes& causes) {
  const Value& provisioner = object["provisioner"];
  if (provisioner.is_empty()) {
    causes.required("provisioner");
  } else if (const auto problem = qualified_name_problem(lower_case(provisioner.as_string()))) {
    causes.invalid("provisioner", provisioner, *problem);
  }
  check_one_of(object["reclaimPolicy"], "reclaimPolicy", {"Delete", "Retain"}, causes);
  check_one_of(object["volumeBindingMode"], "volumeBindingMode", {"Immediate", "WaitForFirstConsumer"}, causes);
  for (const auto& parameter : object["parameters"].members()) {
    if (parameter.key().empty()) causes.invalid("parameters", Value{parameter.key()}, "field must not be empty.");
  }
  const Value& topologies = object["allowedTopologies"];
  for (size_t i = 0; i < topologies.size(); ++i) {
    const Value& terms = topologies[i]["matchLabelExpressions"];
    std::set<std::string> keys;
    for (size_t j = 0; j < terms.size(); ++j) {
      const std::string field = at(at("allowedTopologies", i) + ".matchLabelExpressions", j);
      const Value& key = terms[j]["key"];
      if (const auto problem = qualified_name_problem(key.as_string())) causes.invalid(field + ".key", key, *problem);
      if (!keys.insert(key.str()).second) causes.duplicate(field + ".key", key);
      if (terms[j]["values"].size() == 0) causes.required(field + ".values");
    }
  }
  if (write.old == nullptr) return;
  for (const char* name : {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"}) {
    const Value& now = object[name];
    const Value& before = (*write.old)[name];
    if (before == now || (before.is_empty() && now.is_empty())) continue;
    causes.invalid(name, now, "field is immutable");
  }
}

// --- VolumeAttributesClass

void check_volume_attributes_class(const Value& object, const Write& write, Causes& causes) {
  constexpr size_t kMostParameters = 512, kMostBytes = size_t{256} * 1024;
  if (write.old != nullptr) {
    for (const char* field : {"driverName", "parameters"}) {
      if (object[field] != (*write.old)[field]) {
        causes.forbidden(field, std::string{"updates to "} + field + " are forbidden.");
      }
    }
    return;
  }
  const Value& driver = object["driverName"];
  if (driver.is_empty()) {
    causes.required("driverName");
  } else if (const auto problem = qualified_name_problem(lower_case(driver.as_string()))) {
    causes.invalid("driverName", driver, *problem);
  }
  const Value& parameters = object["parameters"];
  if (parameters.size() == 0) return causes.required("parameters", "must contain at least one key/value pair");
  if (parameters.size() > kMostParameters) return causes.too_long("parameters", kMostParameters);
  size_t bytes = 0;
  for (const auto& parameter : parameters.members()) {
    if (parameter.key().empty()) causes.invalid("parameters", Value{parameter.key()}, "field can not be empty.");
    bytes += parameter.key().size() + parameter.value.as_string().size();
  }
  if (bytes > kMostBytes) causes.too_long("parameters", kMostBytes);
}

// --- CSIDriver

/// The rules of a driver that older builds did not have.
void check_driver_values(const Value& spec, Causes& causes) {
  constexpr int64_t kLeastPeriod = 10;
  check_range(spec["nodeAllocatableUpdatePeriodSeconds"], "spec.nodeAllocatableUpdatePeriodSeconds", kLeastPeriod,
              INT64_MAX, "must be greater than or equal to 10 seconds", causes);
  const Value& in_secrets = spec["serviceAccountTokenInSecrets"];
  if (in_secrets.is_null() || spec["tokenRequests"].size() > 0) return;
  causes.invalid("spec.serviceAccountTokenInSecrets", in_secrets,
                 "serviceAccountTokenInSecrets is set but no tokenRequests are specified");
}

void warn_of_driver(const Value& object, const Write& write, std::vector<std::string>& warnings) {
  const Value& spec = object["spec"];
  const Value& requests = spec["tokenRequests"];
  if (requests.size() == 0 || !spec["serviceAccountTokenInSecrets"].is_null()) return;
  if (write.old != nullptr && old_of(write)["spec"]["tokenRequests"] == requests) return;
  warnings.emplace_back(
      "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible "
      "logging of tokens in volume attributes");
}

void check_driver(const Value& object, const Write& write, Causes& causes) {
  constexpr size_t kMostName = 63;
  constexpr int64_t kLeastSeconds = 600, kMostSeconds = int64_t{1} << 32;
  const Value& spec = object["spec"];
  if (object["metadata"]["name"].as_string().size() > kMostName) causes.too_long("metadata.name", kMostName);
  check_one_of(spec["fsGroupPolicy"], "spec.fsGroupPolicy", {"File", "None", "ReadWriteOnceWithFSType"}, causes);
  for (size_t i = 0; i < spec["volumeLifecycleModes"].size(); ++i) {
    check_one_of(spec["volumeLifecycleModes"][i], at("spec.volumeLifecycleModes", i), {"Ephemeral", "Persistent"},
                 causes);
  }
  std::set<std::string> audiences;
  for (size_t i = 0; i < spec["tokenRequests"].size(); ++i) {
    const Value& request = spec["tokenRequests"][i];
    const std::string field = at("spec.tokenRequests", i);
    if (!audiences.insert(request["audience"].str()).second) {
      causes.duplicate(field + ".audience", request["audience"]);
    }
    const Value& seconds = request["expirationSeconds"];
    check_range(seconds, field + ".expirationSeconds", kLeastSeconds, INT64_MAX,
                "may not specify a duration less than 10 minutes", causes);
    check_range(seconds, field + ".expirationSeconds", INT64_MIN, kMostSeconds,
                "may not specify a duration larger than 2^32 seconds", causes);
  }
  check_new(spec, old_of(write)["spec"], check_driver_values, causes);
  if (write.old == nullptr) return;
  for (const char* name : {"attachRequired", "volumeLifecycleModes"}) {
    if ((*write.old)["spec"][name] != spec[name]) {
      causes.invalid(std::string{"spec."} + name, spec[name], "field is immutable");
    }
  }
}

// --- CSINode

void check_topology_keys(const Value& keys, const std::string& field, Causes& causes) {
  std::set<std::string> seen;
  for (const Value& key : keys.items()) {
    if (key.is_empty()) causes.required(field);
    if (!seen.insert(key.str()).second) causes.duplicate(field, key);
    if (const auto problem = qualified_name_problem(key.as_string())) causes.invalid(field, key, *problem);
  }
}

void check_node_driver(const Value& driver, const std::string& field, Causes& causes) {
  constexpr size_t kMostId = 256;
  const Value& id = driver["nodeID"];
  check_driver_name(driver["name"], field + ".name", causes);
  if (id.is_empty()) causes.required(field + ".nodeID");
  if (id.as_string().size() > kMostId) {
    causes.invalid(field + ".nodeID", id, "must be " + std::to_string(kMostId) + " characters or less");
  }
  check_range(driver["allocatable"]["count"], field + ".allocatable.count", 0, INT32_MAX,
              "must be greater than or equal to 0", causes);
  check_topology_keys(driver["topologyKeys"], field, causes);
}

/// How many volumes a node takes may change; kubelets measure it again.
Value without_count(Value driver) {
  driver.erase("allocatable");
  return driver;
}

/// A driver that is listed stays as it is but for that: it may only be taken away.
void check_node(const Value& object, const Write& write, Causes& causes) {
  const Value& drivers = object["spec"]["drivers"];
  std::map<std::string_view, const Value*> before;
  for (const Value& driver : old_of(write)["spec"]["drivers"].items()) {
    before.emplace(driver["name"].as_string(), &driver);
  }
  std::set<std::string_view> names;
  for (size_t i = 0; i < drivers.size(); ++i) {
    const std::string field = at("spec.drivers", i);
    const std::string_view name = drivers[i]["name"].as_string();
    check_node_driver(drivers[i], field, causes);
    if (!names.insert(name).second) causes.duplicate(field + ".name", drivers[i]["name"]);
    if (const auto known = before.find(name);
        known != before.end() && without_count(*known->second) != without_count(drivers[i])) {
      causes.invalid("spec.drivers", drivers[i], "field is immutable");
    }
  }
}

// --- CSIStorageCapacity

void check_capacity(const Value& object, const Write& write, Causes& causes) {
  const Value& name = object["storageClassName"];
  const Value& capacity = object["capacity"];
  if (write.old == nullptr) {
    check_selector(object["nodeTopology"], "nodeTopology", causes);
    if (const auto problem = subdomain_problem(name.as_string())) causes.invalid("storageClassName", name, *problem);
    const auto amount = parse_quantity(quantity_text(capacity));
    if (!capacity.is_null() && amount && amount.value().negative()) {
      causes.invalid("capacity", capacity, "must be greater than or equal to 0");
    }
    return;
  }
  for (const char* field : {"nodeTopology", "storageClassName"}) {
    if ((*write.old)[field] != object[field]) causes.invalid(field, object[field], "field is immutable");
  }
}

// --- VolumeAttachment

void check_attachment(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  const Value& source = spec["source"];
  if (write.old == nullptr) {
    check_driver_name(spec["attacher"], "spec.attacher", causes);
  } else {
    check_filled(spec["attacher"], "spec.attacher", causes);
  }
  check_filled(spec["nodeName"], "spec.nodeName", causes);
  if (const Value& volume = source["persistentVolumeName"]; write.old == nullptr && !volume.is_empty()) {
    if (const auto problem = subdomain_problem(volume.as_string())) {
      causes.invalid("spec.source.persistentVolumeName", volume, *problem);
    }
  }
  const bool inlined = !source["inlineVolumeSpec"].is_null();
  const bool named = !source["persistentVolumeName"].is_empty();
  if (!inlined && !named) {
    causes.required("spec.source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
  } else if (inlined && named) {
    causes.invalid("spec.source", source, "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
  }
  if (write.old != nullptr && (*write.old)["spec"] != spec) causes.invalid("spec", spec, "field is immutable");
}

void check_attachment_status(const Value& object, const Write& write, Causes& causes) {
  const auto check = [](const Value& status, Causes& found) {
    for (const char* error : {"attachError", "detachError"}) {
      check_range(status[error]["errorCode"], std::string{"status."} + error + ".errorCode", 0, INT32_MAX,
                  "must be between 0 and 2147483647, inclusive", found);
    }
  };
  check_new(object["status"], old_of(write)["status"], check, causes);
}

}  // namespace

const std::vector<Rules>& storage_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "storageclasses.storage.k8s.io", .check = check_storage_class},
      {.type = "volumeattributesclasses.storage.k8s.io", .check = check_volume_attributes_class},
      {.type = "csidrivers.storage.k8s.io", .check = check_driver, .warn = warn_of_driver},
      {.type = "csinodes.storage.k8s.io", .check = check_node},
      {.type = "csistoragecapacities.storage.k8s.io", .check = check_capacity},
      {.type = "volumeattachments.storage.k8s.io", .check = check_attachment, .check_status = check_attachment_status},
  };
  return kRules;
}

}  // namespace shiplog::api
