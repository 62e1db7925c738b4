#include "tests/kafka/cluster.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

namespace shiplog::kafka_test {
namespace {

[[noreturn]] void give_up(const std::string& error) {
  std::cerr << "\nThe tests on a real Kafka broker cannot run: " << error << "\n" << std::flush;
  std::_Exit(1);
}

class KafkaHandle {
 public:
  KafkaHandle(rd_kafka_type_t type, const std::string& bootstrap) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), nullptr, 0);
    rd_kafka_conf_set(conf, "reconnect.backoff.max.ms", "100", nullptr, 0);
    rd_kafka_conf_set_log_cb(conf, nullptr);
    char error[256];
    handle_ = rd_kafka_new(type, conf, error, sizeof error);
    if (handle_ == nullptr) give_up(error);
  }
  ~KafkaHandle() { rd_kafka_destroy(handle_); }
  KafkaHandle(const KafkaHandle&) = delete;
  KafkaHandle& operator=(const KafkaHandle&) = delete;
  rd_kafka_t* get() const { return handle_; }

 private:
  rd_kafka_t* handle_;
};

int reachable_brokers(const std::string& bootstrap) {
  const KafkaHandle handle{RD_KAFKA_CONSUMER, bootstrap};
  const rd_kafka_metadata_t* metadata = nullptr;
  // Longer than needed on a busy machine; librdkafka retries in the meantime.
  if (rd_kafka_metadata(handle.get(), 1, nullptr, &metadata, 5000) != RD_KAFKA_RESP_ERR_NO_ERROR) return 0;
  const int count = metadata->broker_cnt;
  rd_kafka_metadata_destroy(metadata);
  return count;
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

}  // namespace

// Kafka needs its ports in the configuration.
int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    give_up("no free port");
  }
  ::close(fd);
  return ntohs(address.sin_port);
}

KafkaCluster::KafkaCluster(int brokers, std::vector<std::string> settings) : settings_{std::move(settings)} {
  // Fetched first and only once, so that Maven's output is visible and the time is limited.
  const e2e::Ran fetched = e2e::run({SHIPLOG_KAFKA_SCRIPT, "fetch"}, {}, "", std::chrono::minutes{6});
  if (!fetched.ok()) give_up("\n" + fetched.err);
  for (int node = 1; node <= brokers; ++node) {
    nodes_.push_back({free_port(), free_port(), nullptr});
    const std::string comma = node == 1 ? "" : ",";
    bootstrap_ += comma + "127.0.0.1:" + std::to_string(nodes_.back().port);
    voters_ += comma + std::to_string(node) + "@127.0.0.1:" + std::to_string(nodes_.back().controller_port);
  }
  for (int node = 0; node < brokers; ++node) start(node);
  wait_ready(brokers);
}

KafkaCluster::~KafkaCluster() {
  for (Node& node : nodes_) {
    if (node.process) node.process->kill();
  }
  if (::testing::UnitTest::GetInstance()->Failed()) print_logs();
}

void KafkaCluster::start(int broker) {
  Node& node = nodes_.at(static_cast<size_t>(broker));
  const std::string folder = this->folder(static_cast<size_t>(broker));
  std::vector<std::string> command = {SHIPLOG_KAFKA_SCRIPT,      "run",  folder, std::to_string(broker + 1),
                                      std::to_string(node.port), voters_};
  for (std::string setting : settings_) {
    replace_all(setting, "{port}", std::to_string(node.port));
    replace_all(setting, "{controller}", std::to_string(node.controller_port));
    command.push_back(std::move(setting));
  }
  e2e::Environment extra;
  if (nodes_.size() > 1) extra["SHIPLOG_KAFKA_HEAP"] = "256m";
  node.process = std::make_unique<e2e::Process>(std::move(command), extra, folder + ".log");
}

void KafkaCluster::change(const std::string& name, const std::string& value) {
  const auto is_it = [&](const std::string& setting) { return setting.starts_with(name + "="); };
  std::erase_if(settings_, is_it);
  settings_.push_back(name + "=" + value);
}

void KafkaCluster::kill(int broker) { nodes_.at(static_cast<size_t>(broker)).process->kill(); }

void KafkaCluster::wait_ready(int brokers) {
  bool answered = false;
  e2e::eventually(
      [&] {
        for (Node& node : nodes_) {
          if (node.process && !node.process->running() && brokers == static_cast<int>(nodes_.size())) return true;
        }
        return answered = reachable_brokers(bootstrap_) >= brokers;
      },
      std::chrono::minutes{4});  // three brokers start concurrently, possibly on a busy machine
  if (answered) return;
  print_logs();
  for (Node& node : nodes_) {
    if (node.process) node.process->kill();
  }
  give_up("the broker does not start; its output is above, and in " + folder_.path());
}

