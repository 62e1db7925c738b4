#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/decision.h"
#include "events/explain/fact.h"

namespace shiplog::distributor {

/// A binding whose template refers to something, and as what.
struct Referrer {
  ObjectKey binding;
  const Value* object = nullptr;            ///< the binding
  std::string api_version, kind, ns, name;  ///< what it refers to
};

/// It propagates what it refers to (B-28), and is there to stay.
bool propagates_dependencies(const Value& binding);

/// The bindings that `attached` is to follow, sorted by key. They all mean one object: the one that `attached` is about
/// already, else the one that the first of them means.
std::vector<Referrer> referrers_of(const State& state, const ObjectKey& attached);

/// Has `attached` follow its referrers, all at once (B-32 to B-35).
void follow(const State& state, const ObjectKey& attached, Decision& decision);

/// How the referrers of `attached`, which exists, disagree (B-34); nullopt: they do not, or a policy decides.
std::optional<DependencyPolicyConflict> policy_conflict(const State& state, const ObjectKey& attached);

/// The bindings that may follow `referrer` for what it has recorded: those it names, and those of what it selects.
std::vector<ObjectKey> attachable(const State& state, const ObjectKey& referrer, const Value& binding);

/// B-34: the label of an attached binding that names its referrer.
std::string depended_by_label(const ObjectKey& referrer);
/// By this label.
bool follows(const Value& attached, const ObjectKey& referrer);

}  // namespace shiplog::distributor
