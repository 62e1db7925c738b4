#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "events/base/hash.h"
#include "events/journal/kafka/client.h"

namespace shiplog::kafka {

/// Reads the partition from one offset on, with a reader of its own: no group, no committed offsets.
///
///   resolving ──bounds known──▶ resting ──next()──▶ reading ──trimmed, damaged or truncated──▶ failed (for good)
///
/// Records that are known to be stored (`stored`: acknowledged here, or counted by head()) are waited for even beyond
/// the caller's timeout, because they must arrive.
class KafkaTail final : public Journal::Tail {
 public:
  KafkaTail(std::unique_ptr<KafkaClient> client, KafkaJournalOptions options, int64_t from,
            std::shared_ptr<std::atomic<int64_t>> stored);
  ~KafkaTail() override;

  /// Queries the beginning and the end of the journal if a broker answers; otherwise next() does. Nothing is fetched
  /// before next().
  void resolve() { (void)find_position(); }

  Result<std::vector<JournalRecord>> next(size_t max_records, Millis timeout) override;
  void stop() override;

 private:
  Result<std::vector<JournalRecord>> read(size_t max_records, Millis timeout);
  Result<void> find_position();
  void fetch_from(int64_t offset);
  /// Processes one message of the library. Permanent errors are kept in failed_.
  Result<void> take(const rd_kafka_message_s& message, std::vector<JournalRecord>& records);
  Result<void> explain_missing_offset();
  /// Of acknowledged records: this tail is of no use any more.
  Error lost(const std::string& found);
  /// Reads the last record again, and compares it, before the next one is returned.
  void check_from(const PartitionBounds& bounds);

  std::unique_ptr<KafkaClient> client_;
  KafkaJournalOptions options_;
  Queue queue_;
  std::shared_ptr<std::atomic<int64_t>> stored_;
  std::atomic<bool> stopped_{false};

  int64_t from_;
  bool resolved_ = false;
  bool reading_ = false;
  int64_t position_ = 0;  // the next record is at this offset or later
  int64_t end_found_ = 0;
  int64_t end_seen_ = 0;  // the partition ended here when it was last reported
  struct LastRead {
    int64_t offset;
    Hash128 hash;
  };
  std::optional<LastRead> last_;
  bool checking_ = false;  // the last record is read again
  std::optional<std::chrono::steady_clock::time_point> shorter_since_;
  std::optional<Error> failed_;
};

}  // namespace shiplog::kafka
