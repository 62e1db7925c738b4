#include "services/programs/transfer/journal_copy.h"

#include <future>
#include <memory>

#include <gtest/gtest.h>

#include "events/base/random.h"
#include "events/codec/codec.h"
#include "events/fold/fold.h"
#include "events/journal/memory_journal.h"
#include "services/programs/transfer/fleet_storage.h"
#include "tests/support/literals.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

Offset append(Journal& journal, const std::string& bytes) {
  std::promise<Result<Offset>> stored;
  journal.append(bytes, [&](Result<Offset> offset) { stored.set_value(std::move(offset)); });
  return stored.get_future().get().value();
}

/// Entries, each with the next id and second, and the state that they make.
struct Writing {
  Entry entry(std::vector<Event> events) {
    now = now + Millis{1000};
    Entry made;
    made.id = new_entry_id(random);
    made.time = now;
    made.events = std::move(events);
    return made;
  }
  State state;
  SeededRandom random{7};
  UtcMillis now{1'700'000'000'000};
};

/// A journal with so many accepted entries.
class JournalCopying : public testing::Test {
 protected:
  void fill(int entries) {
    for (int count = 0; count < entries; ++count) {
      const ObjectKey key{"configmaps", "default", "m" + std::to_string(count)};
      const Entry entry = history_.entry({ObjectCreated{
          key, Value::object({{"metadata", Value::object({{"name", key.name}, {"namespace", "default"}})}})}});
      EXPECT_FALSE(fold(history_.state, entry).refusal);
      written_.push_back(encode(entry));
      append(*source_, written_.back());
    }
  }
  void SetUp() override {
    const Entry first = history_.entry(
        {ObjectCreated{ObjectKey{type::kNamespace, "", "default"},
                       test::json(R"({"metadata":{"name":"default"},"spec":{"finalizers":["kubernetes"]}})")}});
    fold(history_.state, first);
    written_.push_back(encode(first));
    append(*source_, written_.back());
  }
  std::vector<std::string> records_of(Journal& journal) {
    const auto tail = journal.tail(Offset{0}).value();
    std::vector<std::string> found;
    while (true) {
      const auto records = tail->next(1000, Millis{0}).value();
      if (records.empty()) return found;
      for (const auto& record : records) found.push_back(record.bytes);
    }
  }

  Writing history_;
  std::vector<std::string> written_;
  std::shared_ptr<Journal> source_ = make_memory_journal();
  std::shared_ptr<Journal> target_ = make_memory_journal();
};

TEST_F(JournalCopying, KeepsBytesRevisionAndStateHash) {
  fill(50);
  const auto copied = copy_records(*source_, *target_, {.most_bytes_under_way = 300});
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(copied.value().entries, 51U);
  EXPECT_TRUE(copied.value().same_offsets);
  EXPECT_EQ(records_of(*target_), written_);
  const auto verified = verify_copy(*source_, *target_, {});
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_EQ(verified.value().revision, history_.state.revision());
  EXPECT_EQ(verified.value().state, history_.state.hash());
}

TEST_F(JournalCopying, ContinuesWhereAnInterruptedCopyStopped) {
  fill(9);
  for (int record = 0; record < 4; ++record) append(*target_, written_[static_cast<size_t>(record)]);
  const auto copied = copy_records(*source_, *target_, {});
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(copied.value().found, 4U);
  EXPECT_EQ(copied.value().entries, 6U);
  EXPECT_EQ(records_of(*target_), written_);
}

TEST_F(JournalCopying, RefusesATargetThatHoldsAnythingElse) {
  fill(3);
  append(*target_, written_[0]);
  append(*target_, written_[2]);
  const auto other = copy_records(*source_, *target_, {});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kConflict);
  EXPECT_NE(other.error().message.find("offset 1 "), std::string::npos) << other.error().message;
  EXPECT_EQ(records_of(*target_).size(), 2U) << "nothing was written";

  const auto longer = make_memory_journal();
  for (const auto& bytes : written_) append(*longer, bytes);
  append(*longer, written_[0]);
  EXPECT_EQ(copy_records(*source_, *longer, {}).error().code, ErrorCode::kConflict);
}

