#include "services/roles/ephemera_gc/decide.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "events/base/time.h"
#include "events/state/object.h"
#include "events/state/served_kind.h"

namespace shiplog::ephemera_gc {
namespace {

/// Objects in one decision: one that has moved on meanwhile has all of them decided again.
constexpr size_t kMostAtOnce = 100;
constexpr const char* kEvents = "events";
constexpr const char* kLeases = "leases.coordination.k8s.io";
constexpr const char* kReplicaSets = "replicasets.apps";
constexpr const char* kControllerRevisions = "controllerrevisions.apps";

UtcMillis created_at(const Object& object, UtcMillis otherwise) {
  const auto time = parse_rfc3339(object.value["metadata"]["creationTimestamp"].as_string());
  return time ? time.value() : otherwise;
}

/// An Event that is counted up lives on, as it does where each write renews its time to live.
UtcMillis last_seen(const Object& event, UtcMillis otherwise) {
  const auto last = parse_rfc3339(event.value["lastTimestamp"].as_string());
  const UtcMillis first = created_at(event, otherwise);
  return last ? std::max(first, last.value()) : first;
}

/// What is younger than the namespace belongs to it, and not to an earlier one of that name.
bool outlived(const State& record, const ObjectKey& ns, const Object& object, UtcMillis now) {
  const Object* present = record.find(ns);
  return present == nullptr || created_at(object, now) < created_at(*present, now);
}

/// The journal may be folded less far than the ephemera: a recent object may be in a namespace, or have an owner, that
/// is not folded yet.
bool recent(const Object& object, UtcMillis now) { return now - created_at(object, now) < kSweepEvery; }

bool overdue(const State& record, const ObjectKey& key, const Object& object, UtcMillis now) {
  if (key.type == kEvents && now - last_seen(object, now) >= kEventLife) return true;
  return !key.ns.empty() && !recent(object, now) && record.find({type::kNamespace, "", key.ns}) == nullptr;
}

/// The record has no such owner. What is not in it is not looked for: objects of the ephemera, and the rollout versions
/// that are served as ReplicaSets and ControllerRevisions. Of a kind that is not served nothing is known.
bool gone(const State& record, const ObjectKey& dependent, const Value& owner) {
  const auto served = served_kind(record, owner["apiVersion"].as_string(), owner["kind"].as_string());
  if (!served) return false;
  const std::string type = served->type();
  if (type == kEvents || type == kLeases || type == kReplicaSets || type == kControllerRevisions) return false;
  const Object* found = record.find(served->key(dependent.ns, owner["name"].as_string()));
  return found == nullptr || uid_of(found->value) != owner["uid"].as_string();
}

/// DEL-12: it has owners, and none of them is there any more. Events are not collected (DEL-10).
bool abandoned(const State& record, const ObjectKey& key, const Object& object, UtcMillis now) {
  if (key.type == kEvents || deleting(object.value) || recent(object, now)) return false;
  const auto owners = object.value["metadata"]["ownerReferences"].items();
  return !owners.empty() && std::ranges::all_of(owners, [&](const Value& owner) { return gone(record, key, owner); });
}

/// How it ends, if it has to. After its namespace nothing holds it; after its owners its finalizers do.
std::optional<Event> ending(const State& record, const ObjectKey& key, const Object& object, UtcMillis now) {
  if (overdue(record, key, object, now)) return ObjectRemoved{key};
  if (abandoned(record, key, object, now)) return DeletionRequested{.object = key};
  return std::nullopt;
}

}  // namespace

ObjectKey everything() { return {"ephemera", "", "all"}; }

Decided decide(const State& record, const State& ephemera, const ObjectKey& key, UtcMillis now) {
  DecisionBuilder decision{kMostAtOnce};
  const bool all = key == everything();
  const auto consider = [&](const std::string& type, const auto& objects) {
    for (const auto& [name, object] : objects) {
      const ObjectKey item{type, name.ns, name.name};
      std::optional<Event> event;
      if (all) {
        event = ending(record, item, object, now);
      } else if (outlived(record, key, object, now)) {
        event = ObjectRemoved{item};
      }
      if (event && !decision.try_add(std::move(*event), {item, object.revision})) return;
    }
  };
  for (const std::string& type : ephemera.types()) {
    if (all) {
      consider(type, ephemera.objects(type));
    } else {
      consider(type, ephemera.objects(type, key.name));
    }
  }
  if (!decision.empty()) return std::move(decision).build_and_look_again(now);
  return all ? Decided{LookAgain{now + kSweepEvery}} : Nothing{};
}

}  // namespace shiplog::ephemera_gc
