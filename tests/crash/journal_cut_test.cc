// The files of the embedded journal, truncated at every byte near their ends and corrupted byte by byte: each time the
// result is the complete journal, or a correct prefix with an error that names the missing entries. Entries are never
// lost silently, and nothing crashes.
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events/base/random.h"
#include "events/journal/embedded/journal_file.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "tests/crash/control_plane.h"
#include "tests/journal_contract/append_and_wait.h"
#include "tests/support/process.h"
#include "tests/support/test_directory.h"

namespace shiplog::crash {
namespace {

using e2e::read_file;
using e2e::write_file;

constexpr size_t kPage = 4096;
constexpr size_t kFrame = kPage + 24;
constexpr int kBefore = 40;  // records in the file itself, checkpointed and synced
constexpr int kAfter = 25;   // records in the write-ahead log only

/// The result of opening and reading a journal.
struct OpenedJournal {
  size_t records = 0;  ///< read, each with the bytes that were written
  std::optional<Error> refusal;
};

class JournalCut : public ::testing::Test {
 protected:
  JournalCut() {
    store(kBefore);  // closing moves all records into the file
    auto journal = std::move(open_sqlite_journal(path_)).value();
    for (int number = 0; number < kAfter; ++number) store_one(*journal);
    file_ = read_file(path_);
    wal_ = read_file(path_ + "-wal");
    head_ = read_file(path_ + "-head");
    EXPECT_GT(wal_.size(), kAfter * kFrame);
    EXPECT_FALSE(head_.empty());
  }

  void store(int count) {
    auto journal = std::move(open_sqlite_journal(path_)).value();
    for (int number = 0; number < count; ++number) store_one(*journal);
  }

  /// Compression saves a quarter of it only, so that records fill pages.
  std::string text(size_t size) {
    std::string letters;
    for (size_t letter = 0; letter < size; ++letter) {
      letters.push_back(static_cast<char>('0' + random_below(random_, 64)));
    }
    return letters;
  }

  void store_one(Journal& journal) {
    const size_t number = stored_.size();
    stored_.push_back(std::to_string(number) + " " + text(number * 433 % 6000));
    ASSERT_TRUE(append_and_wait(journal, stored_.back()));
  }

  /// Opens a copy with these files and reads all records, like a server and a tail.
  OpenedJournal open(const std::string& file, const std::string& wal, const std::string& head_bytes) {
    const std::string copy = directory_.file("copy.db");
    std::filesystem::remove(copy + "-shm");
    put(copy, file);
    put(copy + "-wal", wal);
    put(copy + "-head", head_bytes);
    OpenedJournal found;
    auto opened = open_sqlite_journal(copy);
    if (!opened) {
      found.refusal = opened.error();
    } else {
      // Switching between threads dominates the time: tails and appends are tested only at times.
      const bool all = opened_++ % 32 == 0;
      all ? read_tail(*opened.value(), found) : read_file_itself(copy, found);
      const auto head = opened.value()->head();
      if (!head) {
        found.refusal = head.error();
      } else if (!found.refusal) {
        EXPECT_EQ(head.value().value, static_cast<int64_t>(found.records));
      }
      if (all) {
        const auto appended = append_and_wait(*opened.value(), "one more");
        EXPECT_TRUE(!appended || head_bytes.empty() || found.refusal || found.records == stored_.size())
            << "an append hides the loss";
      }
    }
    if (found.refusal) {
      EXPECT_NE(found.refusal->message.find(copy), std::string::npos) << "which file? " << found.refusal->message;
      EXPECT_TRUE(found.refusal->code == ErrorCode::kCorrupt || found.refusal->code == ErrorCode::kInvalid)
          << found.refusal->message;
    }
    return found;
  }

  /// With an intact head file: complete or refused.
  void expect_whole_or_refused(const std::string& file, const std::string& wal, size_t at_least) {
    const OpenedJournal found = open(file, wal, head_);
    EXPECT_TRUE(found.refusal || found.records == stored_.size()) << found.records << " records without an error";
    EXPECT_TRUE(!found.refusal || found.records == 0 || found.records >= at_least) << found.refusal->message;
    (found.refusal ? refused_ : whole_) += 1;
  }

  static void put(const std::string& path, const std::string& bytes) {
    if (bytes.empty()) {
      std::filesystem::remove(path);
    } else {
      write_file(path, bytes);
    }
  }

  void read_tail(Journal& journal, OpenedJournal& found) {
    const auto tail = journal.tail({});
    if (!tail) {
      found.refusal = tail.error();
      return;
    }
    take(found, [&] { return tail.value()->next(64, Millis{0}); });
  }

  void read_file_itself(const std::string& path, OpenedJournal& found) {
    auto reader = embedded::FileReader::open(path, Millis{1000});
    if (!reader) {
      found.refusal = reader.error();
      return;
    }
    take(found, [&] { return reader.value().read(static_cast<int64_t>(found.records), 64); });
  }

  template <class Next>
  void take(OpenedJournal& found, Next next) {
    while (true) {
      const auto batch = next();
      if (!batch) {
        found.refusal = batch.error();
        EXPECT_NE(batch.error().message.find(std::to_string(found.records)), std::string::npos)
            << "which offset? " << batch.error().message;
        return;
      }
      if (batch.value().empty()) return;
      for (const JournalRecord& record : batch.value()) {
        EXPECT_EQ(record.offset.value, static_cast<int64_t>(found.records));
        EXPECT_TRUE(record.bytes == stored_.at(found.records)) << "wrong bytes at offset " << record.offset.value;
        ++found.records;
      }
    }
  }

  TestDirectory directory_{"journal", TestDirectory::in_memory()};
  const std::string path_ = directory_.file("journal.db");
  std::vector<std::string> stored_;
  SeededRandom random_{1};
  std::string file_, wal_, head_;
  size_t whole_ = 0, refused_ = 0, opened_ = 0;
  const size_t step_ = soak() > 1 ? 1 : 3;  // where not every byte is tested each time
};

TEST_F(JournalCut, ATruncatedWriteAheadLogIsRefusedWithTheMissingEntries) {
  ASSERT_EQ(open(file_, wal_, head_).records, stored_.size());
  for (size_t kept = wal_.size() - 1; kept + kFrame + 60 > wal_.size(); --kept) {
    SCOPED_TRACE(std::to_string(kept) + " of " + std::to_string(wal_.size()) + " bytes");
    const OpenedJournal found = open(file_, wal_.substr(0, kept), head_);
    ASSERT_TRUE(found.refusal) << "silent loss";
    EXPECT_NE(found.refusal->message.find("and entries " + std::to_string(found.records) + " to " +
                                          std::to_string(stored_.size() - 1) + " are missing"),
              std::string::npos)
        << found.refusal->message;
    EXPECT_GE(found.records, static_cast<size_t>(kBefore));
    EXPECT_EQ(std::filesystem::file_size(directory_.file("copy.db-wal")), kept) << "the evidence must be preserved";
    if (HasFailure()) return;
  }
  for (size_t kept = 0; kept + kFrame < wal_.size() && !HasFailure(); kept += 97 * step_) {
    SCOPED_TRACE(std::to_string(kept) + " of " + std::to_string(wal_.size()) + " bytes");
    expect_whole_or_refused(file_, wal_.substr(0, kept), kBefore);
  }
  EXPECT_EQ(whole_, 0U);
}

TEST_F(JournalCut, WithoutTheHeadFileATruncatedWriteAheadLogYieldsAPrefixWithAllCheckpointedRecords) {
  size_t before = stored_.size();
  for (size_t kept = wal_.size(); kept > 0 && !HasFailure(); kept -= std::min<size_t>(kept, 211 * step_)) {
    SCOPED_TRACE(std::to_string(kept) + " of " + std::to_string(wal_.size()) + " bytes");
    const OpenedJournal found = open(file_, wal_.substr(0, kept), "");
    EXPECT_FALSE(found.refusal) << found.refusal->message;
    EXPECT_GE(found.records, static_cast<size_t>(kBefore));
    EXPECT_LE(found.records, before) << "a shorter log yields more records";
    before = found.records;
  }
  EXPECT_EQ(before, static_cast<size_t>(kBefore));
}

TEST_F(JournalCut, ACorruptByteAtTheEndOfTheWriteAheadLogIsRefused) {
  for (size_t position = wal_.size() - 1; position + kFrame + 60 > wal_.size() && !HasFailure(); position -= step_) {
    SCOPED_TRACE("byte " + std::to_string(position) + " of " + std::to_string(wal_.size()));
    std::string corrupt = wal_;
    corrupt[position] = static_cast<char>(corrupt[position] ^ (1 << position % 8));
    expect_whole_or_refused(file_, corrupt, kBefore);
  }
  EXPECT_EQ(whole_, 0U);
}

TEST_F(JournalCut, AFileTruncatedInItsLastPagesIsRefused) {
  for (size_t kept = file_.size(); kept > 0 && !HasFailure();
       kept -= std::min(kept, kept + kPage + 60 > file_.size() ? step_ : 379 * step_)) {
    SCOPED_TRACE(std::to_string(kept) + " of " + std::to_string(file_.size()) + " bytes");
    expect_whole_or_refused(file_.substr(0, kept), wal_, 0);
  }
  EXPECT_GT(refused_, whole_);
}

TEST_F(JournalCut, ACorruptByteInTheLastPagesIsHarmlessOrRefused) {
  for (size_t position = file_.size() - 1; position + 2 * kPage > file_.size() && !HasFailure();
       position -= 2 * step_) {
    SCOPED_TRACE("byte " + std::to_string(position) + " of " + std::to_string(file_.size()));
    std::string corrupt = file_;
    corrupt[position] = static_cast<char>(corrupt[position] ^ (1 << position % 8));
    expect_whole_or_refused(corrupt, wal_, 0);
  }
  EXPECT_GT(refused_, 0U);
}

TEST_F(JournalCut, ADamagedHeadFileIsHarmlessToAnIntactJournal) {
  for (size_t position = 0; position < head_.size(); ++position) {
    std::string corrupt = head_;
    corrupt[position] = static_cast<char>(corrupt[position] ^ 0x10);
    for (const std::string& head_bytes : {corrupt, head_.substr(0, position)}) {
      const OpenedJournal found = open(file_, wal_, head_bytes);
      EXPECT_FALSE(found.refusal) << found.refusal->message;
      EXPECT_EQ(found.records, stored_.size());
    }
  }
}

TEST_F(JournalCut, ALostFileIsNotTreatedAsANewJournal) {
  const OpenedJournal found = open("", "", head_);
  ASSERT_TRUE(found.refusal);
  EXPECT_NE(found.refusal->message.find("entries 0 to " + std::to_string(stored_.size() - 1) + " are missing"),
            std::string::npos)
      << found.refusal->message;
  EXPECT_FALSE(std::filesystem::exists(directory_.file("copy.db")));
}

}  // namespace
}  // namespace shiplog::crash
