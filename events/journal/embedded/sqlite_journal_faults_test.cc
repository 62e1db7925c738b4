// The behaviour when the operating system reports errors. This program defines its own pwrite64, ftruncate64 and
// fdatasync, which take precedence over those of the C library, so that SQLite meets the fault in the middle of a
// commit.

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <future>
#include <ranges>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "events/base/random.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "tests/journal_contract/append_and_wait.h"
#include "tests/support/test_directory.h"

namespace {

std::atomic<int> wal_write_error{0};  // errno, 0 for none
std::atomic<int> wal_writes_before_error{0};
std::atomic<bool> wal_write_fails_once{false};
std::atomic<int> wal_sync_error{0};
std::atomic<int> truncate_error{0};
std::atomic<bool> wal_unsynced{false};

bool is_wal(int fd) {
  char name[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = ::readlink(link.c_str(), name, sizeof name);
  return length > 0 && std::string_view(name, static_cast<size_t>(length)).ends_with("-wal");
}

template <class Function>
Function* in_c_library(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

int sync_or_fail(int fd, const char* name) {
  const bool wal = is_wal(fd);
  if (wal && wal_sync_error != 0) {
    errno = wal_sync_error;
    return -1;
  }
  const int synced = in_c_library<int(int)>(name)(fd);
  if (wal && synced == 0) wal_unsynced = false;
  return synced;
}

}  // namespace

extern "C" ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t at) {
  if (is_wal(fd)) {
    if (wal_write_error != 0 && wal_writes_before_error-- <= 0) {
      errno = wal_write_error;
      if (wal_write_fails_once) wal_write_error = 0;
      return -1;
    }
    wal_unsynced = true;
  }
  return in_c_library<ssize_t(int, const void*, size_t, off64_t)>("pwrite64")(fd, bytes, count, at);
}
extern "C" int ftruncate64(int fd, off64_t size) {
  if (truncate_error != 0) {
    errno = truncate_error;
    return -1;
  }
  return in_c_library<int(int, off64_t)>("ftruncate64")(fd, size);
}
extern "C" int fdatasync(int fd) { return sync_or_fail(fd, "fdatasync"); }
extern "C" int fsync(int fd) { return sync_or_fail(fd, "fsync"); }

namespace shiplog {
namespace {

using Strings = std::vector<std::string>;

class SqliteJournalFaults : public testing::Test {
 protected:
  void TearDown() override {
    wal_write_error = 0;
    wal_writes_before_error = 0;
    wal_write_fails_once = false;
    wal_sync_error = 0;
    truncate_error = 0;
  }

