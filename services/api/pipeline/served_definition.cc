#include "services/api/pipeline/served_definition.h"

#include "services/api/pipeline/admission_input.h"

namespace shiplog::api {

StageResult<void> check_definition_serves(const Server& server, const RequestContext& context,
                                          const Proposal& proposal) {
  if (context.kind->builtin) return ok();
  const KindRegistry& kinds = *server.options.kinds;
  const std::string type = context.kind->type();
  if (kinds.terminating(type)) {
    return refused(context, proposal,
                   forbidden(context.subject(proposal.name),
                             "create not allowed while custom resource definition is terminating"));
  }
  if (kinds.current()->find_type(type) == nullptr) {
    return refused(context, proposal, Error{ErrorCode::kNotFound, "the server could not find the requested resource"});
  }
  return ok();
}

}  // namespace shiplog::api
