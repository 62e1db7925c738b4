#include "services/api/insight/interpreters.h"

#include "events/base/json.h"
#include "events/entry.h"
#include "events/fold/fold.h"
#include "projections/objects/object_query.h"
#include "services/interpreter/levels.h"
#include "services/interpreter/webhooks.h"

namespace shiplog::api {

Result<Value> interpreters_of(const View& view, std::optional<Revision> at, const Value& resource) {
  Entry entry;
  for (const char* type : {interpreter::kCustomizationType, interpreter::kWebhookType}) {
    SHIPLOG_TRY(const auto rows, ObjectQuery{view}.list({.type = type, .at = at}));
    for (const ObjectRow& row : rows) {
      SHIPLOG_TRY(auto value, parse_json(row.json));
      entry.events.push_back(ObjectCreated{row.key, std::move(value)});
    }
  }
  State alone;
  fold(alone, entry);
  const Value object = Value::object({{"apiVersion", resource["apiVersion"]}, {"kind", resource["kind"]}});
  const auto by = [&](interpreter::InterpreterOperation operation) {
    return interpreter::interpreted_by(alone, object, operation);
  };
  return Value::object({{"status", by(interpreter::InterpreterOperation::kStatus)},
                        {"health", by(interpreter::InterpreterOperation::kHealth)},
                        {"aggregation", by(interpreter::InterpreterOperation::kAggregate)}});
}

}  // namespace shiplog::api
