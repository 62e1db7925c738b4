#include "services/api/webhooks/call.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

#include "events/base/json.h"
#include "services/api/patch/patch.h"
#include "services/api/versions/versions.h"
#include "services/runtime/log.h"
#include "services/runtime/metrics.h"

namespace shiplog::api {
namespace {

void observe_call(const AdmissionWebhook& webhook, const std::string& operation, bool rejected, double seconds) {
  // Names of webhooks and operations are few: an administrator writes the first, Kubernetes has the second.
  static const metrics::HistogramFamily family{"apiserver_admission_webhook_admission_duration_seconds",
                                               "Seconds for the call of an admission webhook.",
                                               {"name", "type", "operation", "rejected"},
                                               {0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25},
                                               500};
  family.with({webhook.name, webhook.mutating ? "admit" : "validating", operation, rejected ? "true" : "false"})
      .observe(seconds);
}

/// What a call may take: its own timeout, but not longer than its request.
Millis time_for_call(const WebhookCalls& calls, const AdmissionWebhook& webhook) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(calls.until - std::chrono::steady_clock::now());
  return std::min(Millis{webhook.timeout_seconds * 1000}, Millis{left.count()});
}

AdmissionResponse denying(Denial denial) {
  AdmissionResponse response;
  response.called = true;
  response.denial = std::move(denial);
  return response;
}

/// The response of a webhook that could not be called.
AdmissionResponse without_response(const WebhookCalls& calls, const AdmissionWebhook& webhook, const std::string& why) {
  log::warn("webhook.failed",
            {log::kv("webhook", webhook.name), log::kv("configuration", webhook.configuration),
             log::kv("ignored", !webhook.fails_closed), log::kv("reason", why), log::kv("trace_id", calls.trace.id)});
  if (time_for_call(calls, webhook) <= Millis{0}) return denying(out_of_time());
  if (webhook.fails_closed) return denying(failed_call(webhook, why));
  AdmissionResponse response;
  response.called = true;
  response.failed_open = true;
  return response;
}

/// The headers that make the call part of the trace of the request.
HttpHeaders trace_headers(const WebhookCalls& calls) {
  HttpHeaders headers{{"traceparent", traceparent_of(calls.trace, *calls.random)}};
  if (!calls.trace.state.empty()) headers.add("tracestate", calls.trace.state);
  return headers;
}

/// The response about a request that the webhook is not called about, because of its match conditions; nullopt: it is.
std::optional<AdmissionResponse> settled_by_conditions(const WebhookCalls& calls, const AdmissionWebhook& webhook,
                                                       const AdmissionRequest& request, const Kind& wanted) {
  if (webhook.conditions.empty()) return std::nullopt;
  std::string why;
  CostBudget budget{kMatchConditionsCost};
  const auto fulfilled =
      fulfils(webhook.conditions, expression_input(request, wanted, calls.authorizer), false, budget, why);
  if (fulfilled == true) return std::nullopt;
  AdmissionResponse response;
  if (fulfilled == false) return response;
  log::warn("webhook.conditions_failed",
            {log::kv("webhook", webhook.name), log::kv("configuration", webhook.configuration),
             log::kv("ignored", !webhook.fails_closed),
             log::kv("reason", may_quote_secrets(request.kind->type()) ? "not logged, as it may quote a Secret" : why),
             log::kv("trace_id", calls.trace.id)});
  if (webhook.fails_closed) response.denial = failed_conditions(request, why);
  return response;
}

/// The responses of the selected validating webhooks, as they arrive.
struct ValidatingResponses {
  std::mutex mutex;
  std::vector<AdmissionWebhook> selected;
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
    for (size_t index = 0; index < responses.size(); ++index) {
      AdmissionResponse& response = responses[index];
      std::ranges::move(response.warnings, std::back_inserter(combined.warnings));
      std::ranges::move(response.annotations, std::back_inserter(combined.annotations));
      if (response.failed_open) {
        combined.annotations.emplace_back(
            "failed-open.validating.webhook.admission.k8s.io/round_0_index_" + std::to_string(index),
            selected[index].name);
      }
      if (response.denial && !combined.denial) combined.denial = std::move(response.denial);
    }
    done(std::move(combined));
  }
};

}  // namespace

