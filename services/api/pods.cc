#include "services/api/pods.h"

#include <algorithm>
#include <array>

#include "events/base/json.h"
#include "events/state/policy.h"
#include "projections/objects/object_query.h"
#include "services/api/selector/selector.h"
#include "services/api/writes.h"

// What is done to pods through subresources of their own (SUB-4).

namespace shiplog::api {
namespace {

constexpr const char* kBudgets = "poddisruptionbudgets.policy";

/// The body, which may leave out its own kind. Error: kBadRequest.
Result<Value> body_of(const Context& context, const char* kind) {
  const std::string type = media_type(context.request.headers.get("Content-Type"));
  if (!type.empty() && type != "application/json") {
    return Error{ErrorCode::kUnsupportedMediaType, "the body of the request was in an unknown format (" + type +
                                                       ") - accepted media types include: application/json"};
  }
  SHIPLOG_TRY(Value body, parse_json(context.request.body));
  if (!body["kind"].is_empty() && body["kind"].as_string() != kind) {
    return Error{ErrorCode::kBadRequest, "the body is a " + body["kind"].str() + ", not a " + kind};
  }
  const Value& name = body["metadata"]["name"];
  if (!context.path.name.empty() && !name.is_empty() && name.as_string() != context.path.name) {
    return Error{ErrorCode::kBadRequest, "the name of the object (" + name.str() +
                                             ") does not match the name on the URL (" + context.path.name + ")"};
  }
  return body;
}

bool asks_for_dry_run(const Context& context, const Value& options) {
  const auto asked = options["dryRun"].items();
  return text(context.request, "dryRun") == "All" ||
         std::ranges::any_of(asked, [](const Value& each) { return each.as_string() == "All"; });
}

void answer_created(const ServerPtr& server, const ContextPtr& context) {
  Value status = Value::object(
      {{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Value::object()}, {"status", "Success"}, {"code", 201}});
  server->answer_status(context, 201, status);
}

void append_and_answer(const ServerPtr& server, const ContextPtr& context, Entry entry) {
  server->append(
      *context, *server->options.record, std::move(entry), [server, context](const Result<Outcome>& outcome) {
        server->workers->post([server, context, outcome] {
          if (!outcome) return server->fail(context, outcome.error());
          if (const auto& refusal = outcome.value().refusal) {
            return server->fail(context, refusal->code == ErrorCode::kConflict ? conflict(context->subject())
                                                                               : Error{refusal->code, refusal->reason});
          }
          answer_created(server, context);
        });
      });
}

/// The budgets that speak for the pod.
Result<std::vector<Value>> budgets_of(Server& server, const Value& pod) {
  SHIPLOG_TRY(const auto rows, server.options.record->read([&](const View& view) {
    return ObjectQuery{view}.list(ObjectList{.type = kBudgets, .ns = pod["metadata"]["namespace"].str()});
  }));
  std::vector<Value> found;
  for (const ObjectRow& row : rows) {
    SHIPLOG_TRY(Value budget, parse_stored_json(row.json));
    const Value& selector = budget["spec"]["selector"];
    if (selector.is_null() || !label_selector_from(selector).matches(pod["metadata"]["labels"])) continue;
    found.push_back(std::move(budget));
  }
  return found;
}

/// "deployment/web" whose pods would match; empty: none is there.
Result<std::string> template_with_pods(Server& server, const std::string& ns, const ParsedLabelSelector& selector) {
  constexpr std::array<std::pair<const char*, const char*>, 6> kTemplates = {
      {{"deployments.apps", "deployment"},
       {"statefulsets.apps", "statefulset"},
       {"daemonsets.apps", "daemonset"},
       {"jobs.batch", "job"},
       {"replicasets.apps", "replicaset"},
       {"replicationcontrollers", "replicationcontroller"}}};
  for (const auto& [type, word] : kTemplates) {
    SHIPLOG_TRY(const auto rows, server.options.record->read([&, type = type](const View& view) {
      return ObjectQuery{view}.list(ObjectList{.type = type, .ns = ns});
    }));
    for (const ObjectRow& row : rows) {
      SHIPLOG_TRY(const Value object, parse_stored_json(row.json));
      if (!selector.matches(object["spec"]["template"]["metadata"]["labels"])) continue;
      return std::string{word} + "/" + object["metadata"]["name"].str();
    }
  }
  return std::string{};
}

void evict(const ServerPtr& server, const ContextPtr& context, const Value& eviction) {
  auto pod = server->current(*context, context->key());
  if (!pod) return server->fail(context, pod.error());
  auto budgets = budgets_of(*server, pod.value());
  if (!budgets) return server->fail(context, budgets.error());
  const Value& options = eviction["deleteOptions"];
  Entry entry = server->entry_for(*context, "create");
  entry.expects = {{context->key(), revision_of(pod.value())}};
  const std::string_view phase = pod.value()["status"]["phase"].as_string();
  // A pod that does not run disturbs nobody by going.
  const bool counts = phase != "Succeeded" && phase != "Failed" && phase != "Pending" && !deleting(pod.value());
  if (counts && budgets.value().size() > 1) {
    return server->fail(context, Error{ErrorCode::kInternal,
                                       "This pod has more than one PodDisruptionBudget, which the eviction "
                                       "subresource does not support."});
  }
  if (counts && !budgets.value().empty()) {
    Value budget = budgets.value().front();
    const int64_t allowed = budget["status"]["disruptionsAllowed"].as_int();
    if (allowed <= 0) {
      return server->fail(context,
                          Error{ErrorCode::kTooManyRequests,
                                "Cannot evict pod as it would violate the pod's disruption budget.",
                                {{"", "DisruptionBudget",
                                  "The disruption budget " + budget["metadata"]["name"].str() + " allows no more"}}});
    }
    const ObjectKey key{kBudgets, context->path.ns, budget["metadata"]["name"].str()};
    entry.expects.push_back({key, revision_of(budget)});
    budget.edit("status").set("disruptionsAllowed", allowed - 1);
    budget.edit("status").edit("disruptedPods").set(context->path.name, rfc3339(server->options.clock->now()));
    entry.events.emplace_back(StatusUpdated{key, std::move(budget)});
  }
  if (asks_for_dry_run(*context, options)) return answer_created(server, context);
  const Value& asked = options["gracePeriodSeconds"];
  const int64_t grace = grace_of_pod(pod.value(), asked.is_null() ? std::nullopt : std::optional{asked.as_int()});
  entry.events.emplace_back(DeletionRequested{context->key(), grace, "Background"});
  append_and_answer(server, context, std::move(entry));
}

void bind(const ServerPtr& server, const ContextPtr& context, const Value& binding) {
  const std::string node = binding["target"]["name"].str();
  const std::string kind = binding["target"]["kind"].str();
  if (node.empty() || (!kind.empty() && kind != "Node")) {
    return server->fail(context, invalid({"", "Binding", "", context->path.name},
                                         {{"target", "FieldValueInvalid", "must name a Node"}}));
  }
  auto pod = server->current(*context, context->key());
  if (!pod) return server->fail(context, pod.error());
  Value bound = pod.value();
  if (deleting(bound)) {
    return server->fail(context, conflict(context->subject(), "pod " + context->path.name +
                                                                  " is being deleted, cannot be assigned to a host"));
  }
  if (const Value& taken = bound["spec"]["nodeName"]; !taken.is_empty()) {
    return server->fail(context,
                        conflict(context->subject(),
                                 "pod " + context->path.name + " is already assigned to node \"" + taken.str() + "\""));
  }
  bound.edit("spec").set("nodeName", node);
  for (const auto& annotation : binding["metadata"]["annotations"].members()) {
    bound.edit("metadata").edit("annotations").set(annotation.key(), annotation.value);
  }
  Value::Array& conditions = bound.edit("status").edit("conditions").edit_items();
  std::erase_if(conditions, [](const Value& each) { return each["type"].as_string() == "PodScheduled"; });
  conditions.push_back(Value::object(
      {{"type", "PodScheduled"}, {"status", "True"}, {"lastTransitionTime", rfc3339(server->options.clock->now())}}));
  if (asks_for_dry_run(*context, {})) return answer_created(server, context);
  Entry entry = server->entry_for(*context, "create");
  entry.expects = {{context->key(), revision_of(pod.value())}};
  entry.events = {ObjectUpdated{context->key(), std::move(bound)}};
  append_and_answer(server, context, std::move(entry));
}

}  // namespace

bool answer_wait_for_pods(const ServerPtr& server, const ContextPtr& context, const ReadOptions& watch,
                          std::function<void()> serve) {
  // Where views stand in for what controllers make, no controller makes pods either.
  if (!server->options.revision_views || context->kind->type() != "pods") return false;
  // Informers ask for bookmarks, `kubectl get -w` for a Table.
  const bool waits = !context->path.ns.empty() && context->path.name.empty() && !watch.label_selector.empty() &&
                     watch.field_selector.empty() && !watch.bookmarks && !watch.send_initial_events &&
                     context->accept.form == Accept::Form::kObject;
  if (!waits) return false;
  auto selector = parse_label_selector(watch.label_selector);
  if (!selector) return false;  // refused with a reason where watches begin
  server->when_current(context, [server, context, selector = std::move(selector).value(), serve = std::move(serve)] {
    const auto found = template_with_pods(*server, context->path.ns, selector);
    if (!found) return server->fail(context, found.error());
    if (found.value().empty()) return serve();
    server->fail(context,
                 Error{ErrorCode::kNotFound,
                       "the pods of " + found.value() +
                           " run in member clusters, and this server has no nodes; ask the member cluster that "
                           "runs the pod (`shiplogctl why " +
                           found.value() + " -n " + context->path.ns + "` names it)"});
  });
  return true;
}

int64_t grace_of_pod(const Value& pod, std::optional<int64_t> asked) {
  // Nobody can stop a container in less than no time: a second, as upstream.
  if (asked) return *asked < 0 ? 1 : *asked;
  if (deleting(pod)) return pod["metadata"]["deletionGracePeriodSeconds"].as_int();
  return pod["spec"]["terminationGracePeriodSeconds"].as_int();
}

bool serve_bindings(const ServerPtr& server, const ContextPtr& context) {
  ResourcePath& path = context->path;
  if (!path.group.empty() || path.resource != "bindings" || path.ns.empty() || !path.name.empty()) return false;
  if (context->request.method != "POST") {
    server->fail(context, method_not_allowed({"", "Binding", "bindings", ""}, context->request.method));
    return true;
  }
  auto body = body_of(*context, "Binding");
  if (!body) {
    server->fail(context, body.error());
    return true;
  }
  path.name = body.value()["metadata"]["name"].str();
  if (path.name.empty()) {
    server->fail(context, invalid({"", "Binding", "bindings", ""},
                                  {{"metadata.name", "FieldValueRequired", "Required value: the name of the pod"}}));
    return true;
  }
  context->kind = context->kinds->find("", "v1", "pods");
  path.resource = "pods";
  path.subresource = "binding";
  return serve_pod_action(server, context);
}

bool serve_pod_action(const ServerPtr& server, const ContextPtr& context) {
  const std::string& action = context->path.subresource;
  if (context->kind->type() != "pods" || (action != "eviction" && action != "binding")) return false;
  const bool eviction = action == "eviction";
  if (context->request.method != "POST") {
    server->fail(context, method_not_allowed(context->subject(), context->request.method));
    return true;
  }
  auto body = body_of(*context, eviction ? "Eviction" : "Binding");
  if (!body) {
    server->fail(context, body.error());
    return true;
  }
  server->when_current(context, [server, context, eviction, body = std::move(body).value()]() mutable {
    body.set("kind", eviction ? "Eviction" : "Binding");
    if (body["apiVersion"].is_empty()) body.set("apiVersion", eviction ? "policy/v1" : "v1");
    body.edit("metadata").set("name", context->path.name);
    body.edit("metadata").set("namespace", context->path.ns);
    const bool dry_run = asks_for_dry_run(*context, eviction ? body["deleteOptions"] : Value{});
    past_webhooks(server, context, "CREATE", dry_run, {}, body, [server, context, eviction](const Value& left) {
      eviction ? evict(server, context, left) : bind(server, context, left);
    });
  });
  return true;
}

}  // namespace shiplog::api
