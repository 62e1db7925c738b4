#include "services/programs/shiplogctl/decoding_reader.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "events/codec/codec.h"

namespace shiplog::ctl {
namespace {

// Small batches are still in the processor's cache when they are taken.
constexpr size_t kBatch = 128;
constexpr uint64_t kBatchesAhead = 8;
constexpr size_t kThreads = 2;
constexpr Millis kPatience{500};

class DecodingReader {
 public:
  /// Reads up to what was the journal's end at the start, so that a journal that is written to has an end too.
  DecodingReader(std::unique_ptr<Journal::Tail> tail, Offset head, std::string journal)
      : tail_{std::move(tail)}, head_{head}, journal_{std::move(journal)} {
    for (std::thread& thread : threads_) thread = std::thread{[this] { run(); }};
  }
  ~DecodingReader() {
    {
      const std::lock_guard lock{mutex_};
      stopping_ = true;
    }
    tail_->stop();
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  DecodingReader(const DecodingReader&) = delete;
  DecodingReader& operator=(const DecodingReader&) = delete;

  /// nullopt: that was the last.
  Result<std::optional<ReplayRecord>> next() {
    while (at_ == batch_.records.size()) {
      if (batch_.error) return *batch_.error;
      if (batch_.last) return std::nullopt;
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [&] { return decoded_.contains(taken_); });
      batch_ = std::move(decoded_.extract(taken_).mapped());
      ++taken_;
      at_ = 0;
      lock.unlock();
      changed_.notify_all();
    }
    return std::optional{std::move(batch_.records[at_++])};
  }

 private:
  struct Batch {
    std::vector<ReplayRecord> records;
    std::optional<Error> error;  // after the records
    bool last = false;
  };
  struct StoredBatch {
    uint64_t number = 0;
    std::vector<JournalRecord> records;
    Batch decoded;  // with what is known before its records are
  };

  void run() {
    while (true) {
      auto stored = read();
      if (!stored) return;
      decode_all(*stored);
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [&] { return stopping_ || stored->number < taken_ + kBatchesAhead; });
      if (stopping_) return;
      decoded_.emplace(stored->number, std::move(stored->decoded));
      lock.unlock();
      changed_.notify_all();
    }
  }

  /// The next batch, by one thread at a time; nullopt: there is none.
  std::optional<StoredBatch> read() {
    const std::lock_guard reading{reading_};
    if (ended_) return std::nullopt;
    StoredBatch batch;
    batch.number = read_++;
    auto stored = tail_->next(kBatch, kPatience);
    if (!stored) {
      batch.decoded.error = stored.error();
    } else {
      batch.records = std::move(stored).value();
      // Offsets have gaps: a journal may end before its head.
      batch.decoded.last = batch.records.empty() || batch.records.back().offset.value + 1 >= head_.value;
    }
    ended_ = batch.decoded.error || batch.decoded.last;
    return batch;
  }

  void decode_all(StoredBatch& batch) const {
    batch.decoded.records.reserve(batch.records.size());
    for (const JournalRecord& record : batch.records) {
      if (record.offset >= head_) break;
      auto entry = decode(record.bytes);
      if (!entry) {
        batch.decoded.error = entry.error().context(journal_ + ", offset " + std::to_string(record.offset.value));
        return;
      }
      batch.decoded.records.push_back({record.offset, std::move(entry).value(), record.bytes.size()});
    }
  }

  const std::unique_ptr<Journal::Tail> tail_;
  const Offset head_;
  const std::string journal_;
  Batch batch_;  // that next() takes from
  size_t at_ = 0;

  std::mutex reading_;  // of the three below
  uint64_t read_ = 0;
  bool ended_ = false;

  std::mutex mutex_;  // of what is below
  std::condition_variable changed_;
  std::map<uint64_t, Batch> decoded_;
  uint64_t taken_ = 0;
  bool stopping_ = false;
  std::array<std::thread, kThreads> threads_;  // the last: they use the others
};

}  // namespace

Result<Records> read_decoded(Journal& journal, Offset from) {
  SHIPLOG_TRY(const Offset head, journal.head());
  SHIPLOG_TRY(auto tail, journal.tail(from));
  auto reader = std::make_shared<DecodingReader>(std::move(tail), head, journal.describe());
  return Records{[reader] { return reader->next(); }};
}

}  // namespace shiplog::ctl
