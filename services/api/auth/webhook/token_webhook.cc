#include "services/api/auth/webhook/token_webhook.h"

#include <algorithm>
#include <utility>

#include "services/api/auth/text_list.h"
#include "services/api/auth/webhook/equal_questions.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostTokensKept = 4096;
constexpr const char* kTokenReviewGroup = "authentication.k8s.io/";

using Answer = Result<std::optional<TokenIdentity>>;

std::vector<std::string> common(const std::vector<std::string>& given, const std::vector<std::string>& wanted) {
  std::vector<std::string> both;
  for (const std::string& audience : given) {
    if (std::ranges::find(wanted, audience) != wanted.end()) both.push_back(audience);
  }
  return both;
}

}  // namespace

Value token_review(const std::string& version, const std::string& token, const std::vector<std::string>& audiences) {
  return Value::object({{"apiVersion", kTokenReviewGroup + version},
                        {"kind", "TokenReview"},
                        {"metadata", Value::object({{"creationTimestamp", Value{}}})},
                        {"spec", Value::object({{"audiences", list_of(audiences)}, {"token", token}})},
                        {"status", Value::object({{"user", Value::object()}})}});
}

Answer identity_in_review(const Value& answer, const std::string& version, const std::vector<std::string>& audiences) {
  if (answer["kind"].as_string() != "TokenReview" || answer["apiVersion"].as_string() != kTokenReviewGroup + version) {
    return Error{ErrorCode::kUnavailable, "the webhook's answer is no TokenReview of " + (kTokenReviewGroup + version)};
  }
  const Value& status = answer["status"];
  if (!status["authenticated"].as_bool()) {
    if (status["error"].is_empty()) return std::nullopt;
    return Error{ErrorCode::kUnauthorized, "the webhook does not accept the token"};
  }
  const Value& user = status["user"];
  TokenIdentity identity;
  identity.user.name = user["username"].str();
  if (identity.user.name.empty()) return Error{ErrorCode::kUnavailable, "the webhook's answer names no user"};
  identity.user.uid = user["uid"].str();
  identity.user.groups = texts_of(user["groups"]);
  for (const auto& extra : user["extra"].members())
    identity.user.extra[std::string{extra.key()}] = texts_of(extra.value);
  if (!in_group(identity.user, kAuthenticatedGroup)) identity.user.groups.emplace_back(kAuthenticatedGroup);
  // A webhook that knows nothing of audiences is asked about this server's own.
  const std::vector<std::string> named = texts_of(status["audiences"]);
  identity.audiences = common(named.empty() ? std::vector<std::string>{kTokenIssuer} : named, audiences);
  if (identity.audiences.empty()) return Error{ErrorCode::kUnauthorized, "the token is for another audience"};
  return std::optional{std::move(identity)};
}

struct TokenWebhook::Shared {
  Shared(Options given, std::shared_ptr<ReviewClient> calls, Random& random)
      : options{std::move(given)}, client{std::move(calls)}, keys{random}, kept{kMostTokensKept} {}

  const Options options;
  const std::shared_ptr<ReviewClient> client;
  const CacheKeys keys;
  ExpiringCache<Answer> kept;
  EqualQuestions<Done> waiting;

  void finish(const std::string& key, const Answer& answer) {
    const bool asked = answer || answer.error().code == ErrorCode::kUnauthorized;
    if (asked && options.keep.value > 0) kept.put(key, answer, Millis{options.now().value + options.keep.value});
    if (!asked) {
      log::warn("token_webhook.failed", {log::kv("reason", answer.error().message)});
    }
    for (const Done& each : waiting.take(key)) each(answer);
  }
};

TokenWebhook::TokenWebhook(Options options, std::shared_ptr<ReviewClient> client, Random& random)
    : shared_{std::make_shared<Shared>(std::move(options), std::move(client), random)} {}
TokenWebhook::~TokenWebhook() = default;

void TokenWebhook::authenticate(const std::string& token, const std::vector<std::string>& audiences, Done done) {
  if (token.size() > kMostTokenBytes) return done(std::nullopt);
  std::string text = token;
  for (const std::string& audience : audiences) text += "\n" + audience;
  std::string key = shared_->keys.key_of(text);
  if (auto known = shared_->kept.find(key, shared_->options.now())) return done(*std::move(known));
  if (!shared_->waiting.add(key, std::move(done))) return;
  const std::string& version = shared_->options.version;
  shared_->client->call(token_review(version, token, audiences), [shared = shared_, key = std::move(key), audiences,
                                                                  version](const Result<Value>& answer) {
    shared->finish(key, answer ? identity_in_review(answer.value(), version, audiences) : Answer{answer.error()});
  });
}

}  // namespace shiplog::api
