#include "tests/kafka/mock.h"

#include <cstdlib>
#include <iostream>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "events/base/check.h"
#include "tests/kafka/cluster.h"

namespace shiplog::kafka_test {

MockCluster::MockCluster(int brokers) {
  char why[256];
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set_log_cb(conf, nullptr);
  handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
  SHIPLOG_CHECK(handle_ != nullptr, "a handle for the mock cluster");
  cluster_ = rd_kafka_mock_cluster_new(handle_, brokers);
  SHIPLOG_CHECK(cluster_ != nullptr, "a mock cluster");
}

MockCluster::~MockCluster() {
  rd_kafka_mock_cluster_destroy(cluster_);
  rd_kafka_destroy(handle_);
}

std::string MockCluster::bootstrap() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }

void MockCluster::make_topic(const std::string& name, int partitions) {
  SHIPLOG_CHECK(rd_kafka_mock_topic_create(cluster_, name.c_str(), partitions, 3) == RD_KAFKA_RESP_ERR_NO_ERROR,
                "a topic of the mock cluster");
  for (int partition = 0; partition < partitions; ++partition) {
    rd_kafka_mock_partition_set_leader(cluster_, name.c_str(), partition, 1);
  }
}

KafkaJournalOptions MockCluster::journal() {
  KafkaJournalOptions options;
  options.brokers = bootstrap();
  options.topic = new_fleet() + ".journal";
  options.check_settings = false;
  options.settings["fetch.wait.max.ms"] = "20";  // a mock broker does not end a fetch early when a record arrives
  if (const char* facilities = std::getenv("SHIPLOG_KAFKA_DEBUG")) {
    options.settings["debug"] = facilities;
    options.log = [](int, const std::string& line) { std::cerr << line << "\n"; };
  }
  make_topic(options.topic);
  return options;
}

}  // namespace shiplog::kafka_test
