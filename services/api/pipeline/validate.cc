#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "events/base/json.h"
#include "events/base/json_path.h"
#include "events/state/feature_gates.h"
#include "events/state/object.h"
#include "events/state/state_preservation.h"
#include "projections/objects/object_query.h"
#include "services/api/addresses/service_allocator.h"
#include "services/api/admission/deletion.h"
#include "services/api/admission_policies/apply_policies.h"
#include "services/api/admission_policies/policy_params.h"
#include "services/api/auth/authorization.h"
#include "services/api/auth/certificate_requests.h"
#include "services/api/cluster_identity.h"
#include "services/api/customizations.h"
#include "services/api/pipeline/access.h"
#include "services/api/pipeline/admission_input.h"
#include "services/api/pipeline/conversions.h"
#include "services/api/pipeline/pod_security.h"
#include "services/api/pipeline/request_audit.h"
#include "services/api/pipeline/stages.h"
#include "services/api/pipeline/version_warnings.h"
#include "services/interpreter/customizations.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostRuleWarnings = 10;

/// State that every failover will fail to preserve is accepted, as upstream does; the author is warned. Only a bad rule
/// is certain to fail: what a path finds depends on the status.
void warn_of_preserved_state(const Value& failover, std::vector<std::string>& warnings) {
  for (const char* kind : {"application", "cluster"}) {
    const auto rules = failover[kind]["statePreservation"]["rules"].items();
    for (size_t i = 0; i < rules.size(); ++i) {
      const std::string rule =
          "spec.failover." + std::string{kind} + ".statePreservation.rules[" + std::to_string(i) + "]";
      const std::string_view path = rules[i]["jsonPath"].as_string();
      if (is_control_plane_label(rules[i]["aliasLabelName"].as_string())) {
        warnings.push_back(rule +
                           ".aliasLabelName: this label belongs to the control plane; workloads will not be moved");
      } else if (const auto read = JsonPathTemplate::parse(path); !read) {
        warnings.push_back(rule + ".jsonPath: " + read.error().message + "; workloads will not be moved");
      } else if (path.find('{') == std::string_view::npos) {
        warnings.push_back(rule + ".jsonPath: without braces this is text, not a path");
      }
      if (warnings.size() >= kMostRuleWarnings) return;
    }
  }
}

/// The gates in force; nullopt: they cannot be read, and a warning is not worth an error. Blocks on the projection.
std::optional<FeatureGates> gates_in_force(const Server& server) {
  const auto recorded = server.objects.find(feature_gates_key());
  if (!recorded && recorded.error().code != ErrorCode::kNotFound) return std::nullopt;
  return feature_gates_from(recorded ? recorded.value() : Value{});
}

std::string without_effect(const std::string& what, const std::string& gate) {
  return what + " is stored, but has no effect: the feature gate " + gate +
         " is off (shiplogd serve --feature-gates=" + gate + "=true)";
}

/// Fields of a policy that no role acts on while their feature gate is off. Blocks on the projection.
void warn_of_gates(const Server& server, const Value& spec, std::vector<std::string>& warnings) {
  const bool preempts = spec["preemption"].as_string() == "Always";
  const bool groups = !spec["placement"]["workloadAffinity"].is_empty();
  if (!preempts && !groups) return;
  const auto gates = gates_in_force(server);
  if (!gates) return;
  if (preempts && !gates->policy_preemption) {
    warnings.push_back(without_effect("spec.preemption Always", "PropagationPolicyPreemption"));
  }
  if (groups && !gates->workload_affinity) {
    warnings.push_back(without_effect("spec.placement.workloadAffinity", "WorkloadAffinity"));
  }
}

/// A MultiClusterService without effect. Blocks on the projection.
void warn_of_multi_cluster_service(const Server& server, const Value& spec, std::vector<std::string>& warnings) {
  for (const Value& type : spec["types"].items()) {
    if (type.as_string() == "CrossCluster") continue;
    warnings.push_back("spec.types " + type.str() + " is stored, but has no effect: nothing balances load here");
  }
  const auto gates = gates_in_force(server);
  if (gates && !gates->multi_cluster_service) {
    warnings.push_back(without_effect("MultiClusterService", "MultiClusterService"));
  }
}

