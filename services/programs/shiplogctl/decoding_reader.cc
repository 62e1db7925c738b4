#include "services/programs/shiplogctl/decoding_reader.h"

#include <algorithm>
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
#include "events/codec/stored_decision.h"

namespace shiplog::ctl {
namespace {

// Small batches are still in the processor's cache when they are taken.
constexpr size_t kBatch = 64;
constexpr uint64_t kBatchesAhead = 16;
// The thread that folds waits for those who help it, and not for a batch.
constexpr size_t kHelpEvery = 8;
constexpr size_t kMostThreads = 3;
constexpr Millis kPatience{500};

class DecodingReader {
 public:
  /// Reads up to what was the journal's end at the start, so that a journal that is written to has an end too.
  DecodingReader(std::unique_ptr<Journal::Tail> tail, Offset head, std::string journal, const DecodingOptions& options)
      : tail_{std::move(tail)}, head_{head}, journal_{std::move(journal)}, options_{options} {
    if (options_.work == nullptr) options_.work = &own_work_;
    for (size_t number = 0; number < options_.threads; ++number) {
      threads_.emplace_back([this] { run(); });
    }
  }
  ~DecodingReader() {
    {
      const std::lock_guard lock{mutex_};
      stopping_ = true;
    }
    tail_->stop();
    options_.work->wake();
    for (std::thread& thread : threads_) thread.join();
  }
  DecodingReader(const DecodingReader&) = delete;
  DecodingReader& operator=(const DecodingReader&) = delete;

  /// None: those before were the last.
  Result<std::vector<ReplayRecord>> next() {
    while (true) {
      if (error_) return *error_;
      if (last_) return std::vector<ReplayRecord>{};
      Batch batch = take();
      error_ = std::move(batch.error);
      last_ = batch.last;
      if (!batch.records.empty()) return std::move(batch.records);
    }
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

  /// The next batch. While it is not decoded, this thread decodes too.
  Batch take() {
    while (true) {
      {
        std::unique_lock lock{mutex_};
        if (ended_) decoded_changed_.wait(lock, [&] { return decoded_.contains(taken_); });
        if (const auto found = decoded_.find(taken_); found != decoded_.end()) {
          Batch batch = std::move(found->second);
          decoded_.erase(found);
          ++taken_;
          lock.unlock();
          options_.work->wake();
          return batch;
        }
      }
      if (auto stored = read()) put(*std::move(stored));
    }
  }

  void run() {
    while (true) {
      options_.work->help_until([&] {
        const std::lock_guard lock{mutex_};
        return stopping_ || ended_ || read_ < taken_ + kBatchesAhead;
      });
      auto stored = read();
      if (!stored) return;
      put(*std::move(stored));
    }
  }

  /// The next batch, by one thread at a time; nullopt: there is none.
  std::optional<StoredBatch> read() {
    const std::lock_guard reading{reading_};
    StoredBatch batch;
    {
      const std::lock_guard lock{mutex_};
      if (stopping_ || ended_) return std::nullopt;
      batch.number = read_++;
    }
    auto stored = tail_->next(kBatch, kPatience);
    if (!stored) {
      batch.decoded.error = stored.error();
    } else {
      batch.records = std::move(stored).value();
      // Offsets have gaps: a journal may end before its head.
      batch.decoded.last = batch.records.empty() || batch.records.back().offset.value + 1 >= head_.value;
    }
    const std::lock_guard lock{mutex_};
    ended_ = batch.decoded.error || batch.decoded.last;
    return batch;
  }

  void put(StoredBatch batch) {
    decode_all(batch);
    const std::lock_guard lock{mutex_};
    decoded_.emplace(batch.number, std::move(batch.decoded));
    decoded_changed_.notify_all();
  }

  void decode_all(StoredBatch& batch) const {
    batch.decoded.records.reserve(batch.records.size());
    for (JournalRecord& record : batch.records) {
      if (record.offset >= head_) break;
      if (batch.decoded.records.size() % kHelpEvery == 0) options_.work->help();
      const bool undecoded = options_.undecoded_from && record.offset >= *options_.undecoded_from;
      auto decoded = record_from(record.offset, std::move(record.bytes), undecoded);
      if (!decoded) {
        batch.decoded.error = decoded.error().context(journal_ + ", offset " + std::to_string(record.offset.value));
        return;
      }
      batch.decoded.records.push_back(std::move(decoded).value());
    }
  }

  const std::unique_ptr<Journal::Tail> tail_;
  const Offset head_;
  const std::string journal_;
  DecodingOptions options_;
  SharedWork own_work_;
  std::optional<Error> error_;  // after what next() has returned
  bool last_ = false;           // what next() has returned is all

  std::mutex reading_;  // of tail_; taken before the other
  std::mutex mutex_;    // of what is below
  std::condition_variable decoded_changed_;
  std::map<uint64_t, Batch> decoded_;
  uint64_t read_ = 0;
  uint64_t taken_ = 0;
  bool ended_ = false;
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // the last: they use the others
};

}  // namespace

Result<ReplayRecord> record_from(Offset offset, std::string bytes, bool undecoded) {
  const size_t size = bytes.size();
  if (undecoded) {
    if (auto entry = decode_without_events(bytes)) {
      return ReplayRecord{offset, *std::move(entry), size, std::move(bytes)};
    }
  }
  SHIPLOG_TRY(auto entry, decode(bytes));
  return ReplayRecord{offset, std::move(entry), size};
}

size_t decoding_threads() {
  const size_t processors = std::thread::hardware_concurrency();
  return std::clamp(processors, size_t{2}, kMostThreads + 1) - 1;
}

Result<Records> read_decoded(Journal& journal, Offset from, const DecodingOptions& options) {
  SHIPLOG_TRY(const Offset head, journal.head());
  SHIPLOG_TRY(auto tail, journal.tail(from));
  auto reader = std::make_shared<DecodingReader>(std::move(tail), head, journal.describe(), options);
  return Records{[reader] { return reader->next(); }};
}

}  // namespace shiplog::ctl
