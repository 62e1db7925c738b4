#include "services/api/insight/placement_inputs.h"

#include <utility>

#include "events/base/json.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "events/state/object.h"
#include "events/state/work.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"

namespace shiplog::api {
namespace {

Result<Value> object(const View& view, const ObjectKey& key, Revision at) {
  SHIPLOG_TRY(const auto row, ObjectQuery{view}.get(key, at));
  if (!row) return Value{};
  return parse_json(row->json);
}

/// Where the definition of a custom resource is placed, the object can be placed too (decision 0033).
Result<void> add_definition(const View& view, const std::string& template_type, Revision at, PlacementInputs& scene) {
  constexpr const char* kDefinition = "CustomResourceDefinition";
  const ObjectKey key = binding_key({type::kCustomResourceDefinition, "", template_type}, kDefinition);
  SHIPLOG_TRY(Value placed, object(view, key, at));
  if (placed.is_null()) return ok();
  for (const Value& target : placed["spec"]["clusters"].items()) {
    ObjectKey work{type::kWork, execution_space(target["name"].str()), work_name(kDefinition, "", template_type)};
    SHIPLOG_TRY(Value rendered, object(view, work, at));
    scene.beside.emplace_back(std::move(work), std::move(rendered));
  }
  scene.beside.emplace_back(key, std::move(placed));
  return ok();
}

/// Other bindings matter for affinity and anti-affinity, and where reserved room counts.
Result<void> add_what_is_beside(const View& view, const std::string& template_type, Revision at,
                                PlacementInputs& scene) {
  SHIPLOG_TRY(Value gates, object(view, feature_gates_key(), at));
  const bool overcommit = feature_gates_from(gates).overcommit_protection;
  scene.beside.emplace_back(feature_gates_key(), std::move(gates));
  SHIPLOG_TRY(Value options, object(view, fleet_options_key(), at));
  scene.beside.emplace_back(fleet_options_key(), std::move(options));
  SHIPLOG_TRY(add_definition(view, template_type, at, scene));
  if (!overcommit && !scene.binding["spec"]["workloadAffinityGroups"].is_object()) return ok();
  const auto ns = overcommit ? std::nullopt : std::make_optional(scene.key.ns.str());
  SHIPLOG_TRY(const auto rows, ObjectQuery{view}.list({.type = type::kResourceBinding, .ns = ns, .at = at}));
  for (const ObjectRow& row : rows) {
    SHIPLOG_TRY(auto binding, parse_json(row.json));
    scene.beside.emplace_back(row.key, std::move(binding));
  }
  return ok();
}

}  // namespace

Result<std::optional<PlacementInputs>> placement_inputs(const View& view, const ObjectKey& binding,
                                                        const std::string& template_type, Revision at, UtcMillis now) {
  SHIPLOG_TRY(const Revision oldest, HistoryQuery{view}.oldest());
  if (at < oldest) return std::optional<PlacementInputs>{};
  PlacementInputs scene;
  scene.key = binding;
  scene.now = now;
  SHIPLOG_TRY(scene.binding, object(view, binding, at));
  if (scene.binding.is_null()) return std::optional<PlacementInputs>{};
  SHIPLOG_TRY(const auto rows, ObjectQuery{view}.list({.type = type::kCluster, .at = at}));
  for (const ObjectRow& row : rows) {
    SHIPLOG_TRY(auto cluster, parse_json(row.json));
    scene.fleet.push_back(std::move(cluster));
  }
  SHIPLOG_TRY(add_what_is_beside(view, template_type, at, scene));
  return std::optional{std::move(scene)};
}

}  // namespace shiplog::api