KafkaCluster::Partition KafkaCluster::partition(const std::string& topic) const {
  const KafkaHandle handle{RD_KAFKA_PRODUCER, bootstrap_};
  rd_kafka_topic_t* asked = rd_kafka_topic_new(handle.get(), topic.c_str(), nullptr);
  const rd_kafka_metadata_t* metadata = nullptr;
  Partition partition;
  if (rd_kafka_metadata(handle.get(), 0, asked, &metadata, 5000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (metadata->topic_cnt == 1 && metadata->topics[0].partition_cnt > 0) {
      partition.leader = std::max(metadata->topics[0].partitions[0].leader - 1, -1);
      partition.in_sync = metadata->topics[0].partitions[0].isr_cnt;
    }
    rd_kafka_metadata_destroy(metadata);
  }
  rd_kafka_topic_destroy(asked);
  return partition;
}

void KafkaCluster::make_topic(const std::string& name, int partitions, const KafkaSettings& settings) {
  const KafkaHandle handle{RD_KAFKA_PRODUCER, bootstrap_};
  char error[256] = "";
  rd_kafka_NewTopic_t* topic = rd_kafka_NewTopic_new(name.c_str(), partitions, 1, error, sizeof error);
  for (const auto& [key, value] : settings) rd_kafka_NewTopic_set_config(topic, key.c_str(), value.c_str());
  rd_kafka_queue_t* queue = rd_kafka_queue_new(handle.get());
  rd_kafka_CreateTopics(handle.get(), &topic, 1, nullptr, queue);
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 60'000);
  size_t count = 0;
  const auto* results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
  if (count != 1 || rd_kafka_topic_result_error(results[0]) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    ADD_FAILURE() << "topic " << name << ": "
                  << (count == 1 ? rd_kafka_topic_result_error_string(results[0]) : rd_kafka_event_error_string(event));
  }
  rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
  rd_kafka_NewTopic_destroy(topic);
}

void KafkaCluster::delete_topic(const std::string& name) {
  const KafkaHandle handle{RD_KAFKA_PRODUCER, bootstrap_};
  rd_kafka_DeleteTopic_t* topic = rd_kafka_DeleteTopic_new(name.c_str());
  rd_kafka_queue_t* queue = rd_kafka_queue_new(handle.get());
  rd_kafka_DeleteTopics(handle.get(), &topic, 1, nullptr, queue);
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 60'000);
  size_t count = 0;
  const auto* results = rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count);
  if (count != 1 || rd_kafka_topic_result_error(results[0]) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    ADD_FAILURE() << "topic " << name << ": "
                  << (count == 1 ? rd_kafka_topic_result_error_string(results[0]) : rd_kafka_event_error_string(event));
  }
  rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
  rd_kafka_DeleteTopic_destroy(topic);
}

KafkaHeaders KafkaCluster::headers_of_first(const std::string& topic) const {
  const KafkaHandle handle{RD_KAFKA_CONSUMER, bootstrap_};
  rd_kafka_topic_t* read = rd_kafka_topic_new(handle.get(), topic.c_str(), nullptr);
  rd_kafka_consume_start(read, 0, RD_KAFKA_OFFSET_BEGINNING);
  KafkaHeaders all;
  if (rd_kafka_message_t* message = rd_kafka_consume(read, 0, 60'000)) {
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
      const char* name = nullptr;
      const void* value = nullptr;
      size_t size = 0;
      for (size_t index = 0;
           rd_kafka_header_get_all(headers, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++index) {
        all.emplace_back(name, std::string{static_cast<const char*>(value), size});
      }
    }
    rd_kafka_message_destroy(message);
  }
  rd_kafka_consume_stop(read, 0);
  rd_kafka_topic_destroy(read);
  return all;
}

std::string KafkaCluster::segment(const std::string& topic, int broker) const {
  return folder(static_cast<size_t>(broker)) + "/data/" + topic + "-0/00000000000000000000.log";
}

std::string KafkaCluster::bytes_on_disk(const std::string& topic, int broker) const {
  std::string all;
  std::error_code vanished;  // the log cleaner replaces files at the same time
  for (const auto& file :
       std::filesystem::directory_iterator(folder(static_cast<size_t>(broker)) + "/data/" + topic + "-0", vanished)) {
    all += e2e::read_file(file.path().string());
  }
  return all;
}

void KafkaCluster::print_logs() const {
  for (size_t node = 0; node < nodes_.size(); ++node) {
    const std::string text = e2e::read_file(folder(node) + ".log");
    constexpr size_t kEnd = 4000;
    std::cerr << "--- log of broker " << node + 1 << "\n" << text.substr(text.size() - std::min(text.size(), kEnd));
  }
}

namespace {

std::unique_ptr<KafkaCluster>& the_shared_one() {
  static std::unique_ptr<KafkaCluster> cluster;
  return cluster;
}

class StopAtTheEnd final : public ::testing::Environment {
 public:
  void TearDown() override { the_shared_one().reset(); }
};

// Registered before main() parses flags, so that TearDown always runs.
[[maybe_unused]] const auto* const kStopAtTheEnd = ::testing::AddGlobalTestEnvironment(new StopAtTheEnd);

}  // namespace

KafkaCluster& shared_cluster() {
  auto& cluster = the_shared_one();
  if (!cluster) cluster = std::make_unique<KafkaCluster>(1, std::vector<std::string>{"log.cleaner.backoff.ms=200"});
  return *cluster;
}

std::string new_fleet() {
  static std::atomic<int> number{0};
  return "fleet" + std::to_string(++number);
}

}  // namespace shiplog::kafka_test
