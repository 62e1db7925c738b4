#include "events/journal/embedded/sqlite_journal.h"

#include <csignal>
#include <fstream>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events/base/random.h"
#include "tests/journal_contract/append_and_wait.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

// Opens the file with SQLite itself, as another program would.
class OtherProgram {
 public:
  explicit OtherProgram(const std::string& path) { EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK); }
  ~OtherProgram() { sqlite3_close(db_); }
  void run(const char* sql) { EXPECT_EQ(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sql; }
  int64_t number(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK) << sql;
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW) << sql;
    const int64_t found = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return found;
  }

 private:
  sqlite3* db_ = nullptr;
};

class SqliteJournalTest : public testing::Test {
 protected:
  std::unique_ptr<Journal> open(SqliteJournalOptions options = {}) {
    auto opened = open_sqlite_journal(path_, options);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return std::move(opened).value();
  }

  static std::vector<std::string> records(Journal& journal) {
    const auto tail = journal.tail({}).value();
    std::vector<std::string> all;
    while (true) {
      auto some = tail->next(100, Millis{0}).value();
      if (some.empty()) return all;
      for (auto& record : some) all.push_back(std::move(record.bytes));
    }
  }

  // The result of opening the file as an ordinary user: root is not subject to permissions.
  static std::string refusal_to_ordinary_user(const std::string& path) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(1);
      const auto opened = open_sqlite_journal(path);
      const std::string message =
          opened ? "" : std::string(name_of(opened.error().code)) + " " + opened.error().message;
      ::_exit(::write(ends[1], message.data(), message.size()) == static_cast<ssize_t>(message.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    std::string message(4096, '\0');
    message.resize(static_cast<size_t>(::read(ends[0], message.data(), message.size())));
    ::close(ends[0]);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    return message;
  }

  void expect_refusal(const std::string& path, ErrorCode code, const std::string& expected_text,
                      SqliteJournalOptions options = {}) {
    const auto opened = open_sqlite_journal(path, options);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, code) << opened.error().message;
    EXPECT_NE(opened.error().message.find(path), std::string::npos) << opened.error().message;
    EXPECT_NE(opened.error().message.find(expected_text), std::string::npos) << opened.error().message;
  }

  TestDirectory directory_{"journal"};
  const std::string path_ = directory_.file("journal.db");
};

TEST_F(SqliteJournalTest, ReportsThatTheDirectoryDoesNotExist) {
  expect_refusal(directory_.file("no/such/journal.db"), ErrorCode::kIo, "does not exist");
}

TEST_F(SqliteJournalTest, ReportsThatTheFileDoesNotExistWhenItMustNotBeMade) {
  expect_refusal(path_, ErrorCode::kIo, "check the name", {.create = false});
}

TEST_F(SqliteJournalTest, RefusesADirectory) { expect_refusal(directory_.path(), ErrorCode::kIo, "not a file"); }

TEST_F(SqliteJournalTest, RefusesAnEmptyFileWhichAJournalNeverIs) {
  { const std::ofstream empty{path_}; }
  expect_refusal(path_, ErrorCode::kCorrupt, "the file is empty");
}

