#include "services/api/insight/unclaimed.h"

#include "events/base/json.h"
#include "events/state/claim.h"
#include "events/state/fleet_options.h"
#include "projections/objects/object_query.h"
#include "services/api/insight/policy_objections.h"
#include "services/roles/binder/templates.h"

namespace shiplog::api {

Result<std::string> unclaimed_because(const View& view, std::optional<Revision> at, const ObjectKey& key,
                                      const Value& object) {
  const auto claim = claim_of(object);
  const std::string holder = !claim ? ""
                             : claim->policy.ns.empty()
                                 ? "ClusterPropagationPolicy " + claim->policy.name
                                 : "PropagationPolicy " + claim->policy.ns + "/" + claim->policy.name;
  if (!holder.empty()) {
    return holder +
           " has it, but has not been applied to it: with spec.activationPreference Lazy that waits for the next "
           "change of the template; it is in no member";
  }
  SHIPLOG_TRY(const auto stored, ObjectQuery{view}.get(fleet_options_key(), at));
  Value options;
  if (stored) {
    SHIPLOG_TRY(options, parse_stored_json(stored->json));
  }
  const auto left_out = binder::not_propagated_because(fleet_options_from(options), key, object);
  if (!left_out.empty()) return "policies do not reach it, and it is in no member: " + std::string{left_out};
  SHIPLOG_TRY(const auto objections, policy_objections(view, at, key, object));
  if (!objections.empty()) {
    std::string all = "no policy has it, and it is in no member";
    for (const std::string& objection : objections) all += "; " + objection;
    return all;
  }
  return "no policy has it: it has no binding, and is in no member; if a policy selects it and cannot have it, its "
         "Events say why";
}

}  // namespace shiplog::api
