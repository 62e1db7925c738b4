#include "events/journal/memory_journal.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "events/base/check.h"
#include "events/journal/limits.h"

namespace shiplog {
namespace {

// State shared by the journal and its tails; a tail may outlive the journal.
struct RecordStore {
  std::mutex mutex;
  std::condition_variable grown;  // a record was added, a tail was stopped, or the journal was closed
  std::deque<JournalRecord> records;
  size_t bytes = 0;
  int64_t next = 0;
  bool closed = false;

  int64_t oldest() const { return records.empty() ? next : records.front().offset.value; }

  void forget_first() {
    bytes -= records.front().bytes.size();
    records.pop_front();
  }
};

class MemoryTail final : public Journal::Tail {
 public:
  MemoryTail(std::shared_ptr<RecordStore> store, std::string name, int64_t position)
      : store_(std::move(store)), name_(std::move(name)), position_(position) {}

  Result<std::vector<JournalRecord>> next(size_t max_records, Millis timeout) override {
    std::unique_lock lock(store_->mutex);
    const auto ready = [this] { return stopped_ || store_->closed || position_ < store_->next; };
    store_->grown.wait_for(lock, longest_wait(timeout), ready);
    std::vector<JournalRecord> read;
    if (stopped_) return read;
    if (position_ < store_->oldest()) return gone(name_, Offset{position_}, Offset{store_->oldest()});
    if (position_ >= store_->next) {
      if (store_->closed) return Error{ErrorCode::kUnavailable, "journal " + name_ + " is closed"};
      return read;
    }
    const auto first = store_->records.begin() + (position_ - store_->oldest());
    const auto left = static_cast<size_t>(store_->records.end() - first);
    read.assign(first, first + static_cast<std::ptrdiff_t>(std::min(max_records, left)));
    position_ += static_cast<int64_t>(read.size());
    return read;
  }

  void stop() override {
    const std::lock_guard lock(store_->mutex);
    stopped_ = true;
    store_->grown.notify_all();
  }

 private:
  std::shared_ptr<RecordStore> store_;
  std::string name_;
  int64_t position_;
  bool stopped_ = false;
};

class MemoryJournal final : public Journal {
 public:
  explicit MemoryJournal(MemoryJournalOptions options) : options_(options) {
    if (!options_.acknowledge_inside_append) acknowledger_ = std::thread([this] { acknowledge(); });
  }

  ~MemoryJournal() override {
    SHIPLOG_CHECK(std::this_thread::get_id() != acknowledger_.get_id(),
                  "a journal must not be destroyed from one of its acknowledgements");
    {
      const std::lock_guard lock(store_->mutex);
      store_->closed = true;
      store_->grown.notify_all();
      answered_.notify_all();
    }
    if (acknowledger_.joinable()) acknowledger_.join();
  }

  void append(std::string bytes, Appended done) override {
    std::unique_lock lock(store_->mutex);
    Result<Offset> answer = store(std::move(bytes));
    if (options_.acknowledge_inside_append) {
      lock.unlock();
      done(std::move(answer));
      return;
    }
    answers_.emplace_back(std::move(done), std::move(answer));
    answered_.notify_one();
  }

  Result<std::unique_ptr<Tail>> tail(Offset from) override {
    const std::lock_guard lock(store_->mutex);
    const int64_t position = from.value <= 0 ? store_->oldest() : from.value;
    return std::unique_ptr<Tail>(std::make_unique<MemoryTail>(store_, describe(), position));
  }

  Result<Offset> head() override {
    const std::lock_guard lock(store_->mutex);
    return Offset{store_->next};
  }

  Result<Offset> oldest() override {
    const std::lock_guard lock(store_->mutex);
    return Offset{store_->oldest()};
  }

  Result<void> trim(Offset before) override {
    const std::lock_guard lock(store_->mutex);
    while (!store_->records.empty() && store_->records.front().offset < before) store_->forget_first();
    return ok();
  }

  std::string describe() const override { return "memory"; }

 private:
  // The caller holds the lock, so offsets, records and acknowledgements have the same order.
  Result<Offset> store(std::string bytes) {
    if (const auto refused = refuse_size(bytes.size())) return *refused;
    RecordStore& all = *store_;
    const Offset offset{all.next++};
    all.bytes += bytes.size();
    all.records.push_back({offset, std::move(bytes)});
    const auto over = [&] {
      return (options_.max_records > 0 && all.records.size() > options_.max_records) ||
             (options_.max_bytes > 0 && all.bytes > options_.max_bytes);
    };
    while (all.records.size() > 1 && over()) all.forget_first();
    all.grown.notify_all();
    return offset;
  }

  void acknowledge() {
    std::unique_lock lock(store_->mutex);
    while (true) {
      answered_.wait(lock, [this] { return store_->closed || !answers_.empty(); });
      if (answers_.empty()) return;
      auto answers = std::exchange(answers_, {});
      lock.unlock();
      for (auto& [done, answer] : answers) done(std::move(answer));
      answers.clear();
      lock.lock();
    }
  }

  MemoryJournalOptions options_;
  std::shared_ptr<RecordStore> store_ = std::make_shared<RecordStore>();
  std::deque<std::pair<Appended, Result<Offset>>> answers_;  // guarded by the store's mutex
  std::condition_variable answered_;
  std::thread acknowledger_;
};

}  // namespace

std::shared_ptr<Journal> make_memory_journal(MemoryJournalOptions options) {
  return std::make_shared<MemoryJournal>(options);
}

}  // namespace shiplog
