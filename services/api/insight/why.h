#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/kinds/kinds.h"
#include "projections/store/reader.h"
#include "services/runtime/leaders.h"

namespace shiplog::api {

/// What would have let a placement take in a cluster that it left out.
struct Remedy {
  std::vector<std::string> changes;
  bool chosen = false;  ///< with all of the changes it is taken; else it is eligible, but still not taken
};

/// What a placement was decided from.
struct Scene {
  ObjectKey key;
  Value binding;
  std::vector<Value> fleet;                         ///< the Clusters
  std::vector<std::pair<ObjectKey, Value>> beside;  ///< the feature gates; other bindings, where they matter
  UtcMillis now = {};
};

/// The scheduler's answer for some clusters. One that is missing from it is taken as it is, or was not there.
using Remedies =
    std::function<Result<std::map<std::string, Remedy>>(const Scene& scene, const std::vector<std::string>& asked)>;

/// Which roles some process leads for at present.
using RoleStates = std::function<std::vector<RoleLeadership>()>;

/// What is asked of others than the record. Either may be empty: it is not asked.
struct Sources {
  Remedies remedies;
  RoleStates roles;
};

struct WhyQuestion {
  ObjectKey object;            ///< a template, a ResourceBinding or ClusterResourceBinding, or a Work
  std::string cluster;         ///< empty: all
  std::optional<Revision> at;  ///< as of then; nullopt: as of the view
};

/// Why an object runs where it does: the policy that has it and how it won, the newest placement with the verdicts on
/// each cluster and the arithmetic, what each cluster that was left out would have needed (tried by `remedies`, from
/// the fleet as it was, and as it is), the evictions, what was changed for each member on the way and how it is there
/// now. What is not led is told when the question is about the present. Errors: kNotFound, no such object then, or
/// such a cluster was not looked at; kGone, `at` is before what history holds.
Result<Value> why(const View& view, const Kinds& kinds, const WhyQuestion& question, const Sources& sources);

}  // namespace shiplog::api
