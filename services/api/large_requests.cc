#include "services/api/large_requests.h"

#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "services/runtime/workers.h"

namespace shiplog::api {
namespace {

constexpr int kNiceness = 10;

}  // namespace

struct LargeRequests::State {
  Workers thread{1, kNiceness};
  std::mutex mutex;
  size_t taken = 0;
  std::map<std::string, size_t, std::less<>> users;  // those that hold a place
  bool appending = false;
  std::deque<std::function<void(Permit)>> appends;  // waiting for their turn
};

// Places may outlive everything: they hold no more than a weak reference.

class LargeRequests::Held {
 public:
  Held(const std::shared_ptr<State>& state, std::string user) : state_{state}, user_{std::move(user)} {}
  ~Held() {
    const auto state = state_.lock();
    if (!state) return;
    const std::lock_guard lock{state->mutex};
    --state->taken;
    const auto user = state->users.find(user_);
    if (--user->second == 0) state->users.erase(user);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::weak_ptr<State> state_;
  std::string user_;
};

class LargeRequests::Turn {
 public:
  explicit Turn(const std::shared_ptr<State>& state) : state_{state} {}
  ~Turn() {
    const auto state = state_.lock();
    if (!state) return;
    std::function<void(Permit)> next;
    {
      const std::lock_guard lock{state->mutex};
      if (state->appends.empty()) {
        state->appending = false;
        return;
      }
      next = std::move(state->appends.front());
      state->appends.pop_front();
    }
    state->thread.post(
        [next = std::move(next), turn = std::make_shared<Turn>(state)]() mutable { next(std::move(turn)); });
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::weak_ptr<State> state_;
};

LargeRequests::LargeRequests() : state_{std::make_shared<State>()} {}

LargeRequests::~LargeRequests() { stop(); }

LargeRequests::Permit LargeRequests::take(const std::string& user) {
  {
    const std::lock_guard lock{state_->mutex};
    if (state_->taken >= kMost) return nullptr;
    const auto known = state_->users.find(user);
    if (known != state_->users.end() && known->second >= kMost / 2) return nullptr;
    ++state_->taken;
    ++state_->users[user];
  }
  return std::make_shared<Held>(state_, user);
}

void LargeRequests::post(std::function<void()> work) { state_->thread.post(std::move(work)); }

void LargeRequests::append(std::function<void(Permit)> append) {
  {
    const std::lock_guard lock{state_->mutex};
    if (state_->appending) return state_->appends.push_back(std::move(append));
    state_->appending = true;
  }
  state_->thread.post(
      [append = std::move(append), turn = std::make_shared<Turn>(state_)]() mutable { append(std::move(turn)); });
}

void LargeRequests::stop() { state_->thread.stop(); }

}  // namespace shiplog::api
