// The behaviour of damaged files: whichever byte is wrong or missing, a tail delivers a correct prefix and then reports
// where it ends. It never delivers a wrong record, and never silently delivers fewer.

#include <fstream>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "events/base/random.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "tests/journal_contract/append_and_wait.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kFrameBytes = kPageBytes + 24;
constexpr size_t kWalHeaderBytes = 32;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class SqliteJournalDamage : public testing::Test {
 protected:
  // One commit each, so that it is known which frames belong to which record.
  void store(size_t count, size_t stride) {
    journal_ = std::move(open_sqlite_journal(path_)).value();
    for (size_t i = 0; i < count; ++i) {
      stored_.push_back(std::to_string(i) + " " + text(i * stride % 6000));
      ASSERT_TRUE(append_and_wait(*journal_, stored_.back()).has_value());
    }
  }

  // Stored compressed, in three quarters of its size: six bits of chance in each of eight.
  std::string text(size_t size) {
    std::string letters;
    for (size_t i = 0; i < size; ++i) letters.push_back(static_cast<char>('0' + random_below(random_, 64)));
    return letters;
  }

  // The files as a crash at this moment would leave them, without the shared memory.
  void take_files() {
    file_ = content(path_);
    wal_ = content(path_ + "-wal");
    journal_.reset();
  }
  void close_and_take_file() {
    journal_.reset();
    file_ = content(path_);
    wal_.clear();
  }

  struct Found {
    bool opened = false;
    size_t records = 0;  // read, each identical to what was written
    std::optional<Error> end;
    std::optional<Error> append;
  };

  // Reads everything from a journal that consists of these bytes.
  Found read(const std::string& file, const std::string& wal, bool try_append = true) {
    const std::string copy = directory_.file("copy.db");
    std::filesystem::remove(copy + "-shm");
    std::filesystem::remove(copy + "-head");  // the mark of the previous copy
    write_file(copy, file);
    write_file(copy + "-wal", wal);
    Found found;
    const auto opened = open_sqlite_journal(copy);
    found.opened = opened.has_value();
    if (!opened) {
      EXPECT_NE(opened.error().message.find(copy), std::string::npos) << opened.error().message;
      found.end = opened.error();
      return found;
    }
    const auto tail = opened.value()->tail({});
    if (!tail) {
      found.end = tail.error();
      return found;
    }
    while (true) {
      const auto some = tail.value()->next(7, Millis{0});
      if (!some) {
        found.end = some.error();
        break;
      }
      if (some.value().empty()) break;
      for (const auto& record : some.value()) {
        EXPECT_EQ(record.offset.value, static_cast<int64_t>(found.records));
        EXPECT_TRUE(record.bytes == stored_.at(found.records)) << "wrong bytes at offset " << record.offset.value;
        ++found.records;
      }
    }
    if (found.end) {
      EXPECT_EQ(found.end->code, ErrorCode::kCorrupt) << found.end->message;
      EXPECT_NE(found.end->message.find("offset " + std::to_string(found.records)), std::string::npos)
          << found.end->message;
    }
    if (!try_append) return found;
    const auto appended = append_and_wait(*opened.value(), "one more");
    if (!appended) found.append = appended.error();
    return found;
  }

  TestDirectory directory_{"journal", TestDirectory::in_memory()};
  const std::string path_ = directory_.file("journal.db");
  std::unique_ptr<Journal> journal_;
  std::vector<std::string> stored_;
  SeededRandom random_{1};
  std::string file_;
  std::string wal_;
};

TEST_F(SqliteJournalDamage, AnyWrongByteOfTheFileIsHarmlessOrNamed) {
  store(100, 677);
  close_and_take_file();
  size_t refused = 0;
  size_t cut = 0;
  const auto flip = [&](size_t at) {
    SCOPED_TRACE("byte " + std::to_string(at));
    std::string file = file_;
    file[at] = static_cast<char>(file[at] ^ 0x11);
    const Found found = read(file, "", false);
    if (found.opened && !found.end) {
      EXPECT_EQ(found.records, stored_.size());
    }
    if (!found.opened) {
      EXPECT_TRUE(found.end->code == ErrorCode::kCorrupt || found.end->code == ErrorCode::kInvalid)
          << found.end->message;
    }
    refused += found.opened ? 0 : 1;
    cut += found.opened && found.end ? 1 : 0;
  };
  for (size_t at = 0; at < 100; at += 3) flip(at);                                             // the file header
  for (size_t at = 100; at < file_.size(); at += 1531) flip(at);                               // anywhere
  for (size_t page = 1; page * kPageBytes < file_.size(); page += 9) flip(page * kPageBytes);  // the kind of a page
  EXPECT_GT(refused, 0U);
  EXPECT_GT(cut, 20U);
}