TEST_F(SqliteJournalTest, RefusesAFileThatIsNoDatabase) {
  std::ofstream(path_) << std::string(10'000, 'x');
  expect_refusal(path_, ErrorCode::kCorrupt, "not a SQLite file");
}

TEST_F(SqliteJournalTest, LeavesTheDatabaseOfAnotherProgramAlone) {
  OtherProgram(path_).run("CREATE TABLE song(title TEXT)");
  expect_refusal(path_, ErrorCode::kInvalid, "another program");
  OtherProgram(path_).run("INSERT INTO song VALUES('still there')");
}

TEST_F(SqliteJournalTest, RefusesANewerFormat) {
  open();
  OtherProgram(path_).run("PRAGMA user_version=3");
  expect_refusal(path_, ErrorCode::kInvalid, "its format is 3, this program reads formats 1 and 2");
}

std::string object(int number) {
  return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default","generation":)" +
         std::to_string(number) + R"(},"spec":{"replicas":)" + std::to_string(number) + "}}";
}

TEST_F(SqliteJournalTest, RecordsAreStoredCompressedAndReadAsTheyWereAppended) {
  std::string noise;
  SeededRandom random{1};
  for (int i = 0; i < 1000; ++i) noise.push_back(static_cast<char>(random_below(random, 256)));
  const std::vector<std::string> all{object(1), "", "x", noise, object(2), std::string(kMaxEntryBytes, 'y')};
  {
    const auto journal = open();
    for (const std::string& record : all) ASSERT_TRUE(append_and_wait(*journal, record).has_value());
    EXPECT_EQ(records(*journal), all);
  }
  EXPECT_EQ(records(*open()), all);
  const OtherProgram file{path_};
  for (const auto& [offset, compressed] : {std::pair{0, 1}, {1, 0}, {2, 0}, {3, 0}, {4, 1}, {5, 1}}) {
    EXPECT_EQ(file.number("SELECT crc >> 32 FROM entry WHERE offset = " + std::to_string(offset)), compressed);
    const auto plain = static_cast<int64_t>(all[static_cast<size_t>(offset)].size());
    const int64_t stored = file.number("SELECT length(bytes) FROM entry WHERE offset = " + std::to_string(offset));
    if (compressed != 0) {
      EXPECT_LT(stored, plain * 2 / 3) << offset;
    } else {
      EXPECT_EQ(stored, plain) << offset;
    }
  }
}

TEST_F(SqliteJournalTest, AFileOfTheFirstFormatIsReadAndStaysAsItIsUntilItIsUpgraded) {
  open();
  OtherProgram(path_).run("PRAGMA user_version=1");
  std::vector<std::string> all;
  const auto append = [&](Journal& journal) {
    all.push_back(object(static_cast<int>(all.size())));
    ASSERT_TRUE(append_and_wait(journal, all.back()).has_value());
    EXPECT_EQ(records(journal), all);
  };
  const auto format = [&] { return OtherProgram(path_).number("PRAGMA user_version"); };
  const auto compressed = [&] { return OtherProgram(path_).number("SELECT count(*) FROM entry WHERE crc >> 32 > 0"); };
  append(*open());
  EXPECT_EQ(format(), 1);
  {
    // A process of an older build would have it open like this one.
    const auto other = open();
    const auto journal = open({.upgrade = true});
    append(*journal);
    append(*other);
  }
  EXPECT_EQ(format(), 1);
  EXPECT_EQ(compressed(), 0);
  append(*open({.upgrade = true}));
  EXPECT_EQ(format(), 2);
  EXPECT_EQ(compressed(), 1);
  append(*open());
  EXPECT_EQ(compressed(), 2);
}

TEST_F(SqliteJournalTest, ARecordOfALaterDictionaryIsRefusedByName) {
  {
    const auto journal = open();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(append_and_wait(*journal, object(i)).has_value());
  }
  OtherProgram(path_).run("UPDATE entry SET crc = crc + (6 << 32) WHERE offset = 1");
  const auto journal = open();
  const auto tail = journal->tail({}).value();
  EXPECT_EQ(tail->next(10, Millis{0}).value().size(), 1U);
  const auto next = tail->next(10, Millis{0});
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(next.error().message.find("offset 1 is compressed with dictionary 7, which this program does not have"),
            std::string::npos)
      << next.error().message;
}

TEST_F(SqliteJournalTest, ReportsThatTheFileIsReadOnly) {
  open();
  ::chmod(directory_.path().c_str(), 0755);
  ::chmod(path_.c_str(), 0444);
  const std::string message = refusal_to_ordinary_user(path_);
  EXPECT_TRUE(message.starts_with("io journal " + path_ + ": it cannot be read and written: Permission denied"))
      << message;
}

TEST_F(SqliteJournalTest, ReportsThatTheDirectoryCannotBeWritten) {
  open();
  ::chmod(path_.c_str(), 0666);
  ::chmod(directory_.path().c_str(), 0555);
  std::string message = refusal_to_ordinary_user(path_);
  EXPECT_TRUE(
      message.starts_with("io journal " + path_ + ": its directory " + directory_.path() + " cannot be written"))
      << message;
  message = refusal_to_ordinary_user(directory_.file("new.db"));
  EXPECT_NE(message.find("no file can be made in directory"), std::string::npos) << message;
  ::chmod(directory_.path().c_str(), 0755);
}

TEST_F(SqliteJournalTest, IsMadeOnceWhenManyOpenItAtTheSameTime) {
  std::vector<std::thread> openers;
  for (int i = 0; i < 8; ++i) {
    openers.emplace_back([this, i] {
      const auto journal = open();
      EXPECT_TRUE(append_and_wait(*journal, std::to_string(i)).has_value());
    });
  }
  for (auto& opener : openers) opener.join();
  EXPECT_EQ(open()->head().value(), Offset{8});
  for (const auto& file : std::filesystem::directory_iterator(directory_.path())) {
    EXPECT_EQ(file.path().string().find(".new-"), std::string::npos) << file.path();
  }
}

TEST_F(SqliteJournalTest, StoresAndAcknowledgesWhatWaitsBeforeItEnds) {
  int answered = 0;
  {
    const auto journal = open();
    for (int i = 0; i < 500; ++i) {
      journal->append("x", [&](const Result<Offset>& stored) { answered += stored ? 1 : 0; });
    }
  }
  EXPECT_EQ(answered, 500);
  EXPECT_EQ(open()->head().value(), Offset{500});
}

TEST_F(SqliteJournalTest, LeavesTheFileAndItsMarkBehind) {
  {
    const auto journal = open();
    EXPECT_TRUE(append_and_wait(*journal, "x").has_value());
    EXPECT_EQ(journal->tail({}).value()->next(1, Millis{0}).value().size(), 1U);
  }
  for (const auto& file : std::filesystem::directory_iterator(directory_.path())) {
    EXPECT_TRUE(file.path() == path_ || file.path() == path_ + "-head") << file.path();
  }
}

TEST_F(SqliteJournalTest, ATailFindsOutThatItsJournalWasClosed) {
  auto journal = open();
  const auto tail = journal->tail({}).value();
  auto waiting = std::async(std::launch::async, [&] { return tail->next(1, Millis{60'000}); });
  journal.reset();
  const auto closed = waiting.get();
  ASSERT_FALSE(closed.has_value());
  EXPECT_EQ(closed.error().code, ErrorCode::kUnavailable);
}

TEST_F(SqliteJournalTest, AnAppendToALockedFileIsUnavailableAndCertainlyNotStored) {
  const auto journal = open({.busy_timeout = Millis{20}});
  {
    OtherProgram other(path_);
    other.run("BEGIN IMMEDIATE");
    const auto refused = append_and_wait(*journal, "too early");
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
    const auto not_trimmed = journal->trim(Offset{1});
    ASSERT_FALSE(not_trimmed.has_value());
    EXPECT_EQ(not_trimmed.error().code, ErrorCode::kUnavailable);
  }
  EXPECT_EQ(append_and_wait(*journal, "in time").value(), Offset{0});
}

TEST_F(SqliteJournalTest, RefusesAppendsWhileTooManyBytesWait) {
  const auto journal = open({.max_waiting_bytes = 1000});
  std::promise<void> go_on;
  std::promise<void> reached;
  journal->append("holds up the writer", [&](const Result<Offset>&) {
    reached.set_value();
    go_on.get_future().wait();
  });
  reached.get_future().wait();
  std::vector<std::string> answers;
  std::promise<void> last;
  for (int i = 0; i < 3; ++i) {
    journal->append(std::string(400, 'x'), [&](const Result<Offset>& stored) {
      answers.emplace_back(stored ? "stored" : name_of(stored.error().code));
      if (answers.size() == 3) last.set_value();
    });
  }
  go_on.set_value();
  last.get_future().wait();
  EXPECT_EQ(answers, (std::vector<std::string>{"stored", "stored", "unavailable"}));
  EXPECT_TRUE(append_and_wait(*journal, std::string(400, 'x')).has_value());
}

TEST_F(SqliteJournalTest, TheWriteAheadLogDoesNotGrowForEver) {
  const auto journal = open();
  std::vector<std::future<Result<Offset>>> answers;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(append_and_wait(*journal, std::string(1'000'000, 'x')).has_value());
  EXPECT_LT(std::filesystem::file_size(path_ + "-wal"), 40'000'000U);
}

// Records of a kilobyte that do not become smaller.
std::string incompressible(int64_t number) {
  SeededRandom random{static_cast<uint64_t>(number) + 1};
  std::string bytes(1000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random_below(random, 256));
  return bytes;
}

void append_all(Journal& journal, int64_t from, int64_t to) {
  std::future<Result<Offset>> last;
  for (int64_t number = from; number < to; ++number) {
    auto answer = std::make_shared<std::promise<Result<Offset>>>();
    last = answer->get_future();
    journal.append(incompressible(number), [answer](const Result<Offset>& stored) { answer->set_value(stored); });
  }
  EXPECT_EQ(last.get().value(), Offset{to - 1});
}

TEST_F(SqliteJournalTest, AfterATrimTheFileBecomesSmallerBetweenAppends) {
  std::vector<JournalShrinking> steps;
  std::promise<void> done;
  const auto journal = open({.shrinking =
                                 [&](const JournalShrinking& progress) {
                                   steps.push_back(progress);
                                   if (progress.done) done.set_value();
                                 },
                             .shrinking_failed = [](const Error& error) { ADD_FAILURE() << error.message; }});
  append_all(*journal, 0, 20'000);
  EXPECT_TRUE(journal->trim(Offset{19'000}).has_value());
  auto finished = done.get_future();
  int64_t next = 20'000;
  do {
    append_all(*journal, next, next + 10);
    next += 10;
  } while (finished.wait_for(std::chrono::milliseconds{1}) != std::future_status::ready);
  ASSERT_GE(steps.size(), 2U);
  EXPECT_FALSE(steps.front().done);
  EXPECT_EQ(steps.front().released_bytes, 0);
  EXPECT_GT(steps.back().released_bytes, 10'000'000);
  EXPECT_LT(std::filesystem::file_size(path_), 10'000'000U);
  const auto kept = records(*journal);
  ASSERT_EQ(static_cast<int64_t>(kept.size()), next - 19'000);
  for (size_t at = 0; at < kept.size(); ++at) {
    ASSERT_EQ(kept[at], incompressible(19'000 + static_cast<int64_t>(at))) << at;
  }
  const int64_t settled = OtherProgram(path_).number("PRAGMA page_count");
  EXPECT_TRUE(journal->trim(Offset{19'100}).has_value());
  EXPECT_EQ(OtherProgram(path_).number("PRAGMA page_count"), settled) << "little is free";
  EXPECT_TRUE(steps.back().done);
}

TEST_F(SqliteJournalTest, AFileOfAnEarlierBuildKeepsItsSize) {
  open();
  OtherProgram(path_).run("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM; PRAGMA journal_mode = WAL");
  bool shrinks = false;
  const auto journal = open({.shrinking = [&](const JournalShrinking&) { shrinks = true; }});
  append_all(*journal, 0, 5000);
  const int64_t pages = OtherProgram(path_).number("PRAGMA page_count");
  EXPECT_TRUE(journal->trim(Offset{4990}).has_value());
  append_all(*journal, 5000, 5010);
  EXPECT_EQ(OtherProgram(path_).number("PRAGMA page_count"), pages);
  EXPECT_FALSE(shrinks);
  EXPECT_EQ(records(*journal).size(), 20U);
}

TEST_F(SqliteJournalTest, AProcessStoppedInTheMiddleOfACommitDoesNotKeepOthersFromWriting) {
  open();
  const pid_t child = ::fork();
  if (child == 0) {
    sqlite3* db = nullptr;
    if (sqlite3_open(path_.c_str(), &db) != SQLITE_OK) ::_exit(1);
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) ::_exit(2);
    ::raise(SIGSTOP);
    ::_exit(3);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status)) << status;
  pid_t killed = 0;
  const auto journal = open({.killed_frozen_writer = [&](pid_t process) { killed = process; }});
  EXPECT_TRUE(append_and_wait(*journal, "entry").has_value());
  EXPECT_EQ(killed, child);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_F(SqliteJournalTest, AProcessThatIsOnlySlowIsNotKilled) {
  open();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    sqlite3* db = nullptr;
    if (sqlite3_open(path_.c_str(), &db) != SQLITE_OK) ::_exit(1);
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) ::_exit(2);
    if (::write(ready[1], "x", 1) != 1) ::_exit(3);
    ::usleep(1'500'000);
    ::_exit(sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr) == SQLITE_OK ? 0 : 4);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const auto journal = open();
  EXPECT_TRUE(append_and_wait(*journal, "entry").has_value());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace shiplog
