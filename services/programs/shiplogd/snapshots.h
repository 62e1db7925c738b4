#pragma once

#include <string>
#include <thread>

#include "services/programs/shiplogd/stack.h"
#include "services/runtime/replica.h"

namespace shiplog {

/// Puts the newest snapshot of the folder in the place of a projection that is missing, so that only what came after it
/// has to be folded. Does nothing when there is a projection or no usable snapshot.
void restore_newest_snapshot(const std::string& folder, const std::string& projection);

/// Takes a snapshot of the projection every so many entries, says so in the journal, and keeps the newest two.
/// Threads: the executor; the copying is done on a thread of its own.
class Snapshots final : public Observer {
 public:
  Snapshots(Stack& stack, std::string folder, uint64_t every, Executor& executor);
  ~Snapshots() override;
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  void take();
  void taken(const SnapshotInfo& info, const std::string& file);

  Stack& stack_;
  std::string folder_;
  uint64_t every_;
  Executor& executor_;
  uint64_t entries_ = 0;
  bool under_way_ = false;
  std::thread thread_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog
