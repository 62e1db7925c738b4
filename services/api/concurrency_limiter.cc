#include "services/api/concurrency_limiter.h"

#include <map>
#include <mutex>
#include <utility>

namespace shiplog::api {
namespace {

constexpr size_t kUses = 3;

size_t index(ConcurrencyLimiter::Use use) { return static_cast<size_t>(use); }

class SlotWriter final : public ResponseWriter {
 public:
  SlotWriter(std::shared_ptr<ResponseWriter> writer, std::shared_ptr<ConcurrencyLimiter::Slot> slot,
             ConcurrencyLimiter::Use use)
      : writer_{std::move(writer)}, slot_{std::move(slot)}, use_{use} {}

  void send(HttpResponse response) override {
    if (auto slot = std::exchange(slot_, nullptr)) {
      slot->owe(response.body.size());
      // The connection forgets this when the answer is written, and calls it when the client has disconnected before.
      writer_->on_close([held = std::move(slot)] {});
    }
    writer_->send(std::move(response));
  }
  void start(int status, HttpHeaders headers) override {
    if (use_ != ConcurrencyLimiter::Use::kWatch) slot_.reset();
    writer_->start(status, std::move(headers));
  }
  void write(std::string chunk, Done done) override { writer_->write(std::move(chunk), std::move(done)); }
  void end() override { writer_->end(); }
  void upgrade(HttpHeaders headers, Upgraded then) override {
    if (use_ != ConcurrencyLimiter::Use::kWatch) slot_.reset();
    writer_->upgrade(std::move(headers), std::move(then));
  }
  void on_close(std::function<void()> callback) override { writer_->on_close(std::move(callback)); }
  bool closed() const override { return writer_->closed(); }

 private:
  std::shared_ptr<ResponseWriter> writer_;
  std::shared_ptr<ConcurrencyLimiter::Slot> slot_;
  ConcurrencyLimiter::Use use_;
};

}  // namespace

struct ConcurrencyLimiter::State {
  struct Share {
    std::array<size_t, kUses> slots = {};
    size_t untaken = 0;
  };
  std::array<size_t, kUses> limits = {};
  size_t untaken_limit = 0;
  std::mutex mutex;
  std::array<size_t, kUses> taken = {};
  std::map<std::string, Share, std::less<>> users;  // those that hold a slot
};

class ConcurrencyLimiter::Taken final : public ConcurrencyLimiter::Slot {
 public:
  Taken(std::shared_ptr<State> state, std::string user, Use use)
      : state_{std::move(state)}, user_{std::move(user)}, use_{use} {}
  ~Taken() override {
    const std::lock_guard lock{state_->mutex};
    --state_->taken[index(use_)];
    const auto user = state_->users.find(user_);
    user->second.untaken -= owed_;
    --user->second.slots[index(use_)];
    if (user->second.slots == std::array<size_t, kUses>{}) state_->users.erase(user);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  void owe(size_t bytes) override {
    const std::lock_guard lock{state_->mutex};
    owed_ += bytes;
    state_->users.find(user_)->second.untaken += bytes;
  }

 private:
  std::shared_ptr<State> state_;
  std::string user_;
  Use use_;
  size_t owed_ = 0;
};

ConcurrencyLimiter::ConcurrencyLimiter(const Limits& limits) : state_{std::make_shared<State>()} {
  state_->limits = {limits.reads, limits.writes, limits.watches};
  state_->untaken_limit = limits.untaken_bytes;
}

std::shared_ptr<ConcurrencyLimiter::Slot> ConcurrencyLimiter::take(const std::string& user, Use use) {
  const size_t at = index(use);
  {
    const std::lock_guard lock{state_->mutex};
    if (state_->taken[at] >= state_->limits[at]) return nullptr;
    const auto known = state_->users.find(user);
    if (known != state_->users.end()) {
      const State::Share& share = known->second;
      if (share.slots[at] >= (state_->limits[at] + 1) / 2 || share.untaken >= state_->untaken_limit) return nullptr;
    }
    ++state_->taken[at];
    ++state_->users[user].slots[at];
  }
  return std::make_shared<Taken>(state_, user, use);
}

std::shared_ptr<ResponseWriter> with_slot(std::shared_ptr<ResponseWriter> writer,
                                          std::shared_ptr<ConcurrencyLimiter::Slot> slot, ConcurrencyLimiter::Use use) {
  return std::make_shared<SlotWriter>(std::move(writer), std::move(slot), use);
}

}  // namespace shiplog::api