TEST_F(JournalCopying, RefusesATrimmedSource) {
  fill(5);
  ASSERT_TRUE(source_->trim(Offset{3}));
  const auto copied = copy_records(*source_, *target_, {});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, ErrorCode::kGone);
  EXPECT_NE(copied.error().message.find("begins at offset 3"), std::string::npos);
}

TEST_F(JournalCopying, CopiesUpToTheEndThatIsAskedFor) {
  fill(5);
  ASSERT_TRUE(copy_records(*source_, *target_, {.end = Offset{4}}));
  EXPECT_EQ(records_of(*target_).size(), 4U);
}

TEST_F(JournalCopying, VerifyingFindsWhatDiffers) {
  fill(5);
  for (const auto& bytes : written_) append(*target_, bytes);
  EXPECT_TRUE(verify_copy(*source_, *target_, {}));
  append(*target_, written_[3]);
  EXPECT_EQ(verify_copy(*source_, *target_, {}).error().code, ErrorCode::kCorrupt);
  const auto shuffled = make_memory_journal();
  for (const size_t at : {0U, 2U, 1U, 3U, 4U, 5U}) append(*shuffled, written_[at]);
  const auto differs = verify_copy(*source_, *shuffled, {});
  ASSERT_FALSE(differs);
  EXPECT_NE(differs.error().message.find("hash of the records"), std::string::npos) << differs.error().message;
}

TEST_F(JournalCopying, ADigestFoldsOnFromASnapshot) {
  fill(4);
  const State base = history_.state;
  const Offset next{static_cast<int64_t>(written_.size())};
  fill(0);
  const auto key = ObjectKey{"configmaps", "default", "late"};
  const Entry late = history_.entry(
      {ObjectCreated{key, Value::object({{"metadata", Value::object({{"name", "late"}, {"namespace", "default"}})}})}});
  fold(history_.state, late);
  append(*source_, encode(late));
  ASSERT_TRUE(source_->trim(Offset{2}));
  const auto digest = digest_of(*source_, {.base = &base, .base_next = next});
  ASSERT_TRUE(digest) << digest.error().message;
  EXPECT_EQ(digest.value().state, history_.state.hash());
  EXPECT_EQ(digest.value().last_id, late.id);
}

class KeyCopying : public testing::Test {
 protected:
  std::unique_ptr<SqliteKeyStore> store(const std::string& name) {
    return open_sqlite_key_store(folder_.file(name)).value();
  }
  TestDirectory folder_{"keys"};
};

TEST_F(KeyCopying, KeepsIdsWrappedKeysAndWhichIsTheNewest) {
  const auto from = store("from.db");
  const auto to = store("to.db");
  const ObjectKey object{"secrets", "default", "password"};
  ASSERT_TRUE(from->adopt("fleet"));
  ASSERT_TRUE(from->add("zz", object, "first"));
  ASSERT_TRUE(from->add("aa", object, "second"));
  EXPECT_EQ(copy_keys(*from, *to).value(), 2U);
  EXPECT_EQ(to->fingerprint().value(), "fleet");
  EXPECT_EQ(to->newest_of(object).value(), "aa");
  EXPECT_EQ(to->find("zz").value(), "first");

  ASSERT_TRUE(from->destroy({"zz"}));
  EXPECT_EQ(copy_keys(*from, *to).value(), 0U) << "a second time";
  EXPECT_FALSE(to->find("zz").value()) << "what was destroyed meanwhile is destroyed in the copy";
}

TEST_F(KeyCopying, RefusesAStoreOfAnotherFleet) {
  const auto from = store("from.db");
  const auto to = store("to.db");
  ASSERT_TRUE(from->adopt("fleet"));
  ASSERT_TRUE(from->add("a", {"secrets", "default", "x"}, "wrapped"));
  ASSERT_TRUE(to->adopt("another"));
  ASSERT_TRUE(to->add("b", {"secrets", "default", "y"}, "wrapped"));
  EXPECT_EQ(copy_keys(*from, *to).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace shiplog
