#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "events/state/state.h"
#include "services/runtime/executor.h"
#include "services/runtime/http/client.h"
#include "services/runtime/members.h"

namespace shiplog {

/// The real members, over HTTPS. One client for each cluster, made from its Cluster object and Secret and made anew
/// when either changes. Secret data: `caBundle`, and `token` or `client-certificate-data` with `client-key-data`.
class HttpsMembers final : public Members {
 public:
  struct Options {
    const State* state = nullptr;
    Executor* executor = nullptr;
    std::shared_ptr<IoThreads> io;
    /// Opens what is sealed in a Secret; empty: nothing is.
    std::function<Result<Value>(Value)> open;
    std::string user_agent;
  };
  explicit HttpsMembers(Options options);
  ~HttpsMembers() override;

  void request(const std::string& cluster, MemberRequest request,
               std::function<void(Result<MemberResponse>)> done) override;
  std::unique_ptr<MemberWatch> watch(const std::string& cluster, std::string path,
                                     std::function<void(const Value&)> on_event,
                                     std::function<void(Result<void>)> on_end) override;

 private:
  struct Member {
    std::string url, insecure;
    Revision secret;
    std::shared_ptr<HttpClient> client;
  };
  class Watch;
  Result<std::shared_ptr<HttpClient>> client_for(const std::string& cluster);

  Options options_;
  std::map<std::string, Member> members_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog
