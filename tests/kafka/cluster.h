#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/journal/kafka/kafka_journal.h"
#include "tests/support/process.h"
#include "tests/support/test_directory.h"

namespace shiplog::kafka_test {

/// Apache Kafka, for real: one broker (or more, each also a controller) in a temporary folder and on free ports.
/// Everything is killed and removed at the end; after a failed test the ends of the brokers' logs are printed, and the
/// folder stays.
/// A cluster that cannot be had fails the test and ends the program with a sentence: nothing is skipped.
/// Threads: the main one.
class Cluster {
 public:
  /// `settings`: "name=value" for every broker.
  explicit Cluster(int brokers = 1, std::vector<std::string> settings = {});
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// "127.0.0.1:34567,127.0.0.1:34568"
  const std::string& bootstrap() const { return bootstrap_; }
  /// kill -9 of one of them; and starting it again with the same data, without waiting.
  void kill(int broker);
  void start(int broker);
  /// Of its process, to be sent signals.
  pid_t pid(int broker) const { return nodes_.at(static_cast<size_t>(broker)).process->pid(); }
  /// Until every broker that runs answers.
  void wait_ready(int brokers);
  struct Partition {
    int leader = -1;  ///< -1: none
    int in_sync = 0;  ///< replicas that have all of it
  };
  /// The topic's first.
  Partition partition(const std::string& topic) const;
  /// In an administrator's way, with any settings.
  void make_topic(const std::string& name, int partitions, const KafkaSettings& settings);
  /// What the first record of a topic carries.
  KafkaHeaders headers_of_first(const std::string& topic) const;
  /// The file that holds the first records of a topic's only partition.
  std::string segment(const std::string& topic, int broker = 0) const;
  /// Everything that a broker has on its disk for a topic's only partition.
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

/// One broker for the whole test program, started by the first who asks and stopped at the program's end.
Cluster& shared_cluster();
/// A fleet name that no other test of this program has had.
std::string new_fleet();

}  // namespace shiplog::kafka_test
