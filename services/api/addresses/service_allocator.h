#pragma once

#include <mutex>

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

 private:
  std::mutex mutex_;  // what follows
  ServiceIndex index_;
  ServiceRanges ranges_;
};

}  // namespace shiplog::api
