#include <vector>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "services/api/apply/managed_fields.h"
#include "services/api/context.h"
#include "services/api/patch/patch.h"
#include "services/api/versions/versions.h"
#include "services/api/writes.h"

namespace shiplog::api {
namespace {

std::vector<std::string> steps_of(const std::string& json_path) {
  std::vector<std::string> steps;
  size_t begin = json_path.starts_with('.') ? 1 : 0;
  while (begin < json_path.size()) {
    const size_t end = std::min(json_path.find('.', begin), json_path.size());
    steps.push_back(json_path.substr(begin, end - begin));
    begin = end + 1;
  }
  return steps;
}

const Value& at_path(const Value& object, const std::string& json_path) {
  const Value* at = &object;
  for (const std::string& step : steps_of(json_path)) at = &(*at)[step];
  return *at;
}

/// "a=b,c in (d,e)" of a label selector: Scale.status.selector is text.
std::string selector_text(const Value& selector) {
  if (selector.is_string()) return selector.str();
  std::string text;
  const auto add = [&](const std::string& requirement) { text += (text.empty() ? "" : ",") + requirement; };
  for (const auto& label : selector["matchLabels"].members()) {
    add(std::string{label.key()} + "=" + label.value.str());
  }
  for (const auto& label : selector.members()) {  // of a ReplicationController: labels, without more
    if (label.value.is_string()) add(std::string{label.key()} + "=" + label.value.str());
  }
  for (const Value& requirement : selector["matchExpressions"].items()) {
    const std::string key = requirement["key"].str();
    const std::string_view op = requirement["operator"].as_string();
    if (op == "Exists") add(key);
    if (op == "DoesNotExist") add("!" + key);
    if (op != "In" && op != "NotIn") continue;
    std::string values;
    for (const Value& value : requirement["values"].items()) values += (values.empty() ? "" : ",") + value.str();
    add(key + (op == "In" ? " in (" : " notin (") + values + ")");
  }
  return text;
}

Value scale_of(const Kind& kind, const Value& object) {
  const ScalePaths& paths = *kind.scale;
  const Value& metadata = object["metadata"];
  Value scale = Value::object({{"apiVersion", "autoscaling/v1"}, {"kind", "Scale"}});
  Value& about = scale.edit("metadata");
  for (const char* field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const Value* value = metadata.find(field)) about.set(field, *value);
  }
  // Built-in workloads without the field have one replica by default.
  const int64_t replicas = at_path(object, paths.spec_replicas).as_int(kind.builtin ? 1 : 0);
  scale.set("spec", replicas == 0 ? Value::object() : Value::object({{"replicas", replicas}}));
  Value& status = scale.edit("status");
  status.set("replicas", at_path(object, paths.status_replicas).as_int());
  const std::string selector = paths.label_selector.empty() ? selector_text(object["spec"]["selector"])
                                                            : selector_text(at_path(object, paths.label_selector));
  if (!selector.empty()) status.set("selector", selector);
  return scale;
}

void write_scale(const ServerPtr& server, const ContextPtr& context, const WriteOptions& options, int tries);

/// Puts the replicas of `wanted`, a Scale, into `old`.
void store_scale(const ServerPtr& server, const ContextPtr& context, const WriteOptions& options, int tries,
                 const Value& old, const Value& wanted) {
  const ObjectKey key = context->key();
  const Value& stated = wanted["metadata"]["resourceVersion"];
  const Value& replicas = wanted["spec"]["replicas"];
  if (!replicas.is_null() && (!replicas.is_int() || replicas.as_int() < 0 || replicas.as_int() > INT32_MAX)) {
    return server->fail(context, invalid(context->subject(), {{"spec.replicas", "FieldValueInvalid",
                                                               "Invalid value: " + to_json(replicas) +
                                                                   ": must be greater than or equal to 0"}}));
  }
  Value object = old;
  Value* at = &object;
  for (const std::string& step : steps_of(context->kind->scale->spec_replicas)) at = &at->edit(step);
  *at = replicas.as_int();
  const FieldWriter writer{manager_of(options.field_manager, context->request.headers.get("User-Agent")),
                           context->kind->api_version(), "scale", server->options.clock->now()};
  object = track_update(writer, *context->kind, old, std::move(object));
  if (options.dry_run) return server->answer(context, 200, scale_of(*context->kind, object));

  object = in_version(*context->kinds->find_type(key.type), std::move(object));
  if (server->options.vault != nullptr) {
    auto sealed = server->options.vault->seal(key, std::move(object));
    if (!sealed) return server->fail(context, sealed.error());
    object = std::move(sealed).value();
  }
  Entry entry = server->entry_for(*context, context->request.method == "PUT" ? "update" : "patch");
  entry.expects = {{key, Revision{std::stoull(old["metadata"]["resourceVersion"].str())}}};
  const Value sent = object;
  entry.events = {ObjectUpdated{key, std::move(object)}};
  const bool conditional = !stated.is_empty() && context->request.method == "PUT";
  server->append(*context, server->store(*context->kind), std::move(entry), [=](Result<Outcome> outcome) {
    server->workers->post([=] {
      if (!outcome) return server->fail(context, outcome.error().context("storing " + to_string(key)));
      if (const auto& refusal = outcome.value().refusal) {
        if (refusal->code == ErrorCode::kConflict && !conditional && tries > 1) {
          return server->when_current(context, [=] { write_scale(server, context, options, tries - 1); });
        }
        return server->fail(context, refusal->code == ErrorCode::kConflict ? conflict(context->subject())
                                                                           : Error{refusal->code, refusal->reason});
      }
      const Value stored = outcome.value().changes.empty() ? sent : outcome.value().changes.front()->latest();
      server->answer(context, 200, scale_of(*context->kind, stored));
    });
  });
}

void write_scale(const ServerPtr& server, const ContextPtr& context, const WriteOptions& options, int tries) {
  const ObjectKey key = context->key();
  auto old = server->current(*context, key);
  if (!old) return server->fail(context, old.error());
  const Value before = scale_of(*context->kind, old.value());

  Value wanted;
  const std::string type = media_type(context->request.headers.get("Content-Type"));
  if (context->request.method == "PUT") {
    auto body = read_body(context->request, *context->kinds, *context->kind, nullptr);
    if (!body) return server->fail(context, body.error());
    wanted = std::move(body).value();
  } else {
    auto patch =
        type == "application/apply-patch+yaml" ? parse_yaml(context->request.body) : parse_json(context->request.body);
    if (!patch) return server->fail(context, patch.error());
    if (type != "application/json-patch+json" && type != "application/merge-patch+json" &&
        type != "application/strategic-merge-patch+json" && type != "application/apply-patch+yaml") {
      return server->fail(context, Error{ErrorCode::kUnsupportedMediaType,
                                         "the body of the request was in an unknown format (" + type +
                                             ") - accepted media types include: application/json-patch+json, "
                                             "application/merge-patch+json, application/apply-patch+yaml"});
    }
    auto patched = type == "application/json-patch+json"
                       ? apply_json_patch(before, patch.value(), JsonPatchRules::kKubernetes)
                       : apply_merge_patch(before, patch.value());
    if (!patched) return server->fail(context, patched.error());
    wanted = std::move(patched).value();
  }
  const Value& stated = wanted["metadata"]["resourceVersion"];
  if (!stated.is_empty() && stated != old.value()["metadata"]["resourceVersion"]) {
    return server->fail(context, conflict(context->subject()));
  }
  past_webhooks(server, context, "UPDATE", options.dry_run, before, wanted,
                [=, old = old.value()](const Value& left) { store_scale(server, context, options, tries, old, left); });
}

}  // namespace

void serve_scale(const ServerPtr& server, const ContextPtr& context) {
  if (!context->kind->scale) return server->fail(context, not_found(context->subject()));
  auto options = write_options(context->request);
  if (!options) return server->fail(context, options.error());
  // A Scale is no table row of its kind.
  context->accept.form = Accept::Form::kObject;
  const std::string& method = context->request.method;
  if (method != "GET" && method != "PUT" && method != "PATCH") {
    return server->fail(context, method_not_allowed(context->subject(), method));
  }
  server->when_current(context, [server, context, options = options.value(), method] {
    if (method != "GET") return write_scale(server, context, options, 5);
    auto object = server->current(*context, context->key());
    if (!object) return server->fail(context, object.error());
    // Of built-in kinds the field has a default; a custom resource without it has no scale (SUB-3).
    const std::string& wanted = context->kind->scale->spec_replicas;
    if (!context->kind->builtin && at_path(object.value(), wanted).is_null()) {
      return server->fail(
          context, Error{ErrorCode::kInternal,
                         "the spec replicas field \"" + wanted + "\" does not exist in " + to_string(context->key())});
    }
    server->answer(context, 200, scale_of(*context->kind, object.value()));
  });
}

}  // namespace shiplog::api
