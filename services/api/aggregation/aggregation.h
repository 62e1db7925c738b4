#pragma once

#include <memory>
#include <optional>
#include <string>

#include "events/base/networks.h"
#include "services/api/aggregation/aggregated_versions.h"
#include "services/api/kind_registry.h"
#include "services/http/tls.h"
#include "services/runtime/executor.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// The APIServices that name a Service: where their servers are, whether they answer, and what they serve. Each server
/// is asked for its discovery when its APIService or its Service changes, every 30 s, and while it fails after 1 s, 2
/// s, 4 s and so on. One question to a server is under way at a time, for 5 s at most; what it answers is read on a
/// thread of its own. So a server that hangs, or answers with garbage, delays no other and nothing else.
///
/// A group and version that is served here is never another server's, whatever APIServices there are.
/// Threads: load() and on_folded() on the executor; the rest on any.
class Aggregation final : public Observer {
 public:
  struct Options {
    const KindRegistry* kinds = nullptr;  ///< outlives this; observes the replica before this does
    Executor* executor = nullptr;         ///< outlives this
    KeyPair proxy_client;                 ///< the certificate that aggregated servers know this one by
    std::shared_ptr<const Networks> denied_networks = nullptr;
    std::string user_agent = "shiplogd";
  };
  explicit Aggregation(Options options);
  ~Aggregation() override;

  /// Takes in what a restored state holds.
  void load(const State& state);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;
  /// Asks no more.
  void stop();
  /// The certificate that was renewed. On the executor.
  void use_client(const KeyPair& proxy_client);

  /// Never nullptr. Another pointer when something has changed.
  std::shared_ptr<const AggregatedVersions> current() const;
  /// Of the APIService of that name; nullopt: nothing is observed yet, or it names no Service. On the executor.
  std::optional<Availability> availability(const std::string& name) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog::api
