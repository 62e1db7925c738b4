#include "events/journal/embedded/sqlite_journal.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "events/base/check.h"
#include "events/base/thread_name.h"
#include "events/journal/embedded/change_watch.h"
#include "events/journal/embedded/head_mark.h"
#include "events/journal/embedded/journal_file.h"
#include "events/journal/embedded/opened_file.h"
#include "events/journal/embedded/tail.h"
#include "events/journal/limits.h"

namespace shiplog {
namespace {

using embedded::Bounds;
using embedded::ChangeWatch;
using embedded::FileReader;
using embedded::FileWriter;
using embedded::HeadMark;
using embedded::Published;
using embedded::SqliteTail;

// The size of one transaction: large enough that the cost of the fsync is negligible, small enough that the first entry
// does not wait long.
constexpr size_t kMaxGroupEntries = 4096;
constexpr size_t kMaxGroupBytes = 16 * 1024 * 1024;

struct Pending {
  std::string bytes;
  Journal::Appended done;
  std::optional<Error> refused;
};

// Between two steps in which free pages are given back, so that appends have most of the writer's time.
constexpr std::chrono::milliseconds kReleasePause{20};
constexpr std::chrono::seconds kReportEvery{10};

/// Of a file that becomes smaller.
struct Releasing {
  int64_t keep = 0;  ///< free pages
  int64_t bytes_before = 0;
  int move_tries = 50;  // at the end, for the write-ahead log to be moved into the file
  std::chrono::steady_clock::time_point next, reported;
};

struct PendingTrim {
  int64_t before;
  std::promise<Result<void>> done;
};

class SqliteJournal final : public Journal {
 public:
  /// Without a writer (the Error contains the reason) the journal is read-only.
  SqliteJournal(std::string path, SqliteJournalOptions options, embedded::OpenedFile opened)
      : path_(std::move(path)),
        options_(std::move(options)),
        writer_(std::move(opened.writer)),
        mark_(path_),
        end_(std::move(opened.end)),
        reader_(std::move(opened.reader)) {
    published_->publish(opened.next);
    writer_thread_ = std::thread([this] { write(); });
  }

  ~SqliteJournal() override {
    SHIPLOG_CHECK(!on_writer_thread(), "a journal must not be destroyed from one of its acknowledgements");
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
      work_.notify_one();
    }
    writer_thread_.join();
    if (watch_) {
      watch_->stop();
      watch_thread_.join();
    }
    published_->close();
  }

  void append(std::string bytes, Appended done) override {
    auto refused = refuse_size(bytes.size());
    std::unique_lock lock(mutex_);
    if (!refused && waiting_bytes_ + bytes.size() > options_.max_waiting_bytes) {
      refused = Error{ErrorCode::kUnavailable, "journal " + path_ + ": " + std::to_string(waiting_bytes_) +
                                                   " bytes are already waiting to be written; append less at a time"};
    }
    // Refused entries go through the queue as well: results are delivered in order and on the journal's thread.
    if (refused) bytes.clear();
    waiting_bytes_ += bytes.size();
    queue_.push_back({std::move(bytes), std::move(done), std::move(refused)});
    lock.unlock();  // first, or the writer would wake only to wait for it
    work_.notify_one();
  }

  Result<std::unique_ptr<Tail>> tail(Offset from) override {
    SHIPLOG_TRY(auto reader, FileReader::open(path_, options_.busy_timeout));
    const std::lock_guard lock(reader_mutex_);
    if (!watch_) start_watch();
    SHIPLOG_TRY(const Bounds bounds, reader_.bounds());
    const int64_t position = from.value <= 0 ? bounds.oldest : from.value;
    return std::unique_ptr<Tail>(
        std::make_unique<SqliteTail>(std::move(reader), position, published_, end_, describe()));
  }