/// What of a ResourceRegistry is not cached.
void warn_of_registry(const Server& server, const Value& spec, std::vector<std::string>& warnings) {
  if (server.options.search == nullptr) {
    warnings.emplace_back("ResourceRegistry is stored, but this server caches nothing for search");
  }
  if (!spec["backendStore"].is_empty()) {
    warnings.emplace_back(
        "spec.backendStore is stored, but has no effect: there is no OpenSearch backend; the objects are cached in "
        "memory");
  }
  const auto kinds = server.options.kinds->current();
  for (const Value& selector : spec["resourceSelectors"].items()) {
    if (kinds->find_kind(selector["apiVersion"].as_string(), selector["kind"].as_string()) != nullptr) continue;
    warnings.push_back("spec.resourceSelectors: this server does not know the kind " + selector["kind"].str() + " of " +
                       selector["apiVersion"].str() + ", so that none of its objects are cached");
  }
}

/// Kinds and fields that are stored and served, but that no role acts on yet: their author is warned.
std::vector<std::string> idle_part_warnings(const Server& server, const Kind& kind, const Value& object) {
  std::vector<std::string> warnings;
  static const std::map<std::string, const char*> kIdle = {
      {"flowschemas.flowcontrol.apiserver.k8s.io", "requests are not queued by it"},
      {"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", "requests are not queued by it"},
      {"multiclusteringresses.networking.karmada.io", "no traffic is routed"},
      {"karmadas.operator.karmada.io", "no control plane is installed"}};
  const std::string type = kind.type();
  if (const auto idle = kIdle.find(type); idle != kIdle.end()) {
    warnings.push_back(kind.kind + " is stored, but this version does not act on it: " + idle->second);
  }
  const Value& spec = object["spec"];
  const bool forwards = server.options.aggregation != nullptr;
  if (type == "apiservices.apiregistration.k8s.io" && !spec["service"].is_null() && !forwards) {
    warnings.emplace_back("APIService is stored, but requests are not passed on to its service");
  }
  if (type == "multiclusterservices.networking.karmada.io") warn_of_multi_cluster_service(server, spec, warnings);
  if (type == "resourceregistries.search.karmada.io") warn_of_registry(server, spec, warnings);
  if (is_propagation_policy(type)) {
    warn_of_preserved_state(spec["failover"], warnings);
    warn_of_gates(server, spec, warnings);
  }
  return warnings;
}

/// Schema, defaults and the rules of the kind.
Result<Value> admitted(const Server& server, const RequestContext& context, const WriteRequest& write,
                       Proposal& proposal) {
  Admission admission = admission_for(server, context, write, proposal);
  Value object = std::move(proposal.object);
  auto result = proposal.old.is_null()             ? admit_create(admission, std::move(object))
                : write.form == WriteForm::kStatus ? admit_status_update(admission, proposal.old, std::move(object))
                                                   : admit_update(admission, proposal.old, std::move(object));
  std::ranges::move(admission.warnings, std::back_inserter(proposal.warnings));
  return result;
}

std::optional<Error> refuse_same_member(const Server& server, const RequestContext& context, const Value& object) {
  const auto other = same_member(server.objects, object);
  if (!other) return other.error();
  if (!other.value()) return std::nullopt;
  return invalid(context.subject(object["metadata"]["name"].str()),
                 {{"spec.id", "FieldValueDuplicate",
                   "Duplicate value: \"" + object["spec"]["id"].str() + "\": the member is registered as the cluster " +
                       *other.value()}});
}

constexpr const char* kPriorityClasses = "priorityclasses.scheduling.k8s.io";

/// Pods without a class get the default one: there is one only, as upstream's admission plugin Priority has it. Blocks
/// on the projection, of which it reads all PriorityClasses.
std::optional<Error> refuse_second_default(const Server& server, const RequestContext& context, const Value& object) {
  if (!object["globalDefault"].as_bool()) return std::nullopt;
  const std::string own_name = object["metadata"]["name"].str();
  std::string other;
  const auto look = [&](const ObjectRowView& row) {
    if (row.name == own_name) return true;
    const auto each = parse_stored_json(row.json);
    if (each && each.value()["globalDefault"].as_bool()) other = std::string{row.name};
    return other.empty();
  };
  const auto read = server.objects.record().read(
      [&](const View& view) { return ObjectQuery{view}.visit(ObjectList{.type = kPriorityClasses}, look); });
  if (!read) return read.error();
  if (other.empty()) return std::nullopt;
  return forbidden(context.subject(own_name),
                   "PriorityClass " + other + " is already marked as default. Only one default can exist");
}