TEST_F(SqliteJournalDamage, OfATruncatedFileAllBeforeTheCutIsReadable) {
  store(150, 677);
  close_and_take_file();
  const size_t pages = file_.size() / kPageBytes;
  size_t before = 0;
  for (size_t kept = 1; kept < pages; kept += 17) {
    for (const size_t bytes : {kept * kPageBytes, kept * kPageBytes + 1234}) {
      SCOPED_TRACE(std::to_string(bytes) + " of " + std::to_string(file_.size()) + " bytes");
      const Found found = read(file_.substr(0, bytes), "");
      ASSERT_TRUE(found.end.has_value());
      EXPECT_EQ(found.end->code, ErrorCode::kCorrupt) << found.end->message;
      EXPECT_GE(found.records, before);
      before = found.records;
      if (!found.opened) continue;
      // Records are written in order, so half of the file holds about half of them.
      EXPECT_GE(found.records + 10, stored_.size() * bytes / file_.size());
      ASSERT_TRUE(found.append.has_value()) << "an append would hide the loss";
      EXPECT_EQ(found.append->code, ErrorCode::kCorrupt) << found.append->message;
    }
  }
  EXPECT_GT(before, stored_.size() / 2);
}

TEST_F(SqliteJournalDamage, AMissingRecordIsNamed) {
  store(20, 100);
  journal_.reset();
  for (const char* sql : {"DELETE FROM entry WHERE offset = 12", "DELETE FROM entry WHERE offset >= 9"}) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(db);
    close_and_take_file();
    const Found found = read(file_, "");
    ASSERT_TRUE(found.end.has_value());
    EXPECT_NE(found.end->message.find("is missing"), std::string::npos) << found.end->message;
    EXPECT_EQ(found.append.has_value(), found.records == 9) << "only a loss at the end could be hidden by an append";
  }
}

TEST_F(SqliteJournalDamage, AWrongByteInTheWriteAheadLogIsNamedAndNothingIsAppended) {
  store(60, 433);
  take_files();
  ASSERT_EQ(read(file_, wal_).records, stored_.size());
  // The last commits cannot be distinguished from ones that a crash interrupted; all others can.
  const size_t certain = wal_.size() - 10 * kFrameBytes;
  for (size_t at = 0; at < certain; at += at < kWalHeaderBytes ? 1 : 7919) {
    SCOPED_TRACE("byte " + std::to_string(at) + " of " + std::to_string(wal_.size()));
    std::string wal = wal_;
    wal[at] = static_cast<char>(wal[at] ^ 0x01);
    const Found found = read(file_, wal);
    ASSERT_TRUE(found.opened) << found.end->message;
    ASSERT_TRUE(found.end.has_value());
    EXPECT_LT(found.records, stored_.size());
    ASSERT_TRUE(found.append.has_value());
    EXPECT_EQ(found.append->code, ErrorCode::kCorrupt);
    EXPECT_TRUE(content(directory_.file("copy.db-wal")) == wal) << "the damaged file must be kept for analysis";
  }
}

TEST_F(SqliteJournalDamage, ACommitThatACrashCutShortIsNoDamage) {
  store(30, 433);
  take_files();
  for (size_t missing = 1; missing < 2 * kFrameBytes; missing += 611) {
    SCOPED_TRACE(std::to_string(missing) + " bytes missing");
    const Found found = read(file_, wal_.substr(0, wal_.size() - missing));
    EXPECT_TRUE(found.opened);
    EXPECT_FALSE(found.end.has_value());
    EXPECT_FALSE(found.append.has_value());
    EXPECT_GE(found.records, stored_.size() - 2);
    EXPECT_LT(found.records, stored_.size());
  }
}

}  // namespace
}  // namespace shiplog
