#pragma once

#include <memory>
#include <string>

#include "events/journal/kafka/kafka_journal.h"

struct rd_kafka_s;
struct rd_kafka_mock_cluster_s;

namespace shiplog::kafka_test {

/// librdkafka's mock cluster in this process, which can inject errors. It cannot create topics, return their settings
/// or delete records, and it does not drop a batch that is sent twice.
class MockCluster {
 public:
  explicit MockCluster(int brokers = 3);
  ~MockCluster();
  MockCluster(const MockCluster&) = delete;
  MockCluster& operator=(const MockCluster&) = delete;

  std::string bootstrap() const;
  void make_topic(const std::string& name, int partitions = 1);
  /// Options of a journal in a new topic of this cluster.
  KafkaJournalOptions journal();
  rd_kafka_mock_cluster_s* get() const { return cluster_; }

 private:
  rd_kafka_s* handle_;
  rd_kafka_mock_cluster_s* cluster_;
};

}  // namespace shiplog::kafka_test