/// A change of spec.syncMode decides who calls whom: what it needs besides may be set later.
void warn_of_sync_mode(const Value& old, const Value& object, std::vector<std::string>& warnings) {
  const Value& spec = object["spec"];
  if (old.is_null() || old["spec"]["syncMode"] == spec["syncMode"] || spec["syncMode"].as_string() != "Push") return;
  for (const char* field : {"apiEndpoint", "secretRef"}) {
    if (!spec[field].is_empty()) continue;
    warnings.push_back(std::string{"spec.syncMode Push: the control plane cannot call the member until spec."} + field +
                       " is set");
  }
}

/// What depends on more than the object: permissions and other objects.
std::optional<Error> refuse_object(const Server& server, const RequestContext& context, const WriteRequest& write,
                                   const Proposal& proposal) {
  const Value& object = proposal.object;
  ObjectKey key = write.key;
  if (key.name.empty()) key.name = object["metadata"]["name"].str();
  const Access* access = server.options.access;
  const auto creation = server.options.access_webhook == nullptr ? CreationCheck::kNeeded : CreationCheck::kDone;
  if (auto error = refuse_write(access, context.user, context.request, key, proposal.old, object, creation)) {
    return error;
  }
  if (auto error = refuse_params(access, context.user, *context.kinds, server.objects, key, proposal.old, object)) {
    return error;
  }
  const std::string_view type = key.type;
  if (type == kCertificateRequests) {
    if (auto error = refuse_certificate(access, context.user, context.path.subresource, proposal.old, object)) {
      return error;
    }
  }
  if (type == type::kCluster && takes_cluster_id(proposal.old, object)) {
    if (auto error = refuse_same_member(server, context, object)) return error;
  }
  if (type == kPriorityClasses) return refuse_second_default(server, context, object);
  return type == interpreter::kCustomizationType ? refuse_customization(server.objects, object) : std::nullopt;
}

/// The object with its field owners, and with the addresses that it lacks if it is a Service and this server gives
/// them. Errors: those of the allocator.
Result<Value> completed(const Server& server, const RequestContext& context, const WriteRequest& write,
                        Proposal& proposal) {
  Value object = std::move(proposal.object);
  if (proposal.applied) {
    if (proposal.managed.is_empty()) {  // a webhook has removed all owners
      object.edit("metadata").erase("managedFields");
    } else {
      object.edit("metadata").set("managedFields", proposal.managed);
    }
    if (same_but_for_times(proposal.old, object)) object = proposal.old;
  } else {
    // Admission has set aside what the client sent.
    if (!proposal.managed.is_null()) object.edit("metadata").set("managedFields", proposal.managed);
    object = track_update(field_writer_for(server, context, write.parameters), written_kind(context), proposal.old,
                          std::move(object));
  }
  const bool gives_addresses = server.options.addresses != nullptr && context.kind->type() == type::kService;
  if (!gives_addresses || write.form == WriteForm::kStatus) return object;
  const ObjectKey key{type::kService, context.path.ns, object["metadata"]["name"].str()};
  auto given = server.options.addresses->propose(key, proposal.old, std::move(object), *server.options.random);
  if (given || given.error().code != ErrorCode::kInvalid) return given;
  return invalid(context.subject(key.name.str()), given.error().causes);
}

