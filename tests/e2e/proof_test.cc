// Checkpoints that are kept elsewhere, proofs of single entries, and `audit verify` without a server.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/fleet.h"
#include "tests/support/stored_text.h"

namespace shiplog::e2e {
namespace {

class Proofs : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve();
    fleet_.shiplogctl_ok({"audit", "checkpoint", "--print-key", "--save=" + key()});
  }
  std::string key() const { return fleet_.path("kept/key"); }
  std::string kept(const std::string& name) const { return fleet_.path("kept/" + name); }
  std::string journal() const { return "sqlite:" + fleet_.path("plane/journal.db"); }
  std::string revision_of(const std::string& kind, const std::string& name) {
    return fleet_.kubectl_ok({"get", kind, name, "-o", "jsonpath={.metadata.resourceVersion}"});
  }
  Ran verify(std::vector<std::string> words) {
    words.insert(words.begin(), {"audit", "verify", "--key=" + key()});
    return fleet_.shiplogctl(std::move(words));
  }

  struct KeptFleet : Fleet {
    KeptFleet() { std::filesystem::create_directories(path("kept")); }
  };
  KeptFleet fleet_;
};

TEST_F(Proofs, ADestroyedKeyLeavesTheProofIntact) {
  fleet_.kubectl_ok({"create", "secret", "generic", "password", "--from-literal=value=hunter2"});
  const std::string revision = revision_of("secret", "password");
  fleet_.shiplogctl_ok({"audit", "prove", revision, "--save=" + kept("secret.tlog-proof")});
  fleet_.shiplogctl_ok({"audit", "checkpoint", "--save=" + kept("first")});
  fleet_.kubectl_ok({"delete", "secret", "password"});
  fleet_.shiplogctl_ok({"audit", "checkpoint", "--save=" + kept("second")});
  const Ran grown = fleet_.shiplogctl({"audit", "checkpoint", "--since=" + kept("first"), "--key=" + key()});
  EXPECT_TRUE(grown.ok()) << grown;
  EXPECT_TRUE(grown.says("has only grown")) << grown;

  // While the process runs, with its projection.
  const Ran live = verify({"--journal=" + journal(), "--checkpoint=" + kept("first"), "--checkpoint=" + kept("second"),
                           "--proof=" + kept("secret.tlog-proof"), "--snapshot=" + fleet_.path("plane/projection.db")});
  EXPECT_TRUE(live.ok()) << live;
  EXPECT_TRUE(live.says("1 of 1 hold")) << live;
  EXPECT_TRUE(live.says("differences  0")) << live;
  EXPECT_EQ(live.out.find("hunter2"), std::string::npos);
  fleet_.process("plane").terminate();

  // Elsewhere, with a backup and what was kept.
  fleet_.shiplogctl_ok({"backup", "--data-dir=" + fleet_.path("plane"), "--to=" + fleet_.path("backup")});
  const Ran elsewhere =
      verify({"--journal=sqlite:" + fleet_.path("backup/journal.db"), "--checkpoint=" + kept("second"),
              "--proof=" + kept("secret.tlog-proof"), "-o", "json"});
  ASSERT_TRUE(elsewhere.ok()) << elsewhere;
  const Value report = json(elsewhere.out);
  EXPECT_EQ(report["differences"].as_int(), 0);
  EXPECT_EQ(report["proofs"].as_int(), 1);
  EXPECT_GT(report["coveredByCheckpoint"].as_int(), 5);
}

