#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "events/journal/embedded/journal_file.h"

namespace shiplog::embedded {

/// State that the journal shares with its tails. A tail may outlive the journal.
struct Published {
  std::mutex mutex;
  std::condition_variable changed;
  int64_t next = 0;  ///< all records before this offset are readable
  bool closed = false;

  void publish(int64_t up_to) {
    const std::lock_guard lock(mutex);
    if (up_to <= next) return;
    next = up_to;
    changed.notify_all();
  }
  void close() {
    const std::lock_guard lock(mutex);
    closed = true;
    changed.notify_all();
  }
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

  Result<std::vector<JournalRecord>> next(size_t max_records, Millis timeout) override;
  void stop() override;

 private:
  FileReader reader_;
  int64_t position_;
  std::shared_ptr<Published> published_;
  std::optional<Error> end_;
  std::string name_;
  bool stopped_ = false;  // guarded by published_->mutex
};

}  // namespace shiplog::embedded
