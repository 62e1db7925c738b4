#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace shiplog::api {

/// Requests with large bodies, or about large objects. They run one after the other on a thread of their own, which has
/// a low priority, and their entries go through the journal one at a time: so small requests wait for one of them at
/// most. Threads: any.
class LargeRequests {
 public:
  /// Bodies and objects beyond this are large.
  static constexpr size_t kLargeBytes = 64U << 10U;
  /// Under way or waiting at once; of one user at most half.
  static constexpr size_t kMost = 32;

  /// Kept until the last copy is destroyed.
  using Permit = std::shared_ptr<void>;

  LargeRequests();
  ~LargeRequests();
  LargeRequests(const LargeRequests&) = delete;
  LargeRequests& operator=(const LargeRequests&) = delete;

  /// nullptr: there is none, or none for this user.
  Permit take(const std::string& user);
  /// Runs `work` on the thread.
  void post(std::function<void()> work);
  /// Runs `append` on the thread once no other large entry is in the journal's hands, and until the place that it is
  /// given is destroyed, no other one.
  void append(std::function<void(Permit)> append);
  /// Finishes what is running, forgets what waits.
  void stop();

 private:
  struct State;
  class Held;
  class Turn;
  std::shared_ptr<State> state_;
};

}  // namespace shiplog::api
