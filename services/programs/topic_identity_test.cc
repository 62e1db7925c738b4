#include "services/programs/topic_identity.h"

#include <future>

#include <gtest/gtest.h>

#include "events/journal/memory_journal.h"

namespace shiplog {
namespace {

void append(Journal& journal, const std::string& bytes) {
  std::promise<Result<Offset>> stored;
  journal.append(bytes, [&stored](Result<Offset> answer) { stored.set_value(std::move(answer)); });
  ASSERT_TRUE(stored.get_future().get());
}

/// A fleet of two topics whose processes share the log of identities.
class TopicIdentityTest : public ::testing::Test {
 protected:
  TopicIdentities process() {
    return TopicIdentities{{.log = log_,
                            .topics = {{"f.journal", record_}, {"f.keys", keys_}},
                            .pause =
                                [this] {
                                  ++pauses_;
                                  if (on_pause_) on_pause_();
                                },
                            .tries = 3}};
  }
  /// What another process says that starts now.
  std::string refusal() {
    auto checked = process().check();
    if (checked) return "";
    EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
    return checked.error().message;
  }
  static void expect_text(const std::string& message, const std::string& text) {
    EXPECT_NE(message.find(text), std::string::npos) << message;
  }

  std::shared_ptr<Journal> log_ = make_memory_journal();
  std::shared_ptr<Journal> record_ = make_memory_journal();
  std::shared_ptr<Journal> keys_ = make_memory_journal();
  int pauses_ = 0;
  std::function<void()> on_pause_;
};

TEST_F(TopicIdentityTest, TextIsReadBack) {
  const TopicIdentity identity{"f.journal", Offset{3}, "00ff", Offset{17}};
  EXPECT_EQ(topic_identity_from(to_text(identity)).value(), identity);
  for (const char* text : {"", "f.journal", "f.journal\n", "f.journal\nfirst=x digest=00 end=1",
                           "f.journal\nfirst=1 digest=00", "f.journal\nfirst=1 digest=00 end=1x"}) {
    EXPECT_FALSE(topic_identity_from(text)) << text;
  }
}

TEST_F(TopicIdentityTest, ATopicThatGrowsOrIsTrimmedIsTheSame) {
  EXPECT_EQ(refusal(), "") << "new and empty";
  append(*record_, "one");
  append(*keys_, "fleet\nkey");
  EXPECT_EQ(refusal(), "");
  append(*record_, "two");
  append(*record_, "three");
  EXPECT_EQ(refusal(), "");
  ASSERT_TRUE(record_->trim(Offset{2}));
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(refusal(), "") << "what is left after the trim was recorded";
  ASSERT_TRUE(record_->trim(Offset{3}));
  EXPECT_EQ(refusal(), "") << "all records were trimmed";
}

TEST_F(TopicIdentityTest, ATopicThatWasCreatedAgainIsRefusedWhateverItHolds) {
  append(*record_, "one");
  append(*record_, "two");
  append(*keys_, "fleet\nkey");
  ASSERT_EQ(refusal(), "");
  keys_ = make_memory_journal();
  expect_text(refusal(), "it ends at offset 0, but has had records up to offset 0");
  append(*keys_, "fleet\nanother key");
  append(*keys_, "key/1\nx");
  expect_text(refusal(), "its record at offset 0 is not the one");
  EXPECT_GT(pauses_, 0) << "it was looked at again";
}

TEST_F(TopicIdentityTest, ATopicThatWasTrimmedBeforeItWasCreatedAgainIsRefused) {
  for (const char* entry : {"one", "two", "three"}) append(*record_, entry);
  ASSERT_TRUE(record_->trim(Offset{2}));
  ASSERT_EQ(refusal(), "");
  record_ = make_memory_journal();
  for (const char* entry : {"one", "two", "three", "four"}) append(*record_, entry);
  expect_text(refusal(), "it begins at offset 0, but records before offset 2 had been deleted");
}

TEST_F(TopicIdentityTest, AShorterTopicIsRefusedAndTheErrorTellsWhatToDo) {
  append(*record_, "one");
  append(*record_, "two");
  ASSERT_EQ(refusal(), "");
  record_ = make_memory_journal();
  append(*record_, "one");
  const std::string error = refusal();
  expect_text(error, "it ends at offset 1, but has had records up to offset 1");
  expect_text(error, "restore the topic from a backup");
  expect_text(error, "delete the topic");
}

TEST_F(TopicIdentityTest, AnEndThatIsReportedTooEarlyForAMomentIsNoDifference) {
  append(*record_, "one");
  append(*record_, "two");
  ASSERT_EQ(refusal(), "");
  record_ = make_memory_journal();
  append(*record_, "one");
  on_pause_ = [this] { append(*record_, "two"); };  // the new leader of the partition answers
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(pauses_, 1);
}

TEST_F(TopicIdentityTest, ARunningProcessNoticesAReplacementByWhatAnotherOneRecorded) {
  TopicIdentities running = process();
  ASSERT_TRUE(running.check());
  append(*record_, "one");
  ASSERT_EQ(refusal(), "") << "another process records the first entry";
  ASSERT_TRUE(running.check());
  append(*log_, to_text({"f.journal", Offset{0}, "another digest", Offset{1}}));
  const auto checked = running.check();
  ASSERT_FALSE(checked);
  expect_text(checked.error().message, "is not the one that was there before");
}

TEST_F(TopicIdentityTest, WithoutChangesNothingIsRecorded) {
  append(*record_, "one");
  TopicIdentities running = process();
  ASSERT_TRUE(running.check());
  const Offset head = log_->head().value();
  ASSERT_TRUE(running.check());
  EXPECT_EQ(log_->head().value(), head);
  append(*log_, "damaged");
  const auto checked = running.check();
  ASSERT_FALSE(checked);
  expect_text(checked.error().message, "does not identify a topic");
}

}  // namespace
}  // namespace shiplog
