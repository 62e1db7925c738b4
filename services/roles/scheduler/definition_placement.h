#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "events/state/binding.h"
#include "events/state/state.h"

namespace shiplog::scheduler {

/// Where the CustomResourceDefinition of a binding's kind is placed (decision 0033).
struct DefinitionPlacement {
  std::string name;                             ///< "sofas.example.com"; empty: it has no binding of its own
  bool pending = false;                         ///< it waits for its first placement
  std::set<std::string, std::less<>> clusters;  ///< its targets, without those that have refused it
};

/// Of a binding's kind; nullopt: it has no definition here, or decisions do not depend on that yet (fold version 4).
std::optional<DefinitionPlacement> definition_placement(const State& state, const Binding& binding);
/// The key of a definition's own binding.
ObjectKey definition_binding_key(const std::string& definition);
/// The key of a definition's Work for a cluster.
ObjectKey definition_work_key(const std::string& definition, const std::string& cluster);

/// `placed`: the definition's binding, or null. `object`: the objects at the same moment, null where there is none.
DefinitionPlacement definition_placement(const std::string& definition, const Value& placed,
                                         const std::function<const Value&(const ObjectKey&)>& object);

}  // namespace shiplog::scheduler
