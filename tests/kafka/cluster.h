#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/journal/kafka/kafka_journal.h"
#include "tests/support/process.h"
#include "tests/support/test_directory.h"

namespace shiplog::kafka_test {

/// A real Apache Kafka cluster: one or more brokers, each also a controller, in a temporary folder and on free ports.
/// All processes are killed and the folder is removed at the end; after a failed test the ends of the brokers' logs are
/// printed, and the folder is kept. If the cluster cannot be started, the test fails and the program ends with a
/// message: no test is skipped. Threads: the main thread.
class KafkaCluster {
 public:
  /// `settings`: "name=value" for every broker. In a value, {port} and {controller} stand for the broker's own ports.
  explicit KafkaCluster(int brokers = 1, std::vector<std::string> settings = {});
  ~KafkaCluster();
  KafkaCluster(const KafkaCluster&) = delete;
  KafkaCluster& operator=(const KafkaCluster&) = delete;

  /// "127.0.0.1:34567,127.0.0.1:34568"
  const std::string& bootstrap() const { return bootstrap_; }
  /// kill -9 of a broker, and its restart with the same data, without waiting.
  void kill(int broker);
  void start(int broker);
  /// Another value for a setting of all brokers, from their next start on.
  void change(const std::string& name, const std::string& value);
  /// Process::freeze() and Process::thaw() of a broker.
  bool freeze(int broker) { return nodes_.at(static_cast<size_t>(broker)).process->freeze(); }
  void thaw(int broker) { nodes_.at(static_cast<size_t>(broker)).process->thaw(); }
  /// Waits until this number of brokers is reachable.
  void wait_ready(int brokers);
  struct Partition {
    int leader = -1;  ///< -1: none
    int in_sync = 0;  ///< number of replicas in sync
  };
  /// The first partition of a topic.
  Partition partition(const std::string& topic) const;
  /// Creates a topic like an administrator, with any settings.
  void make_topic(const std::string& name, int partitions, const KafkaSettings& settings);
  /// Deletes a topic like an administrator, with all records and all positions of consumer groups in it.
  void delete_topic(const std::string& name);
  /// The headers of the first record of a topic.
  KafkaHeaders headers_of_first(const std::string& topic) const;
  /// The file that holds the first records of a topic's only partition.
  std::string segment(const std::string& topic, int broker = 0) const;
  /// All bytes that a broker has on disk for a topic's only partition.
  std::string bytes_on_disk(const std::string& topic, int broker = 0) const;

 private:
  struct Node {
    int port = 0;
    int controller_port = 0;
    std::unique_ptr<e2e::Process> process;
  };
  std::string folder(size_t node) const { return folder_.file("broker" + std::to_string(node + 1)); }
  void print_logs() const;

  std::vector<std::string> settings_;
  TestDirectory folder_{"kafka"};
  std::string bootstrap_;
  std::string voters_;
  std::vector<Node> nodes_;
};

/// A port that was free a moment ago.
int free_port();

/// One broker for the whole test program, started at the first call and stopped at the program's end.
KafkaCluster& shared_cluster();
/// A fleet name that no other test of this program uses.
std::string new_fleet();

}  // namespace shiplog::kafka_test
