#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "events/base/result.h"
#include "events/base/time.h"
#include "services/programs/topic_identity.h"

namespace shiplog {

/// Checks from time to time, on a thread of its own, whether the topics of the fleet are still the same.
class TopicWatch {
 public:
  /// `failed` is called once, on the thread, when a topic was replaced or has lost records: nothing more is checked
  /// then. Brokers that do not answer are no failure.
  TopicWatch(std::unique_ptr<TopicIdentities> identities, Millis interval, std::function<void(const Error&)> failed);
  ~TopicWatch();
  TopicWatch(const TopicWatch&) = delete;
  TopicWatch& operator=(const TopicWatch&) = delete;

 private:
  void run();

  std::unique_ptr<TopicIdentities> identities_;
  const Millis interval_;
  const std::function<void(const Error&)> failed_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace shiplog
