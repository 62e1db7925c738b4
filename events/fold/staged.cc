#include "events/fold/staged.h"

#include <algorithm>
#include <array>

#include "events/base/check.h"
#include "events/base/json.h"

namespace shiplog {
namespace {

/// The ephemera journal has no namespaces: its writers have checked them in the state.
bool lives_in_ephemera(std::string_view type) { return type == "events" || type == "leases.coordination.k8s.io"; }

bool finalizers_left(const ObjectKey& key, const Value& object) {
  if (object["metadata"]["finalizers"].size() > 0) return true;
  return key.type == type::kNamespace && object["spec"]["finalizers"].size() > 0;
}

/// Anything but metadata and status: what metadata.generation counts.
bool spec_differs(const Value& before, const Value& after) {
  const auto relevant = [](const Value::Member& member) {
    return member.key() != "metadata" && member.key() != "status";
  };
  auto old_members = before.members() | std::views::filter(relevant);
  auto new_members = after.members() | std::views::filter(relevant);
  return !std::ranges::equal(old_members, new_members);
}

/// Of a terminating pod: a kubelet is to end it first (DEL-9).
bool has_grace_left(const ObjectKey& key, const Value& object) {
  return key.type == "pods" && object["metadata"]["deletionGracePeriodSeconds"].as_int() > 0;
}

bool annotations_differ(const Value& before, const Value& after) {
  const Value& old_ones = before["metadata"]["annotations"];
  const Value& new_ones = after["metadata"]["annotations"];
  return old_ones.size() + new_ones.size() > 0 && old_ones != new_ones;
}

/// The status of such an object is a part like any other.
bool has_no_status_subresource(const State& state, const ObjectKey& key) {
  const Value& definition = state.value_of({type::kCustomResourceDefinition, "", key.type});
  for (const Value& version : definition["spec"]["versions"].items()) {
    if (version["storage"].as_bool()) return !version["subresources"].contains("status");
  }
  return false;
}

/// The hashes of these are never deferred: each placement names the digest of all its inputs (scheduler/decide.cc). The
/// binding itself is one of few, and of a binding in no group no other placement reads the hash.
bool many_decisions_read_hash(std::string_view type, const Value& object) {
  return type == type::kCluster || type == type::kFederatedResourceQuota ||
         (is_binding(type) && !object["spec"]["workloadAffinityGroups"].is_null());
}

bool same_block(const Value& one, const Value& other) { return one.members().data() == other.members().data(); }

/// What an update may not take away: identity, and a deletion that has begun.
void keep_identity(const Value& before, Value& after, bool deletion_moved) {
  constexpr std::array<std::string_view, 6> kKept = {"uid",        "creationTimestamp",          "resourceVersion",
                                                     "generation", "deletionGracePeriodSeconds", "deletionTimestamp"};
  constexpr size_t kOfDeletion = 4;  // where the last two begin: the fold itself sets them
  const Value& old_metadata = before["metadata"];
  // Most writes of a status share the metadata with what was there.
  if (same_block(old_metadata, after["metadata"])) return;
  for (size_t at = 0; at < kKept.size(); ++at) {
    const std::string_view field = kKept[at];
    const Value& old_value = old_metadata[field];
    // Of a deletion, what the staged object has counts then.
    if (at >= kOfDeletion && (deletion_moved || old_value.is_null())) continue;
    // Most updates have changed none of them, and share the metadata with what was there.
    const Value* new_value = after["metadata"].find(field);
    if (old_value.is_null()) {
      if (new_value != nullptr) after.edit("metadata").erase(field);
    } else if (new_value == nullptr || *new_value != old_value) {
      after.edit("metadata").set(field, old_value);
    }
  }
}

/// What is reported of many objects in the same second is alike, times included.
void share_parts(Value& after, const Value& before, const Value& latest) {
  after.share_with(before);
  const Value& status = after["status"];
  if (status.size() == 0 || same_block(status, before["status"]) || same_block(before, latest)) return;
  after.edit("status").share_with(latest["status"]);
}

}  // namespace

Staged::Touched* Staged::touched(const ObjectKey& key) {
  const auto found = std::ranges::find(touched_, key, &Touched::key);
  return found == touched_.end() ? nullptr : &*found;
}
const Staged::Touched* Staged::touched(const ObjectKey& key) const {
  const auto found = std::ranges::find(touched_, key, &Touched::key);
  return found == touched_.end() ? nullptr : &*found;
}

const Value* Staged::find(const ObjectKey& key) const {
  if (const Touched* staged = touched(key)) return staged->value.is_null() ? nullptr : &staged->value;
  const Object* object = state_.find(key);
  return object == nullptr ? nullptr : &object->value;
}

Applied Staged::create(const ObjectKey& key, Value value) {
  Touched* staged = touched(key);
  const Object* before = staged == nullptr ? state_.find(key) : staged->before;
  if (staged == nullptr ? before != nullptr : !staged->value.is_null()) {
    return refusal_about(key, ErrorCode::kAlreadyExists, "already exists");
  }
  if (!key.ns.empty() && !lives_in_ephemera(key.type)) {
    const ObjectKey namespace_key{type::kNamespace, "", key.ns};
    const Value* ns = find(namespace_key);
    if (ns == nullptr) return Refusal{ErrorCode::kNotFound, "namespaces \"" + key.ns + "\" not found", namespace_key};
    if (deleting(*ns)) {
      return Refusal{ErrorCode::kForbidden,
                     "unable to create new content in namespace " + key.ns + " because it is being terminated",
                     namespace_key};
    }
  }
  return stage(staged, key, std::move(value), before, nullptr);
}

Applied Staged::update(const ObjectKey& key, Value value) { return replace(key, std::move(value), &Touched::updated); }

Applied Staged::update_status(const ObjectKey& key, Value value) { return replace(key, std::move(value)); }

Applied Staged::update_deletion(const ObjectKey& key, Value value) {
  return replace(key, std::move(value), &Touched::deletion_moved);
}

Applied Staged::remove(const ObjectKey& key) { return replace(key, Value{}); }

Applied Staged::replace(const ObjectKey& key, Value value, bool Touched::*how) {
  Touched* staged = touched(key);
  const Object* before = staged == nullptr ? state_.find(key) : staged->before;
  if (staged == nullptr ? before == nullptr : staged->value.is_null()) {
    return refusal_about(key, ErrorCode::kNotFound, "not found");
  }
  return stage(staged, key, std::move(value), before, how);
}

Applied Staged::stage(Touched* staged, const ObjectKey& key, Value value, const Object* before, bool Touched::*how) {
  if (staged == nullptr) {
    staged = &touched_.emplace_back(Touched{.key = key, .value = std::move(value), .before = before});
  } else {
    staged->value = std::move(value);
  }
  if (how != nullptr) staged->*how = true;
  return std::nullopt;
}

/// Whether metadata.generation goes up (META-6).
bool Staged::counts(const Touched& staged) const {
  const Value& before = staged.before->value;
  if (spec_differs(before, staged.value)) return true;
  if (state_.fold_version() < 2 || !staged.updated) return false;
  if (staged.key.type == "deployments.apps") return annotations_differ(before, staged.value);
  return before["status"] != staged.value["status"] && has_no_status_subresource(state_, staged.key);
}

std::vector<Change> Staged::commit(State& state) {
  SHIPLOG_CHECK(&state == &state_, "changes are committed to the state that they were staged on");
  std::vector<Change> changes;
  changes.reserve(touched_.size());
  std::string text;
  for (size_t index = 0; index < touched_.size(); ++index) {
    Touched& staged = touched_[index];
    const Value before = staged.before == nullptr ? Value{} : staged.before->value;
    Value& after = staged.value;
    if (before.is_null() && after.is_null()) continue;  // made and removed by the same entry

    if (before.is_null()) {
      Value& metadata = after.edit("metadata");
      if (metadata["uid"].is_empty()) {
        std::string uid = uid_from(id_, index);
        if (state.fold_version() >= 2) uid[14] = '4';  // what it is made of, the entry's id, was drawn at random
        metadata.set("uid", std::move(uid));
      }
      if (metadata["creationTimestamp"].is_empty()) metadata.set("creationTimestamp", rfc3339(time_));
      if (shares_parts()) after.share_with(state.latest(staged.key.type));
    } else if (!after.is_null()) {
      if (shares_parts()) share_parts(after, before, state.latest(staged.key.type));
      keep_identity(before, after, staged.deletion_moved);
      const bool deletion_began = deleting(after) && !deleting(before);
      if (!before["metadata"]["generation"].is_null() && (deletion_began || counts(staged))) {
        after.edit("metadata").set("generation", before["metadata"]["generation"].as_int() + 1);
      }
      const bool waits = state.fold_version() >= 2 && has_grace_left(staged.key, after);
      if (deleting(after) && !waits && !finalizers_left(staged.key, after)) {
        after = Value{};
      } else if (after == before) {
        continue;
      }
    }

    const Revision revision{state.meta_.revision.value + 1};
    SHIPLOG_CHECK(staged.before == nullptr || staged.before->revision < revision, "revisions grow");
    state.meta_.revision = revision;
    Change change{std::move(staged.key), revision, before, Value{}, nullptr};
    const bool removed = after.is_null();
    Value latest = removed ? before : std::move(after);  // moved: what is shared is copied when it is edited
    share_texts(change.object, latest);
    latest.edit("metadata").set("resourceVersion", std::to_string(revision.value));
    Hash128 hash;
    const bool deferred = state.hashes_deferred();
    if (!deferred || (!removed && many_decisions_read_hash(change.object.type, latest))) {
      text = to_string(change.object);
      text += '\n';
      const size_t prefix = text.size();
      append_json(latest, text);
      if (!deferred) change.json = std::make_shared<const std::string>(text, prefix);
      if (!removed) hash = siphash128(text);
    }
    if (removed) {
      state.erase(change.object);
    } else {
      change.after = latest;
      state.put(change.object, Object{revision, std::move(latest), hash});
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace shiplog
