// A journal that is trimmed while the fleet is written to: what is left can be served, restarted, verified and watched.
#include <algorithm>
#include <filesystem>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "events/journal/embedded/sqlite_journal.h"
#include "events/sqlite/connection.h"
#include "tests/crash/control_plane.h"
#include "tests/support/fleet.h"
#include "tests/support/must.h"

namespace shiplog::crash {
namespace {

using e2e::eventually;

const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";

class TrimmedJournal : public ::testing::Test {
 protected:
  void serve(const std::string& name = "plane", const std::string& roles = "api,control") {
    fleet_.serve(name, {"--roles=" + roles, "--journal=" + address(), "--journal-retention=50Ki",
                        "--history-retention=1s", "--retention-interval=1", "--snapshot-every=0"});
  }
  std::string address() const { return "sqlite:" + fleet_.path("plane/journal.db"); }
  std::string log_of(const std::string& name) const { return fleet_.log_tail(name, 1 << 20); }
  void write(int count, const std::string& text = std::string(300, 'x')) {
    const e2e::ApiClient api = fleet_.api();
    for (int number = 0; number < count; ++number, ++written_) {
      const Value map =
          Value::object({{"metadata", Value::object({{"name", "settings"}})},
                         {"data", Value::object({{"number", std::to_string(written_)}, {"text", text}})}});
      const int status =
          written_ == 0 ? api.post(kConfigMaps, map).status : api.put(kConfigMaps + "/settings", map).status;
      ASSERT_EQ(status, written_ == 0 ? 201 : 200);
    }
  }
  Offset oldest() const { return must(must(open_sqlite_journal(fleet_.path("plane/journal.db")))->oldest()); }
  /// Writes until records up to there are trimmed.
  void trim_beyond(int64_t offset) {
    EXPECT_TRUE(eventually([&] {
      write(50);
      return oldest().value > offset;
    })) << log_of("plane");
  }
  std::string number(const std::string& process = "plane") const {
    return fleet_.api(process).get(kConfigMaps + "/settings").json["data"]["number"].str();
  }

  std::filesystem::path newest_snapshot() const {
    std::filesystem::path newest;
    for (const auto& file : std::filesystem::directory_iterator(fleet_.path("plane/snapshots"))) {
      if (file.path().filename().string().starts_with("revision-") && file.path().extension() == ".db") {
        newest = std::max(newest, file.path());
      }
    }
    return newest;
  }

