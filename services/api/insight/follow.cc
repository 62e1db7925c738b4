#include "services/api/insight/follow.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "events/base/json.h"
#include "services/api/insight/render.h"
#include "services/api/status.h"

namespace shiplog::api {
namespace {

constexpr size_t kBatch = 256;
constexpr int kMostStreams = 64;

std::atomic<int> streams{0};

/// One stream. Its thread holds it until it is over. `store` is valid until the writer is closed: reads happen under
/// store_mutex_, which closing takes to put the store out of reach; a batch is small, so closing waits milliseconds.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(Store& store, AuditFilter filter, bool follow, std::shared_ptr<ResponseWriter> writer)
      : store_{&store}, filter_{std::move(filter)}, follow_{follow}, writer_{std::move(writer)} {
    left_ = filter_.limit;
    limited_ = left_ > 0;
    filter_.newest_first = false;
  }
  ~Stream() { --streams; }

  void begin() {
    const std::weak_ptr<Stream> weak = weak_from_this();
    // The listener holds no lock of ours that publishing could wait for, but that of wake().
    listening_ = store_->feed().listen([weak] {
      if (const auto self = weak.lock()) self->wake();
    });
    writer_->on_close([weak] {
      if (const auto self = weak.lock()) self->close();
    });
    std::thread{[self = shared_from_this()] { self->run(); }}.detach();
  }

 private:
  void wake() {
    {
      const std::lock_guard lock{mutex_};
      woken_ = true;
    }
    changed_.notify_one();
  }

  void leave_store() {
    const std::lock_guard lock{store_mutex_};
    if (store_ != nullptr) store_->feed().ignore(listening_);
    store_ = nullptr;
  }

  void close() {
    leave_store();
    {
      const std::lock_guard lock{mutex_};
      over_ = true;
    }
    changed_.notify_one();
  }

  // False: over.
  bool wait() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return over_ || (woken_ && !writing_); });
    woken_ = false;
    return !over_;
  }

  void run() {
    writer_->start(200, {{"Content-Type", "application/jsonlines"}, {"Cache-Control", "no-cache, private"}});
    wake();
    while (wait()) {
      auto pulled = pull();
      // Before the client sees the end: its owner may close the store as soon as it does.
      if (!pulled || pulled.value().last) leave_store();
      if (!pulled) {
        // The header is out: an error can only be reported in the stream's format.
        write(to_json(failure_status(pulled.error())) + "\n", true);
        break;
      }
      const bool ends = pulled.value().last;
      if (!pulled.value().text.empty()) {
        write(std::move(pulled.value().text), ends);
      } else if (ends) {
        writer_->end();
      }
      if (ends) break;
    }
    close();
  }

  struct Pulled {
    std::string text;
    bool last = false;
  };

  Result<Pulled> pull() {
    const std::lock_guard lock{store_mutex_};
    if (store_ == nullptr) return Pulled{"", true};
    AuditFilter filter = filter_;
    filter.limit = limited_ ? std::min(kBatch, left_) : kBatch;
    Offset next;
    SHIPLOG_TRY(const auto rows, store_->read([&](const View& view) {
      next = view.next();
      return AuditQuery{view}.find(filter);
    }));
    Pulled pulled;
    for (const AuditRow& row : rows) {
      append_json(to_value(row), pulled.text);
      pulled.text += '\n';
    }
    const bool all = rows.size() < filter.limit;
    // Whatever the filter left out up to here need not be read again.
    if (all && next.value > 0) {
      filter_.after = std::max(filter_.after.value_or(Offset{-1}), Offset{next.value - 1});
    } else if (!rows.empty()) {
      filter_.after = rows.back().offset;
    }
    if (limited_) left_ -= rows.size();
    pulled.last = (limited_ && left_ == 0) || (all && !follow_);
    if (!all && !pulled.last) {
      const std::lock_guard wake_lock{mutex_};
      woken_ = true;
    }
    return pulled;
  }

  void write(std::string text, bool then_end) {
    {
      const std::lock_guard lock{mutex_};
      writing_ = true;
    }
    writer_->write(std::move(text), [self = shared_from_this(), then_end](Result<void> written) {
      if (then_end && written) self->writer_->end();
      {
        const std::lock_guard lock{self->mutex_};
        self->writing_ = false;
        if (!written) self->over_ = true;
      }
      self->changed_.notify_one();
    });
  }

  std::mutex store_mutex_;
  Store* store_;
  AuditFilter filter_;
  bool follow_;
  bool limited_ = false;
  size_t left_ = 0;
  int64_t listening_ = 0;
  std::shared_ptr<ResponseWriter> writer_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool writing_ = false;
  bool over_ = false;
};

}  // namespace

void stream_entries(Store& store, AuditFilter filter, bool follow, std::shared_ptr<ResponseWriter> writer) {
  if (++streams > kMostStreams) {
    --streams;
    const Error error{ErrorCode::kTooManyRequests,
                      std::to_string(kMostStreams) + " streams of entries are under way: end one of them first"};
    return writer->send(
        {http_status(error.code), {{"Content-Type", "application/json"}}, to_json(failure_status(error))});
  }
  std::make_shared<Stream>(store, std::move(filter), follow, std::move(writer))->begin();
}

}  // namespace shiplog::api
