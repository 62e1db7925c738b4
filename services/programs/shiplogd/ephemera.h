#pragma once

#include "services/programs/shiplogd/stack.h"
#include "services/runtime/executor.h"
#include "services/runtime/replica.h"

namespace shiplog {

/// Takes away what no longer belongs into the ephemera: Events after their time, and all that was in a namespace that
/// is gone. Namespaces are in the record, so that the fold of the ephemera cannot know of them. Of several processes
/// the first does it; the others are refused, which is as good. Threads: the executor.
class EphemeraSweep final : public Observer {
 public:
  /// Observes the record.
  EphemeraSweep(Stack& record, Stack& ephemera, Executor& executor, std::string user_agent);
  ~EphemeraSweep() override { *alive_ = false; }
  /// From now on, every minute.
  void begin();
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  void sweep();
  void empty(const std::string& ns, UtcMillis gone);
  void remove(const ObjectKey& key, const Object& object);

  Stack& record_;
  Stack& ephemera_;
  Executor& executor_;
  std::string user_agent_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog
