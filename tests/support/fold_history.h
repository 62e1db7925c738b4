#pragma once

#include <vector>

#include "events/base/random.h"
#include "events/fold/fold.h"
#include "events/state/state.h"
#include "tests/support/literals.h"

namespace shiplog::testing {

inline const ObjectKey kNamespaceKey{type::kNamespace, "", "default"};
inline const ObjectKey kConfig{"configmaps", "default", "settings"};
inline const ObjectKey kBindingKey{type::kResourceBinding, "default", "web-deployment"};

/// A state and the entries that made it; each entry gets the next id and second.
struct FoldHistory {
  State state;
  SeededRandom random{7};
  UtcMillis now{1'700'000'000'000};

  Entry entry(std::vector<Event> events) {
    now = now + Millis{1000};
    Entry made;
    made.id = new_entry_id(random);
    made.time = now;
    made.events = std::move(events);
    return made;
  }
  Folded put(std::vector<Event> events) { return fold(state, entry(std::move(events))); }
  static FoldHistory with_namespace() {
    FoldHistory history;
    history.put({ObjectCreated{kNamespaceKey,
                               test::json(R"({"metadata":{"name":"default"},"spec":{"finalizers":["kubernetes"]}})")}});
    return history;
  }
  void create_config() {
    put({ObjectCreated{kConfig, test::json(R"({"metadata":{"name":"settings"},"data":{"a":"1"}})")}});
  }
  void create_binding(const char* cpu = "1") {
    put({BindingPut{
        kBindingKey,
        Value::object(
            {{"metadata", test::json(R"({"name":"web-deployment","namespace":"default"})")},
             {"spec", Value::object({{"replicaRequirements",
                                      Value::object({{"resourceRequest", Value::object({{"cpu", cpu}})}})}})}}),
        {}}});
  }
  Folded place(std::vector<Target> targets) {
    return put({PlacementDecided{.binding = kBindingKey,
                                 .targets = std::move(targets),
                                 .observed_generation = state.value_of(kBindingKey)["metadata"]["generation"].as_int(),
                                 .applied_placement = "{}",
                                 .affinity_name = "",
                                 .why = {}}});
  }
};

}  // namespace shiplog::testing