  int written_ = 0;
  e2e::Fleet fleet_;
};

TEST_F(TrimmedJournal, IsServedRestartedAndVerifiedFromASnapshot) {
  serve();
  write(100);
  const std::string early = fleet_.api().get(kConfigMaps + "/settings").json["metadata"]["resourceVersion"].str();
  const Value other = Value::object({{"metadata", Value::object({{"name", "another"}})}});
  ASSERT_EQ(fleet_.api().post(kConfigMaps, other).status, 201);
  const Value first_page = fleet_.api().get(kConfigMaps + "?limit=1").json;
  trim_beyond(150);

  EXPECT_TRUE(eventually([&] {
    return fleet_.api().get(kConfigMaps + "?resourceVersion=" + early + "&resourceVersionMatch=Exact").status == 410;
  })) << "history is trimmed, too";
  const auto list = fleet_.api().get(kConfigMaps + "?resourceVersion=" + early + "&resourceVersionMatch=Exact");
  EXPECT_EQ(list.reason(), "Expired");
  EXPECT_NE(list.message().find("The resourceVersion for the provided list is too old."), std::string::npos) << list;
  const std::string token = first_page["metadata"]["continue"].str();
  const auto page = fleet_.api().get(kConfigMaps + "?limit=1&continue=" + token);  // LIST-9
  EXPECT_EQ(page.status, 410) << page;
  EXPECT_EQ(page.reason(), "Expired");
  EXPECT_NE(page.message().find("The provided continue parameter is too old"), std::string::npos) << page;
  const std::string newer = page.json["metadata"]["continue"].str();
  const auto rest = fleet_.api().get(kConfigMaps + "?limit=500&continue=" + newer);
  ASSERT_EQ(rest.status, 200) << rest;
  EXPECT_GT(rest.json["items"].size(), 0U) << "what comes after the first page, as it is now";
  EXPECT_NE(rest.json["items"][0]["metadata"]["name"], first_page["items"][0]["metadata"]["name"]);
  const Value replay = e2e::expect_replay_equals(fleet_, fleet_.api(), address());
  EXPECT_NE(replay["snapshot"].str().find("revision-"), std::string::npos) << "it starts from a snapshot";

  const std::string last = number();
  fleet_.kill("plane");
  for (const char* file : {"projection.db", "projection.db-wal", "projection.db-shm"}) {
    std::filesystem::remove(fleet_.path(std::string{"plane/"} + file));
  }
  serve();
  EXPECT_NE(log_of("plane").find("snapshot.restored"), std::string::npos);
  EXPECT_EQ(number(), last);
  const e2e::ApiClient api = fleet_.api();  // whose feed begins with the restart
  // The snapshot may be older than the last trim of the history, and is trimmed like it then.
  std::string message;
  EXPECT_TRUE(eventually([&] {
    const auto watch = api.watch(kConfigMaps + "?watch=1&resourceVersion=" + early);
    if (!watch->wait_for(1)) return false;
    const Value first = watch->events()[0]["object"];
    message = first["message"].str();
    return first["code"].as_int() == 410;
  }));
  EXPECT_NE(message.find("too old resource version: " + early), std::string::npos) << message;
  write(1);
  serve("second", "api");
  EXPECT_EQ(number("second"), number()) << "a process with an empty data folder";
}

TEST_F(TrimmedJournal, AVerificationFromASnapshotReadsWhatIsBeforeItToo) {
  fleet_.serve("plane", {"--roles=api,control", "--journal=" + address(), "--snapshot-every=20"});
  write(60);
  EXPECT_TRUE(eventually([&] { return !newest_snapshot().empty(); }));
  EXPECT_EQ(fleet_.process("plane").terminate(), 0);
  const std::vector<std::string> verify = {
      "replay", "--verify", "--journal=" + address(), "--snapshot=" + newest_snapshot().string(), "-o", "json"};
  const Value intact = e2e::json(fleet_.shiplogctl_ok(verify));
  EXPECT_GT(intact["readBeforeSnapshot"].as_int(), 10);
  must(must(sqlite::Connection::open(fleet_.path("plane/journal.db"), {}))
           ->execute("UPDATE entry SET bytes = zeroblob(length(bytes)) WHERE offset = 5"));
  const e2e::Ran damaged = fleet_.shiplogctl(verify);
  EXPECT_FALSE(damaged.ok());
  EXPECT_TRUE(damaged.says("offset 5")) << damaged;
}

// What the error says to do when the end of the journal is lost, and what becomes of a snapshot that has the lost
// entries.
TEST_F(TrimmedJournal, WithoutItsLostEndItGoesOnFromASnapshotThatFits) {
  serve();
  trim_beyond(100);
  const std::string kept = number();
  EXPECT_EQ(fleet_.process("plane").terminate(), 0);  // closing moves the write-ahead log into the file
  const auto with_snapshots = [&](bool wait) {
    fleet_.serve("plane", {"--roles=api,control", "--journal=" + address(), "--snapshot-every=20"}, wait);
  };
  const auto remove_projection = [&] {
    for (const char* file : {"projection.db", "projection.db-wal", "projection.db-shm"}) {
      std::filesystem::remove(fleet_.path(std::string{"plane/"} + file));
    }
  };
  const auto before = newest_snapshot();
  with_snapshots(true);
  write(25);
  EXPECT_TRUE(eventually([&] { return newest_snapshot() > before; }));
  fleet_.kill("plane");
  const std::filesystem::path aside = fleet_.path("aside.db");
  std::filesystem::copy_file(newest_snapshot(), aside);
  std::filesystem::resize_file(fleet_.path("plane/journal.db-wal"), 0);

  with_snapshots(false);
  EXPECT_TRUE(eventually([&] { return !fleet_.process("plane").running(); }));
  EXPECT_NE(log_of("plane").find("is shorter than what was acknowledged"), std::string::npos) << log_of("plane");
  EXPECT_NE(log_of("plane").find("Keep the snapshots"), std::string::npos) << log_of("plane");
  std::filesystem::remove(fleet_.path("plane/journal.db-head"));
  remove_projection();
  with_snapshots(true);
  EXPECT_EQ(number(), kept);

  // The journal reaches beyond the lost entries again, with others in their place.
  write(60);
  const std::string last = number();
  EXPECT_EQ(fleet_.process("plane").terminate(), 0);
  std::filesystem::copy_file(aside, fleet_.path("plane/snapshots/revision-00000000000099999999.db"));
  remove_projection();
  with_snapshots(true);
  EXPECT_NE(log_of("plane").find("event=snapshot.unusable"), std::string::npos) << log_of("plane");
  EXPECT_EQ(number(), last);
}

TEST_F(TrimmedJournal, AProcessThatIsBehindStartsFromASnapshot) {
  serve();
  serve("second", "api");
  EXPECT_EQ(fleet_.process("second").terminate(), 0);
  const Offset before = must(must(open_sqlite_journal(fleet_.path("plane/journal.db")))->head());
  trim_beyond(before.value);
  serve("second", "api");
  EXPECT_NE(log_of("second").find("projection.behind_the_journal"), std::string::npos) << log_of("second");
  EXPECT_EQ(number("second"), number());
}

TEST_F(TrimmedJournal, KilledWhileItIsTrimmedItIsWhole) {
  const uint64_t seed = seed_or(20'260'102);
  std::mt19937_64 random{seed};
  serve();
  for (int round = 0; round < 4 * soak(); ++round) {
    write(150);
    std::this_thread::sleep_for(std::chrono::milliseconds{random() % 1500});
    fleet_.kill("plane");
    serve();
    EXPECT_EQ(number(), std::to_string(written_ - 1)) << "seed " << seed;
  }
  trim_beyond(100);
  e2e::expect_replay_equals(fleet_, fleet_.api(), address());
}

// Records and versions of megabytes are trimmed, and the pages that they leave are given back.
TEST_F(TrimmedJournal, KilledWhileItsFilesBecomeSmallerItIsWhole) {
  const uint64_t seed = seed_or(20'261'128);
  std::mt19937_64 random{seed};
  const auto bytes_of = [&](const std::string& file) -> uintmax_t {
    std::error_code none;
    const uintmax_t size = std::filesystem::file_size(fleet_.path("plane/" + file), none);
    return none ? 0 : size;
  };
  serve();
  uintmax_t largest = 0;
  for (int round = 0; round < 3 * soak(); ++round) {
    for (int number = 0; number < 100; ++number) {
      std::string text(100'000, ' ');  // which does not become smaller by much, and resembles no other
      for (char& letter : text) letter = static_cast<char>('0' + random() % 75);
      write(1, text);
    }
    write(30);
    largest = std::max(largest, bytes_of("projection.db") + bytes_of("projection.db-wal"));
    std::this_thread::sleep_for(std::chrono::milliseconds{500 + random() % 2000});
    fleet_.kill("plane");
    serve();
    EXPECT_EQ(number(), std::to_string(written_ - 1)) << "seed " << seed;
  }
  EXPECT_GT(largest, 5'000'000U);
  const auto logged = [&](const char* event) { return log_of("plane").find(event) != std::string::npos; };
  EXPECT_TRUE(eventually([&] {
    write(5);
    return logged("projection.shrunk") && logged("journal.shrunk") && bytes_of("journal.db") < 4'000'000 &&
           bytes_of("projection.db") < 4'000'000;
  })) << bytes_of("journal.db")
      << ", " << bytes_of("projection.db") << ", seed " << seed << "\n"
      << log_of("plane");
  e2e::expect_replay_equals(fleet_, fleet_.api(), address());
}

}  // namespace
}  // namespace shiplog::crash