StageResult<Proposal> admit_object(const Server& server, const RequestContext& context, const WriteRequest& write,
                                   Proposal proposal) {
  auto object = admitted(server, context, write, proposal);
  if (!object) return refused_by_admission(context, proposal, std::move(object).error());
  std::ranges::move(idle_part_warnings(server, *context.kind, object.value()), std::back_inserter(proposal.warnings));
  proposal.object = std::move(object).value();
  warn_of_versions(*context.kinds, *context.kind, proposal.old, proposal.object, proposal.warnings);
  if (context.kind->type() == type::kCluster) {
    warn_of_sync_mode(proposal.old, proposal.object, proposal.warnings);
  }
  if (auto error = refuse_object(server, context, write, proposal)) {
    return refused(context, proposal, std::move(*error));
  }
  if (auto error = judge_by_pod_security(server, context, write, proposal)) {
    return refused_by_admission(context, proposal, std::move(*error));
  }
  auto complete = completed(server, context, write, proposal);
  if (!complete) return refused(context, proposal, std::move(complete).error());
  proposal.object = std::move(complete).value();
  return proposal;
}

StageResult<Proposal> admit_deletion(const Server& server, const RequestContext& context, const WriteRequest& write,
                                     Proposal proposal) {
  // The webhook that protects objects is the control plane's.
  const auto admit = server.options.control_plane ? admit_delete : admit_unprotected_delete;
  if (auto allowed = admit(*context.kind, proposal.old); !allowed) {
    return refused_by_admission(context, proposal, std::move(allowed).error());
  }
  if (auto error = refuse_deletion(server.options.access, context.user, write.key, proposal.old)) {
    return refused(context, proposal, std::move(*error));
  }
  return proposal;
}

/// Calls the mutating webhooks about a deletion, though there is nothing that they could change.
awaitable<StageResult<void>> mutate_deletion(const RequestContext& context, const WebhookCalls& calls,
                                             const AdmissionRequest& request, Proposal& proposal) {
  const Webhooks::AdmissionWebhooks webhooks = calls.webhooks->configured(true);
  for (size_t index = 0; index < webhooks->size(); ++index) {
    const AdmissionWebhook& webhook = (*webhooks)[index];
    if (!is_selected(webhook, request)) continue;
    AdmissionResponse response = co_await call_webhook(calls, webhook, request);
    std::ranges::move(response.warnings, std::back_inserter(proposal.warnings));
    if (!response.denial && !response.patch.is_null()) response.denial = patches_deletion(webhook);
    if (context.audit != nullptr) context.audit->mutated_by(webhook, {0, index, false}, response);
    if (response.denial) co_return denied(context, proposal, std::move(*response.denial));
  }
  co_return ok();
}

/// Blocks.
StageResult<void> judge(const Server& server, const RequestContext& context, const WebhookCalls& calls,
                        const AdmissionRequest& request, Proposal& proposal) {
  PolicyAdmission judged = apply_policies(calls, *server.options.policies, request);
  if (context.audit) {
    for (const auto& [key, value] : judged.annotations) context.audit->annotated(key, value);
  }
  std::ranges::move(judged.warnings, std::back_inserter(proposal.warnings));
  if (!judged.denial) return ok();
  Rejection rejection = denied(context, proposal, std::move(*judged.denial));
  rejection.may_quote = judged.may_quote;
  return rejection;
}

/// What is asked about a write.
struct AskedHooks {
  bool mutating = false;  ///< webhooks, about a deletion
  bool validating = false;
  bool policies = false;
  bool any() const { return mutating || validating || policies; }
};

AskedHooks hooks_of(const Server& server, const RequestContext& context, const WriteRequest& write,
                    const Proposal& proposal) {
  AskedHooks asked;
  asked.mutating = write.form == WriteForm::kDeletion && calls_webhooks(server, context, proposal, true);
  asked.validating = calls_webhooks(server, context, proposal, false);
  // As in Kubernetes: a policy that denies reviews would break the components that ask for them.
  asked.policies = write.form != WriteForm::kReview && applies_policies(server.options.policies, context, proposal);
  return asked;
}

