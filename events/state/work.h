#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "events/base/ascii.h"
#include "events/base/hash.h"
#include "events/base/value.h"
#include "events/state/condition.h"
#include "events/state/object.h"

namespace shiplog {

// Names and marks that tie templates, bindings, Works and member objects together (N-1 to N-7, B-12, B-13,
// KIND-16 to KIND-18).
namespace finalizer {
inline constexpr const char* kWork = "karmada.io/execution-controller";
inline constexpr const char* kBinding = "karmada.io/binding-controller";
inline constexpr const char* kClusterBinding = "karmada.io/cluster-resource-binding-controller";
inline constexpr const char* kCluster = "karmada.io/cluster-controller";
inline constexpr const char* kForeground = "foregroundDeletion";
inline constexpr const char* kOrphan = "orphan";
}  // namespace finalizer

namespace label {
inline constexpr const char* kManaged = "karmada.io/managed";
inline constexpr const char* kSystem = "karmada.io/system";
inline constexpr const char* kWorkId = "work.karmada.io/permanent-id";
}  // namespace label

namespace annotation {
inline constexpr const char* kBindingNamespace = "resourcebinding.karmada.io/namespace";
inline constexpr const char* kBindingName = "resourcebinding.karmada.io/name";
inline constexpr const char* kClusterBindingName = "clusterresourcebinding.karmada.io/name";
inline constexpr const char* kWorkNamespace = "work.karmada.io/namespace";
inline constexpr const char* kWorkName = "work.karmada.io/name";
inline constexpr const char* kConflictResolution = "work.karmada.io/conflict-resolution";
inline constexpr const char* kTemplateUid = "resourcetemplate.karmada.io/uid";
inline constexpr const char* kTemplateGeneration = "resourcetemplate.karmada.io/generation";
inline constexpr const char* kManagedAnnotations = "resourcetemplate.karmada.io/managed-annotations";
inline constexpr const char* kManagedLabels = "resourcetemplate.karmada.io/managed-labels";
/// On member objects: the Work's revision that was acted upon. Nothing older replaces something newer.
inline constexpr const char* kRevision = "shiplog.io/revision";
/// On member objects: siphash128 of the Work's manifest that was written.
inline constexpr const char* kManifestHash = "shiplog.io/manifest-hash";
}  // namespace annotation

inline constexpr std::string_view kExecutionSpacePrefix = "karmada-es-";

/// N-3: the namespace that holds a cluster's Works.
inline std::string execution_space(std::string_view cluster) {
  return std::string{kExecutionSpacePrefix} + std::string{cluster};
}

/// The cluster of an execution space; empty for any other namespace.
inline std::string cluster_of_space(std::string_view ns) {
  return ns.starts_with(kExecutionSpacePrefix) ? std::string{ns.substr(kExecutionSpacePrefix.size())} : std::string{};
}

/// N-7: never propagated.
inline bool reserved_namespace(std::string_view ns) {
  return ns == "karmada-system" || ns == "karmada-cluster" || ns.starts_with(kExecutionSpacePrefix);
}

/// N-5: FNV-1a-32 in decimal, each digit replaced by a letter that cannot spell a word.
inline std::string safe_hash(std::string_view text) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string digits = std::to_string(fnv1a32(text));
  for (char& digit : digits) digit = kAlphabet[static_cast<unsigned char>(digit) % kAlphabet.size()];
  return digits;
}

/// Lower case, without colons: what names of Works and bindings are made of.
inline std::string dns_name(std::string_view text) {
  std::string name = lower_case(text);
  std::ranges::replace(name, ':', '.');
  return name;
}

/// N-4: "nginx-687f7fb96f" for the Deployment default/nginx.
inline std::string work_name(std::string_view kind, std::string_view ns, std::string_view name) {
  const std::string object = dns_name(name);
  const std::string key = (ns.empty() ? "" : dns_name(ns) + "-") + object + "-" + dns_name(kind);
  return object + "-" + safe_hash(key);
}

/// N-1: "nginx-deployment" for the Deployment nginx.
inline std::string binding_name(std::string_view kind, std::string_view name) {
  return dns_name(name) + "-" + dns_name(kind);
}

/// Where the binding of a template lives (N-1, D-20). `kind` is the template's.
inline ObjectKey binding_key(const ObjectKey& template_key, std::string_view kind) {
  return {template_key.ns.empty() ? type::kClusterResourceBinding : type::kResourceBinding, template_key.ns,
          binding_name(kind, template_key.name)};
}

/// The member has applied the present generation of the Work.
inline bool applied(const Value& work) {
  const Value& condition = condition_of(work, "Applied");
  return condition["status"].as_string() == "True" &&
         condition["observedGeneration"].as_int() == work["metadata"]["generation"].as_int();
}

/// Everything in `wanted` holds in `observed`: what only the member has (defaults, allocated fields) does not
/// count, nor what is wanted empty and absent there. Lists are compared item by item.
inline bool holds(const Value& observed, const Value& wanted) {
  if (wanted.is_empty() && observed.is_null()) return true;
  if (wanted.is_null()) return true;
  if (wanted.is_object()) {
    if (!observed.is_object()) return false;
    return std::ranges::all_of(
        wanted.members(), [&](const Value::Member& member) { return holds(observed[member.key()], member.value); });
  }
  if (wanted.is_array()) {
    if (observed.size() != wanted.size()) return false;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!holds(observed[i], wanted[i])) return false;
    }
    return true;
  }
  return observed == wanted;
}

}  // namespace shiplog
