#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "services/runtime/replica.h"

namespace shiplog::api {

/// Keeps the Service "kubernetes" of namespace default with its Endpoints and EndpointSlice, where clients inside a
/// cluster look for the API server (NSP-7). What somebody else has written into them stays until the next start, but
/// they are made again when they are deleted, and filled again when no address is left. Of several processes that serve
/// the API the one that started last is named. Threads: all on the executor.
class OwnService final : public Observer {
 public:
  /// Where this server is reached.
  struct Address {
    std::string ip;
    uint16_t port = 0;
  };

  /// `replica` must outlive this and be caught up. `then` is called once it is durable or failed.
  void begin(Replica& replica, Address address, std::string user_agent, std::function<void()> then);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  /// `starting`: another address counts as outdated too.
  std::vector<Event> outdated(const State& state, bool starting) const;

  Replica* replica_ = nullptr;  // set by begin()
  Address address_;
  std::string user_agent_;
};

}  // namespace shiplog::api