/// The policies, then the validating webhooks; of a deletion the mutating ones before.
awaitable<StageResult<void>> ask_hooks(const Server& server, const RequestContext& context, const WriteRequest& write,
                                       Lane& lane, const AskedHooks& asked, Proposal& proposal) {
  if (write.form == WriteForm::kObject && proposal.old.is_null()) give_identity(server, proposal.object);
  const WebhookCalls calls = server.webhook_calls(context);
  auto prepared = co_await admission_request(server, context, write, lane, proposal);
  if (!prepared) co_return std::move(prepared).error();
  AdmissionRequest request = std::move(prepared).value();
  if (write.form == WriteForm::kDeletion) {
    auto old = co_await in_requested_version(server, context, lane, std::move(request.old));
    if (!old) co_return refused(context, proposal, std::move(old).error());
    request.old = std::move(old).value();
  }
  if (asked.mutating) {
    auto mutated = co_await mutate_deletion(context, calls, request, proposal);
    if (!mutated) co_return std::move(mutated).error();
  }
  if (asked.policies) {
    const bool apart = server.post_evaluation != nullptr;
    if (apart) co_await continue_evaluating(lane);
    auto allowed = judge(server, context, calls, request, proposal);
    if (apart) co_await continue_on(lane);
    if (!allowed) co_return std::move(allowed).error();
  }
  if (asked.validating) {
    AdmissionResponse response = co_await call_validating_webhooks(calls, request);
    std::ranges::move(response.warnings, std::back_inserter(proposal.warnings));
    if (context.audit != nullptr) {
      for (const auto& [key, value] : response.annotations) context.audit->annotated(key, value);
    }
    if (response.denial) co_return denied(context, proposal, std::move(*response.denial));
  }
  co_return ok();
}

/// Whether the rules of the kind may take long to read or to evaluate: those of definitions, and expressions, which are
/// compiled.
bool is_slow_to_check(const Server& server, const Kind& kind) {
  if (kind.type() == type::kCustomResourceDefinition || is_beyond_webhooks(kind)) return true;
  if (kind.group == "resource.k8s.io") return true;  // selectors
  return !kind.builtin && !server.custom_rules->known_without(kind.schema);
}

}  // namespace

awaitable<StageResult<Proposal>> validate(const Server& server, const RequestContext& context,
                                          const WriteRequest& write, Lane& lane, Proposal& input) {
  if (write.form == WriteForm::kReview) {
    const AskedHooks asked = hooks_of(server, context, write, input);
    if (asked.any()) {
      auto allowed = co_await ask_hooks(server, context, write, lane, asked, input);
      if (!allowed) co_return std::move(allowed).error();
    }
    auto answered = co_await answer_review(server, context, std::move(input.object));
    if (!answered) co_return refused(context, input, std::move(answered).error());
    input.object = std::move(answered).value();
    co_return std::move(input);
  }
  const bool creates = write.form != WriteForm::kDeletion && write.form != WriteForm::kSubresource &&
                       input.old.is_null() && context.request.method != "POST";
  if (creates && server.options.access_webhook != nullptr) {
    auto allowed = co_await authorize_creation(server, context);
    if (!allowed) co_return std::move(allowed).error();
  }
  const std::string type = context.kind->type();
  const bool is_service = server.options.addresses != nullptr && type == type::kService;
  if (input.old.is_null() && (is_service || type == type::kCluster || type == kAdmissionPolicyBindings ||
                              type == kMutatingPolicyBindings || type == kPriorityClasses)) {
    // An address that another server has freed is free here too; a member that it has registered is registered, a
    // default a default; the policy of a binding has the parameters that it has there.
    auto current = co_await when_current(server.objects.record(), lane);
    if (!current) co_return std::move(current).error();
  }
  const bool stricter = write.form == WriteForm::kObject && makes_namespace_stricter(context, input);
  if ((stricter || is_slow_to_check(server, *context.kind)) && !lane.entered) co_await continue_on(lane);
  if (stricter) warn_of_existing_pods(server, input);
  StageResult<Proposal> admission =
      write.form == WriteForm::kDeletion      ? admit_deletion(server, context, write, std::move(input))
      : write.form == WriteForm::kSubresource ? StageResult<Proposal>{std::move(input)}
                                              : admit_object(server, context, write, std::move(input));
  if (!admission) co_return std::move(admission).error();
  Proposal proposal = std::move(admission).value();

  const AskedHooks asked = hooks_of(server, context, write, proposal);
  if (asked.any()) {
    auto allowed = co_await ask_hooks(server, context, write, lane, asked, proposal);
    if (!allowed) co_return std::move(allowed).error();
  }
  co_return std::move(proposal);
}

}  // namespace shiplog::api
