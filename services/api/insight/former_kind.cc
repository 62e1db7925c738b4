#include "services/api/insight/former_kind.h"

#include "events/base/json.h"
#include "events/kinds/stored_definition.h"
#include "events/state/object.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "services/api/insight/resource.h"

namespace shiplog::api {

Result<std::optional<Kind>> former_kind(const View& view, const Kinds& kinds, std::string_view word) {
  SHIPLOG_TRY(const auto types, ObjectQuery{view}.types());
  for (const std::string& type : types) {
    if (kinds.find_type(type) != nullptr) continue;
    SHIPLOG_TRY(const auto versions, HistoryQuery{view}.versions({type::kCustomResourceDefinition, "", type}, true, 1));
    if (versions.empty()) continue;
    SHIPLOG_TRY(const Value definition, parse_stored_json(versions.front().json));
    auto defined = kinds_of_stored(definition);
    if (!defined) continue;
    for (Kind& kind : defined.value()) {
      if (is_meant(kind, word)) return std::optional{std::move(kind)};
    }
  }
  return std::optional<Kind>{};
}

}  // namespace shiplog::api
