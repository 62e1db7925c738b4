#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "events/journal/embedded/journal_file.h"

namespace shiplog::embedded {

class SqliteTail;

/// State that the journal shares with its tails. A tail may outlive the journal.
struct Published {
  std::mutex mutex;
  std::condition_variable changed;
  int64_t next = 0;  ///< all records before this offset are readable
  bool closed = false;
  std::vector<SqliteTail*> direct;  ///< those that take records directly
  int waiting = 0;                  ///< tails in next()
  /// What this process has committed last, and no tail took directly: those that take records directly find it here,
  /// so that it is not read, and decompressed, again.
  std::deque<std::string> recent;
  int64_t recent_first = 0;  ///< the offset of the first of these
  size_t recent_bytes = 0;

  void publish(int64_t up_to);
  /// The same for what this process has just committed. Takes the bytes, if a tail waits for just these.
  void publish(int64_t first, std::vector<std::string*>& committed);
  void close();
  /// Moves up to `most` recent records from this offset on, and drops what is before. The caller holds the lock.
  std::vector<JournalRecord> take_recent(int64_t from, size_t most);
  /// Drops the first of them. The caller holds the lock.
  void drop_recent(size_t count);

 private:
  void keep_recent(int64_t first, std::vector<JournalRecord> records);
};

class SqliteTail final : public Journal::Tail {
 public:
  /// `end`: the error after the last readable record if the journal is damaged there.
  SqliteTail(FileReader reader, int64_t position, std::shared_ptr<Published> published, std::optional<Error> end,
             std::string name)
      : reader_(std::move(reader)),
        position_(position),
        published_(std::move(published)),
        end_(std::move(end)),
        name_(std::move(name)) {}
  ~SqliteTail() override;
  SqliteTail(const SqliteTail&) = delete;
  SqliteTail& operator=(const SqliteTail&) = delete;

  Result<std::vector<JournalRecord>> next(size_t max_records, Millis timeout) override;
  void stop() override;
  void pass_directly(std::function<bool(std::vector<JournalRecord>&)> take) override;

  /// It waits for the record at this offset. The caller holds the lock of Published.
  bool waits_for(int64_t offset) const { return waiting_ && !stopped_ && position_ == offset; }
  /// False: they are to be returned by next(). The caller holds the lock.
  bool take(std::vector<JournalRecord>& records);

 private:
  FileReader reader_;
  int64_t position_;  // of the thread that reads; while it waits, guarded by published_->mutex
  std::shared_ptr<Published> published_;
  std::optional<Error> end_;
  std::string name_;
  bool stopped_ = false;  // these are guarded by published_->mutex
  bool waiting_ = false;
  std::function<bool(std::vector<JournalRecord>&)> take_;
};

}  // namespace shiplog::embedded
