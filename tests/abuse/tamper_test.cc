// Random bits of journal files, snapshots and projections are flipped, and entries deleted, inserted and swapped:
// `audit verify` finds each, and nothing where nothing was changed. A flip that it does not find must be of a byte
// without content: free pages, unused space of pages, and fields of SQLite's header that say nothing of what is stored.
// That is proven for each of them: every record, or every row of every table, is what it was. Such flips do not count.
#include <fstream>
#include <functional>
#include <iostream>
#include <random>

#include <gtest/gtest.h>

#include "tests/support/proven_journal.h"

namespace shiplog {
namespace {

constexpr unsigned kSeed = 20261124;

const ProvenJournal& history() {
  static const ProvenJournal kHistory{12};
  return kHistory;
}

std::string read(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The file alone: without what SQLite and the journal keep beside it.
void write(const std::string& path, const std::string& bytes) {
  for (const char* companion : {"-wal", "-shm", "-journal", "-head"}) std::filesystem::remove(path + companion);
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file << bytes << std::flush;
  ASSERT_TRUE(file);
}

std::string flipped(std::string bytes, size_t bit) {
  bytes[bit / 8] = static_cast<char>(static_cast<unsigned char>(bytes[bit / 8]) ^ (1U << (bit % 8)));
  return bytes;
}

/// Bits to flip: nine of ten in bytes that are in use, as small files are mostly unused space; the others anywhere.
class Bits {
 public:
  explicit Bits(const std::string& bytes) : size_{bytes.size()} {
    constexpr size_t kUnused = 32;
    size_t zeros = 0;
    for (size_t at = 0; at < bytes.size(); ++at) {
      used_.push_back(at);
      zeros = bytes[at] == 0 ? zeros + 1 : 0;
      if (zeros == kUnused) used_.resize(used_.size() - kUnused);
      if (zeros > kUnused) used_.pop_back();
    }
  }
  size_t next(std::mt19937_64& random) const {
    const size_t byte = random() % 10 == 0 ? random() % size_ : used_[random() % used_.size()];
    return byte * 8 + random() % 8;
  }

 private:
  size_t size_;
  std::vector<size_t> used_;
};

class Tampering : public testing::Test {
 protected:
  void SetUp() override { std::cout << "seed " << kSeed << "\n"; }

  VerificationOutcome check(VerificationOptions options) const {
    return verify(journal_, std::move(options), folder_.path());
  }

  std::vector<std::string> records_of(const std::string& path) const {
    const auto journal = open_sqlite_journal(path, {.create = false});
    if (!journal) return {};
    const auto tail = journal.value()->tail(Offset{0});
    if (!tail) return {};
    std::vector<std::string> records;
    while (records.size() < history().size()) {
      const auto some = tail.value()->next(1000, Millis{0});
      if (!some || some.value().empty()) break;
      for (const JournalRecord& record : some.value()) records.push_back(record.bytes);
    }
    return records;
  }
  static std::vector<std::string> rows_of(const std::string& path) {
    auto rows = projection_rows(path);
    return rows ? std::move(rows).value() : std::vector<std::string>{};
  }

  TestDirectory folder_{"tamper", TestDirectory::in_memory()};
  std::string journal_ = folder_.file("journal.db");
  std::mt19937_64 random_{kSeed};
};

TEST_F(Tampering, FlippedBitsOfTheJournalAreFound) {
  constexpr int kFlips = 500;
  ProvenJournal::store(journal_, history().records());
  const std::string original = read(journal_);
  const VerificationOptions options{.checkpoints = {history().head()}};
  ASSERT_TRUE(check(options).intact());
  const Bits bits{original};
  int detected = 0;
  int without_content = 0;
  while (detected < kFlips) {
    const size_t bit = bits.next(random_);
    write(journal_, flipped(original, bit));
    if (!check(options).intact()) {
      ++detected;
      continue;
    }
    ASSERT_EQ(records_of(journal_), history().records()) << "bit " << bit << " was not noticed";
    ASSERT_LT(++without_content, 3 * kFlips);
  }
  std::cout << detected << " flips found, " << without_content << " of bytes without content\n";
  write(journal_, original);
  EXPECT_TRUE(check(options).intact()) << "no false positive";
}

// In each round one bit of a snapshot and one of a projection: what is found must be of the file that was changed.
TEST_F(Tampering, FlippedBitsOfSnapshotsAndHistoryAreFound) {
  constexpr int kFlips = 500;
  ProvenJournal::store(journal_, history().records());
  const size_t half = history().size() / 2;
  const std::vector<std::string> files = {folder_.file("snapshot.db"), folder_.file("projection.db")};
  ProvenJournal::snapshot(files[0], history().records(), half);
  ProvenJournal::snapshot(files[1], history().records(), history().size());
  const std::vector<std::string> original = {read(files[0]), read(files[1])};
  const std::vector<std::vector<std::string>> rows = {rows_of(files[0]), rows_of(files[1])};
  ASSERT_GT(rows[0].size(), history().size());
  const VerificationOptions options{.checkpoints = {history().head()}, .files = files};
  {
    const VerificationOutcome intact = check(options);
    ASSERT_TRUE(intact.intact()) << intact.text();
  }
  const std::vector<Bits> choices = {Bits{original[0]}, Bits{original[1]}};
  int detected = 0;
  int without_content = 0;
  while (detected < kFlips) {
    // A file stays as it was now and then: the other's damage is not to be taken for its own.
    const size_t spared = random_() % 8;
    std::vector<size_t> bits;
    for (size_t index = 0; index < files.size(); ++index) {
      bits.push_back(choices[index].next(random_));
      write(files[index], spared == index ? original[index] : flipped(original[index], bits.back()));
    }
    const VerificationOutcome verified = check(options);
    EXPECT_FALSE(verified.names("the journal")) << verified.text();
    for (size_t index = 0; index < files.size(); ++index) {
      const bool found = verified.error || verified.names(files[index]);
      if (spared == index) {
        ASSERT_FALSE(found) << "a false positive\n" << verified.text();
      } else if (found) {
        ++detected;
      } else {
        ASSERT_EQ(rows_of(files[index]), rows[index])
            << "bit " << bits[index] << " of " << files[index] << " was not noticed";
        ASSERT_LT(++without_content, 4 * kFlips);
      }
    }
  }
  std::cout << detected << " flips found, " << without_content << " of bytes without content\n";
}

// Written by one who can make every checksum right.
TEST_F(Tampering, DeletedInsertedAndSwappedEntriesAreFound) {
  ProvenJournal::store(journal_, history().records());
  ASSERT_TRUE(check({.checkpoints = {history().head()}}).intact());
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> records = history().records();
    const auto at = static_cast<std::ptrdiff_t>(random_() % records.size());
    const auto other = static_cast<std::ptrdiff_t>(random_() % records.size());
    const std::string how = round % 3 == 0 ? "deleted" : round % 3 == 1 ? "inserted" : "swapped";
    if (round % 3 == 0) {
      records.erase(records.begin() + at);
    } else if (round % 3 == 1) {
      records.insert(records.begin() + at, records[static_cast<size_t>(other)]);
    } else if (at == other) {
      continue;
    } else {
      std::swap(records[static_cast<size_t>(at)], records[static_cast<size_t>(other)]);
    }
    const std::string path = folder_.file("rewritten.db");
    write(path, "");
    std::filesystem::remove(path);
    ProvenJournal::store(path, records);
    const VerificationOutcome verified = verify(path, {.checkpoints = {history().head()}}, folder_.path());
    EXPECT_TRUE(verified.names("the journal")) << how << " " << at << " " << other << "\n" << verified.text();
  }
}

}  // namespace
}  // namespace shiplog
