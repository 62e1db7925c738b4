// The key store that processes on several machines share, here in a journal in memory: what a real broker makes of it
// is tested in tests/kafka.
#include "services/adapters/vault/journal_key_store.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/journal/memory_journal.h"
#include "services/adapters/vault/vault.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

const ObjectKey kPasswordSecret{type::kSecret, "default", "password"};
const std::string kPlain = "aHVudGVyMg==";

/// A log whose brokers can be unreachable, and whose content can be read.
class Log final : public Journal {
 public:
  void append(std::string bytes, Appended done) override {
    if (away) return done(Error{ErrorCode::kUnknownOutcome, "nobody answers"});
    journal_->append(std::move(bytes), std::move(done));
  }
  Result<std::unique_ptr<Tail>> tail(Offset from) override { return journal_->tail(from); }
  Result<Offset> head() override {
    ++asked;
    if (away) return Error{ErrorCode::kUnavailable, "nobody answers"};
    return journal_->head();
  }
  Result<Offset> oldest() override { return journal_->oldest(); }
  Result<void> trim(Offset before) override { return journal_->trim(before); }
  std::string describe() const override { return "kafka:b:9092/fleet.keys"; }

  std::vector<std::string> records() {
    std::vector<std::string> all;
    const auto stored = journal_->tail({}).value()->next(10'000, Millis{0}).value();
    for (const auto& record : stored) all.push_back(record.bytes);
    return all;
  }
  bool comes_to_hold(const std::string& wanted) {
    const auto tail = journal_->tail({}).value();
    while (true) {
      const auto some = tail->next(1, Millis{60'000}).value();
      if (some.empty()) return false;
      if (some[0].bytes == wanted) return true;
    }
  }
  size_t count(const std::string& wanted) { return static_cast<size_t>(std::ranges::count(records(), wanted)); }

  std::atomic<bool> away{false};
  std::atomic<int> asked{0};

 private:
  std::shared_ptr<Journal> journal_ = make_memory_journal();
};

class JournalKeys : public ::testing::Test {
 protected:
  std::unique_ptr<Vault> open(const TestDirectory& folder) {
    auto vault = Vault::open_log(folder.path(), log_);
    EXPECT_TRUE(vault) << vault.error().message;
    return std::move(vault).value();
  }
  static Value secret(const std::string& text) {
    return Value::object({{"kind", "Secret"}, {"data", Value::object({{"word", text}})}});
  }
  void take_fleet_key_there() const { std::filesystem::copy_file(here_.file("fleet.key"), there_.file("fleet.key")); }
  static std::string id_in(const Value& sealed) { return sealed["data"]["word"].str().substr(18, 32); }
  static void remove(Vault& vault, const Value& sealed) {
    Folded folded;
    folded.changes.push_back({kPasswordSecret, Revision{9}, sealed, Value{}, nullptr});
    vault.on_folded(State{}, DecodedRecord{}, folded);
  }

  std::shared_ptr<Log> log_ = std::make_shared<Log>();
  TestDirectory here_{"keys"}, there_{"keys"};
};

TEST_F(JournalKeys, WhatOneMachineSealsAnotherOpensThatHasNothingButTheFleetsKey) {
  const auto api = open(here_);
  take_fleet_key_there();
  const auto dispatcher = open(there_);
  const Value sealed = api->seal(kPasswordSecret, secret(kPlain)).value();
  EXPECT_EQ(to_json(sealed).find("aHVudGVyMg"), std::string::npos);
  EXPECT_EQ(dispatcher->open(sealed).value(), secret(kPlain)) << "though it had read the log before";
  EXPECT_EQ(dispatcher->seal(kPasswordSecret, secret(kPlain)).value(), sealed) << "an object has one key";
  EXPECT_EQ(open(there_)->open(sealed).value(), secret(kPlain));
  for (const auto& file : std::filesystem::directory_iterator(there_.path())) {
    EXPECT_EQ(file.path().filename(), "fleet.key");
  }
}

TEST_F(JournalKeys, AProcessWithAnotherFleetsKeyOrNoneIsRefused) {
  open(here_);
  const auto none = Vault::open_log(there_.path(), log_);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("copy fleet.key"), std::string::npos) << none.error().message;
  EXPECT_FALSE(std::filesystem::exists(there_.file("fleet.key"))) << "none is made up";
  std::ofstream{there_.file("fleet.key")} << std::string(32, 'x');
  const auto other = Vault::open_log(there_.path(), log_);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kInvalid);
  EXPECT_NE(other.error().message.find("the same fleet.key"), std::string::npos) << other.error().message;
  open(here_);
}

TEST_F(JournalKeys, AKeyIsDestroyedWithATombstoneInEveryProcess) {
  const auto api = open(here_);
  take_fleet_key_there();
  const auto dispatcher = open(there_);
  const Value sealed = api->seal(kPasswordSecret, secret(kPlain)).value();
  EXPECT_EQ(dispatcher->open(sealed).value(), secret(kPlain));
  remove(*api, sealed);
  EXPECT_EQ(api->open_version(sealed).value(), secret("")) << "at once where the removal is folded";
  remove(*dispatcher, sealed);
  EXPECT_EQ(dispatcher->open_version(sealed).value(), secret(""));
  EXPECT_TRUE(log_->comes_to_hold("key/" + id_in(sealed)));
  EXPECT_EQ(open(here_)->open_version(sealed).value(), secret("")) << "and after a start";
  const Value again = api->seal(kPasswordSecret, secret(kPlain)).value();
  EXPECT_NE(id_in(again), id_in(sealed)) << "one of that name that comes later has another key";
  EXPECT_EQ(dispatcher->open(again).value(), secret(kPlain));
}

TEST_F(JournalKeys, OneThatLagsBehindDestroysTooAsTheOthersMayBeDead) {
  const auto lagging = JournalKeyStore::open(log_).value();
  const auto ahead = JournalKeyStore::open(log_).value();
  ASSERT_TRUE(ahead->add("one", kPasswordSecret, "wrapped"));
  ASSERT_TRUE(lagging->destroy({"one"})) << "it has not read of it yet";
  EXPECT_TRUE(log_->comes_to_hold("key/one"));
}

TEST_F(JournalKeys, HistoryThatIsFoldedAgainBuriesNothingTwice) {
  const auto first = JournalKeyStore::open(log_).value();
  ASSERT_TRUE(first->add("one", kPasswordSecret, "wrapped"));
  ASSERT_TRUE(first->destroy({"one"}));
  ASSERT_TRUE(log_->comes_to_hold("key/one"));
  {
    const auto second = JournalKeyStore::open(log_).value();
    ASSERT_TRUE(second->destroy({"one", "older than the log"}));
  }
  EXPECT_EQ(log_->count("key/one"), 1U);
  EXPECT_EQ(log_->count("key/older than the log"), 0U);
}

TEST_F(JournalKeys, WithoutBrokersNothingLooksDestroyedAndNothingIsSealedUnderAKeyThatIsNotStored) {
  const auto api = open(here_);
  const Value sealed = api->seal(kPasswordSecret, secret(kPlain)).value();
  const auto other = open(here_);
  const Value unknown = api->seal({type::kSecret, "default", "other"}, secret(kPlain)).value();
  log_->away = true;
  EXPECT_EQ(other->open(sealed).value(), secret(kPlain)) << "read at the start";
  EXPECT_EQ(other->open(unknown).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(other->seal({type::kSecret, "default", "third"}, secret(kPlain)).error().code, ErrorCode::kUnavailable);
  log_->away = false;
  EXPECT_EQ(other->open(unknown).value(), secret(kPlain));
}

TEST_F(JournalKeys, ATombstoneThatCannotBeWrittenIsTriedUntilItIs) {
  const auto api = open(here_);
  const Value sealed = api->seal(kPasswordSecret, secret(kPlain)).value();
  log_->away = true;
  remove(*api, sealed);
  EXPECT_EQ(api->open_version(sealed).value(), secret(""));
  log_->away = false;
  EXPECT_TRUE(log_->comes_to_hold("key/" + id_in(sealed)));
}

TEST_F(JournalKeys, WhatAKilledProcessDidNotDestroyTheNextOneDoes) {
  Value sealed;
  {
    const auto api = open(here_);
    sealed = api->seal(kPasswordSecret, secret(kPlain)).value();
  }  // the removal was folded and projected, and then the process was gone
  const Value present = open(here_)->seal({type::kSecret, "default", "present"}, secret(kPlain)).value();
  const auto next = open(here_);
  next->destroy_removed_keys([&](const ObjectKey& object) -> Result<std::vector<Value>> {
    return object == kPasswordSecret ? std::vector{sealed} : std::vector<Value>{};
  });
  EXPECT_TRUE(log_->comes_to_hold("key/" + id_in(sealed)));
  EXPECT_EQ(next->open_version(sealed).value(), secret(""));
  EXPECT_EQ(next->open(present).value(), secret(kPlain));
}

TEST_F(JournalKeys, ARecordAfterTheTombstonesLetsTheBrokerCompactThem) {
  const auto store = JournalKeyStore::open(log_, Millis{1}).value();
  ASSERT_TRUE(store->add("one", kPasswordSecret, "wrapped"));
  EXPECT_EQ(log_->count("roll\n{}"), 0U);
  ASSERT_TRUE(store->destroy({"one"}));
  EXPECT_TRUE(log_->comes_to_hold("roll\n{}"));
  EXPECT_EQ(log_->records().back(), "roll\n{}");
}

TEST_F(JournalKeys, LostKeysAreReadOnce) {
  const auto api = open(here_);
  const Value sealed = api->seal(kPasswordSecret, secret(kPlain)).value();
  remove(*api, sealed);
  ASSERT_TRUE(log_->comes_to_hold("key/" + id_in(sealed)));
  const auto next = open(here_);
  EXPECT_EQ(next->open_version(sealed).value(), secret(""));
  const int before = log_->asked;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(next->open_version(sealed).value(), secret(""));
  EXPECT_EQ(log_->asked, before);
}

TEST_F(JournalKeys, ALogWithAnotherWriterIsRefused) {
  open(here_);
  std::promise<void> written;
  log_->append("hello", [&](const Result<Offset>&) { written.set_value(); });
  written.get_future().wait();
  const auto opened = Vault::open_log(here_.path(), log_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace shiplog
