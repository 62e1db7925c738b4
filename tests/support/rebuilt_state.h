#pragma once

#include <utility>
#include <vector>

#include "events/base/check.h"
#include "events/base/random.h"
#include "events/state/state.h"

namespace shiplog::testing {

/// A state made from the objects of another one alone, in an order drawn from `random`, as a restored replica's is.
inline State rebuilt(const State& state, Random& random) {
  std::vector<std::pair<ObjectKey, Object>> objects;
  for (const std::string& type : state.types()) {
    for (const auto& [name, object] : state.objects(type)) {
      objects.emplace_back(ObjectKey{type, name.ns, name.name}, object);
    }
  }
  for (size_t left = objects.size(); left > 1; --left)
    std::swap(objects[left - 1], objects[random_below(random, left)]);
  State made;
  SHIPLOG_CHECK(State::restore(state.meta(), std::move(objects), {}, made), "the objects have the hash of their state");
  return made;
}

}  // namespace shiplog::testing
