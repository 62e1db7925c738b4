// `shiplogctl journal copy`, killed at random moments and repeated: the copy is the source, record by record.
#include "services/programs/transfer/journal_copy.h"

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "events/base/random.h"
#include "events/codec/codec.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "events/state/object.h"
#include "services/adapters/vault/key_store.h"
#include "tests/crash/control_plane.h"
#include "tests/support/must.h"
#include "tests/support/test_directory.h"

namespace shiplog::crash {
namespace {

constexpr int kEntries = 12'000;

/// Fills a journal with creations of ConfigMaps of 1 KB.
void fill(Journal& journal) {
  SeededRandom random{11};
  std::mutex mutex;
  std::condition_variable changed;
  int stored = 0;
  for (int count = 0; count < kEntries; ++count) {
    const ObjectKey key{"configmaps", "", "m" + std::to_string(count)};
    Entry entry;
    entry.id = new_entry_id(random);
    entry.time = UtcMillis{1'700'000'000'000 + count};
    entry.events = {ObjectCreated{
        key,
        Value::object({{"metadata", Value::object({{"name", key.name}})},
                       {"data", Value::object({{"text", std::string(1000, static_cast<char>('a' + count % 26))}})}})}};
    journal.append(encode(entry), [&](const Result<Offset>& offset) {
      EXPECT_TRUE(offset);
      const std::lock_guard lock{mutex};
      ++stored;
      changed.notify_one();
    });
  }
  std::unique_lock lock{mutex};
  changed.wait(lock, [&] { return stored == kEntries; });
}

class KilledCopy : public ::testing::Test {
 protected:
  KilledCopy() {
    fill(*must(open_sqlite_journal(folder_.file("journal.db"))));
    must(open_sqlite_journal(folder_.file("ephemera.db")));
    const auto keys = must(open_sqlite_key_store(folder_.file("keys.db")));
    must(keys->adopt("fingerprint"));
    must(keys->add("id", {"secrets", "default", "password"}, "wrapped"));
    e2e::write_file(folder_.file("fleet.key"), std::string(32, 'k'));
  }
  std::vector<std::string> command() const {
    return {SHIPLOGCTL, "journal", "copy", "--from=sqlite:" + folder_.file("journal.db"),
            "--to=sqlite:" + folder_.file("copy/journal.db")};
  }

  TestDirectory folder_{"copy"};
};

TEST_F(KilledCopy, RepeatedItIsComplete) {
  const uint64_t seed = seed_or(20'260'101);
  std::mt19937_64 random{seed};
  for (int round = 0; round < 6 * soak(); ++round) {
    e2e::Process copy{command(), {}, folder_.file("log")};
    std::this_thread::sleep_for(std::chrono::milliseconds{20 + random() % 250});
    copy.kill();
  }
  const e2e::Ran done = e2e::run(command(), {}, "", e2e::kPatience);
  ASSERT_TRUE(done.ok()) << "seed " << seed << "\n" << done;
  EXPECT_TRUE(done.says("journal: verified " + std::to_string(kEntries) + " entries")) << done;
  const auto from = must(open_sqlite_journal(folder_.file("journal.db")));
  const auto to = must(open_sqlite_journal(folder_.file("copy/journal.db")));
  const JournalDigest digest = must(verify_copy(*from, *to, {}));
  EXPECT_EQ(digest.entries, static_cast<uint64_t>(kEntries));
  EXPECT_EQ(digest.revision, Revision{static_cast<uint64_t>(kEntries)});
  EXPECT_EQ(must(must(open_sqlite_key_store(folder_.file("copy/keys.db")))->find("id")), "wrapped");
  EXPECT_EQ(e2e::read_file(folder_.file("copy/fleet.key")), std::string(32, 'k'));

  const e2e::Ran again = e2e::run(command(), {}, "", e2e::kPatience);
  EXPECT_TRUE(again.says("continued after " + std::to_string(kEntries) + " entries")) << again;
}

TEST_F(KilledCopy, AnotherBuildVerifiesTheSameJournal) {
  const auto replay_with = [&](const std::string& other) {
    return e2e::run(
        {SHIPLOGCTL, "replay", "--verify", "--with=" + other, "--journal=sqlite:" + folder_.file("journal.db")}, {}, "",
        e2e::kPatience);
  };
  const e2e::Ran same = replay_with(SHIPLOGCTL);
  EXPECT_TRUE(same.ok()) << same;
  EXPECT_TRUE(same.says("would make 0 of the recorded decisions differently")) << same;

  // What a build prints that decides otherwise, and one that cannot read the journal.
  const auto script = [&](const std::string& name, const std::string& text) {
    e2e::write_file(folder_.file(name), "#!/bin/sh\n" + text);
    std::filesystem::permissions(folder_.file(name), std::filesystem::perms::owner_all);
    return folder_.file(name);
  };
  const e2e::Ran differs = replay_with(
      script("differs", "echo 'DIFFERENT at offset 7: scheduler about x'; echo 'state hash   0'; exit 1\n"));
  EXPECT_EQ(differs.code, 1) << differs;
  EXPECT_TRUE(differs.says("other: DIFFERENT at offset 7: scheduler about x")) << differs;
  EXPECT_TRUE(differs.says("would make 1 of the recorded decisions differently")) << differs;
  EXPECT_TRUE(replay_with(script("fails", "echo 'error: an event of a newer build'; exit 1\n"))
                  .says("did not replay the journal (exit code 1)"));
  EXPECT_TRUE(replay_with(folder_.file("none")).says("cannot be run: No such file"));
}

}  // namespace
}  // namespace shiplog::crash
