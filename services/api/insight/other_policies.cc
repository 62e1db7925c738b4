#include "services/api/insight/other_policies.h"

#include "events/base/json.h"
#include "events/state/claim.h"
#include "events/state/policy.h"
#include "projections/objects/object_query.h"

namespace shiplog::api {

Result<std::vector<std::string>> other_policies(const View& view, std::optional<Revision> at, const Value& object) {
  std::vector<std::string> others;
  const auto claim = claim_of(object);
  const std::string ns = object["metadata"]["namespace"].str();
  for (const bool of_namespace : {false, true}) {
    if (of_namespace && ns.empty()) continue;
    ObjectList wanted{.type = of_namespace ? type::kPropagationPolicy : type::kClusterPropagationPolicy, .at = at};
    if (of_namespace) wanted.ns = ns;
    SHIPLOG_TRY(const auto rows, ObjectQuery{view}.list(wanted));
    for (const ObjectRow& row : rows) {
      if (claim && claim->policy.ns == row.key.ns && claim->policy.name == row.key.name) continue;
      SHIPLOG_TRY(const Value policy, parse_stored_json(row.json));
      if (deleting(policy) || match(policy_from(policy), object) == SelectorMatch::kNone) continue;
      others.push_back(of_namespace ? "PropagationPolicy " + ns + "/" + row.key.name.str()
                                    : "ClusterPropagationPolicy " + row.key.name.str());
    }
  }
  return others;
}

}  // namespace shiplog::api
