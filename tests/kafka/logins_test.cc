// Logins with a password and with a token, refused ones, and a broker that slows its clients down.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/system.h"
#include "tests/journal_contract/journal_contract.h"
#include "tests/kafka/cluster.h"
#include "tests/support/fleet.h"

namespace shiplog {
// Only the functions of the contract that append and read are used here.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(JournalContract);
}  // namespace shiplog

namespace shiplog::kafka_test {
namespace {

const std::string kModules = "org.apache.kafka.common.security.";
const std::string kPasswords = "listener.name.plain.plain.sasl.jaas.config";
const std::string kRight = kModules + "plain.PlainLoginModule required user_shiplog=\"right\"";

struct Listeners {
  int plain = free_port(), oauth = free_port();
};

std::vector<std::string> settings_of(const Listeners& listeners) {
  const std::string protocols = "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PLAIN:SASL_PLAINTEXT,OAUTH:SASL_PLAINTEXT";
  return {"listeners=PLAINTEXT://127.0.0.1:{port},PLAIN://127.0.0.1:" + std::to_string(listeners.plain) +
              ",OAUTH://127.0.0.1:" + std::to_string(listeners.oauth) + ",CONTROLLER://127.0.0.1:{controller}",
          "advertised.listeners=PLAINTEXT://127.0.0.1:{port},PLAIN://127.0.0.1:" + std::to_string(listeners.plain) +
              ",OAUTH://127.0.0.1:" + std::to_string(listeners.oauth),
          "listener.security.protocol.map=" + protocols,
          "inter.broker.listener.name=PLAINTEXT",
          "listener.name.plain.sasl.enabled.mechanisms=PLAIN",
          kPasswords + "=" + kRight + ";",
          "listener.name.oauth.sasl.enabled.mechanisms=OAUTHBEARER",
          "listener.name.oauth.oauthbearer.sasl.jaas.config=" + kModules +
              "oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=\"broker\";",
          "log.cleaner.backoff.ms=200"};
}

class KafkaLogins : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    listeners_ = std::make_unique<Listeners>();
    cluster_ = std::make_unique<KafkaCluster>(1, settings_of(*listeners_));
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  static KafkaJournalOptions with_password(const std::string& password) {
    KafkaJournalOptions options;
    options.brokers = "127.0.0.1:" + std::to_string(listeners_->plain);
    options.topic = new_fleet() + ".journal";
    options.settings = {{"security.protocol", "sasl_plaintext"},
                        {"sasl.mechanism", "PLAIN"},
                        {"sasl.username", "shiplog"},
                        {"sasl.password", password}};
    return options;
  }
  /// Writes a token that the broker accepts without a signature.
  static void write_token(const std::string& file, int64_t seconds) {
    const int64_t now = SystemClock{}.now().value / 1000;
    const std::string claims =
        R"({"sub":"shiplog","iat":)" + std::to_string(now - 1) + R"(,"exp":)" + std::to_string(now + seconds) + "}";
    e2e::write_file(file, base64url_encode(R"({"alg":"none"})") + "." + base64url_encode(claims) + ".\n");
  }
  static KafkaJournalOptions with_token(const std::string& file) {
    KafkaJournalOptions options;
    options.brokers = "127.0.0.1:" + std::to_string(listeners_->oauth);
    options.topic = new_fleet() + ".journal";
    options.settings = {{"security.protocol", "sasl_plaintext"},
                        {"sasl.mechanism", "OAUTHBEARER"},
                        {"sasl.oauthbearer.config", "file=" + file}};
    return options;
  }
  static void expect_appends_and_reads(const KafkaJournalOptions& options) {
    auto journal = open_kafka_journal(options);
    ASSERT_TRUE(journal) << journal.error().message;
    for (const char* bytes : {"one", "two"}) append_now(*journal.value(), bytes);
    const auto records = read_all(*journal.value());
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[1].bytes, "two");
  }

  TestDirectory folder_{"logins"};
  static inline std::unique_ptr<Listeners> listeners_;
  static inline std::unique_ptr<KafkaCluster> cluster_;
};

TEST_F(KafkaLogins, WithAPasswordAJournalIsWrittenAndRead) { expect_appends_and_reads(with_password("right")); }

TEST_F(KafkaLogins, WithATokenAJournalIsWrittenAndRead) {
  const std::string file = folder_.file("token");
  write_token(file, 3600);
  expect_appends_and_reads(with_token(file));
}

TEST_F(KafkaLogins, ATokenThatIsNoneIsAnErrorThatNamesTheFile) {
  const std::string file = folder_.file("token");
  KafkaJournalOptions options = with_token(file);
  const auto expect_error = [&](const std::string& text) {
    const auto opened = open_kafka_journal(options);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
    EXPECT_NE(opened.error().message.find(text), std::string::npos) << opened.error().message;
    EXPECT_NE(opened.error().message.find("sasl.oauthbearer.config"), std::string::npos) << opened.error().message;
  };
  expect_error(file);  // missing
  e2e::write_file(file, "no token");
  expect_error("does not hold a JSON Web Token");
  options.settings["enable.sasl.oauthbearer.unsecure.jwt"] = "true";
  expect_error("neither sasl.oauthbearer.method nor");
}

