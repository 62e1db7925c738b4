// The kill tests on Apache Kafka, with kills of the broker itself.
#include <random>
#include <thread>

#include "events/journal/kafka/kafka_journal.h"
#include "tests/crash/kill_suite.h"
#include "tests/kafka/cluster.h"

namespace shiplog::crash {
namespace {

class OnBroker final : public JournalUnderTest {
 public:
  explicit OnBroker(const std::string& folder) : folder_{folder} {}
  std::string address() const override { return "kafka:" + kafka_test::shared_cluster().bootstrap() + "/" + fleet_; }
  std::vector<std::string> options() const override { return {"--keys-dir=" + folder_}; }
  Result<std::shared_ptr<Journal>> open() const override {
    KafkaJournalOptions options;
    options.brokers = kafka_test::shared_cluster().bootstrap();
    options.topic = fleet_ + ".journal";
    options.create = false;
    SHIPLOG_TRY(auto journal, open_kafka_journal(options));
    return std::shared_ptr<Journal>{std::move(journal)};
  }

 private:
  std::string folder_;
  std::string fleet_ = kafka_test::new_fleet();
};

JournalUnderTestFactory kafka_journal() {
  return {"kafka", [](const std::string& folder) -> std::unique_ptr<JournalUnderTest> {
            return std::make_unique<OnBroker>(folder);
          }};
}

// Requests wait while the broker is unreachable, and are answered or of unknown outcome; none is lost, none is applied
// twice.
TEST(KillBroker, TheBrokerIsKilledAndFrozenUnderLoad) {
  const uint64_t seed = seed_or(8);
  const ::testing::ScopedTrace trace{__FILE__, __LINE__, "SHIPLOG_CRASH_SEED=" + std::to_string(seed)};
  std::mt19937_64 random{seed};
  CrashControlPlane plane{
      kafka_journal(), CrashControlPlane::one_process(), {"--hash-every=50", "--snapshot-every=150"}};
  ClientWorkload load{seed, 4};
  plane.start_all(&load);
  kafka_test::KafkaCluster& broker = kafka_test::shared_cluster();
  for (int round = 0; round < 2 * soak() && !::testing::Test::HasFailure(); ++round) {
    ASSERT_TRUE(load.wait_for(20 + random() % 60)) << plane.fleet().log_tail("plane");
    if (round % 2 == 0) {
      broker.freeze(0);
      std::this_thread::sleep_for(std::chrono::milliseconds{random() % 2000});  // duration of the fault
      broker.thaw(0);
      continue;
    }
    broker.kill(0);
    if (random() % 2 == 0) plane.kill("plane", &load);
    broker.start(0);
    broker.wait_ready(1);
    if (!plane.fleet().process("plane").running()) plane.start("plane", &load);
  }
  ASSERT_TRUE(load.wait_for(20)) << plane.fleet().log_tail("plane");
  const auto operations = load.finish();
  for (const std::string& response : load.unexpected_responses()) ADD_FAILURE() << response;
  EXPECT_GT(load.acknowledged(), 20U) << "there was no load";
  plane.check(operations);
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Journal, Kill, ::testing::Values(kafka_journal()), backend_name);

}  // namespace shiplog::crash