bool has_webhooks(const Webhooks& webhooks, bool mutating, const AdmissionRequest& request) {
  if (webhooks.none(mutating) || is_beyond_webhooks(*request.kind)) return false;
  const auto configured = webhooks.configured(mutating);
  return std::ranges::any_of(
      *configured, [&](const AdmissionWebhook& webhook) { return matched_kind(webhook, request) != nullptr; });
}

void call_webhook(const WebhookCalls& calls, const AdmissionWebhook& webhook, const AdmissionRequest& request,
                  const OnAdmission& done) {
  const Kind& wanted = *matched_kind(webhook, request);
  // Before its conditions: they would look for fields of the version that it names.
  if (needs_conversion(request, wanted)) {
    return done(without_response(calls, webhook, unconverted(request, wanted, "admission webhooks")));
  }
  if (auto settled = settled_by_conditions(calls, webhook, request, wanted)) return done(*std::move(settled));
  const Millis timeout = time_for_call(calls, webhook);
  if (timeout <= Millis{0}) return done(denying(out_of_time()));
  if (request.dry_run && !webhook.fit_for_dry_run) return done(denying(unfit_for_dry_run(webhook)));
  const auto endpoint = webhook_endpoint(
      webhook.client, [&](const ObjectKey& key) { return calls.objects->find(key); }, UnknownService::kRefused);
  if (!endpoint) return done(without_response(calls, webhook, "failed to call webhook: " + endpoint.error().message));
  const std::string uid = uid_from(new_entry_id(*calls.random), 0);
  const auto review = review_request(webhook, request, wanted, uid);
  if (!review) return done(without_response(calls, webhook, review.error().message));
  WebhookQuestion question{.body = to_json(review.value()), .timeout = timeout, .headers = trace_headers(calls)};
  const std::string shown = endpoint.value().shown + question.query();
  calls.webhooks->call(
      endpoint.value(), std::move(question),
      [calls, webhook, uid, shown, operation = request.operation, watch = metrics::Stopwatch{},
       respond = done](Result<std::string> body) {
        calls.post([calls, webhook, uid, shown, operation, seconds = watch.seconds(), respond, body = std::move(body)] {
          const auto finish = [&](AdmissionResponse response) {
            observe_call(webhook, operation, response.denial.has_value(), seconds);
            respond(std::move(response));
          };
          const Result<Value> answer = webhook_answer(body);
          if (!answer) {
            return finish(without_response(
                calls, webhook, "failed to call webhook: Post \"" + shown + "\": " + answer.error().message));
          }
          auto response = read_review(webhook, answer.value(), uid);
          if (!response) return finish(without_response(calls, webhook, response.error().message));
          finish(std::move(response).value());
        });
      });
}

void call_validating_webhooks(const WebhookCalls& calls, const AdmissionRequest& request, OnAdmission done) {
  const auto webhooks = calls.webhooks->configured(false);
  const auto responses = std::make_shared<ValidatingResponses>();
  std::ranges::copy_if(*webhooks, std::back_inserter(responses->selected),
                       [&](const AdmissionWebhook& webhook) { return is_selected(webhook, request); });
  responses->responses.resize(responses->selected.size());
  // One for this loop, so that a response never completes it too early.
  responses->missing = responses->selected.size() + 1;
  responses->done = std::move(done);
  for (size_t index = 0; index < responses->selected.size(); ++index) {
    call_webhook(calls, responses->selected[index], request,
                 [responses, index](AdmissionResponse response) { responses->add(index, std::move(response)); });
  }
  responses->complete_one();
}

Result<Value> patched_object(const AdmissionWebhook& webhook, const AdmissionRequest& request, const Value& patch) {
  const Value& object = request.object;
  const Kind* shown = request.form.is_null() ? matched_kind(webhook, request) : nullptr;
  const Kind* own = request.kinds->find_kind(object["apiVersion"].as_string(), object["kind"].as_string());
  SHIPLOG_TRY(auto patched, apply_json_patch(shown == nullptr ? object : in_version(*shown, object), patch,
                                             JsonPatchRules::kKubernetes));
  return own == nullptr ? std::move(patched) : in_version(*own, std::move(patched));
}

}  // namespace shiplog::api
