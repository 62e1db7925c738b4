#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/result.h"
#include "services/api/webhooks/admission_webhook.h"

namespace shiplog::api {

/// A webhook's denial, or the failure to call it: what the client gets.
struct Denial {
  int http_status = 400;
  Value status;  ///< metav1.Status
  std::string message() const { return status["message"].str(); }
};

/// Whether messages about objects of the type may quote data of Secrets: they are neither logged nor recorded.
bool may_quote_secrets(std::string_view type);

/// What a webhook answered: the response of an AdmissionReview.
struct AdmissionResponse {
  std::optional<Denial> denial;
  Value patch;  ///< RFC 6902; null: none
  std::vector<std::string> warnings;
  std::vector<std::pair<std::string, std::string>> annotations;  ///< of the request's audit events
  bool called = false;       ///< or it would have been: its match conditions do not exclude the request
  bool failed_open = false;  ///< it could not be called, and its failurePolicy is Ignore
};

/// The AdmissionReview that `hook` is sent about the request. `wanted`: see matched_kind(). `uid`: of the question.
/// Error: kInvalid, the hook takes no version of the review that we speak.
Result<Value> review_request(const AdmissionWebhook& webhook, const AdmissionRequest& about, const Kind& wanted,
                             const std::string& uid);

/// Reads the answer. Error: kBadRequest, it is no answer to this question; what went wrong, in a sentence.
Result<AdmissionResponse> read_review(const AdmissionWebhook& webhook, const Value& answer, const std::string& uid);

/// 500, "Internal error occurred: failed calling webhook ...": of a webhook that could not be called and fails closed.
Denial failed_call(const AdmissionWebhook& webhook, const std::string& why);
/// 403: the match conditions of a webhook that fails closed could not be evaluated.
Denial failed_conditions(const AdmissionRequest& about, const std::string& why);
/// 400: the request is a dry run, and the hook would not leave things alone.
Denial unfit_for_dry_run(const AdmissionWebhook& webhook);
/// 500: it has patched what is deleted.
Denial patches_deletion(const AdmissionWebhook& webhook);
/// 504: the time of the request is over.
Denial out_of_time();

}  // namespace shiplog::api
