#include "services/api/resource_metrics.h"

#include <algorithm>
#include <utility>

#include "services/api/pipeline/responses.h"
#include "services/api/selector/selector.h"

namespace shiplog::api {
namespace {

/// As metrics-server answers: what is missing is the Pod or Node itself, or only what it uses.
Error no_usage(const StoredObjects& objects, const RequestContext& context) {
  const ResourcePath& path = context.path;
  const auto object = objects.record().newest({path.resource, path.ns, path.name});
  if (!object) return object.error();
  if (!object.value()) return not_found({"", context.kind->kind, path.resource, path.name});
  const std::string measured = path.resource == "pods" ? "podmetrics" : "nodemetrics";
  return not_found(
      {context.kind->group, context.kind->kind, measured, path.ns + (path.ns.empty() ? "" : "/") + path.name});
}

void answer(const ServerPtr& server, const RequestContextPtr& context, const ReadOptions& options) {
  auto computed = server->options.metrics(*context->kind, context->path.ns, server->objects);
  if (!computed) return fail(*context, computed.error());
  if (!context->path.name.empty()) {
    for (const Value& item : computed.value()) {
      if (item["metadata"]["name"].as_string() != context->path.name) continue;
      return answer_object(*context, 200, item, server->time_of(*context));
    }
    return fail(*context, no_usage(server->objects, *context));
  }
  auto items = matching(options, *context->kind, std::move(computed).value());
  if (!items) return fail(*context, items.error());
  answer_list(*context, std::move(items).value(), Value::object(), server->time_of(*context));
}

}  // namespace

Result<std::vector<Value>> matching(const ReadOptions& options, const Kind& kind, std::vector<Value> items) {
  SHIPLOG_TRY(const auto labels, parse_label_selector(options.label_selector));
  SHIPLOG_TRY(const auto fields, parse_field_selector(options.field_selector, kind));
  std::erase_if(
      items, [&](const Value& item) { return !labels.matches(item["metadata"]["labels"]) || !fields.matches(item); });
  return items;
}

void serve_metrics(const ServerPtr& server, const RequestContextPtr& context) {
  if (context->past) return fail(*context, Error{ErrorCode::kNotFound, "no metrics of the past are kept"});
  auto options = read_options(context->request);
  if (!options) return fail(*context, options.error());
  when_current(server, context,
               [server, context, options = std::move(options).value()] { answer(server, context, options); });
}

}  // namespace shiplog::api
