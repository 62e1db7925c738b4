#pragma once

#include <functional>
#include <memory>
#include <string>

#include "events/base/result.h"
#include "events/journal/journal.h"
#include "services/runtime/executor.h"
#include "services/runtime/journal_outage.h"
#include "services/runtime/replica.h"

namespace shiplog {

/// Reads and decodes a journal on a thread of its own and hands the records to a replica on its executor, in batches:
/// no more than two of them wait to be folded or to be written to the projection.
class TailThread {
 public:
  /// `name`: of the journal, in metrics. `failed` is called once, on the executor, when the replica cannot go on: a
  /// corrupt record, a trimmed one, a stop. Passing trouble (kIo, kUnavailable) is retried, logged here, and noted in
  /// `outage`.
  TailThread(const std::string& name, Journal& journal, Replica& replica, Executor& executor, Offset from,
             std::function<void(const Error&)> failed,
             std::shared_ptr<JournalOutage> outage = std::make_shared<JournalOutage>());
  /// Waits for the batch that is being folded. Not from within `failed`.
  ~TailThread();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
