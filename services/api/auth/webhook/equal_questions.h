#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace shiplog::api {

/// Callbacks that wait for the answer to a question, by its key: equal questions at one time are one call of the
/// webhook. Threads: any.
template <class Done>
class EqualQuestions {
 public:
  /// True: it is the first with this key, and the caller makes the call.
  bool add(const std::string& key, Done done) {
    const std::lock_guard lock{mutex_};
    std::vector<Done>& waiting = waiting_[key];
    waiting.push_back(std::move(done));
    return waiting.size() == 1;
  }
  /// All that wait; they are to be called with the answer.
  std::vector<Done> take(const std::string& key) {
    const std::lock_guard lock{mutex_};
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return {};
    std::vector<Done> taken = std::move(found->second);
    waiting_.erase(found);
    return taken;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<Done>> waiting_;
};

}  // namespace shiplog::api