TEST_F(KafkaLogins, ATokenThatHasExpiredIsReplacedWhenTheBrokerComesBack) {
  const std::string file = folder_.file("token");
  write_token(file, 3);
  const auto opened = open_kafka_journal(with_token(file));
  ASSERT_TRUE(opened) << opened.error().message;
  write_token(file, 3600);  // as another program renews it
  Journal* const journal = opened.value().get();
  const auto tail = journal->tail(Offset{0});
  ASSERT_TRUE(tail) << tail.error().message;
  append_now(*journal, "before");
  cluster_->kill(0);
  cluster_->start(0);
  cluster_->wait_ready(1);
  append_now(*journal, "after");
  std::vector<JournalRecord> records;
  EXPECT_TRUE(e2e::eventually([&] {
    auto more = tail.value()->next(10, Millis{500});
    if (more) std::ranges::move(more.value(), std::back_inserter(records));
    return records.size() >= 2;
  }));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].bytes, "after");
  const auto head = journal->head();
  EXPECT_TRUE(head) << head.error().message;
}

TEST_F(KafkaLogins, AWrongPasswordIsAnErrorThatNamesTheOptionAndNotThePassword) {
  const auto opened = open_kafka_journal(with_password("wrong-one"));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
  const std::string& message = opened.error().message;
  EXPECT_NE(message.find("the brokers refuse the login"), std::string::npos) << message;
  EXPECT_NE(message.find("sasl.password"), std::string::npos) << message;
  EXPECT_EQ(message.find("wrong-one"), std::string::npos) << message;
}

// As of a broker that has just started, and has not read the logins yet.
TEST_F(KafkaLogins, ALoginThatIsRefusedAtFirstIsTriedAgain) {
  KafkaJournalOptions options = with_password("soon");
  options.settings["sasl.username"] = "late";
  options.open_timeout = Millis{120'000};
  std::atomic<bool> refused = false;
  options.log = [&](int /*level*/, const std::string& line) {
    if (line.find("SASL authentication error") != std::string::npos) refused = true;
  };
  auto opening = std::async(std::launch::async, [&] { return open_kafka_journal(options); });
  EXPECT_TRUE(e2e::eventually([&] { return refused.load(); }));
  EXPECT_EQ(opening.wait_for(std::chrono::milliseconds{2'500}), std::future_status::timeout) << "it was given up";
  cluster_->kill(0);
  cluster_->change(kPasswords, kRight + " user_late=\"soon\";");
  cluster_->start(0);
  cluster_->wait_ready(1);
  const auto opened = opening.get();
  EXPECT_TRUE(opened) << opened.error().message;
}

TEST_F(KafkaLogins, AMechanismThatTheBrokerDoesNotHaveIsReported) {
  KafkaJournalOptions options = with_password("right");
  options.settings["sasl.mechanism"] = "SCRAM-SHA-512";
  const auto opened = open_kafka_journal(options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalid) << opened.error().message;
  EXPECT_NE(opened.error().message.find("sasl.mechanism"), std::string::npos) << opened.error().message;
}

TEST_F(KafkaLogins, AProcessWithAWrongPasswordEndsAtItsStartAndSaysWhy) {
  e2e::Fleet fleet;
  fleet.serve("plane",
              {"--journal=kafka:127.0.0.1:" + std::to_string(listeners_->plain) + "/" + new_fleet(),
               "--kafka-option=security.protocol=sasl_plaintext", "--kafka-option=sasl.mechanism=PLAIN",
               "--kafka-option=sasl.username=shiplog", "--kafka-option=sasl.password=wrong-one"},
              false);
  EXPECT_TRUE(e2e::eventually([&] { return !fleet.process("plane").running(); })) << fleet.log_tail("plane");
  EXPECT_EQ(fleet.process("plane").terminate(), 1);
  EXPECT_NE(fleet.log_tail("plane").find("check the values of --kafka-option"), std::string::npos)
      << fleet.log_tail("plane");
  EXPECT_EQ(fleet.log_tail("plane").find("wrong-one"), std::string::npos);
}

TEST_F(KafkaLogins, AQuotaOfTheBrokerSlowsWritersDownAndLosesNothing) {
  const auto quota = [&](const std::string& change, const std::string& setting) {
    const e2e::Ran ran =
        e2e::run({SHIPLOG_KAFKA_SCRIPT, "tool", "kafka.admin.ConfigCommand", "--bootstrap-server",
                  cluster_->bootstrap(), "--alter", change, setting, "--entity-type", "clients", "--entity-default"},
                 {}, "", e2e::kPatience);
    ASSERT_TRUE(ran.ok()) << ran;
  };
  quota("--add-config", "producer_byte_rate=14000");
  KafkaJournalOptions options;
  options.brokers = cluster_->bootstrap();
  options.topic = new_fleet() + ".journal";
  options.settings = {{"compression.type", "none"}};
  const auto journal = open_kafka_journal(options).value();
  constexpr int kEntries = 60;
  std::vector<std::future<Result<Offset>>> appended;
  for (int i = 0; i < kEntries; ++i) {
    auto promise = std::make_shared<std::promise<Result<Offset>>>();
    appended.push_back(promise->get_future());
    journal->append(std::to_string(i) + std::string(3000, 'x'),
                    [promise](Result<Offset> result) { promise->set_value(std::move(result)); });
    // One after the other: what is sent in one request is stored in one, whatever the quota.
    if (i % 10 == 9) appended.back().wait();
  }
  quota("--delete-config", "producer_byte_rate");
  for (auto& one : appended) {
    const auto outcome = one.get();
    EXPECT_TRUE(outcome) << outcome.error().message;
  }
  const auto records = read_all(*journal);
  ASSERT_EQ(records.size(), size_t{kEntries});
  for (int i = 0; i < kEntries; ++i)
    EXPECT_TRUE(records[static_cast<size_t>(i)].bytes.starts_with(std::to_string(i) + "x"));
  append_now(*journal, "recovered without a restart");
}

}  // namespace
}  // namespace shiplog::kafka_test
