#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "events/base/names.h"
#include "events/base/quantity.h"
#include "events/kinds/canonical_quantity.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"
#include "services/api/admission/scheduling_rules.h"

// PersistentVolumes and the claims to them. Source: CRU-8, CRU-9; pkg/apis/core/validation of Kubernetes
// 1.36.

namespace shiplog::api {
namespace {

void check_access_modes(const Value& modes, const std::string& field, Causes& causes) {
  const std::initializer_list<std::string_view> supported = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                                             "ReadWriteOncePod"};
  bool alone = false, others = false;
  for (const Value& mode : modes.items()) {
    const bool known = std::find(supported.begin(), supported.end(), mode.as_string()) != supported.end();
    if (!known) causes.not_supported(field, mode, supported);
    (mode.as_string() == "ReadWriteOncePod" ? alone : others) |= known;
  }
  if (alone && others) {
    causes.forbidden(field, "may not use ReadWriteOncePod with other access modes");
  }
}

void check_class_name(const Value& name, const std::string& field, Causes& causes) {
  if (name.is_empty()) return;
  if (const auto problem = subdomain_problem(name.as_string())) causes.invalid(field, name, *problem);
}

/// What claims and volumes have in common.
void check_storage_spec(const Value& spec, const std::string& field, Causes& causes) {
  check_access_modes(spec["accessModes"], field + ".accessModes", causes);
  for (const char* name : {"storageClassName", "volumeAttributesClassName"}) {
    check_class_name(spec[name], field + "." + name, causes);
  }
  if (const Value& mode = spec["volumeMode"]; !mode.is_null()) {
    check_one_of(mode, field + ".volumeMode", {"Block", "Filesystem"}, causes);
  }
}

void check_positive(const Value& amount, const std::string& field, Causes& causes) {
  const auto read = quantity_in(amount);
  if (read && read.value() <= Quantity{}) causes.invalid(field, amount, "must be greater than zero");
}

/// The object before the update as this build would have stored it.
Value before_update(const Write& write) {
  return with_defaults(*write.kind.schema, with_canonical_quantities(*write.kind.schema, *write.old));
}

// --- PersistentVolumeClaim

/// dataSource or dataSourceRef: what the volume is filled with.
void check_data_source(const Value& source, const std::string& field, Causes& causes) {
  if (source.is_null()) return;
  check_filled(source["name"], field + ".name", causes);
  check_filled(source["kind"], field + ".kind", causes);
  const Value& group = source["apiGroup"];
  if (group.is_empty() && source["kind"].as_string() != "PersistentVolumeClaim") {
    causes.invalid(field, Value{source["kind"].as_string()},
                   "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  check_class_name(group, field + ".apiGroup", causes);
  if (const Value& ns = source["namespace"]; !ns.is_empty()) {
    if (const auto problem = label_problem(ns.as_string())) causes.invalid(field + ".namespace", ns, *problem);
  }
}

/// The rules of a claim's spec that older builds did not have.
void check_claim_spec(const Value& spec, const std::string& field, Causes& causes) {
  check_storage_spec(spec, field, causes);
  check_selector(spec["selector"], field + ".selector", causes);
  check_positive(spec["resources"]["requests"]["storage"], field + ".resources[storage]", causes);
  const Value& source = spec["dataSource"];
  const Value& reference = spec["dataSourceRef"];
  check_data_source(source, field + ".dataSource", causes);
  check_data_source(reference, field + ".dataSourceRef", causes);
  if (source.is_null() || reference.is_null()) return;
  const Value shown{field + ".dataSource"};
  if (!reference["namespace"].is_empty()) {
    causes.invalid(field, shown, "may not be specified when dataSourceRef.namespace is specified");
  } else if (source != reference) {
    causes.invalid(field, shown, "must match dataSourceRef");
  }
}

void check_claim_basics(const Value& spec, const std::string& field, Causes& causes) {
  if (spec["accessModes"].size() == 0) causes.required(field + ".accessModes", "at least 1 access mode is required");
  if (spec["resources"]["requests"]["storage"].is_null()) causes.required(field + ".resources[storage]");
}

/// The spec that a claim must keep: `before` with what may be changed taken from `spec`.
Value kept_claim_spec(Value before, const Value& spec, bool bound) {
  const auto take = [&](const char* name) {
    before.erase(name);
    if (const Value* value = spec.find(name)) before.set(name, *value);
  };
  if (before["volumeName"].is_empty()) take("volumeName");
  if (before["storageClassName"].is_null()) take("storageClassName");
  if (!bound) return before;
  take("volumeAttributesClassName");
  if (const Value size = spec["resources"]["requests"]["storage"]; !size.is_null()) {
    before.edit("resources").edit("requests").set("storage", size);
  }
  return before;
}

/// A claim grows when it is bound, and shrinks only to what it does not have yet.
void check_claim_update(const Value& spec, const Write& write, Causes& causes) {
  const Value old = before_update(write);
  const Value& status = old["status"];
  if (kept_claim_spec(old["spec"], spec, status["phase"].as_string() == "Bound") != spec) {
    causes.forbidden("spec",
                     "spec is immutable after creation except resources.requests and volumeAttributesClassName "
                     "for bound claims");
  }
  const auto size = quantity_in(spec["resources"]["requests"]["storage"]);
  const auto before = quantity_in(old["spec"]["resources"]["requests"]["storage"]);
  const auto had = quantity_in(status["capacity"]["storage"]);
  if (size && before && had && size.value() < before.value() && size.value() <= had.value()) {
    causes.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity");
  }
  const Value& attributes = spec["volumeAttributesClassName"];
  if (status["currentVolumeAttributesClassName"].is_null() || !attributes.is_empty()) return;
  causes.forbidden("spec.volumeAttributesClassName",
                   std::string{attributes.is_null() ? "update to nil" : "update to empty string"} +
                       " is forbidden when status.currentVolumeAttributesClassName is not nil");
}

void check_claim(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  check_claim_basics(spec, "spec", causes);
  const auto check = [](const Value& each, Causes& found) { check_claim_spec(each, "spec", found); };
  check_new(spec, old_of(write)["spec"], check, causes);
  if (write.old != nullptr) check_claim_update(spec, write, causes);
}

void check_claim_status(const Value& object, const Write& write, Causes& causes) {
  const auto check_capacities = [](const Value& status, Causes& found) {
    for (const char* list : {"capacity", "allocatedResources"}) {
      for (const auto& amount : status[list].members()) {
        const auto read = quantity_in(amount.value);
        if (!read || !read.value().negative()) continue;
        found.invalid(std::string{"status."} + list + "[" + std::string{amount.key()} + "]",
                      Value{read.value().units()}, "must be a valid resource quantity");
      }
    }
  };
  check_new(object["status"], old_of(write)["status"], check_capacities, causes);
}

// --- PersistentVolume

/// Where a volume's data is: one of these.
constexpr const char* kVolumeSources[] = {"hostPath",
                                          "gcePersistentDisk",
                                          "awsElasticBlockStore",
                                          "glusterfs",
                                          "flocker",
                                          "nfs",
                                          "rbd",
                                          "quobyte",
                                          "cephfs",
                                          "iscsi",
                                          "cinder",
                                          "fc",
                                          "flexVolume",
                                          "azureFile",
                                          "vsphereVolume",
                                          "photonPersistentDisk",
                                          "portworxVolume",
                                          "azureDisk",
                                          "scaleIO",
                                          "local",
                                          "storageos",
                                          "csi"};

void check_source_path(const Value& path, const std::string& field, Causes& causes) {
  if (path.is_empty()) return causes.required(field);
  const std::string text = "/" + path.str() + "/";
  if (text.find("/../") != std::string::npos) causes.invalid(field, path, "must not contain '..'");
}

void check_nfs_volume(const Value& nfs, const std::string& field, Causes& causes) {
  check_filled(nfs["server"], field + ".server", causes);
  check_filled(nfs["path"], field + ".path", causes);
  if (nfs["path"].as_string().starts_with('/')) return;
  causes.invalid(field + ".path", Value{nfs["path"].as_string()}, "must be an absolute path");
}

void check_csi(const Value& csi, const std::string& field, Causes& causes) {
  check_driver_name(csi["driver"], field + ".driver", causes);
  check_filled(csi["volumeHandle"], field + ".volumeHandle", causes);
  for (const char* name :
       {"controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"}) {
    if (csi[name].is_null()) continue;
    check_filled(csi[name]["name"], field + "." + name + ".name", causes);
    check_filled(csi[name]["namespace"], field + "." + name + ".namespace", causes);
  }
}

/// The sources that are in use today. `spec`: the volume's.
void check_persistent_source(const char* name, const Value& spec, Causes& causes) {
  const std::string_view source = name;
  const std::string field = std::string{"spec."} + name;
  if (source == "hostPath" || source == "local") check_source_path(spec[name]["path"], field + ".path", causes);
  if (source == "nfs") check_nfs_volume(spec[name], field, causes);
  if (source == "csi") check_csi(spec[name], field, causes);
  if (source == "local" && spec["nodeAffinity"].is_null()) {
    causes.required("spec.nodeAffinity", "Local volume requires node affinity");
  }
}

void check_sources(const Value& spec, Causes& causes) {
  size_t sources = 0;
  for (const char* name : kVolumeSources) {
    if (spec[name].is_null()) continue;
    if (++sources > 1) {
      causes.forbidden(std::string{"spec."} + name, "may not specify more than 1 volume type");
    } else {
      check_persistent_source(name, spec, causes);
    }
  }
  if (sources == 0) causes.required("spec", "must specify a volume type");
  const std::string_view path = spec["hostPath"]["path"].as_string();
  if (!path.empty() && path.find_first_not_of('/') == std::string_view::npos &&
      spec["persistentVolumeReclaimPolicy"].as_string() == "Recycle") {
    causes.forbidden("spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'");
  }
}

/// The rules of a volume's spec that older builds did not have.
void check_volume_spec(const Value& spec, Causes& causes) {
  check_storage_spec(spec, "spec", causes);
  if (const Value& attributes = spec["volumeAttributesClassName"]; !attributes.is_null()) {
    const std::string field = "spec.volumeAttributesClassName";
    if (attributes.is_empty()) causes.required(field, "an empty string is disallowed");
    if (spec["csi"].is_null()) causes.required("spec.csi", "has to be specified when using volumeAttributesClassName");
  }
  const Value& capacity = spec["capacity"];
  for (const auto& amount : capacity.members()) {
    check_positive(amount.value, "spec.capacity[" + std::string{amount.key()} + "]", causes);
  }
  if (const Value& affinity = spec["nodeAffinity"]; !affinity.is_null()) {
    if (affinity["required"].is_null()) {
      causes.required("spec.nodeAffinity.required", "must specify required node constraints");
    } else {
      check_node_selector(affinity["required"], "spec.nodeAffinity.required", causes);
    }
  }
  check_sources(spec, causes);
}

/// With the labels that took the place of those of beta versions.
Value with_current_labels(Value affinity) {
  static constexpr std::pair<std::string_view, const char*> kLabels[] = {
      {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
      {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
      {"beta.kubernetes.io/os", "kubernetes.io/os"},
      {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
      {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"}};
  if (affinity["required"]["nodeSelectorTerms"].size() == 0) return affinity;
  for (Value& term : affinity.edit("required").edit("nodeSelectorTerms").edit_items()) {
    if (term["matchExpressions"].size() == 0) continue;
    for (Value& requirement : term.edit("matchExpressions").edit_items()) {
      for (const auto& [beta, current] : kLabels) {
        if (requirement["key"].as_string() == beta) requirement.set("key", current);
      }
    }
  }
  return affinity;
}

/// A volume stays where it is.
void check_volume_update(const Value& spec, const Value& before, Causes& causes) {
  const bool moved = std::ranges::any_of(kVolumeSources, [&](const char* name) {
    Value source = before[name];
    constexpr const char* kExpands = "controllerExpandSecretRef";  // may be added
    if (source.is_object() && source[kExpands].is_null() && !spec[name][kExpands].is_null()) {
      source.set(kExpands, spec[name][kExpands]);
    }
    return source != spec[name];
  });
  if (moved) {
    causes.forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation");
  }
  if (!before["volumeMode"].is_null() && before["volumeMode"] != spec["volumeMode"]) {
    causes.invalid("volumeMode", spec["volumeMode"], "field is immutable");
  }
  if (!before["nodeAffinity"].is_null() &&
      with_current_labels(before["nodeAffinity"]) != with_current_labels(spec["nodeAffinity"])) {
    const Value& now = spec["nodeAffinity"];
    causes.invalid("nodeAffinity", now.is_null() ? Value{"null"} : now,
                   "field is immutable, except for updating from beta label to GA");
  }
}

void check_volume(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  if (spec["accessModes"].size() == 0) causes.required("spec.accessModes");
  if (spec["capacity"]["storage"].is_null()) causes.required("spec.capacity");
  check_one_of(spec["persistentVolumeReclaimPolicy"], "spec.persistentVolumeReclaimPolicy",
               {"Delete", "Recycle", "Retain"}, causes);
  const auto has_more = [](const Value& capacity) { return !capacity["storage"].is_null() && capacity.size() > 1; };
  if (has_more(spec["capacity"]) && !has_more(old_of(write)["spec"]["capacity"])) {
    causes.not_supported("spec.capacity", spec["capacity"], {"storage"});
  }
  check_new(spec, old_of(write)["spec"], check_volume_spec, causes);
  if (write.old == nullptr) return;
  const Value old = before_update(write);
  check_volume_update(spec, old["spec"], causes);
}

}  // namespace

void check_claim_template(const Value& spec, const std::string& field, Causes& causes) {
  check_claim_basics(spec, field, causes);
  check_claim_spec(spec, field, causes);
}

const std::vector<Rules>& volume_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "persistentvolumeclaims", .check = check_claim, .check_status = check_claim_status},
      {.type = "persistentvolumes", .check = check_volume},
  };
  return kRules;
}

}  // namespace shiplog::api
