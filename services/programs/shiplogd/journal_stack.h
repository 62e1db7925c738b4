#pragma once

#include <functional>
#include <memory>
#include <string>

#include "events/base/random.h"
#include "events/journal/journal.h"
#include "projections/runner.h"
#include "services/api/store.h"
#include "services/runtime/journal_outage.h"
#include "services/runtime/projection_queue.h"
#include "services/runtime/replica.h"
#include "services/runtime/scrub.h"
#include "services/runtime/tail_thread.h"

namespace shiplog {

/// A journal with all that hangs on it in one process: projection, replica, tail, and the store the API server reads.
class JournalStack {
 public:
  struct Options {
    std::string name;  ///< "journal", "ephemera"
    std::shared_ptr<Journal> journal;
    std::string projection;  ///< file
    Executor* executor = nullptr;
    Random* random = nullptr;
    bool tree = false;  ///< the projection has a Merkle tree of the records
  };
  static Result<std::unique_ptr<JournalStack>> open(Options options);
  ~JournalStack();

  Journal& journal() { return *options_.journal; }
  Replica& replica() { return *replica_; }
  Projections& projections() { return *projections_; }
  api::Store& store() { return *store_; }
  const JournalOutage& outage() const { return *outage_; }

  /// Runs what needs the state as it was restored (on the executor), then starts folding.
  /// `failed` is called on the executor when the replica cannot go on.
  Result<void> start(std::function<void(const State&)> restored, std::function<void(const Error&)> failed);
  /// Looks for damage in the journal and the projection from now on; a damaged journal is not appended to any more.
  /// Without `reads_journal` only the projection is read.
  void start_scrub(int64_t bytes_per_second, Millis interval, bool reads_journal);
  /// Projections::snapshot(), of everything that was visible before. Not from the executor.
  Result<SnapshotInfo> snapshot(const std::string& target);
  /// Projections::trim_some(), while nothing else writes the projection. Not from the executor.
  Result<Projections::Trimmed> trim_projection(const Projections::Expired& expired);
  /// Projections::release_some(), in the same way.
  Result<sqlite::FileSpace> release_projection(int64_t keep);
  /// Stops reading. The executor must still run.
  void stop();

 private:
  explicit JournalStack(Options options);

  Options options_;
  std::unique_ptr<Projections> projections_;
  Restored restored_;
  std::unique_ptr<ProjectionQueue> queue_;
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<api::Store> store_;
  std::shared_ptr<JournalOutage> outage_ = std::make_shared<JournalOutage>();
  std::unique_ptr<TailThread> tail_;
  std::unique_ptr<ScrubThread> scrub_;
};

/// Of a journal file, with its write-ahead log.
uint64_t bytes_of_journal(const std::string& file);

}  // namespace shiplog
