#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/decision.h"
#include "events/fold/fold.h"
#include "events/state/object.h"
#include "events/state/state.h"
#include "tests/support/decided.h"

namespace shiplog::given {

/// 2026-01-02T12:00:00Z: when every history here begins.
inline constexpr UtcMillis kNoon{1767355200000};

/// A JSON literal; a typo in it fails the test with its place.
inline Value json(std::string_view text) {
  auto parsed = parse_json(text);
  if (!parsed) ADD_FAILURE() << parsed.error().message << " in " << text;
  return parsed ? parsed.value() : Value{};
}

/// A state that grew by folding entries, as a real one does. Each entry is a second after the one before.
class History {
 public:
  History() {
    for (const char* ns : {"default", "other"}) put({type::kNamespace, "", ns}, namespaced(ns));
  }

  const State& state() const { return state_; }
  UtcMillis now() const { return now_; }

  /// Folds one entry and hands back what became of it.
  Folded fold(std::vector<Event> events, std::vector<Expect> expects = {}) {
    Entry entry;
    ++count_;
    for (size_t byte = 0; byte < 8; ++byte) entry.id.bytes[byte] = static_cast<uint8_t>(count_ >> (8 * byte) & 0xffU);
    now_ = now_ + Millis{1000};
    entry.time = now_;
    entry.expects = std::move(expects);
    entry.events = std::move(events);
    return shiplog::fold(state_, entry);
  }

  /// Folds an entry that must be accepted.
  History& accept(std::vector<Event> events, std::vector<Expect> expects = {}) {
    const Folded folded = fold(std::move(events), std::move(expects));
    if (folded.refusal) ADD_FAILURE() << "refused: " << folded.refusal->reason;
    return *this;
  }
  History& accept(const Decision& decision) { return accept(decision.events, decision.expects); }

  /// Creates the object, or replaces it when it is there.
  History& put(const ObjectKey& key, Value value) {
    if (!value["metadata"].contains("generation")) value.edit("metadata").set("generation", 1);
    if (state_.find(key) != nullptr) return accept({ObjectUpdated{key, std::move(value)}});
    return accept({ObjectCreated{key, std::move(value)}});
  }
  /// The same from JSON text, which needs no name or namespace.
  History& object(const ObjectKey& key, std::string_view text) { return put(key, named(key, json(text))); }
  History& edit(const ObjectKey& key, const std::function<void(Value&)>& change) {
    Value value = state_.value_of(key);
    change(value);
    return accept({ObjectUpdated{key, std::move(value)}});
  }
  History& remove(const ObjectKey& key) { return accept({DeletionRequested{key}}); }

  /// Decides and folds until nothing is left to decide; how many decisions that took. Fails the test beyond 20.
  int settle(const Decide& decide, const ObjectKey& key) {
    for (int rounds = 0; rounds < 20; ++rounds) {
      const auto decided = decide(state_, key, now_);
      if (!decided) {
        ADD_FAILURE() << "deciding " << to_string(key) << ": " << decided.error().message;
        return rounds;
      }
      const Decision* decision = decision_of(decided);
      if (decision == nullptr) return rounds;
      accept(*decision);
    }
    ADD_FAILURE() << to_string(key) << " never settles";
    return 20;
  }

  /// Fills in metadata.name and metadata.namespace.
  static Value named(const ObjectKey& key, Value value) {
    value.edit("metadata").set("name", key.name);
    if (!key.ns.empty()) value.edit("metadata").set("namespace", key.ns);
    return value;
  }

 private:
  static Value namespaced(const char* name) {
    return Value::object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", Value::object({{"name", name}})}});
  }

  State state_;
  UtcMillis now_ = kNoon;
  uint64_t count_ = 0;
};

}  // namespace shiplog::given
