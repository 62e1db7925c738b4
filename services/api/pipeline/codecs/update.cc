#include <algorithm>
#include <utility>

#include "services/api/pipeline/codecs/codecs.h"

namespace shiplog::api {
namespace {

/// Kinds that a PUT creates when the object does not exist, unless the body has a uid or version (CRU-3).
bool creates_on_update(const RequestContext& context, const Value& object) {
  if (!context.path.subresource.empty()) return false;
  if (!object["metadata"]["uid"].is_empty() || !object["metadata"]["resourceVersion"].is_empty()) return false;
  const std::string type = context.kind->type();
  static constexpr const char* kTypes[] = {"leases.coordination.k8s.io",
                                           "events",
                                           "roles.rbac.authorization.k8s.io",
                                           "rolebindings.rbac.authorization.k8s.io",
                                           "clusterroles.rbac.authorization.k8s.io",
                                           "clusterrolebindings.rbac.authorization.k8s.io",
                                           "endpoints",
                                           "services",
                                           "limitranges",
                                           "runtimeclasses.node.k8s.io"};
  return std::ranges::find(kTypes, type) != std::end(kTypes);
}

/// 0: none is stated.
Result<Revision> stated_revision(const Value& object) {
  const Value& stated = object["metadata"]["resourceVersion"];
  if (stated.is_empty()) return Revision{};
  uint64_t revision = 0;
  for (const char digit : stated.as_string()) {
    if (digit < '0' || digit > '9') {
      return Error{ErrorCode::kInvalid,
                   "metadata.resourceVersion: Invalid value: \"" + stated.str() + "\"",
                   {{"metadata.resourceVersion", "FieldValueInvalid", "Invalid value: \"" + stated.str() + "\""}}};
    }
    revision = revision * 10 + static_cast<uint64_t>(digit - '0');
  }
  return Revision{revision};
}

}  // namespace

Revision revision_of(const Value& object) {
  const auto revision = stated_revision(object);
  return revision ? revision.value() : Revision{};
}

StageResult<void> check_stated_revision(const RequestContext& context, const Value& old, const Value& object) {
  const auto stated = stated_revision(object);
  if (!stated) return invalid(context.subject(), stated.error().causes);
  if (stated.value() != Revision{} && stated.value() != revision_of(old)) return conflict(context.subject());
  return ok();
}

StageResult<WriteRequest> decode_update(const RequestContext& context, const std::string& body) {
  WriteRequest write;
  SHIPLOG_TRY(write.parameters, write_parameters(context.request));
  std::vector<std::string> duplicates;
  SHIPLOG_TRY(Value object, read_object(context, body, &duplicates));
  write.key = context.key();
  write.form = write_form_of(context.path);
  write.replaces_unreadable = context.path.subresource.empty();
  write.retries_conflicts = object["metadata"]["resourceVersion"].is_empty();
  write.propose = [&context, object = std::move(object),
                   duplicates = std::move(duplicates)](Result<Value> current) -> StageResult<Proposal> {
    Proposal proposal{.operation = "UPDATE", .verb = "update"};
    proposal.name = context.path.name;
    proposal.duplicate_fields = duplicates;
    if (!current) {
      if (current.error().code != ErrorCode::kNotFound || !creates_on_update(context, object)) return current.error();
      proposal.operation = "CREATE";
      proposal.verb = "create";
      proposal.success = 201;
      proposal.name = object["metadata"]["name"].str();
    } else {
      SHIPLOG_TRY(check_stated_revision(context, current.value(), object));
      proposal.old = std::move(current).value();
    }
    proposal.object = object;
    return proposal;
  };
  return write;
}

}  // namespace shiplog::api
