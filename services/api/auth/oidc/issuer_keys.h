#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "events/base/networks.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "services/api/auth/oidc/web_key_set.h"
#include "services/http/client.h"

namespace shiplog::api {

/// The keys of one issuer, as its discovery document leads to them (OpenID Connect Discovery 1.0), kept for an hour. An
/// issuer that does not answer holds up only those who wait for its keys, and these no longer than two timeouts.
/// However many ask, it is called once at a time, and not again within ten seconds: tokens with made-up key ids make no
/// load. Threads: any; callbacks run on a network thread or within the call.
class IssuerKeys : public std::enable_shared_from_this<IssuerKeys> {
 public:
  struct Options {
    std::string issuer;
    std::string ca_pem;  ///< empty: the system's authorities
    std::shared_ptr<const Networks> denied_networks = nullptr;
    std::function<Millis()> now;  ///< a clock that is never set back
    Millis timeout{10'000};       ///< of each of the two requests
  };
  using Keys = std::shared_ptr<const WebKeySet>;
  using OnKeys = std::function<void(Result<Keys>)>;

  /// Error: kInvalid, kBadRequest: the issuer or the certificates cannot be used.
  static Result<std::shared_ptr<IssuerKeys>> make(Options options);

  /// Those fetched last; nullptr: there are none yet. Fetches them again in the background when they are old.
  Keys known();
  /// Fetches them, or waits for the fetch under way. Errors: kUnavailable; kTooManyRequests, too soon after the last
  /// time, or too many wait.
  void refresh(OnKeys done);
  uint64_t fetches() const;

 private:
  explicit IssuerKeys(Options options);
  void begin(std::unique_lock<std::mutex>& lock);
  void discover();
  void fetch(const std::string& uri);
  void finish(Result<Keys> fetched);
  Result<std::shared_ptr<HttpClient>> client_of(const std::string& origin);

  const Options options_;
  const std::shared_ptr<IoThreads> io_;
  std::shared_ptr<HttpClient> issuer_client_;  ///< set once
  mutable std::mutex mutex_;
  Keys keys_;
  Millis fetched_{0}, attempted_{0};
  bool attempted_ever_ = false;
  bool fetching_ = false;
  uint64_t fetches_ = 0;
  std::string last_failure_;
  std::vector<OnKeys> waiting_;
  std::shared_ptr<HttpClient> keys_client_;
  std::string keys_origin_;
};

}  // namespace shiplog::api
