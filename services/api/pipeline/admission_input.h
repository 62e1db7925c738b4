#pragma once

#include "services/api/admission/admission.h"
#include "services/api/apply/managed_fields.h"
#include "services/api/pipeline/async.h"
#include "services/api/pipeline/write_request.h"

// What the libraries below the pipeline are given of a write.
namespace shiplog::api {

/// The kind in whose form a write is checked and tracked: of a view (Kind::is_view) that of what is stored.
const Kind& written_kind(const RequestContext& context);

FieldWriter field_writer_for(const Server& server, const RequestContext& context, const WriteParameters& parameters);

/// For admission/admission.h. `proposal`: its duplicate fields are moved out.
Admission admission_for(const Server& server, const RequestContext& context, const WriteRequest& write,
                        Proposal& proposal);

/// A uid of random bits, as Kubernetes draws them.
std::string random_uid(const Server& server);
/// The uid and the creation time of an object that is created, where it has none yet. Else the fold fills them in.
void give_identity(const Server& server, Value& object);

/// Whether webhooks have to be called about the write, by their rules.
bool calls_webhooks(const Server& server, const RequestContext& context, const Proposal& proposal, bool mutating);
/// Whether some of these admission policies may be about the write; nullptr: there are none.
bool applies_policies(const AdmissionPoliciesInForce* policies, const RequestContext& context,
                      const Proposal& proposal);
/// For webhooks and policies, with the objects of the proposal, but without the Namespace.
AdmissionRequest admission_request_for(const RequestContext& context, const WriteRequest& write,
                                       const Proposal& proposal);
/// The same with the Namespace, as it is once all that was acknowledged before is visible. Continues on the lane.
/// Errors: kNotFound, of the Namespace; it cannot be read.
awaitable<StageResult<AdmissionRequest>> admission_request(const Server& server, const RequestContext& context,
                                                           const WriteRequest& write, Lane& lane, Proposal& proposal);

/// The namespace does not exist: the answer is about that.
Rejection without_namespace(const std::string& ns);

/// What a stage refuses: it leaves a trace in the audit trail, under the name that the object has by now.
Rejection refused(const RequestContext& context, const Proposal& proposal, Error error);
/// The same of what admission does not accept, whose error may quote the object.
Rejection refused_by_admission(const RequestContext& context, const Proposal& proposal, Error error);
/// The same of what a webhook denied.
Rejection denied(const RequestContext& context, Proposal& proposal, Denial denial);

}  // namespace shiplog::api
