#pragma once

#include <optional>
#include <string>

#include "events/base/result.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"

namespace shiplog {

/// The template that spec.resource of a binding refers to; nullopt: its kind is not served. Every reader of a binding
/// goes through this, because what a binding refers to is sent to members and gets their status.
/// Error: kForbidden. A ResourceBinding may refer to namespaced objects of its own namespace only, a
/// ClusterResourceBinding to cluster-scoped ones, and neither to a reserved namespace (N-7) or what lies in it.
/// Users of this header link shiplog_kinds.
inline Result<std::optional<ObjectKey>> bound_template(const State& state, const ObjectKey& binding,
                                                       const Value& resource) {
  const std::string kind = resource["kind"].str();
  const std::string ns = resource["namespace"].str();
  const std::string name = resource["name"].str();
  const auto served = served_kind(state, resource["apiVersion"].as_string(), kind);
  if (!served) return std::optional<ObjectKey>{};
  ObjectKey key = served->key(ns, name);
  const bool own_scope = served->namespaced != binding.ns.empty() && ns == binding.ns;
  if (own_scope && !reserved_namespace(key.type == type::kNamespace ? name : ns)) return std::optional{std::move(key)};
  return Error{ErrorCode::kForbidden, "spec.resource refers to " + kind + " " + (ns.empty() ? "" : ns + "/") + name +
                                          ": a ResourceBinding may refer to objects of its own namespace only, a "
                                          "ClusterResourceBinding to cluster-scoped objects only, and neither to "
                                          "namespaces reserved for the control plane"};
}

/// The Work was rendered for this binding: its labels alone do not prove that, as another binding may carry them too.
inline bool rendered_for(const Value& work, const ObjectKey& binding) {
  if (binding.ns.empty()) return annotation_of(work, annotation::kClusterBindingName) == binding.name;
  return annotation_of(work, annotation::kBindingNamespace) == binding.ns &&
         annotation_of(work, annotation::kBindingName) == binding.name;
}

}  // namespace shiplog
