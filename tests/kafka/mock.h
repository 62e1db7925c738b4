#pragma once

#include <memory>
#include <string>

#include "events/journal/kafka/kafka_journal.h"

struct rd_kafka_s;
struct rd_kafka_mock_cluster_s;

namespace shiplog::kafka_test {

/// librdkafka's cluster of pretended brokers, in this process: it takes orders to fail. It cannot make topics, tell
/// their settings or delete records, and it does not drop a batch that is sent twice.
class Mock {
 public:
  explicit Mock(int brokers = 3);
  ~Mock();
  Mock(const Mock&) = delete;
  Mock& operator=(const Mock&) = delete;

  std::string bootstrap() const;
  void make_topic(const std::string& name, int partitions = 1);
  /// Options of a journal in a new topic here.
  KafkaJournalOptions journal();
  rd_kafka_mock_cluster_s* get() const { return cluster_; }

 private:
  rd_kafka_s* handle_;
  rd_kafka_mock_cluster_s* cluster_;
};

}  // namespace shiplog::kafka_test
