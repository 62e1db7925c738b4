#include "services/programs/shiplogd/ephemera.h"

#include "events/base/time.h"
#include "services/api/own_entry.h"

namespace shiplog {
namespace {

/// As kube-apiserver does by default.
constexpr Millis kEventLife{3'600'000};
constexpr Millis kEvery{60'000};

UtcMillis made(const Object& object, UtcMillis otherwise) {
  const auto at = parse_rfc3339(object.value["metadata"]["creationTimestamp"].as_string());
  return at ? at.value() : otherwise;
}

/// An Event that is counted up lives on, as it does where each write renews its time to live.
UtcMillis told(const Object& event, UtcMillis otherwise) {
  const UtcMillis first = made(event, otherwise);
  const auto last = parse_rfc3339(event.value["lastTimestamp"].as_string());
  return last && last.value() > first ? last.value() : first;
}

}  // namespace

EphemeraSweep::EphemeraSweep(Stack& record, Stack& ephemera, Executor& executor, std::string user_agent)
    : record_{record}, ephemera_{ephemera}, executor_{executor}, user_agent_{std::move(user_agent)} {}

void EphemeraSweep::begin() {
  sweep();
  executor_.post_after(kEvery, [this, alive = alive_] {
    if (*alive) begin();
  });
}

void EphemeraSweep::on_folded(const State&, const DecodedRecord& record, const Folded& folded) {
  for (const Change& change : folded.changes) {
    if (change.object.type != type::kNamespace || !change.removed()) continue;
    empty(change.object.name, record.entry.time);
  }
}

void EphemeraSweep::sweep() {
  if (!record_.replica().caught_up() || !ephemera_.replica().caught_up()) return;
  const State& state = ephemera_.replica().state();
  const UtcMillis now = executor_.now();
  for (const std::string& type : state.types()) {
    for (const auto& [name, object] : state.objects(type)) {
      const Millis age = now - made(object, now);
      // The record may be folded less far than the ephemera: what is young may be in a namespace not yet seen.
      const bool lost = !name.ns.empty() && age >= kEvery &&
                        record_.replica().state().find({type::kNamespace, "", name.ns}) == nullptr;
      if (lost || (type == "events" && now - told(object, now) >= kEventLife))
        remove({type, name.ns, name.name}, object);
    }
  }
}

/// What is younger than the namespace's end belongs to the next one of that name.
void EphemeraSweep::empty(const std::string& ns, UtcMillis gone) {
  const State& state = ephemera_.replica().state();
  for (const std::string& type : state.types()) {
    for (const auto& [name, object] : state.objects(type, ns)) {
      if (made(object, gone) <= gone) remove({type, name.ns, name.name}, object);
    }
  }
}

void EphemeraSweep::remove(const ObjectKey& key, const Object& object) {
  Entry entry = api::own_entry(user_agent_, {ObjectRemoved{key}});
  entry.expects = {{key, object.revision}};
  ephemera_.replica().append(std::move(entry), [](Result<Outcome>) {});
}

}  // namespace shiplog