TEST_F(Proofs, WhatWasChangedSinceIsFound) {
  fleet_.kubectl_ok({"create", "configmap", "settings", "--from-literal=level=info"});
  fleet_.shiplogctl_ok({"audit", "checkpoint", "--save=" + kept("now")});
  fleet_.process("plane").terminate();
  const std::vector<std::string> whole = {"--journal=" + journal(), "--checkpoint=" + kept("now"),
                                          "--snapshot=" + fleet_.path("plane/projection.db")};
  ASSERT_TRUE(verify(whole).ok()) << verify(whole);
  // A checkpoint that is another fleet's, or was changed.
  std::ifstream in{kept("now")};
  std::string note{std::istreambuf_iterator<char>{in}, {}};
  std::ofstream{kept("changed")} << note.replace(note.find('\n') + 1, 1, "9");
  const Ran changed = verify({"--journal=" + journal(), "--checkpoint=" + kept("changed")});
  EXPECT_EQ(changed.code, 1);
  EXPECT_TRUE(changed.says("is not of this text")) << changed;
  fleet_.serve("other");
  fleet_.shiplogctl_ok({"audit", "checkpoint", "--save=" + kept("other")}, "other");
  const Ran other = verify({"--journal=" + journal(), "--checkpoint=" + kept("other")});
  EXPECT_EQ(other.code, 1);
  EXPECT_TRUE(other.says("of another fleet")) << other;
  const Ran elsewhere = verify({"--journal=sqlite:" + fleet_.path("other/journal.db"), "--checkpoint=" + kept("now")});
  EXPECT_EQ(elsewhere.code, 1) << elsewhere;
  // A byte of a record.
  const std::string file = fleet_.path("plane/journal.db");
  ASSERT_TRUE(damage_record(file, "settings"));
  const Ran damaged = verify(whole);
  EXPECT_EQ(damaged.code, 1) << damaged;
  EXPECT_TRUE(damaged.says("DIFFERENT the journal, offset ")) << damaged;
  EXPECT_TRUE(damaged.says("the record at offset ")) << damaged;
}

TEST_F(Proofs, ATenantCannotAskForThem) {
  fleet_.kubectl_ok({"create", "rolebinding", "edit", "--clusterrole=edit", "--user=mallory"});
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"audit", "checkpoint", "--as=mallory"},
                                             {"audit", "checkpoint", "--print-key", "--as=mallory"},
                                             {"audit", "prove", "3", "--as=mallory"},
                                             {"audit", "prove", "--offset=3", "--as=mallory"}}) {
    const Ran refused = fleet_.shiplogctl(words);
    EXPECT_EQ(refused.code, 1) << refused;
    EXPECT_TRUE(refused.says("forbidden")) << refused;
  }
  // An auditor may be given the proofs without what they are of.
  fleet_.kubectl_ok({"create", "clusterrole", "proofs", "--verb=get", "--non-resource-url=/shiplog/v1/proof/*"});
  fleet_.kubectl_ok({"create", "clusterrolebinding", "proofs", "--clusterrole=proofs", "--user=auditor"});
  EXPECT_TRUE(eventually([&] { return fleet_.shiplogctl({"audit", "checkpoint", "--as=auditor"}).ok(); }));
  EXPECT_TRUE(fleet_.shiplogctl({"audit", "prove", "3", "--as=auditor"}).ok());
  EXPECT_TRUE(fleet_.shiplogctl({"audit", "--as=auditor"}).says("forbidden"));
  EXPECT_EQ(fleet_.shiplogctl({"audit", "prove"}).code, 2);
  EXPECT_EQ(fleet_.shiplogctl({"audit", "prove", "3", "--offset=3"}).code, 2);
  EXPECT_TRUE(fleet_.shiplogctl({"audit", "prove", "999999"}).says("no entry that is kept made revision 999999"));
}

// Every process of a fleet signs with the same key, and makes the same tree.
TEST_F(Proofs, AllServersOfAFleetAgree) {
  fleet_.serve("second", {"--journal=" + journal(), "--roles=api"});
  fleet_.kubectl_ok({"create", "configmap", "settings", "--from-literal=level=info"});
  fleet_.shiplogctl_ok({"audit", "checkpoint", "--save=" + kept("first")});
  const Ran second = fleet_.shiplogctl({"audit", "checkpoint", "--since=" + kept("first"), "--key=" + key()}, "second");
  EXPECT_TRUE(second.ok()) << second;
}

}  // namespace
}  // namespace shiplog::e2e