  Result<Offset> head() override {
    if (end_) return *end_;  // the present end is not the end as acknowledged
    // A different file under this name receives entries that this process does not read.
    if (const auto now = embedded::identity_of(path_); now && now != file_) {
      return Error{ErrorCode::kCorrupt, "journal " + path_ +
                                            " was replaced by another file while this process had it open: stop this "
                                            "process, and restore the file that it was reading"};
    }
    const std::lock_guard lock(reader_mutex_);
    SHIPLOG_TRY(const Bounds bounds, reader_.bounds());
    return Offset{bounds.next};
  }

  Result<Offset> oldest() override {
    const std::lock_guard lock(reader_mutex_);
    SHIPLOG_TRY(const Bounds bounds, reader_.bounds());
    return Offset{bounds.oldest};
  }

  Result<void> trim(Offset before) override {
    if (on_writer_thread()) {
      bool more = true;
      while (more) {
        SHIPLOG_TRY(more, trim_some(before.value));
      }
      return ok();
    }
    std::future<Result<void>> done;
    {
      const std::lock_guard lock(mutex_);
      trims_.push_back({before.value, {}});
      done = trims_.back().done.get_future();
      work_.notify_one();
    }
    return done.get();
  }

  std::string describe() const override { return "sqlite:" + path_; }

 private:
  bool on_writer_thread() const { return std::this_thread::get_id() == writer_thread_.get_id(); }

  // The writer's thread: appends and trims alternate, and between them the file becomes smaller.
  void write() {
    name_thread("journal-writer");
    while (true) {
      std::vector<Pending> group;
      PendingTrim* trim = nullptr;
      {
        std::unique_lock lock(mutex_);
        const auto due = [this] { return closing_ || !queue_.empty() || !trims_.empty(); };
        if (releasing_) {
          work_.wait_until(lock, releasing_->next, due);
        } else {
          work_.wait(lock, due);
        }
        if (closing_ && queue_.empty() && trims_.empty()) return;
        group = take_group();
        if (!trims_.empty()) trim = &trims_.front();  // the address is stable: a deque grows only at its end
      }
      if (!group.empty()) store(group);
      if (trim != nullptr) work_on(*trim);
      if (releasing_ && std::chrono::steady_clock::now() >= releasing_->next) release();
    }
  }

