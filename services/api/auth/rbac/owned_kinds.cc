#include "services/api/auth/rbac/owned_kinds.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "events/state/agent_identity.h"
#include "events/state/object.h"
#include "events/state/work.h"
#include "services/api/auth/rbac/attributes.h"
#include "services/api/status.h"

namespace shiplog::api {
namespace {

constexpr const char* kWorkGroup = "work.karmada.io";

bool manages(const RbacPolicy& policy, const User& user, const ObjectKey& key) {
  if (in_group(user, kMastersGroup)) return true;
  Attributes wanted;
  wanted.verb = kManageVerb;
  wanted.group = kWorkGroup;
  wanted.resource = resource_of(key.type);
  wanted.ns = key.ns;
  wanted.name = key.name;
  return policy.decide(user, wanted).allowed;
}

/// Of a label, an annotation or a finalizer: the control plane gives it a meaning.
bool reserved(std::string_view name) {
  const std::string_view domain = name.substr(0, name.find('/'));
  return std::ranges::any_of(std::initializer_list<std::string_view>{"karmada.io", "shiplog.io"}, [&](auto ours) {
    return domain.ends_with(ours) && (domain.size() == ours.size() || domain[domain.size() - ours.size() - 1] == '.');
  });
}

Value reserved_part(const Value& metadata, const char* field) {
  if (metadata[field].is_array()) {
    Value kept = Value::array();
    for (const Value& entry : metadata[field].items()) {
      if (reserved(entry.as_string())) kept.push_back(entry);
    }
    return kept;
  }
  Value kept = Value::object();
  for (const auto& member : metadata[field].members()) {
    if (reserved(member.key())) kept.set(member.key(), member.value);
  }
  return kept;
}

bool same(const Value& a, const Value& b) { return a == b || (a.is_empty() && b.is_empty()); }

/// The first member of `part` that differs, except those that anyone may write; empty: none.
std::string changed_member(const Value& before, const Value& after, const std::string& part,
                           std::initializer_list<std::string_view> free) {
  for (const Value* side : {&before, &after}) {
    for (const auto& member : (*side)[part].members()) {
      if (std::ranges::find(free, member.key()) != free.end()) continue;
      if (!same(before[part][member.key()], after[part][member.key()])) return part + "." + std::string{member.key()};
    }
  }
  return {};
}

/// The first field of a binding that differs and that users do not write; empty: none.
std::string changed_field(const Value& before, const Value& after) {
  std::string field = changed_member(before, after, "spec", {"suspension", "gracefulEvictionTasks"});
  if (!field.empty()) return field;
  field = changed_member(before, after, "metadata",
                         {"labels", "annotations", "finalizers", "resourceVersion", "managedFields", "generation"});
  if (!field.empty()) return field;
  for (const char* map : {"labels", "annotations", "finalizers"}) {
    if (!same(reserved_part(before["metadata"], map), reserved_part(after["metadata"], map))) {
      return "metadata." + std::string{map} + " of the domains karmada.io and shiplog.io";
    }
  }
  return same(before["status"], after["status"]) ? "" : "status";
}

/// The agent of the cluster that the Work is for.
bool is_its_agent(const User& user, const ObjectKey& work) {
  const std::string cluster = cluster_of_space(work.ns);
  return !cluster.empty() && user.name == agent_identity::user_of(cluster) && in_group(user, agent_identity::kGroup);
}

/// The finalizer that the agent removes once its member has given the objects back.
Value without_work_finalizer(const Value& metadata) {
  Value others = Value::array();
  for (const Value& entry : metadata["finalizers"].items()) {
    if (entry.as_string() != finalizer::kWork) others.push_back(entry);
  }
  return others;
}

/// What an agent would write of a Work of its own that is the control plane's; empty: nothing.
std::string changed_by_agent(const Value& before, const Value& after) {
  std::string field = changed_member(before, after, "spec", {});
  if (field.empty()) {
    field = changed_member(before, after, "metadata", {"finalizers", "resourceVersion", "managedFields", "generation"});
  }
  if (field.empty() && !same(without_work_finalizer(before["metadata"]), without_work_finalizer(after["metadata"]))) {
    field = "metadata.finalizers";
  }
  return field.empty() ? field : field + " of a Work";
}

/// What the user would write that is the control plane's; empty: nothing.
std::string owned_part(const User& user, const ObjectKey& key, const Value& old, const Value& object) {
  if (key.type == type::kWork) {
    if (old.is_null() || !is_its_agent(user, key)) return "a Work";
    return object.is_null() ? "" : changed_by_agent(old, object);  // a cluster that unregisters deletes its Works
  }
  if (!is_binding(key.type) || object.is_null()) return {};
  return old.is_null() ? "a binding" : changed_field(old, object);
}

}  // namespace

std::optional<Error> refuse_owned(const RbacPolicy& policy, const User& user, const ObjectKey& key, const Value& old,
                                  const Value& object) {
  const std::string part = owned_part(user, key, old, object);
  if (part.empty() || manages(policy, user, key)) return std::nullopt;
  const std::string resource = resource_of(key.type);
  return forbidden(StatusDetails{kWorkGroup, "", resource, key.name.str()},
                   part + " is written by the control plane; users need the verb \"" + kManageVerb + "\" on " +
                       resource + "." + kWorkGroup + " to do so");
}

}  // namespace shiplog::api
