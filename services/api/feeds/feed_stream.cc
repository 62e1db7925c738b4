#include "services/api/feeds/feed_stream.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "events/base/json.h"
#include "services/api/status.h"
#include "services/runtime/metrics.h"

namespace shiplog::api {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kMostStreams = 64;
/// A comment in an idle stream of server-sent events: proxies cut connections on which nothing moves.
constexpr std::chrono::seconds kKeepAlive{15};

std::atomic<int> streams{0};

metrics::Gauge streams_gauge() {
  static const metrics::GaugeFamily family{"shiplog_feed_streams", "Clients that read a feed over HTTP"};
  return family.with({});
}

metrics::Counter sent_counter(Family of) {
  static const metrics::CounterFamily family{
      "shiplog_feed_events_sent_total", "Events of feeds written to clients over HTTP", {"family"}};
  return family.with({name_of(of)});
}

/// One client. Its thread holds it until it is over. `store` and the reader are valid until the writer is closed: they
/// are used under store_mutex_, which closing takes to put them out of reach.
class FeedStream : public std::enable_shared_from_this<FeedStream> {
 public:
  FeedStream(Store& store, const FeedRequest& request, std::shared_ptr<ResponseWriter> writer)
      : store_{&store}, request_{request}, writer_{std::move(writer)} {
    streams_gauge().set(++streams);
    for (const Family family : feeds::all_families()) sent_[static_cast<size_t>(family)] = sent_counter(family);
    if (request.timeout) {
      ends_at_ = SteadyClock::now() + std::chrono::milliseconds{request.timeout->value};
    }
  }
  ~FeedStream() { streams_gauge().set(--streams); }
  FeedStream(const FeedStream&) = delete;
  FeedStream& operator=(const FeedStream&) = delete;

  Result<void> find_start() {
    return store_->read([&](const View& view) -> Result<void> {
      SHIPLOG_TRY(auto source, feeds::source_of_fleet(view));
      reader_ = std::make_unique<feeds::FeedReader>(store_->journal(), std::move(source));
      return request_.after ? reader_->begin_after(view, *request_.after) : reader_->begin_at(view, request_.from);
    });
  }

  void begin() {
    const std::weak_ptr<FeedStream> weak = weak_from_this();
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
  enum class Woken { kOver, kTimeout, kIdle, kChanged };

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
    reader_.reset();
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

  Woken wait() {
    std::unique_lock lock{mutex_};
    const auto ready = [this] { return over_ || (woken_ && !writing_); };
    const SteadyClock::time_point idle = SteadyClock::now() + kKeepAlive;
    const SteadyClock::time_point until = ends_at_ && *ends_at_ < idle ? *ends_at_ : idle;
    const bool due = changed_.wait_until(lock, until, ready);
    if (over_) return Woken::kOver;
    if (ends_at_ && SteadyClock::now() >= *ends_at_) {
      // What is being written is still taken: a feed never ends in the middle of a line.
      changed_.wait(lock, [this] { return over_ || !writing_; });
      return over_ ? Woken::kOver : Woken::kTimeout;
    }
    if (!due) return Woken::kIdle;
    woken_ = false;
    return Woken::kChanged;
  }

  void run() {
    const char* type = request_.server_sent_events ? "text/event-stream" : "application/jsonlines";
    writer_->start(200, {{"Content-Type", type}, {"Cache-Control", "no-cache, private"}});
    wake();
    while (step()) {
    }
    close();
  }

  bool step() {
    switch (wait()) {
      case Woken::kOver:
        return false;
      case Woken::kTimeout:
        leave_store();
        writer_->end();
        return false;
      case Woken::kIdle:
        if (request_.server_sent_events && !is_writing()) write(":\n\n", false);
        return true;
      case Woken::kChanged:
        break;
    }
    auto pulled = pull();
    // Before the client sees the end: its owner may close the store as soon as it does.
    if (!pulled || pulled.value().last) leave_store();
    if (!pulled) {
      write(line_of(pulled.error()), true);
      return false;
    }
    const bool ends = pulled.value().last;
    if (!pulled.value().text.empty()) {
      write(std::move(pulled.value().text), ends);
    } else if (ends) {
      writer_->end();
    }
    return !ends;
  }

  struct Page {
    std::string text;
    bool last = false;
  };

  Result<Page> pull() {
    const std::lock_guard lock{store_mutex_};
    if (store_ == nullptr) return Page{"", true};
    SHIPLOG_TRY(const auto batch,
                store_->read([&](const View& view) { return reader_->read(view, request_.families, {}); }));
    Page page;
    for (const feeds::CloudEvent& event : batch.events) {
      if (request_.server_sent_events) page.text += "id: " + to_string(event.sequence) + "\ndata: ";
      page.text += to_json(event);
      page.text += request_.server_sent_events ? "\n\n" : "\n";
      sent_[static_cast<size_t>(event.family)].add();
    }
    page.last = batch.caught_up && !request_.follow;
    if (!batch.caught_up) {
      const std::lock_guard wake_lock{mutex_};
      woken_ = true;
    }
    return page;
  }

  /// The header is out: an error can only be reported in the stream's format.
  std::string line_of(const Error& error) const {
    const std::string status = to_json(failure_status(error));
    return request_.server_sent_events ? "event: error\ndata: " + status + "\n\n" : status + "\n";
  }

  bool is_writing() {
    const std::lock_guard lock{mutex_};
    return writing_;
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
  std::unique_ptr<feeds::FeedReader> reader_;
  const FeedRequest request_;
  std::optional<SteadyClock::time_point> ends_at_;
  int64_t listening_ = 0;
  std::shared_ptr<ResponseWriter> writer_;
  std::array<metrics::Counter, 8> sent_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool writing_ = false;
  bool over_ = false;
};

}  // namespace

Result<void> stream_feed(Store& store, const FeedRequest& request, std::shared_ptr<ResponseWriter> writer) {
  const auto stream = std::make_shared<FeedStream>(store, request, std::move(writer));
  if (streams > kMostStreams) {
    return Error{ErrorCode::kTooManyRequests, std::to_string(kMostStreams) +
                                                  " feeds are being read from this server: end one of them first, or "
                                                  "read from another one"};
  }
  SHIPLOG_TRY(stream->find_start());
  stream->begin();
  return ok();
}

}  // namespace shiplog::api
