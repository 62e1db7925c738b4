#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/http/client.h"
#include "services/runtime/replica.h"

namespace shiplog {

class MemberTunnels;

/// Clients of the members for requests on behalf of users: they authenticate as the impersonator, whose Secret is that
/// of spec.impersonatorSecretRef, over TLS 1.3, and trust the `caBundle` of spec.secretRef. One per member, made anew
/// when its Cluster or a Secret changes, each with limits of its own, so that a member that does not answer uses up
/// nothing of the others. Threads: borrow(), own_client() and names() from any; the rest on the executor.
class MemberClients final : public Observer {
 public:
  struct Limits {
    size_t requests = 200;   ///< under way in one member
    size_t streams = 4'000;  ///< watches, logs and upgraded connections of one member
  };
  struct Options {
    std::shared_ptr<IoThreads> io;
    /// Decrypts sealed Secret data; empty: no data is sealed. Threads: any.
    std::function<Result<Value>(Value)> open;
    std::string user_agent;
    std::shared_ptr<const Networks> denied_networks;  ///< see HttpClient::Options
    MemberTunnels* tunnels = nullptr;                 ///< to pull members; nullptr: these are connected to as others
    Limits limits = {};
  };
  enum class Use { kRequest, kStream };

  /// Before the record starts.
  void configure(Options options) { options_ = std::move(options); }

  /// A client and a place among the requests or streams of its member, which is given back by dropping it.
  struct Borrowed {
    std::shared_ptr<HttpClient> client;
    std::shared_ptr<void> place;
  };
  /// Opens Secrets when the client is made anew. Errors: kNotFound, there is no such cluster; kInternal, it has no
  /// address or no impersonator; kInvalid, these cannot be used; kTooManyRequests, the member's limit is reached.
  Result<Borrowed> borrow(const std::string& cluster, Use use);
  /// A client that authenticates as this control plane, by spec.secretRef, for what the control plane itself reads; it
  /// is shared with no request of a user. Opens Secrets when it is made anew. Errors: as those of borrow().
  Result<std::shared_ptr<HttpClient>> own_client(const std::string& cluster);
  /// borrow() opens nothing now, and so does not block.
  bool ready(const std::string& cluster) const;
  /// There is such a cluster, as last folded.
  bool knows(const std::string& cluster) const;
  /// That is active in the journal, as last folded.
  uint32_t fold_version() const { return fold_version_.load(std::memory_order_relaxed); }
  /// Of all clusters, sorted.
  std::vector<std::string> names() const;

  /// Called on the executor when another client of the cluster is made from here on: its address or credentials have
  /// changed. Must not block. When this returns, the one before is called no more.
  void set_listener(std::function<void(const std::string& cluster)> listener);

  /// Drops all clients: what is under way in them ends.
  void clear();
  /// Takes in what a restored state holds.
  void load(const State& state);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  struct Counts {
    std::atomic<size_t> requests{0};
    std::atomic<size_t> streams{0};
  };
  struct Member {
    Value spec;
    Value secret, impersonator;  // sealed, null: it does not exist
    uint64_t version = 0;
    std::shared_ptr<HttpClient> client;  // nullptr: none of this version yet
    std::shared_ptr<HttpClient> own;     // own_client(), the same
    std::shared_ptr<Counts> counts = std::make_shared<Counts>();
  };

  void put(const State& state, const std::string& cluster, const Value& spec);
  void put_secret(const ObjectKey& key, const Value& secret);
  void remove(const std::string& cluster);
  void forget_secrets(const std::string& cluster, const Member& member);
  void drop_clients(Member& member);
  void notify(const std::string& cluster);
  Result<Member> member(const std::string& cluster) const;
  /// Keeps a client of that version, unless another thread was faster. Returns the one to use.
  std::shared_ptr<HttpClient> keep(const std::string& cluster, uint64_t version,
                                   std::shared_ptr<HttpClient> Member::*which, std::shared_ptr<HttpClient> made);
  Result<std::shared_ptr<HttpClient>> make(const std::string& cluster, const Member& member) const;
  Result<std::shared_ptr<HttpClient>> make_own(const std::string& cluster, const Member& member) const;
  HttpClient::Options client_options(const std::string& cluster, const Member& member) const;
  Result<std::shared_ptr<void>> place(const std::string& cluster, const std::shared_ptr<Counts>& counts, Use use) const;

  Options options_;
  std::atomic<uint32_t> fold_version_{1};
  mutable std::mutex mutex_;
  std::map<std::string, Member, std::less<>> members_;
  std::map<ObjectKey, std::set<std::string>> clusters_of_;  // by the Secrets that they name
  /// Of the last change of any member: a cluster that is deleted and made again does not get the same ones.
  uint64_t last_version_ = 0;
  std::mutex listener_mutex_;
  std::function<void(const std::string&)> listener_;
};

}  // namespace shiplog
