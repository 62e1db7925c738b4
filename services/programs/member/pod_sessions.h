#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "services/http/byte_budget.h"
#include "services/programs/member/shell/file_system.h"
#include "services/runtime/executor.h"

namespace shiplog::member {

/// Something that runs as long as its pod, such as one exec.
class PodSession {
 public:
  virtual ~PodSession() = default;
  /// The pod was deleted, or the member stops.
  virtual void end() = 0;
};

/// What runs in pods now, and what was written in their containers, within bounds. Threads: the executor's.
class PodSessions {
 public:
  static constexpr size_t kMost = 128;
  static constexpr size_t kMostOfPod = 32;
  static constexpr size_t kMostWritten = 64 * 1024 * 1024;  ///< bytes of files in all containers
  static constexpr size_t kMostHeld = 64 * 1024 * 1024;     ///< bytes that commands hold while they run

  explicit PodSessions(Executor& executor) : executor_{executor} {}

  Executor& executor() { return executor_; }
  const std::shared_ptr<ByteBudget>& memory() const { return memory_; }

  /// Error: kTooManyRequests.
  Result<void> enter(const std::string& pod_uid, const std::shared_ptr<PodSession>& session);
  void leave(const std::string& pod_uid, const PodSession* session);
  /// What was written in a container of the pod.
  std::shared_ptr<WrittenFiles> written(const std::string& pod_uid, const std::string& container);
  /// Ends what runs in the pod, and forgets its files.
  void pod_gone(const std::string& pod_uid);
  void end_all();

 private:
  struct Pod {
    std::vector<std::shared_ptr<PodSession>> sessions;
    std::map<std::string, std::shared_ptr<WrittenFiles>> written;  ///< by container
  };

  Executor& executor_;
  std::shared_ptr<ByteBudget> memory_ = std::make_shared<ByteBudget>(kMostHeld);
  std::shared_ptr<size_t> written_bytes_ = std::make_shared<size_t>(0);
  std::map<std::string, Pod> pods_;
  size_t count_ = 0;
};

}  // namespace shiplog::member
