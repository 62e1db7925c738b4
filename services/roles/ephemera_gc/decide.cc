#include "services/roles/ephemera_gc/decide.h"

#include <algorithm>

#include "events/base/time.h"
#include "events/state/object.h"

namespace shiplog::ephemera_gc {
namespace {

/// Objects in one decision: one that has moved on meanwhile has all of them decided again.
constexpr size_t kMostAtOnce = 100;

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

bool overdue(const State& record, const ObjectKey& key, const Object& object, UtcMillis now) {
  if (key.type == "events" && now - last_seen(object, now) >= kEventLife) return true;
  // The journal may be folded less far than the ephemera: a recent object may be in a namespace not yet folded.
  return !key.ns.empty() && now - created_at(object, now) >= kSweepEvery &&
         record.find({type::kNamespace, "", key.ns}) == nullptr;
}

}  // namespace

ObjectKey everything() { return {"ephemera", "", "all"}; }

Decided decide(const State& record, const State& ephemera, const ObjectKey& key, UtcMillis now) {
  DecisionBuilder decision{kMostAtOnce};
  const bool all = key == everything();
  const auto consider = [&](const std::string& type, const auto& objects) {
    for (const auto& [name, object] : objects) {
      const ObjectKey item{type, name.ns, name.name};
      const bool remove = all ? overdue(record, item, object, now) : outlived(record, key, object, now);
      if (remove && !decision.try_add(ObjectRemoved{item}, {item, object.revision})) return;
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
