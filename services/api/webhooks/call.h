#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/base/random.h"
#include "services/api/stored_objects.h"
#include "services/api/webhooks/review.h"
#include "services/api/webhooks/webhooks.h"
#include "services/runtime/trace.h"

namespace shiplog::api {

/// What calls of admission webhooks need.
struct WebhookCalls {
  Webhooks* webhooks = nullptr;
  const StoredObjects* objects = nullptr;
  Random* random = nullptr;
  std::function<void(std::function<void()>)> post;       ///< runs what reads a response, off the network's threads
  TraceContext trace;                                    ///< of the request
  std::shared_ptr<const cel::CelAuthorizer> authorizer;  ///< answers match conditions about the user of the request
  /// When the time of the request is over: no call takes longer, and what fails then is answered with 504.
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
};

/// Whether the rules of some webhook match the request, so that it has to be called. Looks at no selector: cheap.
bool has_webhooks(const Webhooks& webhooks, bool mutating, const AdmissionRequest& request);

using OnAdmission = std::function<void(AdmissionResponse)>;

/// Calls one selected webhook, then `done` once, here or from `calls.post`. A webhook that cannot be called, or whose
/// response cannot be read, denies the request or is ignored, as its failurePolicy requires.
void call_webhook(const WebhookCalls& calls, const AdmissionWebhook& webhook, const AdmissionRequest& request,
                  const OnAdmission& done);

/// Calls the selected validating webhooks at once, then `done` once, here or from `calls.post`, with all
/// warnings and audit annotations and the first denial in the order of the configurations.
void call_validating_webhooks(const WebhookCalls& calls, const AdmissionRequest& request, OnAdmission done);

/// `request.object` with the patch of a mutating webhook, which is written for the version that the webhook was shown.
/// Error: kInvalid, the patch cannot be applied.
Result<Value> patched_object(const AdmissionWebhook& webhook, const AdmissionRequest& request, const Value& patch);

}  // namespace shiplog::api
