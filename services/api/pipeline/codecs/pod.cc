#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/state/condition.h"
#include "events/state/policy.h"
#include "projections/objects/object_query.h"
#include "services/api/pipeline/codecs/codecs.h"

// What is done to pods through subresources of their own (SUB-4).

namespace shiplog::api {
namespace {

constexpr const char* kBudgets = "poddisruptionbudgets.policy";
constexpr std::array kEvictionVersions = {"policy/v1", "policy/v1beta1"};
constexpr std::array kBindingVersions = {"v1"};

bool is_dry_run(const RequestContext& context, const Value& options) {
  const auto given = options["dryRun"].items();
  return text(context.request, "dryRun") == "All" ||
         std::ranges::any_of(given, [](const Value& each) { return each.as_string() == "All"; });
}

/// The budgets whose selector matches the pod.
Result<std::vector<Value>> budgets_of(const StoredObjects& objects, const Value& pod) {
  SHIPLOG_TRY(const auto rows, objects.record().read([&](const View& view) {
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

/// A pod that does not run disrupts nothing by going.
bool counts_as_running(const Value& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return phase != "Succeeded" && phase != "Failed" && phase != "Pending" && !deleting(pod);
}

/// In the words of Kubernetes 1.36.
std::string why_no_disruption(const Value& budget) {
  const Value& status = budget["status"];
  const Value& condition = condition_of(budget, "DisruptionAllowed");
  const std::string name = "The disruption budget " + budget["metadata"]["name"].str();
  const std::string refuses = name + " does not allow evicting pods currently";
  const bool explains = condition["status"].as_string() == "False" && !condition["message"].is_empty();
  if (explains && condition["reason"].as_string() == "SyncFailed") {
    return refuses + " because it failed sync: " + condition["message"].str();
  }
  const int64_t needed = status["desiredHealthy"].as_int();
  const int64_t healthy = status["currentHealthy"].as_int();
  if (healthy <= needed) {
    return name + " needs " + std::to_string(needed) + " healthy pods and has " + std::to_string(healthy) +
           " currently";
  }
  if (!explains) return refuses;
  return refuses + " (" + condition["reason"].str() + "): " + condition["message"].str();
}

/// One disruption less in the budget of the pod, if it has one.
StageResult<void> spend_budget(const Server& server, const RequestContext& context, const Value& pod,
                               WriteChanges& changes) {
  SHIPLOG_TRY(auto budgets, budgets_of(server.objects, pod));
  if (!counts_as_running(pod) || budgets.empty()) return ok();
  if (budgets.size() > 1) {
    return Error{ErrorCode::kInternal,
                 "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."};
  }
  Value budget = std::move(budgets.front());
  const int64_t allowed = budget["status"]["disruptionsAllowed"].as_int();
  if (allowed <= 0) {
    return Error{ErrorCode::kTooManyRequests,
                 "Cannot evict pod as it would violate the pod's disruption budget.",
                 {{"", "DisruptionBudget", why_no_disruption(budget)}}};
  }
  const ObjectKey key{kBudgets, context.path.ns, budget["metadata"]["name"].str()};
  changes.expects.push_back({key, revision_of(budget)});
  budget.edit("status").set("disruptionsAllowed", allowed - 1);
  budget.edit("status").edit("disruptedPods").set(context.path.name, rfc3339(server.options.clock->now()));
  changes.events.emplace_back(StatusUpdated{key, std::move(budget)});
  return ok();
}

/// Upstream names the pod by its kind here.
StageResult<void> check_preconditions_of_eviction(const Value& preconditions, const Value& pod) {
  const StatusDetails subject{"", "Pod", "Pod", pod["metadata"]["name"].str()};
  const auto differs = [&](const char* field) {
    return !preconditions[field].is_empty() && preconditions[field] != pod["metadata"][field];
  };
  const auto both = [&](const char* field, const std::string& name) {
    return "the " + name + " in the precondition (" + printable(preconditions[field].as_string()) +
           ") does not match the " + name + " in record (" + pod["metadata"][field].str() + "). ";
  };
  if (differs("uid")) {
    return conflict(subject, both("uid", "UID") + "The object might have been deleted and then recreated");
  }
  if (differs("resourceVersion")) {
    return conflict(subject, both("resourceVersion", "ResourceVersion") + "The object might have been modified");
  }
  return ok();
}

StageResult<WriteChanges> evict(const Server& server, const RequestContext& context, const Value& eviction) {
  SHIPLOG_TRY(const Value pod, server.current(context, context.key()));
  SHIPLOG_TRY(check_preconditions_of_eviction(eviction["deleteOptions"]["preconditions"], pod));
  WriteChanges changes;
  changes.expects.push_back({context.key(), revision_of(pod)});
  SHIPLOG_TRY(spend_budget(server, context, pod, changes));
  const Value& given = eviction["deleteOptions"]["gracePeriodSeconds"];
  const int64_t grace = grace_of_pod(pod, given.is_null() ? std::nullopt : std::optional{given.as_int()});
  changes.events.emplace_back(DeletionRequested{context.key(), grace, "Background"});
  return changes;
}

StageResult<WriteChanges> assign_to_node(const Server& server, const RequestContext& context, const Value& binding) {
  const std::string node = binding["target"]["name"].str();
  const std::string kind = binding["target"]["kind"].str();
  const std::string& name = context.path.name;
  if (node.empty() || (!kind.empty() && kind != "Node")) {
    return invalid({"", "Binding", "", name}, {{"target", "FieldValueInvalid", "must name a Node"}});
  }
  SHIPLOG_TRY(const Value pod, server.current(context, context.key()));
  if (deleting(pod)) {
    return conflict(context.subject(), "pod " + name + " is being deleted, cannot be assigned to a host");
  }
  if (const Value& taken = pod["spec"]["nodeName"]; !taken.is_empty()) {
    return conflict(context.subject(), "pod " + name + " is already assigned to node \"" + taken.str() + "\"");
  }
  if (pod["spec"]["schedulingGates"].size() > 0) {
    return conflict(context.subject(), "pod " + name + " has non-empty .spec.schedulingGates");
  }
  Value bound = pod;
  bound.edit("spec").set("nodeName", node);
  if (pod["status"].is_object()) bound.edit("status").erase("nominatedNodeName");
  for (const char* map : {"annotations", "labels"}) {
    for (const auto& member : binding["metadata"][map].members()) {
      bound.edit("metadata").edit(map).set(member.key(), member.value);
    }
  }
  Value::Array& conditions = bound.edit("status").edit("conditions").edit_items();
  std::erase_if(conditions, [](const Value& each) { return each["type"].as_string() == "PodScheduled"; });
  conditions.push_back(Value::object(
      {{"type", "PodScheduled"}, {"status", "True"}, {"lastTransitionTime", rfc3339(server.options.clock->now())}}));
  WriteChanges changes;
  changes.expects.push_back({context.key(), revision_of(pod)});
  changes.events.emplace_back(ObjectUpdated{context.key(), std::move(bound)});
  return changes;
}

/// The write for `body`, an Eviction or a Binding.
WriteRequest pod_action(const RequestContext& context, Value body, bool dry_run) {
  body.edit("metadata").set("name", context.path.name);
  body.edit("metadata").set("namespace", context.path.ns);
  WriteRequest write;
  write.parameters.dry_run = dry_run;
  write.key = context.key();
  write.form = WriteForm::kSubresource;
  write.reads = WriteReads::kStore;
  write.propose = [&context, body = std::move(body)](const Result<Value>&) -> StageResult<Proposal> {
    Proposal proposal{.operation = "CREATE", .verb = "create", .success = 201};
    proposal.name = context.path.name;
    proposal.object = body;
    return proposal;
  };
  write.answer = [](const Proposal& proposal, const Committed&) -> Result<WriteAnswer> {
    WriteAnswer answer;
    answer.status = proposal.success;
    answer.is_status = true;
    answer.body = Value::object({{"kind", "Status"},
                                 {"apiVersion", "v1"},
                                 {"metadata", Value::object()},
                                 {"status", "Success"},
                                 {"code", 201}});
    return answer;
  };
  return write;
}

}  // namespace

const PodAction kEvictionAction{"Eviction", kEvictionVersions};
const PodAction kBindingAction{"Binding", kBindingVersions};

Result<Value> read_pod_body(const Kinds& kinds, const HttpRequest& request, const std::string& text,
                            const std::string& pod, const PodAction& action) {
  auto read = read_body(request.headers.get("Content-Type"), text, kinds, *kinds.find("", "v1", "pods"), nullptr);
  if (!read) return unrecognized(std::move(read).error(), action.kind, text);
  Value body = std::move(read).value();
  if (!body.is_object()) return Error{ErrorCode::kBadRequest, std::string{"the body is no "} + action.kind};
  if (body["kind"].is_empty()) body.set("kind", action.kind);
  if (body["kind"].as_string() != action.kind) {
    return Error{ErrorCode::kBadRequest, "the body is a " + body["kind"].str() + ", not a " + action.kind};
  }
  if (body["apiVersion"].is_empty()) body.set("apiVersion", action.versions.front());
  if (std::ranges::find(action.versions, body["apiVersion"].as_string()) == action.versions.end()) {
    return Error{ErrorCode::kBadRequest, std::string{"no kind \""} + action.kind + "\" is registered for version \"" +
                                             body["apiVersion"].str() + "\": use " + action.versions.front()};
  }
  const Value& name = body["metadata"]["name"];
  if (!pod.empty() && !name.is_empty() && name.as_string() != pod) {
    return Error{ErrorCode::kBadRequest, std::string{"name in URL does not match name in "} + action.kind +
                                             " object: " + printable(name.as_string(), 253)};
  }
  return body;
}

int64_t grace_of_pod(const Value& pod, std::optional<int64_t> asked) {
  // A negative grace period counts as one second, as upstream.
  if (asked) return *asked < 0 ? 1 : *asked;
  if (deleting(pod)) return pod["metadata"]["deletionGracePeriodSeconds"].as_int();
  return pod["spec"]["terminationGracePeriodSeconds"].as_int();
}

StageResult<WriteRequest> decode_eviction(const Server& server, const RequestContext& context,
                                          const std::string& body) {
  SHIPLOG_TRY(Value eviction, read_pod_body(*context.kinds, context.request, body, context.path.name, kEvictionAction));
  const bool dry_run = is_dry_run(context, eviction["deleteOptions"]);
  WriteRequest write = pod_action(context, std::move(eviction), dry_run);
  write.changes = [&server, &context](Proposal& proposal) { return evict(server, context, proposal.object); };
  return write;
}

StageResult<WriteRequest> decode_binding(const Server& server, const RequestContext& context, const std::string& body) {
  SHIPLOG_TRY(Value binding, read_pod_body(*context.kinds, context.request, body, context.path.name, kBindingAction));
  WriteRequest write = pod_action(context, std::move(binding), is_dry_run(context, {}));
  write.changes = [&server, &context](Proposal& proposal) { return assign_to_node(server, context, proposal.object); };
  return write;
}

}  // namespace shiplog::api
