#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/state/state.h"
#include "services/adapters/members/members.h"
#include "services/http/client.h"
#include "services/runtime/executor.h"

namespace shiplog {

/// The members of the fleet over HTTPS. A member must not exhaust this process's memory: each response is limited by
/// the request, all data held for one member and for all members by budgets, a watch by its line length and by its lead
/// over the fold thread. A connection that exceeds a limit is dropped. There is one client per cluster, created from
/// its Cluster object and Secret (member_target.h) and recreated when either changes. Secret data: `caBundle`,
/// `tls-server-name`, and `token` or `client-certificate-data` with `client-key-data`.
class HttpsMembers final : public Members {
 public:
  struct Options {
    const State* state = nullptr;
    Executor* executor = nullptr;
    Random* random = nullptr;  ///< of span ids
    std::shared_ptr<IoThreads> io;
    /// Decrypts sealed Secret data; empty: no data is sealed.
    std::function<Result<Value>(Value)> open;
    std::string user_agent;
    std::shared_ptr<const Networks> denied_networks;  ///< see HttpClient::Options
    /// Events of watches have no metadata.managedFields: see without_managed_fields().
    bool watches_leave_out_managed_fields = true;
  };
  explicit HttpsMembers(Options options);
  ~HttpsMembers() override;

  /// Requests and watches under way end soon, without an answer to requests; none can begin. Their callbacks hold
  /// clients, and these the network threads, which may be stopped after this. On the executor.
  void close();

  void request(const std::string& cluster, MemberRequest request,
               std::function<void(Result<MemberResponse>)> done) override;
  std::unique_ptr<MemberWatch> watch(const std::string& cluster, std::string path,
                                     std::function<void(const Value&)> on_event,
                                     std::function<void(Result<void>)> on_end) override;
  std::unique_ptr<MemberWatch> watch_parts(const std::string& cluster, std::string path, const ObjectParts& parts,
                                           std::function<void(const Value&)> on_event,
                                           std::function<void(Result<void>)> on_end) override;
  std::optional<Excess> excess(const std::string& cluster) const override;
  /// How often members exceeded a size limit. Threads: any.
  uint64_t excesses() const { return excesses_.load(std::memory_order_relaxed); }

 private:
  struct Member {
    Value spec;         ///< of the Cluster, as last seen
    std::string route;  ///< route_of() it
    Revision secret;
    std::shared_ptr<HttpClient> client;
    std::shared_ptr<ByteBudget> budget;
    std::string host;  ///< of url, with its port
  };
  class Watch;
  struct Exchange;
  struct Answers;
  using OnMemberResponse = std::function<void(Result<MemberResponse>)>;
  /// A request that was under way with credentials that have been replaced since may be answered 401: it is sent again
  /// with the present ones (1.14.13).
  OnMemberResponse sent_again_if_rotated(const std::string& cluster, MemberRequest request,
                                         std::shared_ptr<HttpClient> used, OnMemberResponse done);
  std::unique_ptr<MemberWatch> start_watch(const std::string& cluster, const std::string& path,
                                           std::optional<ObjectParts> parts, std::function<void(const Value&)> on_event,
                                           std::function<void(Result<void>)> on_end);
  void exceeded(const std::string& cluster, const std::string& what);
  Result<std::shared_ptr<HttpClient>> client_for(const std::string& cluster);

  Options options_;
  std::map<std::string, Member> members_;
  std::map<std::string, Excess> excess_;
  std::map<std::string, UtcMillis> logged_;
  std::atomic<uint64_t> excesses_{0};
  const std::shared_ptr<ByteBudget> total_;
  std::vector<std::shared_ptr<Exchange>> patient_;  // to be sent soon
  const std::shared_ptr<Answers> answers_;          // to those
  bool closed_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog
