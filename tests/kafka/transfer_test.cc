// A fleet moves from a file to topics of a real broker and back: objects, revisions and Secrets are the same.
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/kafka/cluster.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

class MovingFleet : public ::testing::Test {
 protected:
  std::string on_kafka() const { return "kafka:" + kafka_test::shared_cluster().bootstrap() + "/" + name_; }
  std::string file(const std::string& folder) const { return "sqlite:" + fleet_.path(folder) + "/journal.db"; }
  Ran copy(const std::string& from, const std::string& to, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"journal", "copy", "--from=" + from, "--to=" + to, "--kafka-replicas=1"};
    words.insert(words.end(), more.begin(), more.end());
    return fleet_.shiplogctl(std::move(words));
  }
  std::string hash(const std::string& journal) { return replayed(fleet_, journal)["stateHash"].str(); }
  std::string get(const std::string& process, std::vector<std::string> words) {
    words.insert(words.begin(), "get");
    return fleet_.kubectl(std::move(words), {}, process).out;
  }
  void expect_content(const std::string& process) {
    EXPECT_EQ(get(process, {"secret", "password", "-o", "jsonpath={.data.word}"}), "aHVudGVyMg==") << process;
    EXPECT_EQ(get(process, {"configmap", "settings", "-o", "jsonpath={.metadata.resourceVersion}"}), revision_);
  }

  /// With the key and the checkpoint that were kept.
  Ran verify(const std::string& journal, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"audit", "verify", "--journal=" + journal, "--key=" + fleet_.path("kept-key"),
                                   "--checkpoint=" + fleet_.path("kept-checkpoint")};
    words.insert(words.end(), more.begin(), more.end());
    return fleet_.shiplogctl(std::move(words));
  }
  void keep_checkpoint(const std::string& process) {
    for (const auto& words : {std::vector<std::string>{"audit", "checkpoint", "--print-key"},
                              std::vector<std::string>{"audit", "checkpoint"}}) {
      std::vector<std::string> saved = words;
      saved.push_back("--save=" + fleet_.path(words.size() > 2 ? "kept-key" : "kept-checkpoint"));
      fleet_.shiplogctl_ok(saved, process);
    }
  }

  std::string name_ = kafka_test::new_fleet();
  std::string revision_;
  Fleet fleet_;
};

TEST_F(MovingFleet, FromAFileToKafkaAndBack) {
  fleet_.serve("first", {"--roles=api"});
  fleet_.kubectl_ok({"create", "secret", "generic", "password", "--from-literal=word=hunter2"}, {}, "first");
  fleet_.kubectl_ok({"create", "configmap", "settings", "--from-literal=a=1"}, {}, "first");
  revision_ = get("first", {"configmap", "settings", "-o", "jsonpath={.metadata.resourceVersion}"});
  keep_checkpoint("first");
  EXPECT_EQ(fleet_.process("first").terminate(), 0);

  const Ran there = copy(file("first"), on_kafka(), {"--to-keys-dir=" + fleet_.path("keys")});
  ASSERT_TRUE(there.ok()) << there;
  EXPECT_TRUE(there.says("keys: copied 1")) << there;
  EXPECT_EQ(hash(on_kafka()), hash(file("first")));
  EXPECT_TRUE(copy(file("first"), on_kafka()).says("continued after")) << "a second time";

  fleet_.serve("second", {"--roles=api", "--journal=" + on_kafka(), "--keys-dir=" + fleet_.path("keys")});
  expect_content("second");
  // The tree and the key go with the records and the keys.
  const Ran grown = fleet_.shiplogctl(
      {"audit", "checkpoint", "--since=" + fleet_.path("kept-checkpoint"), "--key=" + fleet_.path("kept-key")},
      "second");
  EXPECT_TRUE(grown.ok()) << grown;
  fleet_.kubectl_ok({"create", "configmap", "later", "--from-literal=b=2"}, {}, "second");
  EXPECT_EQ(fleet_.process("second").terminate(), 0);

  const Ran refused = copy(file("first"), on_kafka());
  EXPECT_EQ(refused.code, 1) << refused;
  EXPECT_TRUE(refused.says("it has more records than the source")) << refused;

  const Ran back = copy(on_kafka(), file("third"), {"--from-keys-dir=" + fleet_.path("keys")});
  ASSERT_TRUE(back.ok()) << back;
  EXPECT_EQ(hash(file("third")), hash(on_kafka()));
  fleet_.serve("third", {"--roles=api"});
  expect_content("third");
  EXPECT_EQ(get("third", {"configmap", "later", "-o", "jsonpath={.data.b}"}), "2");
  for (const auto& [process, journal] : {std::pair{"second", on_kafka()}, std::pair{"third", file("third")}}) {
    const Ran verified = verify(journal, {"--snapshot=" + fleet_.path(process) + "/projection.db"});
    EXPECT_TRUE(verified.ok() && verified.says("differences  0")) << verified;
  }
}

