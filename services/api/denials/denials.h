#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "services/api/denials/denial_tally.h"
#include "services/api/store.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// Records refused requests in the journal: the first ones of a client in full, what exceeds its budget as a sum once
/// per window (DenialTally). Sums of up to one window are lost when the process is killed. Threads: any.
class Denials : public std::enable_shared_from_this<Denials> {
 public:
  /// `record`: where sums are appended.
  explicit Denials(Replica& record) : record_{record} {}

  /// Records that the server refused a request; `replica` is that of the journal which the object belongs to.
  void record(Replica& replica, const RefusedRequest& request);

  /// As Replica::append(), for entries of clients. A refused entry stays in the journal with the whole object, so that
  /// only the first one of a client does: while its budget is not full again, an entry that would be refused is not
  /// stored, but recorded as record() does.
  void append(Store& store, Entry entry, std::function<void(Result<Outcome>)> done);

  /// Appends the sums that are open, for a server that stops.
  void flush();

  /// Requests that were counted instead of recorded since the start.
  uint64_t counted() const { return counted_.load(std::memory_order_relaxed); }

 private:
  void arm();

  Replica& record_;
  std::mutex mutex_;
  DenialTally tally_;
  bool armed_ = false;
  std::atomic<uint64_t> counted_{0};
};

}  // namespace shiplog::api
