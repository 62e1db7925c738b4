#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "services/programs/shiplogd/journal_stack.h"
#include "services/programs/snapshot_store.h"
#include "services/runtime/replica.h"

namespace shiplog {

/// Where the snapshots of a journal are.
struct SnapshotPlaces {
  std::string journal;  ///< "journal", "ephemera"
  std::string folder;
  SnapshotStore* store = nullptr;  ///< nullptr: none
};

/// Before the projection is opened: replaces one that is missing, or that lies before what the journal still holds, by
/// the newest snapshot that fits, of the folder or the store; then only the entries after it have to be folded. Leaves
/// everything as it is if there is none. Errors: of the journal.
Result<void> prepare_projection(Journal& journal, const SnapshotPlaces& places, const std::string& projection);

/// Takes a snapshot of the projection every so many entries, and on request, and keeps the newest two. A snapshot has
/// its name once it was opened and the state hash of its objects computed again. Threads: the executor; the work is
/// done on a thread of its own.
class Snapshots final : public Observer {
 public:
  struct Options {
    SnapshotPlaces places;
    uint64_t every = 0;   ///< entries; 0: on request only
    bool record = false;  ///< appends SnapshotTaken
    /// This process writes to the store: one of the fleet does, as two would write over each other's parts and
    /// manifest. On the executor.
    std::function<bool()> publishes = {};
  };
  Snapshots(JournalStack& stack, Options options, Executor& executor);
  ~Snapshots() override;
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;
  /// Takes one now, unless one is under way.
  void take();
  const SnapshotPlaces& places() const { return options_.places; }

 private:
  Result<VerifiedSnapshot> write() const;
  void taken(const VerifiedSnapshot& snapshot);

  JournalStack& stack_;
  const Options options_;
  Executor& executor_;
  uint64_t entries_ = 0;
  bool under_way_ = false;
  std::thread thread_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog
