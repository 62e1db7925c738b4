#include "services/api/auth/webhook/access_webhook.h"

#include <utility>
#include <vector>

#include "events/base/json.h"
#include "services/api/auth/text_list.h"
#include "services/api/auth/webhook/equal_questions.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostVerdictsKept = 8192;
/// Longer questions are asked each time, so that what is kept is bounded.
constexpr size_t kMostKeptBytes = 10'000;
constexpr const char* kAccessReviewGroup = "authorization.k8s.io/";

void set_unless_empty(Value& object, const char* field, const std::string& text) {
  if (!text.empty()) object.set(field, text);
}

Value spec_of(const std::string& version, const AccessQuestion& question) {
  const Attributes& wanted = question.wanted;
  Value spec = Value::object({{"user", question.user.name}});
  // The first version had a typo, which became part of it.
  spec.set(version == "v1beta1" ? "group" : "groups", list_of(question.user.groups));
  set_unless_empty(spec, "uid", question.user.uid);
  for (const auto& [key, values] : question.user.extra) spec.edit("extra").set(key, list_of(values));
  if (!wanted.is_resource) {
    spec.set("nonResourceAttributes", Value::object({{"path", wanted.path}, {"verb", wanted.verb}}));
    return spec;
  }
  Value resource = Value::object({{"verb", wanted.verb}, {"resource", wanted.resource}});
  set_unless_empty(resource, "namespace", wanted.ns);
  set_unless_empty(resource, "group", wanted.group);
  set_unless_empty(resource, "version", question.version);
  set_unless_empty(resource, "subresource", wanted.subresource);
  set_unless_empty(resource, "name", wanted.name);
  spec.set("resourceAttributes", std::move(resource));
  return spec;
}

}  // namespace

Value access_review(const std::string& version, const AccessQuestion& question) {
  return Value::object({{"apiVersion", kAccessReviewGroup + version},
                        {"kind", "SubjectAccessReview"},
                        {"metadata", Value::object({{"creationTimestamp", Value{}}})},
                        {"spec", spec_of(version, question)},
                        {"status", Value::object({{"allowed", false}})}});
}

Result<WebhookVerdict> verdict_in_review(const Value& answer, const std::string& version) {
  if (answer["kind"].as_string() != "SubjectAccessReview" ||
      answer["apiVersion"].as_string() != kAccessReviewGroup + version) {
    return Error{ErrorCode::kUnavailable,
                 "the webhook's answer is no SubjectAccessReview of " + (kAccessReviewGroup + version)};
  }
  const Value& status = answer["status"];
  const bool allowed = status["allowed"].as_bool();
  const bool denied = status["denied"].as_bool();
  if (allowed && denied) {
    return Error{ErrorCode::kUnavailable, "the webhook's answer both allows and denies"};
  }
  WebhookVerdict verdict{WebhookVerdict::Kind::kNoOpinion, status["reason"].str()};
  if (allowed) verdict.kind = WebhookVerdict::Kind::kAllowed;
  if (denied) verdict.kind = WebhookVerdict::Kind::kDenied;
  return verdict;
}

struct AccessWebhook::Shared {
  Shared(Options given, std::shared_ptr<ReviewClient> calls, Random& random)
      : options{std::move(given)}, client{std::move(calls)}, keys{random}, kept{kMostVerdictsKept} {}

  const Options options;
  const std::shared_ptr<ReviewClient> client;
  const CacheKeys keys;
  ExpiringCache<WebhookVerdict> kept;
  EqualQuestions<Done> waiting;

  void finish(const std::string& key, bool keep, const Result<WebhookVerdict>& verdict) {
    if (!verdict) {
      log::warn("authorization_webhook.failed", {log::kv("reason", verdict.error().message)});
    } else if (keep) {
      const bool allowed = verdict.value().kind == WebhookVerdict::Kind::kAllowed;
      const Millis time = allowed ? options.keep_allowed : options.keep_refused;
      if (time.value > 0) kept.put(key, verdict.value(), Millis{options.now().value + time.value});
    }
    for (const Done& each : waiting.take(key)) each(verdict);
  }
};

AccessWebhook::AccessWebhook(Options options, std::shared_ptr<ReviewClient> client, Random& random)
    : shared_{std::make_shared<Shared>(std::move(options), std::move(client), random)} {}
AccessWebhook::~AccessWebhook() = default;

void AccessWebhook::decide(const AccessQuestion& question, Done done) const {
  const std::string& version = shared_->options.version;
  const Value review = access_review(version, question);
  const std::string text = to_json(review["spec"]);
  std::string key = shared_->keys.key_of(text);
  if (auto known = shared_->kept.find(key, shared_->options.now())) return done(*std::move(known));
  if (!shared_->waiting.add(key, std::move(done))) return;
  shared_->client->call(review, [shared = shared_, key = std::move(key), keep = text.size() <= kMostKeptBytes,
                                 version](const Result<Value>& answer) {
    shared->finish(key, keep,
                   answer ? verdict_in_review(answer.value(), version) : Result<WebhookVerdict>{answer.error()});
  });
}

}  // namespace shiplog::api
