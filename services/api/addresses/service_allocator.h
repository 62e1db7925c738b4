#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "events/base/random.h"
#include "events/state/service_index.h"
#include "events/state/service_ranges.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// Proposes the addresses of Services, from the ranges that the journal records and with the Services of this replica.
/// Two API servers may propose the same: the fold accepts the first, and the other one proposes again.
/// Threads: propose() from any; the rest on the executor.
class ServiceAllocator final : public Observer {
 public:
  /// See with_addresses().
  Result<Value> propose(const ObjectKey& key, const Value& old, Value service, Random& random);

  /// Takes in the Services that a restored state holds.
  void load(const State& state);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

  /// Gives the Services of an older journal the cluster IPs that they lack, one entry after the other. `replica` and
  /// `random` must outlive this, and `replica` be caught up.
  void begin(Replica& replica, Random& random, std::string user_agent);

 private:
  void repair_next();

  std::mutex mutex_;  // what follows
  ServiceIndex index_;
  ServiceRanges ranges_;

  Replica* replica_ = nullptr;  // set by begin()
  Random* random_ = nullptr;
  std::string user_agent_;
  std::vector<ObjectKey> lacking_;
};

}  // namespace shiplog::api
