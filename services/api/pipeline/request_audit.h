#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "services/api/auditing/auditor.h"
#include "services/api/pipeline/async.h"

namespace shiplog::api {

/// The events of one request in the audit log. Filled in by the stages of the request, one after the other; then the
/// response completes it.
class RequestAudit {
 public:
  RequestAudit(const Server& server, const HttpRequest& request, const std::string& audit_id, const TraceContext& trace,
               const User* user, const AuditDecision& decision);

  /// Who the request is carried out as, if that is not the user.
  void acts_as(const User& user);
  void authorized(bool allowed, const std::string& reason);
  /// What the request is about, and its body.
  void resolved(const RequestTarget& target, const std::string& body, std::string_view content_type);
  /// The object that is written, as it is proposed.
  void writes(const RequestContext& context, const Value& object);
  /// An admission policy or webhook adds this. A key that is there stays as it is. Threads: any: objects of a
  /// collection are deleted at the same time.
  void annotated(const std::string& key, const std::string& value);
  /// A call of a mutating webhook, in upstream's annotations.
  struct MutatingCall {
    int round = 0;
    size_t index = 0;  ///< of the webhook, in the order of all
    bool changed = false;
  };
  void mutated_by(const AdmissionWebhook& webhook, const MutatingCall& call, const AdmissionResponse& response);
  /// The entry of the journal that holds the change of the object, or its refusal.
  void committed(const RequestContext& context, const ObjectKey& object, const EntryId& entry, const Outcome& outcome);

  /// See Auditor::record().
  void record(AuditStage stage, int status, const HttpResponse* response, std::function<void(bool stored)> done) const;
  /// Whether the response waits until its event is written.
  bool waits() const { return auditor_.waits(); }
  bool authenticated() const { return authenticated_; }

 private:
  bool records_response(const HttpResponse& response, int status) const;
  std::shared_ptr<AuditedRequest> copied_facts() const;

  const Auditor& auditor_;
  const Clock& clock_;
  AuditedRequest facts_;
  mutable std::mutex annotations_mutex_;  // of those in facts_, as soon as admission may add some
  bool authenticated_;
};

/// nullptr: the policy records nothing of the request. `user`: who was authenticated; nullptr: the request was not.
std::shared_ptr<RequestAudit> audit_of(const Server& server, const HttpRequest& request, const std::string& audit_id,
                                       const TraceContext& trace, const User* user);

/// Records that the request was received. If requests wait for their events, it continues on a worker thread once this
/// one is written. False: it could not be, and the request is not to be carried out.
awaitable<bool> record_received(const Server& server, const RequestAudit& audit);

/// `writer`, which records the response; a whole response is sent when it is recorded, if responses wait for that.
std::shared_ptr<ResponseWriter> audited(std::shared_ptr<ResponseWriter> writer, std::shared_ptr<RequestAudit> audit);

}  // namespace shiplog::api
