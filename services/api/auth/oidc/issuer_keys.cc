#include "services/api/auth/oidc/issuer_keys.h"

#include <utility>

#include "events/base/json.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

constexpr Millis kPause{10'000};
constexpr Millis kLifetime{3'600'000};
constexpr size_t kMostWaiting = 256;
constexpr size_t kMostAnswerBytes = size_t{1} << 20;
constexpr std::string_view kScheme = "https://";

/// "https://a.example:8443/x?y" as {"https://a.example:8443", "/x?y"}.
std::pair<std::string, std::string> split_url(const std::string& url) {
  const size_t slash = url.find('/', kScheme.size());
  if (slash == std::string::npos) return {url, "/"};
  return {url.substr(0, slash), url.substr(slash)};
}

HttpRequest get_request(std::string target) {
  HttpRequest request;
  request.target = std::move(target);
  request.headers.set("Accept", "application/json");
  return request;
}

Result<std::string> body_of(const Result<HttpResponse>& response, const std::string& what) {
  if (!response) return response.error().context(what);
  if (response.value().status != 200) {
    return Error{ErrorCode::kUnavailable, what + ": the answer was " + std::to_string(response.value().status)};
  }
  return response.value().body;
}

/// The address of the keys in a discovery document, which must be the issuer's own.
Result<std::string> keys_address(const std::string& text, const std::string& issuer) {
  const auto document = parse_json(text);
  if (!document) return Error{ErrorCode::kUnavailable, "the discovery document is no JSON"};
  if (document.value()["issuer"].as_string() != issuer) {
    return Error{ErrorCode::kUnavailable,
                 "the discovery document is of another issuer than --oidc-issuer-url names: they must be equal to the "
                 "letter"};
  }
  std::string uri = document.value()["jwks_uri"].str();
  if (!uri.starts_with(kScheme)) {
    return Error{ErrorCode::kUnavailable, "the discovery document has no jwks_uri that begins with https://"};
  }
  return uri;
}

}  // namespace

IssuerKeys::IssuerKeys(Options options) : options_{std::move(options)}, io_{std::make_shared<IoThreads>(1)} {}

Result<std::shared_ptr<IssuerKeys>> IssuerKeys::make(Options options) {
  if (!options.issuer.starts_with(kScheme) || options.issuer.find_first_of("?#") != std::string::npos) {
    return Error{ErrorCode::kInvalid,
                 "\"" + options.issuer + "\" must begin with https://, without query and fragment"};
  }
  std::shared_ptr<IssuerKeys> keys{new IssuerKeys{std::move(options)}};
  std::string url = keys->options_.issuer;
  while (url.ends_with('/')) url.pop_back();
  SHIPLOG_TRY(keys->issuer_client_, keys->client_of(url));
  return keys;
}

Result<std::shared_ptr<HttpClient>> IssuerKeys::client_of(const std::string& origin) {
  ClientTarget target;
  target.url = origin;
  target.ca_pem = options_.ca_pem;
  HttpClient::Options options;
  options.max_connections = 1;
  options.max_response_bytes = kMostAnswerBytes;
  options.user_agent = "shiplogd";
  options.denied_networks = options_.denied_networks;
  SHIPLOG_TRY(auto client, HttpClient::create(io_, target, options));
  return std::shared_ptr<HttpClient>{std::move(client)};
}

IssuerKeys::Keys IssuerKeys::known() {
  std::unique_lock lock{mutex_};
  Keys keys = keys_;
  const Millis now = options_.now();
  const bool old = keys != nullptr && now.value - fetched_.value > kLifetime.value;
  if (old && !fetching_ && now.value - attempted_.value >= kPause.value) begin(lock);
  return keys;
}

uint64_t IssuerKeys::fetches() const {
  const std::lock_guard lock{mutex_};
  return fetches_;
}

void IssuerKeys::refresh(OnKeys done) {
  std::unique_lock lock{mutex_};
  if (waiting_.size() >= kMostWaiting) {
    lock.unlock();
    return done(Error{ErrorCode::kTooManyRequests, "too many requests wait for the keys of the issuer"});
  }
  const bool soon = attempted_ever_ && options_.now().value - attempted_.value < kPause.value;
  if (!fetching_ && soon) {
    const std::string why = last_failure_.empty() ? "they were fetched a moment ago" : last_failure_;
    lock.unlock();
    return done(Error{ErrorCode::kTooManyRequests, "the keys of the issuer are not fetched again yet: " + why});
  }
  waiting_.push_back(std::move(done));
  if (!fetching_) begin(lock);
}

// The caller holds the lock, and does not hold it afterwards.
void IssuerKeys::begin(std::unique_lock<std::mutex>& lock) {
  fetching_ = true;
  attempted_ever_ = true;
  attempted_ = options_.now();
  ++fetches_;
  lock.unlock();
  discover();
}

void IssuerKeys::discover() {
  issuer_client_->request(get_request("/.well-known/openid-configuration"), options_.timeout,
                          [self = shared_from_this()](const Result<HttpResponse>& response) {
                            const auto text = body_of(response, "fetching the discovery document");
                            if (!text) return self->finish(text.error());
                            const auto uri = keys_address(text.value(), self->options_.issuer);
                            if (!uri) return self->finish(uri.error());
                            self->fetch(uri.value());
                          });
}

void IssuerKeys::fetch(const std::string& uri) {
  auto [origin, target] = split_url(uri);
  if (keys_client_ == nullptr || keys_origin_ != origin) {
    auto client = client_of(origin);
    if (!client) return finish(client.error().context("jwks_uri"));
    keys_client_ = std::move(client).value();
    keys_origin_ = std::move(origin);
  }
  keys_client_->request(get_request(std::move(target)), options_.timeout,
                        [self = shared_from_this()](const Result<HttpResponse>& response) {
                          const auto text = body_of(response, "fetching the keys");
                          if (!text) return self->finish(text.error());
                          auto keys = WebKeySet::parse(text.value());
                          if (keys && keys.value()->size() == 0) {
                            keys = Error{ErrorCode::kUnavailable, "there is no key to verify signatures with"};
                          }
                          self->finish(std::move(keys));
                        });
}

void IssuerKeys::finish(Result<Keys> fetched) {
  std::vector<OnKeys> waiting;
  {
    const std::lock_guard lock{mutex_};
    fetching_ = false;
    last_failure_ = fetched ? "" : fetched.error().message;
    if (fetched) {
      keys_ = fetched.value();
      fetched_ = options_.now();
    }
    waiting = std::exchange(waiting_, {});
  }
  if (fetched) {
    log::info("oidc.keys_fetched", {log::kv("issuer", options_.issuer), log::kv("keys", fetched.value()->size())});
  } else {
    log::warn("oidc.keys_failed", {log::kv("issuer", options_.issuer), log::kv("reason", fetched.error().message)});
  }
  for (const OnKeys& done : waiting) done(fetched);
}

}  // namespace shiplog::api
