#include "services/api/webhooks/call.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

#include "services/api/patch/patch.h"
#include "services/api/versions/versions.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

/// The response of a webhook that could not be called.
AdmissionResponse without_response(const Hook& hook, const std::string& why) {
  log::warn("webhook.failed", {log::kv("webhook", hook.name), log::kv("configuration", hook.configuration),
                               log::kv("ignored", !hook.fails_closed), log::kv("reason", why)});
  AdmissionResponse response;
  if (hook.fails_closed) response.denial = failed_call(hook, why);
  return response;
}

bool selects_namespace(const WebhookCalls& calls, const Hook& hook, const AdmissionRequest& request,
                       NamespaceLabels& labels) {
  if (hook.any_namespace) return true;
  const bool is_namespace = request.kind->type() == type::kNamespace;
  if (!is_namespace && !request.kind->namespaced) return true;  // of no namespace: there is nothing to select
  if (is_namespace) {
    const Value& object = request.object.is_null() ? request.old : request.object;
    return hook.namespaces.matches(object["metadata"]["labels"]);
  }
  if (!labels) {
    const auto ns = calls.objects->find({type::kNamespace, "", request.ns});
    labels = ns ? ns.value()["metadata"]["labels"] : Value{};
  }
  return hook.namespaces.matches(*labels);
}

/// The responses of the validating webhooks, as they come in.
struct ValidatingResponses {
  std::mutex mutex;
  std::vector<AdmissionResponse> responses;
  size_t missing = 0;
  OnAdmission done;

  void add(size_t index, AdmissionResponse response) {
    {
      const std::lock_guard lock{mutex};
      responses[index] = std::move(response);
    }
    complete_one();
  }
  void complete_one() {
    {
      const std::lock_guard lock{mutex};
      if (--missing > 0) return;
    }
    AdmissionResponse combined;
    for (AdmissionResponse& response : responses) {
      std::ranges::move(response.warnings, std::back_inserter(combined.warnings));
      if (response.denial && !combined.denial) combined.denial = std::move(response.denial);
    }
    done(std::move(combined));
  }
};

}  // namespace

bool has_webhooks(const Webhooks& webhooks, bool mutating, const AdmissionRequest& request) {
  if (webhooks.none(mutating) || is_beyond_webhooks(*request.kind)) return false;
  const auto hooks = webhooks.hooks(mutating);
  return std::ranges::any_of(*hooks, [&](const Hook& hook) { return matched_kind(hook, request) != nullptr; });
}

bool is_selected(const WebhookCalls& calls, const Hook& hook, const AdmissionRequest& request,
                 NamespaceLabels& labels) {
  return matched_kind(hook, request) != nullptr && selects_namespace(calls, hook, request, labels) &&
         selects_object(hook, request);
}

void call_webhook(const WebhookCalls& calls, const Hook& hook, const AdmissionRequest& request,
                  const OnAdmission& done) {
  if (hook.conditional) {
    return done(without_response(hook, "matchConditions are CEL expressions, which this server does not evaluate"));
  }
  if (request.dry_run && !hook.fit_for_dry_run) {
    AdmissionResponse response;
    response.denial = unfit_for_dry_run(hook);
    return done(std::move(response));
  }
  const auto endpoint = webhook_endpoint(
      hook.client, [&](const ObjectKey& key) { return calls.objects->find(key); }, UnknownService::kRefused);
  if (!endpoint) return done(without_response(hook, "failed to call webhook: " + endpoint.error().message));
  const std::string uid = uid_from(new_entry_id(*calls.random), 0);
  const auto review = review_request(hook, request, *matched_kind(hook, request), uid);
  if (!review) return done(without_response(hook, review.error().message));
  const std::string shown = endpoint.value().shown + "?timeout=" + std::to_string(hook.timeout_seconds) + "s";
  calls.webhooks->call(endpoint.value(), review.value(), hook.timeout_seconds,
                       [post = calls.post, hook, uid, shown, done](Result<Value> answer) {
                         post([hook, uid, shown, done, answer = std::move(answer)] {
                           if (!answer) {
                             return done(without_response(
                                 hook, "failed to call webhook: Post \"" + shown + "\": " + answer.error().message));
                           }
                           auto response = read_review(hook, answer.value(), uid);
                           if (!response) return done(without_response(hook, response.error().message));
                           done(std::move(response).value());
                         });
                       });
}

void call_validating_webhooks(const WebhookCalls& calls, const AdmissionRequest& request, OnAdmission done) {
  const auto hooks = calls.webhooks->hooks(false);
  const auto responses = std::make_shared<ValidatingResponses>();
  responses->responses.resize(hooks->size());
  responses->missing = hooks->size() + 1;  // one for this loop, so that a response never completes it too early
  responses->done = std::move(done);
  NamespaceLabels labels;
  for (size_t index = 0; index < hooks->size(); ++index) {
    const Hook& hook = (*hooks)[index];
    if (!is_selected(calls, hook, request, labels)) {
      responses->complete_one();
      continue;
    }
    call_webhook(calls, hook, request,
                 [responses, index](AdmissionResponse response) { responses->add(index, std::move(response)); });
  }
  responses->complete_one();
}

Result<Value> patched_object(const Hook& hook, const AdmissionRequest& request, const Value& patch) {
  const Value& object = request.object;
  const Kind* shown = request.form.is_null() ? matched_kind(hook, request) : nullptr;
  const Kind* own = request.kinds->find_kind(object["apiVersion"].as_string(), object["kind"].as_string());
  SHIPLOG_TRY(auto patched, apply_json_patch(shown == nullptr ? object : in_version(*shown, object), patch,
                                             JsonPatchRules::kKubernetes));
  return own == nullptr ? std::move(patched) : in_version(*own, std::move(patched));
}

}  // namespace shiplog::api
