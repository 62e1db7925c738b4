#include "services/api/component_statuses.h"

#include <utility>
#include <vector>

#include "services/api/pipeline/responses.h"
#include "services/api/resource_metrics.h"

namespace shiplog::api {
namespace {

const Warnings kDeprecated = {"v1 ComponentStatus is deprecated in v1.19+"};

Value status_of(const HealthCheck& check) {
  const bool healthy = check.failure.empty();
  Value condition = Value::object({{"type", "Healthy"}, {"status", healthy ? "True" : "False"}});
  condition.set(healthy ? "message" : "error", healthy ? "ok" : check.failure);
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "ComponentStatus"},
                        {"metadata", Value::object({{"name", check.name}})},
                        {"conditions", Value::array({std::move(condition)})}});
}

}  // namespace

void serve_component_statuses(const ServerPtr& server, const RequestContextPtr& context) {
  if (context->past) return fail(*context, Error{ErrorCode::kNotFound, "no health of the past is kept"});
  auto options = read_options(context->request);
  if (!options) return fail(*context, options.error());
  std::vector<Value> statuses;
  if (server->options.health) {
    for (const HealthCheck& check : server->options.health("/readyz")) statuses.push_back(status_of(check));
  }
  const UtcMillis now = server->time_of(*context);
  if (context->path.name.empty()) {
    auto selected = matching(options.value(), *context->kind, std::move(statuses));
    if (!selected) return fail(*context, selected.error());
    return answer_list(*context, std::move(selected).value(), Value::object(), now, kDeprecated);
  }
  for (const Value& status : statuses) {
    if (status["metadata"]["name"].as_string() != context->path.name) continue;
    return answer_object(*context, 200, status, now, kDeprecated);
  }
  fail(*context, not_found(context->subject()));
}

}  // namespace shiplog::api
