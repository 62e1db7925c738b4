#pragma once

#include <functional>
#include <string>

#include "events/base/time.h"
#include "services/api/kind_registry.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// Keeps an APIService for each group and version that is served here (GRP-2), as clients look there to see what is
/// available. Threads: all on the executor.
class ApiServices final : public Observer {
 public:
  /// `kinds` must be told of what is folded before this is.
  explicit ApiServices(const KindRegistry& kinds) : kinds_{kinds} {}

  /// Writes those that are missing; then follows the CustomResourceDefinitions. `replica` and `clock` must outlive
  /// this, and `replica` be caught up. `then` is called when the first are durable or failed.
  void begin(Replica& replica, Clock& clock, std::string user_agent, std::function<void()> then);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  std::vector<Event> outdated(const State& state) const;

  const KindRegistry& kinds_;
  Replica* replica_ = nullptr;  // set by begin()
  Clock* clock_ = nullptr;
  std::string user_agent_;
};

}  // namespace shiplog::api