// The topic is trimmed behind a snapshot in a folder that all processes reach: a new process starts from there.
TEST_F(MovingFleet, ANewProcessStartsFromTheSnapshotStoreOfATrimmedTopic) {
  const std::vector<std::string> options{"--journal=" + on_kafka(),
                                         "--keys-dir=" + fleet_.path("keys"),
                                         "--snapshot-store=file://" + fleet_.path("store"),
                                         "--journal-retention=20Ki",
                                         "--retention-interval=1",
                                         "--snapshot-every=0"};
  const auto serve = [&](const std::string& name, const std::string& roles) {
    std::vector<std::string> words{"--roles=" + roles};
    words.insert(words.end(), options.begin(), options.end());
    fleet_.serve(name, words);
  };
  serve("first", "api,control");
  fleet_.kubectl_ok({"create", "secret", "generic", "password", "--from-literal=word=hunter2"}, {}, "first");
  const ApiClient api = fleet_.api("first");
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  int written = 0;
  const auto write = [&](int count) {
    for (int number = 0; number < count; ++number, ++written) {
      const Value map = Value::object({{"metadata", Value::object({{"name", "m" + std::to_string(written)}})},
                                       {"data", Value::object({{"text", std::string(500, 'x')}})}});
      ASSERT_EQ(api.post(maps, map).status, 201);
    }
  };
  EXPECT_TRUE(eventually([&] {
    write(40);
    return fleet_.log_tail("first", 1 << 20).find("event=journal.trimmed journal=journal") != std::string::npos;
  })) << fleet_.log_tail("first");
  serve("second", "api");
  EXPECT_NE(fleet_.log_tail("second", 1 << 20).find("snapshot.restored"), std::string::npos);
  EXPECT_EQ(get("second", {"secret", "password", "-o", "jsonpath={.data.word}"}), "aHVudGVyMg==");
  EXPECT_GE(fleet_.api("second").get(maps).json["items"].items().size(), static_cast<size_t>(written));
  keep_checkpoint("first");
  const Ran verified = verify(on_kafka(), {"--snapshot=" + fleet_.path("second") + "/projection.db"});
  EXPECT_TRUE(verified.ok() && verified.says("the tree continues from")) << verified;
  const Ran uncovered = verify(on_kafka());
  EXPECT_EQ(uncovered.code, 1);
  EXPECT_TRUE(uncovered.says("what was before is trimmed")) << uncovered;
  const Ran copied = copy(on_kafka(), file("third"));
  EXPECT_EQ(copied.code, 1);
  EXPECT_TRUE(copied.says("what was before is trimmed")) << copied;
}

// Two processes that write at once would leave a snapshot that does not match the manifest.
TEST_F(MovingFleet, OnlyTheProcessThatTrimsWritesToTheSnapshotStore) {
  const auto serve = [&](const std::string& name, const std::string& roles) {
    fleet_.serve(name, {"--roles=" + roles, "--journal=" + on_kafka(), "--keys-dir=" + fleet_.path("keys"),
                        "--snapshot-store=file://" + fleet_.path("store"), "--snapshot-every=10"});
  };
  const ApiClient* api = nullptr;
  int written = 0;
  const auto write_until_a_snapshot_is_taken_by = [&](const std::string& name) {
    const auto taken = [&] {
      const std::string log = fleet_.log_tail(name, 1 << 20);
      size_t count = 0;
      for (size_t at = log.find("snapshot.taken"); at != std::string::npos; at = log.find("snapshot.taken", at + 1)) {
        ++count;
      }
      return count;
    };
    const size_t before = taken();
    return eventually([&] {
      const Value map = Value::object({{"metadata", Value::object({{"name", "m" + std::to_string(written++)}})}});
      EXPECT_EQ(api->post("/api/v1/namespaces/default/configmaps", map).status, 201);
      return taken() > before;
    });
  };
  serve("first", "api");
  const ApiClient first = fleet_.api("first");
  api = &first;
  ASSERT_TRUE(write_until_a_snapshot_is_taken_by("first"));
  const std::string manifest = fleet_.path("store") + "/journal/manifest.json";
  EXPECT_FALSE(std::filesystem::exists(manifest));
  serve("second", "api,control");
  ASSERT_TRUE(eventually(
      [&] { return fleet_.log_tail("second", 1 << 20).find("lease.taken service=control") != std::string::npos; }));
  ASSERT_TRUE(write_until_a_snapshot_is_taken_by("second"));
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(write_until_a_snapshot_is_taken_by("second"));
    return std::filesystem::exists(manifest);
  }));
}

}  // namespace
}  // namespace shiplog::e2e
