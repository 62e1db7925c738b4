#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/state/state.h"

namespace shiplog::member {

struct Owned {
  ObjectKey key;
  const Object* object;
};

/// The objects of a type whose controller is `owner`, sorted by key.
std::vector<Owned> controlled_by(const State& state, const Value& owner, std::string_view type);

/// The owner reference to the object's controller, or null.
const Value& controller_of(const Value& object);
/// A controller reference to `owner`.
Value controller_reference(const Value& owner);

/// Five pseudo-random characters as Kubernetes appends to generated names. The same for the same arguments.
std::string name_suffix(std::string_view owner_uid, Revision as_of, size_t index);
/// "<base>-<suffix>", with the base truncated so that the result is a valid host name.
std::string generated_name(std::string_view base, std::string_view suffix);
/// The label of pods of StatefulSets and DaemonSets that distinguishes templates.
inline constexpr const char* kRevisionHash = "controller-revision-hash";
/// At most ten characters that distinguish templates.
std::string template_hash(const Value& pod_template, int64_t collisions = 0);

/// An int-or-string: "25%" of `total`, or the number itself.
int64_t scaled(const Value& amount, int64_t total, bool round_up, int64_t fallback);

}  // namespace shiplog::member
