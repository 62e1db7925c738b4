#include "services/api/pipeline/admission_input.h"

#include <utility>

#include "events/state/policy_author.h"
#include "services/api/admission_policies/apply_policies.h"
#include "services/api/auth/access.h"
#include "services/api/auth/certificate_requests.h"
#include "services/api/auth/claims.h"

namespace shiplog::api {
namespace {

std::string random_suffix(Random& random) {
  // Kubernetes' alphabet: no vowels, and no digits that look like letters.
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int index = 0; index < 5; ++index) suffix += kAlphabet[random_below(random, kAlphabet.size())];
  return suffix;
}

/// The options as Kubernetes shows them to webhooks: those of a patch as those of the create or update that it is.
Value options_of(const RequestContext& context, const WriteRequest& write, const Proposal& proposal) {
  const bool deletes = proposal.operation == "DELETE";
  const bool creates = proposal.operation == "CREATE";
  Value options = deletes ? write.delete_options : Value::object();
  options.set("kind", deletes ? "DeleteOptions" : creates ? "CreateOptions" : "UpdateOptions");
  options.set("apiVersion", "meta.k8s.io/v1");
  if (write.parameters.dry_run) options.set("dryRun", Value::array({"All"}));
  if (deletes) return options;
  for (const char* name : {"fieldManager", "fieldValidation"}) {
    if (std::string given = text(context.request, name); !given.empty()) options.set(name, std::move(given));
  }
  return options;
}

/// The group, version and kind of a subresource's body.
Value form_of(const Value& body) {
  const std::string version = body["apiVersion"].str();
  const size_t slash = version.find('/');
  return Value::object({{"group", slash == std::string::npos ? "" : version.substr(0, slash)},
                        {"version", slash == std::string::npos ? version : version.substr(slash + 1)},
                        {"kind", body["kind"]}});
}

/// Whether what was acknowledged before may be invisible when the write is admitted, because reading its object did not
/// wait for the record. The objects of a collection to be deleted were listed after that.
bool may_be_behind(const RequestContext& context, const WriteRequest& write) {
  if (context.kind->ephemeral) return true;
  return write.reads == WriteReads::kNothing && context.verb != "deletecollection";
}

/// The Namespace that the object is in; null: it is in none. Blocks.
StageResult<Value> namespace_of(const Server& server, const RequestContext& context, const WriteRequest& write) {
  if (!context.kind->namespaced || write.key.ns.empty()) return Value{};
  auto found = server.objects.find({type::kNamespace, "", write.key.ns});
  if (found) return std::move(found).value();
  if (found.error().code == ErrorCode::kNotFound) return without_namespace(write.key.ns.str());
  return std::move(found).error();
}

/// What the rules of webhooks and policies look at, besides names.
AdmissionRequest outline_of(const RequestContext& context, const Proposal& proposal) {
  AdmissionRequest request;
  request.kinds = context.kinds.get();
  request.kind = context.kind;
  request.operation = proposal.operation;
  request.subresource = context.path.subresource;
  return request;
}

}  // namespace

const Kind& written_kind(const RequestContext& context) {
  return context.kind->is_view() ? *context.kinds->find_type(context.kind->type()) : *context.kind;
}

FieldWriter field_writer_for(const Server& server, const RequestContext& context, const WriteParameters& parameters) {
  return {manager_of(parameters.field_manager, context.request.headers.get("User-Agent")),
          written_kind(context).api_version(), context.path.subresource, server.options.clock->now()};
}

Admission admission_for(const Server& server, const RequestContext& context, const WriteRequest& write,
                        Proposal& proposal) {
  Admission admission;
  admission.kinds = context.kinds.get();
  admission.kind = &written_kind(context);
  if (!admission.kind->builtin) admission.custom_rules = server.custom_rules->rules_of(admission.kind->schema);
  admission.field_validation = write.parameters.field_validation;
  admission.duplicate_fields = std::exchange(proposal.duplicate_fields, {});
  admission.name_suffix = random_suffix(*server.options.random);
  admission.ns = context.path.ns;
  admission.name = context.path.name;
  admission.now = server.options.clock->now();
  admission.subresource = context.path.subresource;
  admission.denied_networks = server.options.denied_networks.get();
  if (context.kind->type() == kCertificateRequests) admission.user = user_info(context.user);
  const Access* access = server.options.access;
  if (access != nullptr) admission.allows_no_execute_policies = access->allows_no_execute_policies();
  if (context.kind->group == "policy.karmada.io" && access != nullptr && access->records_authors()) {
    admission.author = author_text(context.user);
  }
  return admission;
}

