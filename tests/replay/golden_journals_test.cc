// Journals at each fold version fold to the same states for ever, and their decisions repeat. With --update-golden this
// program writes the journals that are missing; nothing that is there is rewritten.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "events/fold/fold.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "services/programs/shiplogctl/decoding_reader.h"
#include "services/programs/shiplogctl/replay.h"
#include "services/roles/registry.h"
#include "tests/replay/golden_history.h"

namespace shiplog::golden {
namespace {

bool g_writing = false;

constexpr size_t kEvery = 20;  // records between two hashes

std::string path_of(uint32_t version, const char* extension) {
  return std::string{JOURNALS_FOLDER} + "/fold-" + std::to_string(version) + extension;
}

std::string content_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  EXPECT_TRUE(file) << "cannot read " << path;
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream file{path, std::ios::binary};
  file << bytes;
  EXPECT_TRUE(file.flush()) << "cannot write " << path;
}

/// A line each: how many records are folded, accepted and refused by then, the revision, and the hash of the state.
std::string hashes_of(const std::vector<std::string>& records) {
  State state;
  size_t folded = 0;
  size_t accepted = 0;
  std::ostringstream lines;
  for (const std::string& record : records) {
    const auto entry = decode(record);
    if (!entry) {
      ADD_FAILURE() << "record " << folded << ": " << entry.error().message;
      return "";
    }
    const Folded result = fold(state, entry.value());
    EXPECT_FALSE(result.stop) << "record " << folded << ": " << result.stop.value_or("");
    accepted += result.refusal ? 0 : 1;
    if (++folded % kEvery != 0 && folded != records.size()) continue;
    lines << folded << " records, " << accepted << " accepted, fold version " << state.fold_version() << ", revision "
          << state.revision().value << ", hash " << to_string(state.hash()) << '\n';
  }
  return lines.str();
}

struct Verified {
  ctl::Replayed replayed;
  std::string differences;
};

Verified verify(const std::vector<ctl::ReplayRecord>& records) {
  Verified verified;
  const ctl::Decides decides = all_decides();
  ctl::ReplayOptions options;
  options.verify = &decides;
  options.differs = [&](const ctl::Difference& one) {
    verified.differences += "offset " + std::to_string(one.offset.value) + ", " + one.service + " about " + one.key +
                            "\n  recorded: " + one.recorded + "\n  now:      " + one.recomputed + "\n";
  };
  const auto open = [&]() -> Result<ctl::Records> {
    return ctl::Records{[&records, read = false]() mutable -> Result<std::vector<ctl::ReplayRecord>> {
      if (std::exchange(read, true)) return std::vector<ctl::ReplayRecord>{};
      return records;
    }};
  };
  State state;
  verified.replayed = ctl::replay(open, options, state).value();
  return verified;
}

class GoldenJournal : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    if (g_writing && !std::filesystem::exists(path_of(GetParam(), ".journal"))) {
      const auto made = history_at(GetParam());
      write(path_of(GetParam(), ".journal"), to_file(made));
      write(path_of(GetParam(), ".txt"), hashes_of(made));
    }
    ASSERT_TRUE(std::filesystem::exists(path_of(GetParam(), ".journal")))
        << "fold version " << GetParam()
        << " has no journal: run replay_golden_journals_test --update-golden and commit it";
    records = from_file(content_of(path_of(GetParam(), ".journal")));
  }
  std::vector<std::string> records;
};

TEST_P(GoldenJournal, FoldsToTheSameStatesAsWhenItWasWritten) {
  EXPECT_GT(records.size(), 100U);
  EXPECT_EQ(hashes_of(records), content_of(path_of(GetParam(), ".txt")))
      << "the meaning of fold version " << GetParam()
      << " has changed: a change needs a new version (events/fold/fold.h)";
}

TEST_P(GoldenJournal, DecisionsRepeat) {
  for (const bool undecoded : {false, true}) {
    std::vector<ctl::ReplayRecord> decoded;
    for (const std::string& record : records) {
      const Offset offset{static_cast<int64_t>(decoded.size())};
      decoded.push_back(ctl::record_from(offset, record, undecoded).value());
    }
    const Verified verified = verify(decoded);
    EXPECT_GT(verified.replayed.decisions, 40U);
    EXPECT_EQ(verified.differences, "")
        << "a decision has changed: what decides otherwise asks for a newer fold version";
    EXPECT_EQ(verified.replayed.unverifiable, 0U);
  }
}

/// One recorded decision is another one: the value of one of its events has a member more, or its explanation another
/// digest. False: it has no such event.
bool plant_difference(Entry& entry) {
  for (Event& event : entry.events) {
    const bool planted = std::visit(
        [](auto& one) {
          if constexpr (requires { one.value.set("planted", 1); }) {
            one.value.set("planted", 1);
            return true;
          } else if constexpr (requires { one.why.inputs_digest.clear(); }) {
            one.why.inputs_digest += "0";
            return true;
          } else {
            return false;
          }
        },
        event);
    if (planted) return true;
  }
  return false;
}

TEST_P(GoldenJournal, ADecisionThatWasChangedIsFound) {
  size_t tried = 0;
  for (size_t at = 0; at < records.size(); ++at) {
    Entry entry = decode(records[at]).value();
    if (entry.request.verb != "decide" || at % 7 != 0 || !plant_difference(entry)) continue;
    ++tried;
    for (const bool undecoded : {false, true}) {
      std::vector<ctl::ReplayRecord> changed;
      for (const std::string& record : records) {
        const Offset offset{static_cast<int64_t>(changed.size())};
        const std::string bytes = changed.size() == at ? encode(entry) : record;
        changed.push_back(ctl::record_from(offset, bytes, undecoded).value());
      }
      const Verified verified = verify(changed);
      EXPECT_TRUE(verified.differences.starts_with("offset " + std::to_string(at) + ","))
          << "offset " << at << (undecoded ? ", undecoded: " : ": ") << verified.differences;
    }
  }
  EXPECT_GE(tried, 3U);
}

INSTANTIATE_TEST_SUITE_P(FoldVersions, GoldenJournal, ::testing::Range(1U, kFoldVersion + 1));

/// words.db is of a build before fold version 2, see journal_test.cc.
TEST(OldJournal, DecisionsRepeat) {
  const std::string copy = ::testing::TempDir() + "/words.db";
  std::filesystem::copy_file(JOURNALS_FOLDER "/words.db", copy, std::filesystem::copy_options::overwrite_existing);
  auto journal = open_sqlite_journal(copy);
  ASSERT_TRUE(journal) << journal.error().message;
  const auto tail = journal.value()->tail(Offset{});
  ASSERT_TRUE(tail) << tail.error().message;
  std::vector<ctl::ReplayRecord> decoded;
  while (true) {
    const auto records = tail.value()->next(100, Millis{0});
    ASSERT_TRUE(records) << records.error().message;
    if (records.value().empty()) break;
    for (const JournalRecord& record : records.value()) {
      decoded.push_back({record.offset, decode(record.bytes).value()});
    }
  }
  EXPECT_EQ(decoded.size(), 92U);
  const Verified verified = verify(decoded);
  EXPECT_GT(verified.replayed.decisions, 20U);
  EXPECT_EQ(verified.differences, "");
}

}  // namespace
}  // namespace shiplog::golden

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int at = 1; at < argc; ++at) {
    if (std::string_view{argv[at]} == "--update-golden") shiplog::golden::g_writing = true;
  }
  return RUN_ALL_TESTS();
}
