#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "events/base/error.h"
#include "events/base/ids.h"
#include "events/base/random.h"
#include "events/base/value.h"
#include "services/adapters/members/members.h"
#include "services/runtime/executor.h"
#include "services/runtime/queue.h"

namespace shiplog::agent {

/// Brings to the control plane what differs there. Level-triggered: a key that is woken is compared, and what `plan`
/// makes of the difference is sent; a write that fails, or that another one was faster than, is planned again after a
/// pause from 20 ms to 30 s. A key has one request under way at most. Threads: the executor.
class Uplink {
 public:
  struct Options {
    Members* server = nullptr;
    std::string name;  ///< of the server, as Members knows it
    Executor* executor = nullptr;
    Random* random = nullptr;
    size_t at_once = 8;  ///< requests under way
    /// nullopt: nothing differs.
    std::function<std::optional<MemberRequest>(const ObjectKey& key)> plan;
    /// The object as the control plane has it now.
    std::function<void(const ObjectKey& key, const Value& object)> accepted;
    /// It failed and will be retried; not called when another write was faster.
    std::function<void(const ObjectKey& key, const Error& error)> failed = {};
  };
  explicit Uplink(Options options) : options_{std::move(options)} {}
  ~Uplink() { *alive_ = false; }
  Uplink(const Uplink&) = delete;
  Uplink& operator=(const Uplink&) = delete;

  void wake(const ObjectKey& key);
  /// Keys that wait, or whose request is under way.
  size_t size() const { return queue_.size(); }

 private:
  void arm();
  void pump();
  void answered(const ObjectKey& key, const Result<MemberResponse>& response);

  const Options options_;
  ReconcileQueue queue_;
  bool pumping_ = false;
  std::optional<UtcMillis> armed_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog::agent
