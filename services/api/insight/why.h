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
#include "services/runtime/process_figures.h"

namespace shiplog::api {

/// What would have let a placement take in a cluster that it left out.
struct ClusterRemedy {
  std::vector<std::string> changes;
  bool chosen = false;  ///< with all of the changes it is selected; else it is eligible, but still not selected
};

/// What a placement was decided from.
struct PlacementInputs {
  ObjectKey key;
  Value binding;
  std::vector<Value> fleet;                         ///< the Clusters
  std::vector<std::pair<ObjectKey, Value>> beside;  ///< the feature gates; other bindings, where they matter
  UtcMillis now = {};
};

/// The scheduler's answer for some clusters. One that is missing from it is used as it is, or did not exist.
using Remedies = std::function<Result<std::map<std::string, ClusterRemedy>>(const PlacementInputs& scene,
                                                                            const std::vector<std::string>& clusters)>;

/// Which roles some process leads for at present.
using RoleStates = std::function<std::vector<RoleLeadership>()>;

/// What the process that answers reports of itself.
using ProcessSource = std::function<ProcessFigures()>;

/// Sources besides the record. Each may be empty: it is not used.
struct Sources {
  Remedies remedies;
  RoleStates roles;
  ProcessSource process = {};
};

struct WhyQuestion {
  ObjectKey object;            ///< a template, a ResourceBinding or ClusterResourceBinding, or a Work
  std::string cluster;         ///< empty: all
  std::optional<Revision> at;  ///< as of then; nullopt: as of the view
};

/// Why an object runs where it does: the policy that claims it and how it won, its newest placement, the verdicts on
/// each cluster and the arithmetic, what each cluster that was left out would have needed (tried by `remedies`, from
/// the fleet as it was, and as it is), the evictions, what was changed for each member on the way and how it is there
/// now. Roles without a leader are reported when the question is about the present. Errors: kNotFound, no such object
/// then, or such a cluster was not evaluated; kGone, `at` is before what history holds.
Result<Value> why(const View& view, const Kinds& kinds, const WhyQuestion& question, const Sources& sources);

}  // namespace shiplog::api
