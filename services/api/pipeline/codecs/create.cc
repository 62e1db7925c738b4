#include <utility>

#include "services/api/pipeline/codecs/codecs.h"

namespace shiplog::api {

Result<Value> read_object(const RequestContext& context, const std::string& body,
                          std::vector<std::string>* duplicates) {
  auto read = read_body(context.request.headers.get("Content-Type"), body, *context.kinds, *context.kind, duplicates);
  if (!read) return unrecognized(std::move(read).error(), context.kind->kind, body);
  return read;
}

StageResult<WriteRequest> decode_create(const RequestContext& context, const std::string& body) {
  const Kind& kind = *context.kind;
  WriteRequest write;
  SHIPLOG_TRY(write.parameters, write_parameters(context.request));
  Proposal proposal{.operation = "CREATE", .verb = "create", .success = 201};
  SHIPLOG_TRY(proposal.object, read_object(context, body, &proposal.duplicate_fields));
  proposal.name = proposal.object["metadata"]["name"].str();
  write.key = {kind.type(), kind.namespaced ? context.path.ns : "", ""};
  write.reads = WriteReads::kNothing;
  // A generated name may be taken (as upstream's RetryGenerateName), another Service may get the address that was
  // proposed for this one, and another pod may be charged to the same quota: these are proposed again.
  write.retries_conflicts = proposal.name.empty();
  const bool once = !write.retries_conflicts && kind.type() != type::kService && kind.type() != "pods";
  write.propose = [proposal = std::move(proposal), once](const Result<Value>&) mutable -> StageResult<Proposal> {
    if (once) return std::move(proposal);
    return proposal;
  };
  return write;
}

}  // namespace shiplog::api
