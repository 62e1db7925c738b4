#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "events/base/hash.h"
#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog {

/// One object as the newest accepted change left it. `value` includes metadata.uid, creationTimestamp and
/// resourceVersion, so that it can be served as it is.
struct Object {
  Revision revision;
  Value value;
  Hash128 hash;  ///< of "KEY\n" and canonical JSON: its share of the state hash; 0 while it is deferred
};

/// An object's share of the state hash.
Hash128 hash_of(const ObjectKey& key, const Value& object);

/// The object whose canonical JSON, as the fold wrote it, a projection kept. Errors: kCorrupt, no such JSON.
Result<Object> object_from(const ObjectKey& key, std::string_view json);

/// The texts of the key become those that the object's metadata has, where they are the same: they are in memory once.
void share_texts(ObjectKey& key, const Value& object);

/// What folding an event did to one object.
struct Change {
  ObjectKey object;
  Revision revision;
  Value before;  ///< null: it was not there
  Value after;   ///< null: it was removed
  /// Canonical JSON of `after`; of a removed object its last state with resourceVersion = `revision`, as watchers get
  /// it. nullptr while the state's hashes are deferred.
  std::shared_ptr<const std::string> json;

  bool created() const { return before.is_null(); }
  bool removed() const { return after.is_null(); }
  /// after, or what it was before it went.
  const Value& latest() const { return removed() ? before : after; }
};

// The types that the services decide on. ObjectKey::type holds these.
namespace type {
inline constexpr const char* kNamespace = "namespaces";
inline constexpr const char* kSecret = "secrets";
inline constexpr const char* kCustomResourceDefinition = "customresourcedefinitions.apiextensions.k8s.io";
inline constexpr const char* kCluster = "clusters.cluster.karmada.io";
inline constexpr const char* kPropagationPolicy = "propagationpolicies.policy.karmada.io";
inline constexpr const char* kClusterPropagationPolicy = "clusterpropagationpolicies.policy.karmada.io";
inline constexpr const char* kOverridePolicy = "overridepolicies.policy.karmada.io";
inline constexpr const char* kClusterOverridePolicy = "clusteroverridepolicies.policy.karmada.io";
inline constexpr const char* kClusterTaintPolicy = "clustertaintpolicies.policy.karmada.io";
inline constexpr const char* kFederatedResourceQuota = "federatedresourcequotas.policy.karmada.io";
inline constexpr const char* kResourceBinding = "resourcebindings.work.karmada.io";
inline constexpr const char* kClusterResourceBinding = "clusterresourcebindings.work.karmada.io";
inline constexpr const char* kWork = "works.work.karmada.io";
}  // namespace type

/// Of a ResourceBinding or ClusterResourceBinding.
inline bool is_binding(std::string_view type) {
  return type == type::kResourceBinding || type == type::kClusterResourceBinding;
}

/// Of a PropagationPolicy or ClusterPropagationPolicy.
inline bool is_propagation_policy(std::string_view type) {
  return type == type::kPropagationPolicy || type == type::kClusterPropagationPolicy;
}

// Labels that tie objects together, and that State keeps an index for (KIND-16).
namespace label {
inline constexpr const char* kPolicyId = "propagationpolicy.karmada.io/permanent-id";
inline constexpr const char* kClusterPolicyId = "clusterpropagationpolicy.karmada.io/permanent-id";
inline constexpr const char* kBindingId = "resourcebinding.karmada.io/permanent-id";
inline constexpr const char* kClusterBindingId = "clusterresourcebinding.karmada.io/permanent-id";
}  // namespace label

/// metadata.deletionTimestamp is set.
inline bool deleting(const Value& object) { return !object["metadata"]["deletionTimestamp"].is_empty(); }
inline std::string_view uid_of(const Value& object) { return object["metadata"]["uid"].as_string(); }
inline std::string_view label_of(const Value& object, std::string_view key) {
  return object["metadata"]["labels"][key].as_string();
}
inline std::string_view annotation_of(const Value& object, std::string_view key) {
  return object["metadata"]["annotations"][key].as_string();
}
bool has_finalizer(const Value& object, std::string_view finalizer);

}  // namespace shiplog