  // The caller holds the lock.
  std::vector<Pending> take_group() {
    std::vector<Pending> group;
    size_t bytes = 0;
    while (!queue_.empty() && group.size() < kMaxGroupEntries && bytes < kMaxGroupBytes) {
      bytes += queue_.front().bytes.size();
      group.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    waiting_bytes_ -= bytes;
    return group;
  }

  void store(std::vector<Pending>& group) {
    std::vector<std::string_view> entries;
    for (const auto& pending : group) {
      if (!pending.refused) entries.emplace_back(pending.bytes);
    }
    Result<int64_t> first = int64_t{0};
    if (!writer_) {
      first = writer_.error();
    } else if (!entries.empty()) {
      first = writer_.value().store(entries);
      if (first) {
        const int64_t next = first.value() + static_cast<int64_t>(entries.size());
        const auto marked = mark_.write(next);
        // Once, until it succeeds again.
        const bool failed_before = std::exchange(mark_failed_, !marked);
        if (!marked && !failed_before && options_.head_mark_failed) options_.head_mark_failed(marked.error());
        publish(first.value(), group);
        const ChangeWatch* watch = watching_.load(std::memory_order_acquire);
        if (watch == nullptr || watch->others_watch()) embedded::announce_change(path_);
      }
    }
    int64_t stored = 0;
    for (auto& pending : group) {
      if (pending.refused) {
        pending.done(*pending.refused);
      } else if (!first) {
        pending.done(first.error());
      } else {
        pending.done(Offset{first.value() + stored++});
      }
    }
    if (writer_) writer_.value().committed();  // after the acknowledgements: no caller waits for it
  }

  void publish(int64_t first, std::vector<Pending>& group) {
    std::vector<std::string*> committed;
    for (auto& pending : group) {
      if (!pending.refused) committed.push_back(&pending.bytes);
    }
    published_->publish(first, committed);
  }

  Result<bool> trim_some(int64_t before) {
    if (!writer_) return writer_.error();
    return writer_.value().trim_some(before);
  }

  void work_on(PendingTrim& trim) {
    const auto more = trim_some(trim.before);
    if (more && more.value()) return;
    auto done = std::move(trim.done);
    {
      const std::lock_guard lock(mutex_);
      trims_.pop_front();
    }
    if (more) begin_to_release();
    if (more) {
      done.set_value(ok());
    } else {
      done.set_value(more.error());
    }
  }

  void begin_to_release() {
    const auto space = writer_.value().space();
    if (!space || !space.value().shrinks || !sqlite::has_surplus(space.value())) return;
    const auto now = std::chrono::steady_clock::now();
    releasing_ = Releasing{.keep = sqlite::pages_to_keep(space.value()),
                           .bytes_before = space.value().bytes(),
                           .next = now,
                           .reported = now};
    if (options_.shrinking) options_.shrinking({space.value(), 0, false});
  }

  void release() {
    const auto before = writer_.value().space();
    const auto left = writer_.value().release_some(releasing_->keep);
    if (!left) {
      if (options_.shrinking_failed) options_.shrinking_failed(left.error());
      releasing_.reset();
      return;
    }
    const auto now = std::chrono::steady_clock::now();
    JournalShrinking progress{left.value(), releasing_->bytes_before - left.value().bytes(), false};
    // Appends may use free pages as fast as they are given back.
    progress.done = left.value().free <= releasing_->keep || (before && left.value().pages >= before.value().pages);
    if (progress.done && !writer_.value().shrink_file() && --releasing_->move_tries > 0) progress.done = false;
    const bool tell = progress.done || now - releasing_->reported >= kReportEvery;
    if (tell) releasing_->reported = now;
    releasing_->next = now + kReleasePause;
    if (progress.done) releasing_.reset();
    if (tell && options_.shrinking) options_.shrinking(progress);
  }

  // The caller holds reader_mutex_.
  void start_watch() {
    watch_ = std::make_unique<ChangeWatch>(path_, HeadMark::path_of(path_));
    watching_.store(watch_.get(), std::memory_order_release);
    watch_thread_ = std::thread([this] {
      name_thread("journal-watcher");
      do {
        // The tails meet such an error themselves.
        if (const auto up_to = head()) published_->publish(up_to.value().value);
      } while (watch_->wait());
    });
  }

  const std::string path_;
  const SqliteJournalOptions options_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable work_;
  std::deque<Pending> queue_;
  size_t waiting_bytes_ = 0;
  std::deque<PendingTrim> trims_;
  bool closing_ = false;

  const embedded::FileIdentity file_ = embedded::identity_of(path_);
  Result<FileWriter> writer_;           // the writer thread's
  HeadMark mark_;                       // the writer thread's
  bool mark_failed_ = false;            // the same
  std::optional<Releasing> releasing_;  // the same
  const std::optional<Error> end_;
  std::shared_ptr<Published> published_ = std::make_shared<Published>();

  std::mutex reader_mutex_;  // guards the members below; watch_ does not change once it is set
  FileReader reader_;        // declared after writer_, so closed before: the writer's closing then checkpoints
  std::unique_ptr<ChangeWatch> watch_;
  std::atomic<const ChangeWatch*> watching_{nullptr};  // the same, for the writer's thread

  std::thread watch_thread_;
  std::thread writer_thread_;
};

}  // namespace

Result<std::unique_ptr<Journal>> open_sqlite_journal(const std::string& path, SqliteJournalOptions options) {
  SHIPLOG_TRY(auto opened, embedded::open_journal_file(path, options));
  return std::unique_ptr<Journal>(std::make_unique<SqliteJournal>(path, options, std::move(opened)));
}

}  // namespace shiplog
