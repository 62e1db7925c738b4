#include "services/api/insight/policy_objections.h"

#include "events/base/json.h"
#include "events/state/object.h"
#include "events/state/policy_author.h"
#include "projections/objects/object_query.h"
#include "services/api/auth/rbac/policy.h"

namespace shiplog::api {
namespace {

template <class See>
Result<void> each(const View& view, ObjectList wanted, See see) {
  SHIPLOG_TRY(const auto rows, ObjectQuery{view}.list(wanted));
  for (const ObjectRow& row : rows) {
    SHIPLOG_TRY(const Value object, parse_stored_json(row.json));
    see(row.key, object);
  }
  return ok();
}

}  // namespace

Result<std::vector<std::string>> policy_objections(const View& view, std::optional<Revision> at, const ObjectKey& key,
                                                   const Value& object) {
  std::vector<std::string> sentences;
  SHIPLOG_TRY(const auto stored, ObjectQuery{view}.get(fleet_options_key(), at));
  if (!stored) return sentences;
  SHIPLOG_TRY(const Value options_object, parse_stored_json(stored->json));
  const FleetOptions options = fleet_options_from(options_object);
  if (!restricts_policies(options)) return sentences;

  RbacPolicy roles;
  for (const char* type : {rbac::kRole, rbac::kClusterRole, rbac::kRoleBinding, rbac::kClusterRoleBinding}) {
    SHIPLOG_TRY(
        each(view, {.type = type, .at = at}, [&](const ObjectKey& of, const Value& stated) { roles.put(of, stated); }));
  }
  const auto permitted = [&](const rbac::User& user, const rbac::Attributes& wanted) {
    return roles.decide(user, wanted).allowed;
  };
  const auto look = [&](const ObjectKey& of, const Value& policy) {
    if (deleting(policy) || match(policy_from(policy), object) == SelectorMatch::kNone) return;
    const std::string why_not = policy_objection(options, permitted, policy, key, object);
    if (why_not.empty()) return;
    sentences.push_back((of.ns.empty() ? "ClusterPropagationPolicy " : "PropagationPolicy " + of.ns + "/") + of.name +
                        " selects it and may not have it: " + why_not);
  };
  if (!key.ns.empty()) {
    SHIPLOG_TRY(each(view, {.type = type::kPropagationPolicy, .ns = key.ns.str(), .at = at}, look));
  }
  SHIPLOG_TRY(each(view, {.type = type::kClusterPropagationPolicy, .at = at}, look));
  return sentences;
}

}  // namespace shiplog::api