std::string random_uid(const Server& server) {
  std::string uid = uid_from(new_entry_id(*server.options.random), 0);
  uid[14] = '4';
  return uid;
}

void give_identity(const Server& server, Value& object) {
  Value& metadata = object.edit("metadata");
  if (metadata["uid"].is_empty()) metadata.set("uid", random_uid(server));
  if (metadata["creationTimestamp"].is_empty()) {
    metadata.set("creationTimestamp", rfc3339(server.options.clock->now()));
  }
}

bool calls_webhooks(const Server& server, const RequestContext& context, const Proposal& proposal, bool mutating) {
  const Webhooks* webhooks = server.options.webhooks;
  if (webhooks == nullptr || webhooks->none(mutating)) return false;
  return has_webhooks(*webhooks, mutating, outline_of(context, proposal));
}

bool applies_policies(const AdmissionPoliciesInForce* policies, const RequestContext& context,
                      const Proposal& proposal) {
  if (policies == nullptr || policies->none()) return false;
  return has_policies(*policies, outline_of(context, proposal));
}

AdmissionRequest admission_request_for(const RequestContext& context, const WriteRequest& write,
                                       const Proposal& proposal) {
  AdmissionRequest request;
  request.kinds = context.kinds.get();
  request.kind = context.kind;
  request.operation = proposal.operation;
  request.subresource = context.path.subresource;
  request.name = write.key.name.empty() ? proposal.name : write.key.name;
  request.ns = context.kind->type() == type::kNamespace ? request.name : write.key.ns;
  request.object = proposal.object;
  request.old = proposal.old;
  if (write.form == WriteForm::kSubresource) request.form = form_of(proposal.object);
  request.dry_run = write.parameters.dry_run;
  request.options = options_of(context, write, proposal);
  request.user = user_info(context.user);
  return request;
}

awaitable<StageResult<AdmissionRequest>> admission_request(const Server& server, const RequestContext& context,
                                                           const WriteRequest& write, Lane& lane, Proposal& proposal) {
  if (!proposal.in_namespace && may_be_behind(context, write)) {
    auto current = co_await when_current(server.objects.record(), lane);
    if (!current) co_return std::move(current).error();
  }
  if (!lane.entered) co_await continue_on(lane);
  if (!proposal.in_namespace) {
    auto found = namespace_of(server, context, write);
    if (!found) co_return std::move(found).error();
    proposal.in_namespace = std::move(found).value();
  }
  AdmissionRequest request = admission_request_for(context, write, proposal);
  request.in_namespace = *proposal.in_namespace;
  co_return std::move(request);
}

Rejection without_namespace(const std::string& ns) {
  const StatusDetails subject{"", "Namespace", "namespaces", ns};
  Rejection rejection{not_found(subject)};
  rejection.subject = subject;
  return rejection;
}

Rejection refused(const RequestContext& context, const Proposal& proposal, Error error) {
  Rejection rejection{std::move(error)};
  rejection.subject = context.subject(proposal.name);
  rejection.denied = DeniedAction{context.verb, {context.kind->type(), context.path.ns, proposal.name}};
  return rejection;
}

Rejection refused_by_admission(const RequestContext& context, const Proposal& proposal, Error error) {
  Rejection rejection = refused(context, proposal, std::move(error));
  rejection.by_admission = true;
  return rejection;
}

Rejection denied(const RequestContext& context, Proposal& proposal, Denial denial) {
  Rejection rejection = refused_by_admission(context, proposal, Error{ErrorCode::kForbidden, denial.message()});
  rejection.denial = std::move(denial);
  rejection.warnings = std::move(proposal.warnings);
  return rejection;
}

}  // namespace shiplog::api
