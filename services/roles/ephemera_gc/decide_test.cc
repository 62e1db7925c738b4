#include "services/roles/ephemera_gc/decide.h"

#include "tests/support/given.h"

namespace shiplog::ephemera_gc {
namespace {

using given::History;
using given::json;

const ObjectKey kNamespace{type::kNamespace, "", "shop"};
const ObjectKey kEvent{"events", "shop", "placed"};
const ObjectKey kLease{"leases.coordination.k8s.io", "shop", "leader"};

UtcMillis later(const History& history, Millis time) { return history.now() + time; }

/// The keys that are removed, in order.
std::vector<ObjectKey> removed(const History& record, const History& ephemera, const ObjectKey& key, UtcMillis now) {
  const Decided decided = decide(record.state(), ephemera.state(), key, now);
  std::vector<ObjectKey> keys;
  if (const auto* decision = std::get_if<Decision>(&decided)) {
    for (const Event& event : decision->events) keys.push_back(std::get<ObjectRemoved>(event).object);
  }
  return keys;
}

History ephemera_of_shop() {
  History ephemera;
  for (const char* ns : {"default", "other"}) ephemera.remove({type::kNamespace, "", ns});
  return ephemera.object(kEvent, "{}").object(kLease, "{}");
}

TEST(EphemeraGc, AnEventLivesForAnHourAfterItWasLastSeen) {
  History record;
  record.object(kNamespace, "{}");
  History ephemera = ephemera_of_shop();
  EXPECT_TRUE(removed(record, ephemera, everything(), later(ephemera, Millis{kEventLife.value - 10'000})).empty());
  EXPECT_EQ(removed(record, ephemera, everything(), later(ephemera, kEventLife)), std::vector<ObjectKey>{kEvent});
  const UtcMillis counted = later(ephemera, Millis{kEventLife.value / 2});
  ephemera.edit(kEvent, [&](Value& event) { event.set("lastTimestamp", rfc3339(counted)); });
  EXPECT_TRUE(removed(record, ephemera, everything(), later(ephemera, kEventLife)).empty());
  EXPECT_EQ(removed(record, ephemera, everything(), counted + kEventLife), std::vector<ObjectKey>{kEvent});
}

TEST(EphemeraGc, TheSweepRunsAgainAfterAMinute) {
  const History record;
  const History ephemera;
  const Decided decided = decide(record.state(), ephemera.state(), everything(), record.now());
  EXPECT_EQ(decided, Decided{LookAgain{record.now() + kSweepEvery}});
}

TEST(EphemeraGc, WhatIsInNoNamespaceGoesUnlessItIsYoung) {
  const History record;  // has no namespace shop
  const History ephemera = ephemera_of_shop();
  EXPECT_TRUE(removed(record, ephemera, everything(), ephemera.now()).empty())
      << "the namespace may not have been folded here yet";
  EXPECT_EQ(removed(record, ephemera, everything(), later(ephemera, kSweepEvery)).size(), 2U);
}

TEST(EphemeraGc, WithItsNamespaceEverythingGoesAtOnce) {
  const History record;
  const History ephemera = ephemera_of_shop();
  EXPECT_EQ(removed(record, ephemera, kNamespace, ephemera.now()).size(), 2U);
  EXPECT_TRUE(removed(record, ephemera, {type::kNamespace, "", "default"}, ephemera.now()).empty());
}

TEST(EphemeraGc, WhatBelongsToANewNamespaceOfThatNameStays) {
  History record;
  record.object(kNamespace, "{}");
  History ephemera;
  for (int step = 0; step < 5; ++step) ephemera.object({type::kNamespace, "", "clock"}, "{}");  // time passes
  ephemera.object(kEvent, "{}");
  EXPECT_TRUE(removed(record, ephemera, kNamespace, ephemera.now()).empty());
}

const ObjectKey kCluster{type::kCluster, "", "p1"};
const ObjectKey kAgentLease{"leases.coordination.k8s.io", "default", "p1"};

std::string owned_by(const std::string& owners) { return R"({"metadata":{"ownerReferences":[)" + owners + "]}}"; }
std::string owner(const std::string& api_version, const std::string& kind, const std::string& uid) {
  return R"({"apiVersion":")" + api_version + R"(","kind":")" + kind + R"(","name":"p1","uid":")" + uid + R"("})";
}
const std::string kOfTheCluster = owner("cluster.karmada.io/v1alpha1", "Cluster", "u1");

/// What the sweep decides about the Lease of an agent, with these owners, after a minute.
std::vector<Event> swept(const History& record, const std::string& owners) {
  History ephemera;
  ephemera.object(kAgentLease, owned_by(owners));
  const Decided decided = decide(record.state(), ephemera.state(), everything(), later(ephemera, kSweepEvery));
  const auto* decision = std::get_if<Decision>(&decided);
  return decision == nullptr ? std::vector<Event>{} : decision->events;
}

TEST(EphemeraGc, ALeaseGoesWithItsOwner_DEL_12) {
  History record;
  record.object(kCluster, R"({"metadata":{"uid":"u1"}})");
  EXPECT_TRUE(swept(record, kOfTheCluster).empty());
  record.remove(kCluster);
  EXPECT_EQ(swept(record, kOfTheCluster), std::vector<Event>{DeletionRequested{kAgentLease}});
  record.object(kCluster, R"({"metadata":{"uid":"u2"}})");
  EXPECT_EQ(swept(record, kOfTheCluster).size(), 1U) << "another Cluster of this name";
}

TEST(EphemeraGc, ALeaseStaysWhileOneOwnerMayBeThere) {
  History record;
  for (const auto& [api_version, kind] : {std::pair{"coordination.k8s.io/v1", "Lease"},
                                          std::pair{"apps/v1", "ReplicaSet"}, std::pair{"x.io/v1", "Foo"}}) {
    EXPECT_TRUE(swept(record, owner(api_version, kind, "u")).empty()) << kind << " is not in the record";
  }
  record.object({"configmaps", "default", "p1"}, R"({"metadata":{"uid":"u3"}})");
  EXPECT_TRUE(swept(record, kOfTheCluster + "," + owner("v1", "ConfigMap", "u3")).empty());
  History ephemera;
  ephemera.object(kAgentLease, owned_by(kOfTheCluster));
  EXPECT_TRUE(removed(record, ephemera, everything(), ephemera.now()).empty()) << "its owner may not be folded yet";
  ephemera.edit(kAgentLease, [](Value& lease) { lease.edit("metadata").set("finalizers", json(R"(["x.y/z"])")); });
  ephemera.remove(kAgentLease);
  EXPECT_TRUE(std::holds_alternative<LookAgain>(
      decide(record.state(), ephemera.state(), everything(), later(ephemera, kSweepEvery))))
      << "it is being deleted already";
}

TEST(EphemeraGc, AnEventIsNotCollected_DEL_10) {
  const History record;
  History ephemera;
  ephemera.object({"events", "default", "placed"}, owned_by(kOfTheCluster));
  EXPECT_TRUE(removed(record, ephemera, everything(), later(ephemera, kSweepEvery)).empty());
}

TEST(EphemeraGc, ThousandsOfObjectsGoInBoundedParts) {
  const History record;
  History ephemera;
  constexpr size_t kObjects = 1050;
  for (size_t number = 0; number < kObjects; ++number) {
    ephemera.object({"events", "shop", "e" + std::to_string(number)}, "{}");
  }
  size_t gone = 0;
  int parts = 0;
  for (; parts < 30; ++parts) {
    const Decided decided = decide(record.state(), ephemera.state(), kNamespace, ephemera.now());
    const auto* decision = std::get_if<Decision>(&decided);
    if (decision == nullptr) break;
    EXPECT_TRUE(decision->look_again);
    gone += decision->events.size();
    ephemera.accept(*decision);
  }
  EXPECT_EQ(gone, kObjects);
  EXPECT_EQ(parts, 11);
}

}  // namespace
}  // namespace shiplog::ephemera_gc
