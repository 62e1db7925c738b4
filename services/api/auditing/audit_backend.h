#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "events/base/time.h"
#include "services/api/auditing/audit_event.h"
#include "services/api/auditing/audit_sink.h"

namespace shiplog::api {

/// Whether requests wait for their events: `--audit-log-mode`, `--audit-webhook-mode`.
enum class AuditMode {
  kBatch,           ///< never: an event that finds the buffer full is dropped
  kBlocking,        ///< until the event is written, or could not be
  kBlockingStrict,  ///< the same, and a request whose RequestReceived cannot be written is refused
};

/// The `-batch-` flags. Of use in batch mode.
struct AuditBatching {
  size_t buffer = 10'000;  ///< events that wait
  size_t batch = 1;        ///< events that are delivered together
  Millis wait{30'000};     ///< for a batch to become full
  bool throttled = false;
  double per_second = 10;  ///< batches
  size_t burst = 15;
};

/// The `-truncate-` flags.
struct AuditTruncation {
  bool enabled = false;
  size_t most_event = 102'400;
  size_t most_batch = 10 * 1024 * 1024;
};

/// Passes events to a sink on a thread of its own. Threads: record() from any.
class AuditBackend {
 public:
  struct Options {
    std::string plugin;  ///< "log" or "webhook", in metrics and log lines
    AuditMode mode = AuditMode::kBatch;
    AuditBatching batching = {};
    AuditTruncation truncation = {};
    size_t most_bytes = 64 * 1024 * 1024;  ///< of events that wait in batch mode
  };
  AuditBackend(Options options, std::unique_ptr<AuditSink> sink);
  /// Delivers what waits, for two seconds at most.
  ~AuditBackend();
  AuditBackend(const AuditBackend&) = delete;
  AuditBackend& operator=(const AuditBackend&) = delete;

  AuditMode mode() const;
  /// Never blocks. `done`: called when the event is written or is lost; in batch mode it is not called. On the thread
  /// of the backend, where it must not block.
  void record(AuditLogEvent event, std::function<void(Result<void>)> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // also of the thread, which may outlive this in a write that does not return
};

}  // namespace shiplog::api