  // Records that have most pages in common: an append may find those of a failed one at its places in the WAL.
  static std::string record(char first) {
    SeededRandom random{3};
    std::string bytes(10'000, first);
    for (char& byte : bytes | std::views::drop(100)) byte = static_cast<char>(random_below(random, 256));
    return bytes;
  }
  Result<Offset> append_whose_sync_fails(const std::string& bytes) {
    wal_sync_error = EIO;
    auto refused = append_and_wait(*journal_, bytes);
    wal_sync_error = 0;
    return refused;
  }

  void expect_nothing_stored_whichever_write_fails() {
    ASSERT_TRUE(append_and_wait(*journal_, "before").has_value());
    int writes = 0;
    for (;; ++writes) {
      ASSERT_FALSE(append_whose_sync_fails(record('a')).has_value());
      wal_writes_before_error = writes;
      wal_write_error = EIO;
      const auto refused = append_and_wait(*journal_, record('b'));
      wal_write_error = 0;
      if (wal_writes_before_error == 0) break;  // there is no further write
      ASSERT_FALSE(refused.has_value());
      EXPECT_EQ(refused.error().code, ErrorCode::kIo) << refused.error().message;
      ASSERT_EQ(stored_after_crash(), Strings{"before"}) << writes << " writes before";
    }
    EXPECT_GT(writes, 8) << "header and page of each frame";
    EXPECT_EQ(stored_after_crash(), (Strings{"before", record('b')}));
  }

  std::vector<std::string> stored(Journal& journal) {
    std::vector<std::string> all;
    const auto records = journal.tail({}).value()->next(1000, Millis{0});
    for (const auto& record : records.value()) all.push_back(record.bytes);
    return all;
  }

  // As if all processes of the machine had been killed at this moment.
  std::vector<std::string> stored_after_crash() {
    const std::string copy = directory_.file("copy.db");
    for (const char* suffix : {"", "-wal"}) {
      std::filesystem::copy_file(path_ + suffix, copy + suffix, std::filesystem::copy_options::overwrite_existing);
    }
    std::filesystem::remove(copy + "-shm");
    return stored(*open_sqlite_journal(copy).value());
  }

  bool failed_once_ = false;
  TestDirectory directory_{"journal"};
  const std::string path_ = directory_.file("journal.db");
  std::unique_ptr<Journal> journal_ = std::move(open_sqlite_journal(path_)).value();
};

TEST_F(SqliteJournalFaults, OnAFullDiskCertainlyNothingIsStoredAndLaterAppendsGoOn) {
  ASSERT_TRUE(append_and_wait(*journal_, "before").has_value());
  wal_write_error = ENOSPC;
  const auto refused = append_and_wait(*journal_, "while full");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kIo);
  EXPECT_NE(refused.error().message.find("disk is full"), std::string::npos) << refused.error().message;
  EXPECT_EQ(stored_after_crash(), Strings{"before"});
  wal_write_error = 0;
  EXPECT_EQ(append_and_wait(*journal_, "after").value(), Offset{1});
  EXPECT_EQ(stored(*journal_), (Strings{"before", "after"}));
}

// The disk fills up while the file becomes smaller, and has room again at the next trim.
TEST_F(SqliteJournalFaults, OnAFullDiskTheFileKeepsItsSizeAndTheNextTrimMakesItSmaller) {
  std::promise<void> failed, done;
  SqliteJournalOptions options;
  options.shrinking = [&](const JournalShrinking& progress) {
    if (!progress.done && wal_write_error == 0 && !failed_once_) wal_write_error = ENOSPC;
    if (progress.done) done.set_value();
  };
  options.shrinking_failed = [&](const Error& error) {
    EXPECT_NE(error.message.find("disk is full"), std::string::npos) << error.message;
    failed_once_ = true;
    wal_write_error = 0;
    failed.set_value();
  };
  journal_.reset();
  journal_ = std::move(open_sqlite_journal(path_, options)).value();
  Strings kept;
  SeededRandom random{3};
  for (int number = 0; number < 600; ++number) {
    std::string bytes(3000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random_below(random, 256));
    ASSERT_TRUE(append_and_wait(*journal_, bytes).has_value());
    if (number >= 590) kept.push_back(bytes);
  }
  ASSERT_TRUE(journal_->trim(Offset{580}).has_value());
  failed.get_future().wait();
  EXPECT_EQ(append_and_wait(*journal_, "after").value(), Offset{600});
  kept.push_back("after");
  const auto size = std::filesystem::file_size(path_) + std::filesystem::file_size(path_ + "-wal");
  ASSERT_TRUE(journal_->trim(Offset{590}).has_value());
  done.get_future().wait();
  EXPECT_LT(std::filesystem::file_size(path_), size / 2);
  EXPECT_EQ(stored(*journal_), kept);
  EXPECT_EQ(stored_after_crash(), kept);
}

TEST_F(SqliteJournalFaults, AfterAFailedWriteCertainlyNothingIsStored) {
  ASSERT_TRUE(append_and_wait(*journal_, "before").has_value());
  wal_write_error = EIO;
  const auto refused = append_and_wait(*journal_, "while broken");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kIo);
  EXPECT_NE(refused.error().message.find(path_), std::string::npos) << refused.error().message;
  EXPECT_EQ(stored_after_crash(), Strings{"before"});
  wal_write_error = 0;
  EXPECT_EQ(append_and_wait(*journal_, "after").value(), Offset{1});
}

TEST_F(SqliteJournalFaults, WhicheverWriteFailsNothingIsStoredNorComesBackWhatFailedBefore) {
  wal_write_fails_once = true;
  expect_nothing_stored_whichever_write_fails();
}

TEST_F(SqliteJournalFaults, WhicheverWriteIsTheFirstToFailNothingIsStoredNorComesBackWhatFailedBefore) {
  expect_nothing_stored_whichever_write_fails();
}

TEST_F(SqliteJournalFaults, AfterAFailedSyncNothingIsStoredNotEvenAfterACrash) {
  ASSERT_TRUE(append_and_wait(*journal_, "before").has_value());
  wal_sync_error = EIO;
  for (int i = 0; i < 3; ++i) {
    const auto refused = append_and_wait(*journal_, "entry of some length " + std::string(10'000, 'x'));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::kIo) << refused.error().message;
    EXPECT_NE(refused.error().message.find("nothing was stored"), std::string::npos) << refused.error().message;
    EXPECT_EQ(stored(*journal_), Strings{"before"});
    EXPECT_EQ(journal_->head().value(), Offset{1});
    wal_sync_error = 0;
    EXPECT_EQ(stored_after_crash(), Strings{"before"}) << "a refused write must not reappear";
    wal_sync_error = EIO;
  }
  wal_sync_error = 0;
  EXPECT_EQ(append_and_wait(*journal_, "after").value(), Offset{1});
  EXPECT_EQ(stored(*journal_), (Strings{"before", "after"}));
  EXPECT_EQ(stored_after_crash(), (Strings{"before", "after"}));
}

TEST_F(SqliteJournalFaults, WhenAFailedCommitCannotBeCutOffTheOutcomeIsUnknownAndARetryIsStored) {
  ASSERT_TRUE(append_and_wait(*journal_, "before").has_value());
  truncate_error = EIO;
  const auto unknown = append_whose_sync_fails("entry");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, ErrorCode::kUnknownOutcome) << unknown.error().message;
  EXPECT_EQ(stored(*journal_), Strings{"before"}) << "a tail delivers only what is durable";
  truncate_error = 0;
  EXPECT_EQ(stored_after_crash(), (Strings{"before", "entry"})) << "then it was not unknown but certainly not stored";
  EXPECT_TRUE(append_and_wait(*journal_, "entry").has_value());
  EXPECT_EQ(stored_after_crash(), (Strings{"before", "entry"}));
}

TEST_F(SqliteJournalFaults, AFileThatWasRemovedOrReplacedAcceptsNoFurtherEntries) {
  for (const char* suffix : {"", "-wal"}) {
    ASSERT_TRUE(append_and_wait(*journal_, "before").has_value());
    std::filesystem::rename(path_ + suffix, path_ + ".moved");
    const auto removed = append_and_wait(*journal_, "lost");
    ASSERT_FALSE(removed.has_value()) << suffix;
    EXPECT_EQ(removed.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(removed.error().message.find("was removed while"), std::string::npos) << removed.error().message;
    std::filesystem::copy_file(path_ + ".moved", path_ + suffix);
    const auto replaced = append_and_wait(*journal_, "lost");
    ASSERT_FALSE(replaced.has_value()) << suffix;
    EXPECT_NE(replaced.error().message.find("was replaced while"), std::string::npos) << replaced.error().message;
    std::filesystem::rename(path_ + ".moved", path_ + suffix);  // the original file
    EXPECT_TRUE(append_and_wait(*journal_, "after").has_value());
  }
}

TEST_F(SqliteJournalFaults, ARefusedGroupIsRefusedWhole) {
  wal_write_error = ENOSPC;
  std::promise<void> last;
  int refused = 0;
  for (int i = 0; i < 50; ++i) {
    journal_->append(std::string(5000, 'x'), [&](const Result<Offset>& answer) {
      EXPECT_FALSE(answer.has_value());
      if (++refused == 50) last.set_value();
    });
  }
  last.get_future().wait();
  wal_write_error = 0;
  EXPECT_EQ(append_and_wait(*journal_, "after").value(), Offset{0});
  EXPECT_EQ(stored(*journal_), Strings{"after"});
}

TEST_F(SqliteJournalFaults, AcknowledgesOnlyWhatIsSynced) {
  int answered = 0;
  std::promise<void> last;
  for (int i = 0; i < 300; ++i) {
    journal_->append(std::string(static_cast<size_t>(i) * 40, 'x'), [&](const Result<Offset>& answer) {
      EXPECT_TRUE(answer.has_value());
      EXPECT_FALSE(wal_unsynced);  // the calling thread is the writing thread
      if (++answered == 300) last.set_value();
    });
  }
  last.get_future().wait();
}

TEST_F(SqliteJournalFaults, AnAcknowledgementFollowsTheSyncEvenIfAlone) {
  for (int i = 0; i < 20; ++i) {
    wal_unsynced = false;
    EXPECT_TRUE(append_and_wait(*journal_, "x").has_value());
    EXPECT_FALSE(wal_unsynced);
  }
}

}  // namespace
}  // namespace shiplog
