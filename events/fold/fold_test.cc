#include "events/fold/fold.h"

#include <set>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/slots.h"
#include "events/state/answers.h"
#include "events/state/binding.h"
#include "tests/support/fold_history.h"
#include "tests/support/literals.h"

namespace shiplog {
namespace {

using namespace testing;
using test::json;

const ObjectKey kQuotaKey{type::kFederatedResourceQuota, "default", "limits"};

TEST(Fold, CreationFillsInIdentityFromTheEntry) {
  FoldHistory history = FoldHistory::with_namespace();
  const Entry entry = history.entry({ObjectCreated{kConfig, json(R"({"metadata":{"name":"settings"}})")}});
  const Folded folded = fold(history.state, entry);
  ASSERT_EQ(folded.changes.size(), 1u);
  const Value& metadata = folded.changes[0].after["metadata"];
  EXPECT_EQ(metadata["uid"].as_string(), uid_from(entry.id, 0));
  EXPECT_EQ(metadata["creationTimestamp"].as_string(), rfc3339(entry.time));
  EXPECT_EQ(metadata["resourceVersion"].as_string(), "2");
  EXPECT_EQ(*folded.changes[0].json, to_json(folded.changes[0].after));
}

TEST(Fold, SecondCreationIsRefused) {
  FoldHistory history = FoldHistory::with_namespace();
  history.create_config();
  const Folded folded = history.put({ObjectCreated{kConfig, json(R"({"metadata":{"name":"settings"}})")}});
  ASSERT_TRUE(folded.refusal);
  EXPECT_EQ(folded.refusal->code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(folded.revision, Revision{2});
}

TEST(Fold, NothingIsCreatedInAMissingOrTerminatingNamespace) {
  FoldHistory history;
  auto create = [&] { return history.put({ObjectCreated{kConfig, json(R"({"metadata":{"name":"settings"}})")}}); };
  const auto missing = create().refusal;
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->code, ErrorCode::kNotFound);
  EXPECT_EQ(missing->about, kNamespaceKey);
  history = FoldHistory::with_namespace();
  history.put({DeletionRequested{.object = kNamespaceKey}});
  EXPECT_EQ(history.state.value_of(kNamespaceKey)["status"]["phase"].as_string(), "Terminating");
  const auto terminating = create().refusal;
  ASSERT_TRUE(terminating);
  EXPECT_EQ(terminating->code, ErrorCode::kForbidden);
  EXPECT_EQ(terminating->about, kNamespaceKey);
}

TEST(Fold, ANamespaceWithoutAStatusIsDeletedWithItsPropagation) {
  FoldHistory history = FoldHistory::with_namespace();
  ASSERT_FALSE(history.state.value_of(kNamespaceKey).contains("status"));
  history.put({DeletionRequested{.object = kNamespaceKey, .propagation = "Foreground"}});
  const Value& going = history.state.value_of(kNamespaceKey);
  EXPECT_TRUE(has_finalizer(going, "foregroundDeletion")) << to_json(going);
  EXPECT_EQ(going["status"]["phase"].as_string(), "Terminating");
}

TEST(Fold, EphemeralKindsNeedNoNamespaceOfTheirOwnJournal) {
  FoldHistory history;
  const ObjectKey lease{"leases.coordination.k8s.io", "kube-system", "leader"};
  EXPECT_FALSE(history.put({ObjectCreated{lease, json(R"({"metadata":{"name":"leader"}})")}}).refusal);
}

TEST(Fold, AnEntryAppliesWholeOrNotAtAll) {
  FoldHistory history = FoldHistory::with_namespace();
  const Hash128 before = history.state.hash();
  const Folded folded = history.put({ObjectCreated{kConfig, json(R"({"metadata":{"name":"settings"}})")},
                                     ObjectUpdated{{"configmaps", "default", "missing"}, json("{}")}});
  EXPECT_EQ(folded.refusal->code, ErrorCode::kNotFound);
  EXPECT_EQ(history.state.find(kConfig), nullptr);
  EXPECT_EQ(history.state.hash(), before);
}

TEST(Fold, ExpectationDecidesWhichEntryWasFirst) {
  FoldHistory history = FoldHistory::with_namespace();
  history.create_config();
  const Revision read = history.state.revision_of(kConfig);
  Entry first = history.entry({ObjectUpdated{kConfig, json(R"({"metadata":{"name":"settings"},"data":{"a":"2"}})")}});
  Entry second = history.entry({ObjectUpdated{kConfig, json(R"({"metadata":{"name":"settings"},"data":{"a":"3"}})")}});
  first.expects = second.expects = {{kConfig, read}};
  EXPECT_FALSE(fold(history.state, first).refusal);
  const auto late = fold(history.state, second).refusal;
  ASSERT_TRUE(late);
  EXPECT_EQ(late->code, ErrorCode::kConflict);
  EXPECT_EQ(late->about, kConfig);
  EXPECT_EQ(history.state.value_of(kConfig)["data"]["a"].as_string(), "2");
}

TEST(Fold, DuplicateOfAnEntryIsDropped) {
  FoldHistory history = FoldHistory::with_namespace();
  const Entry entry = history.entry({ObjectCreated{kConfig, json(R"({"metadata":{"name":"settings"}})")}});
  EXPECT_FALSE(fold(history.state, entry).duplicate);
  const Hash128 once = history.state.hash();
  EXPECT_TRUE(fold(history.state, entry).duplicate);
  EXPECT_EQ(history.state.hash(), once);
}

TEST(Fold, OlderEpochIsRefused) {
  FoldHistory history = FoldHistory::with_namespace();
  history.create_binding();
  EXPECT_FALSE(history.put({LeaseTaken{"scheduler", "a", 1}}).refusal);
  EXPECT_FALSE(history.put({LeaseTaken{"scheduler", "b", 2}}).refusal);
  EXPECT_TRUE(history.put({LeaseTaken{"scheduler", "a", 2}}).refusal) << "the epoch was taken";
  Entry late = history.entry({ReschedulingTriggered{kBindingKey, "test"}});
  late.fence = {"scheduler", 1};
  EXPECT_EQ(fold(history.state, late).refusal->code, ErrorCode::kConflict);
  late.id = new_entry_id(history.random);
  late.fence.epoch = 2;
  EXPECT_FALSE(fold(history.state, late).refusal);
}

/// An accepted entry under the lease, or why it is not.
std::optional<Refusal> fenced(FoldHistory& history, const std::string& lease, uint64_t epoch) {
  Entry entry = history.entry({ReschedulingTriggered{kBindingKey, "test"}});
  entry.fence = {lease, epoch};
  return fold(history.state, entry).refusal;
}

TEST(Fold, TheLeaseOfASlotEndsThatOfItsWholeRole) {
  FoldHistory history = FoldHistory::with_namespace();
  history.create_binding();
  ASSERT_FALSE(history.put({LeaseTaken{"dispatcher", "old", 1}}).refusal);
  ASSERT_FALSE(history.put({FoldVersionActivated{kSlotsFoldVersion}}).refusal);
  EXPECT_FALSE(fenced(history, "dispatcher", 1)) << "nobody has a slot yet";
  ASSERT_FALSE(history.put({LeaseTaken{"dispatcher:3", "new", 1}}).refusal);
  EXPECT_TRUE(fenced(history, "dispatcher", 1)) << "a process that was frozen since then";
  EXPECT_FALSE(fenced(history, "dispatcher:3", 1));
  EXPECT_TRUE(history.put({LeaseTaken{"dispatcher", "old", 2}}).refusal) << "the epoch that it knows of";
  EXPECT_TRUE(history.put({LeaseTaken{"dispatcher", "old", 3}}).refusal) << "nobody can take it any more";
  EXPECT_FALSE(history.put({LeaseTaken{"scheduler", "old", 1}}).refusal) << "other roles are not divided";
}

TEST(Fold, SlotsAreFencedEachForItself) {
  FoldHistory history = FoldHistory::with_namespace();
  history.create_binding();
  history.put({FoldVersionActivated{kSlotsFoldVersion}});
  history.put({LeaseTaken{"dispatcher:1", "a", 1}});
  history.put({LeaseTaken{"dispatcher:10", "a", 1}});
  history.put({LeaseTaken{"dispatcher:1", "b", 2}});
  EXPECT_TRUE(fenced(history, "dispatcher:1", 1));
  EXPECT_FALSE(fenced(history, "dispatcher:1", 2));
  EXPECT_FALSE(fenced(history, "dispatcher:10", 1));
}

TEST(Fold, BeforeSlotsWereKnownTheirNamesMeanNothing) {
  FoldHistory history = FoldHistory::with_namespace();
  history.create_binding();
  history.put({FoldVersionActivated{kSlotsFoldVersion - 1}});
  history.put({LeaseTaken{"dispatcher", "old", 1}});
  history.put({LeaseTaken{"dispatcher:3", "new", 1}});
  EXPECT_FALSE(fenced(history, "dispatcher", 1)) << "as builds fold that do not know slots";
  EXPECT_FALSE(history.put({LeaseTaken{"dispatcher", "new", 2}}).refusal);
}

TEST(Fold, UpdateKeepsIdentityAndCountsGenerations) {
  FoldHistory history = FoldHistory::with_namespace();
  history.put({ObjectCreated{kConfig, json(R"({"metadata":{"name":"settings","generation":1},"spec":{"a":1}})")}});
  const std::string uid{uid_of(history.state.value_of(kConfig))};
  history.put({ObjectUpdated{kConfig, json(R"({"metadata":{"name":"settings","uid":"other"},"spec":{"a":2}})")}});
  EXPECT_EQ(uid_of(history.state.value_of(kConfig)), uid);
  EXPECT_EQ(history.state.value_of(kConfig)["metadata"]["generation"].as_int(), 2);
  history.put({ObjectUpdated{kConfig, json(R"({"metadata":{"name":"settings","labels":{"x":"y"}},"spec":{"a":2}})")}});
  EXPECT_EQ(history.state.value_of(kConfig)["metadata"]["generation"].as_int(), 2) << "labels are no spec";
}

TEST(Fold, UpdateWithoutDifferenceChangesNothing) {
  FoldHistory history = FoldHistory::with_namespace();
  history.create_config();
  const Folded folded = history.put({ObjectUpdated{kConfig, history.state.value_of(kConfig)}});
  EXPECT_FALSE(folded.refusal);
  EXPECT_TRUE(folded.changes.empty());
}

TEST(Fold, DeletionWaitsForFinalizers) {
  FoldHistory history = FoldHistory::with_namespace();
  history.put({ObjectCreated{kConfig, json(R"({"metadata":{"name":"settings","finalizers":["x/y"]}})")}});
  history.put({DeletionRequested{.object = kConfig}});
  Value object = history.state.value_of(kConfig);
  EXPECT_TRUE(deleting(object));
  object.edit("metadata").erase("finalizers");
  object.edit("metadata").erase("deletionTimestamp");  // nobody can call a deletion back
  const Folded folded = history.put({ObjectUpdated{kConfig, object}});
  ASSERT_EQ(folded.changes.size(), 1u);
  EXPECT_TRUE(folded.changes[0].removed());
  EXPECT_EQ(parse_json(*folded.changes[0].json).value()["metadata"]["resourceVersion"].as_string(),
            std::to_string(folded.revision.value));
  EXPECT_EQ(history.state.find(kConfig), nullptr);
}

TEST(Fold, PlacementIsItsOwnGeneration) {  // S-77
  FoldHistory history = FoldHistory::with_namespace();
  history.create_binding();
  history.place({{"m1", 2}, {"m2", 1}});
  const Binding binding = binding_from(kBindingKey, history.state.value_of(kBindingKey));
  EXPECT_EQ(binding.targets, (std::vector<Target>{{"m1", 2}, {"m2", 1}}));
  EXPECT_EQ(binding.generation, 2);
  EXPECT_EQ(binding.scheduler_observed_generation, 2);
  EXPECT_EQ(binding.scheduled_status, "True");
  EXPECT_FALSE(history.place({{"m1", 2}, {"m2", 1}}).changes.size() > 1);
  EXPECT_EQ(binding_from(kBindingKey, history.state.value_of(kBindingKey)).generation, 2) << "same targets";
}

TEST(Fold, PlacementAboveTheQuotaIsRefused) {  // Q-10, Q-18, Q-6, Q-9, Q-15
  FoldHistory history = FoldHistory::with_namespace();
  history.create_binding("500m");
  history.put({ObjectCreated{kQuotaKey, json(R"({"metadata":{"name":"limits"},"spec":{"overall":{"cpu":"2"}}})")}});
  EXPECT_FALSE(history.place({{"m1", 4}}).refusal) << "equal is allowed";
  EXPECT_EQ(history.state.quota_usage("default").at("cpu"), Quantity::from_units(2));
  const Folded folded = history.place({{"m1", 5}});
  ASSERT_TRUE(folded.refusal);
  EXPECT_EQ(folded.refusal->code, ErrorCode::kForbidden);
  EXPECT_EQ(folded.refusal->reason,
            "FederatedResourceQuota(default/limits) exceeded for resource cpu: requested sum 2500m, limit 2.");
  EXPECT_EQ(history.state.value_of(kBindingKey)["spec"]["clusters"][0]["replicas"].as_int(), 4);
  EXPECT_FALSE(history.place({{"m1", 1}, {"m2", 3}}).refusal) << "moving replicas costs nothing";
}

TEST(Fold, QuotaCountsBindingsThatWereThereBefore) {
  FoldHistory history = FoldHistory::with_namespace();
  history.create_binding("1");
  history.place({{"m1", 3}});
  history.put({ObjectCreated{kQuotaKey, json(R"({"metadata":{"name":"limits"},"spec":{"overall":{"cpu":"4"}}})")}});
  EXPECT_EQ(history.state.quota_usage("default").at("cpu"), Quantity::from_units(3));
  EXPECT_TRUE(history.place({{"m1", 5}}).refusal);
  history.put({ObjectRemoved{kBindingKey}});
  EXPECT_TRUE(history.state.quota_usage("default").empty());
}

TEST(Fold, EvictionMovesTheTargetToATask) {  // TN-25 to TN-34
  FoldHistory history = FoldHistory::with_namespace();
  history.create_binding();
  history.place({{"m1", 2}, {"m2", 1}});
  history.put({EvictionStarted{.binding = kBindingKey,
                               .cluster = "m1",
                               .reason = "TaintUntolerated",
                               .message = "",
                               .producer = "TaintManager",
                               .grace_seconds = 600}});
  const Value& spec = history.state.value_of(kBindingKey)["spec"];
  EXPECT_EQ(spec["clusters"].size(), 1u);
  EXPECT_EQ(spec["gracefulEvictionTasks"][0]["fromCluster"].as_string(), "m1");
  EXPECT_EQ(spec["gracefulEvictionTasks"][0]["replicas"].as_int(), 2);
  EXPECT_TRUE(history
                  .put({EvictionStarted{.binding = kBindingKey,
                                        .cluster = "m1",
                                        .reason = "",
                                        .message = "",
                                        .producer = "",
                                        .grace_seconds = 0}})
                  .refusal);
  history.put({EvictionFinished{kBindingKey, "m1", "done"}});
  EXPECT_FALSE(history.state.value_of(kBindingKey)["spec"].contains("gracefulEvictionTasks"));
}

TEST(Fold, TaintIsReplacedByKeyAndEffect) {
  FoldHistory history;
  const ObjectKey cluster{type::kCluster, "", "m1"};
  history.put({ObjectCreated{cluster, json(R"({"metadata":{"name":"m1"},"spec":{}})")}});
  history.put({TaintAdded{cluster, {"k", "1", "NoSchedule"}, ""}, TaintAdded{cluster, {"k", "1", "NoExecute"}, ""}});
  history.put({TaintAdded{cluster, {"k", "2", "NoSchedule"}, ""}});
  EXPECT_EQ(history.state.cluster("m1")->taints,
            (std::vector<Taint>{{"k", "1", "NoExecute"}, {"k", "2", "NoSchedule"}}));
  history.put({TaintRemoved{cluster, {"k", "", "NoSchedule"}, ""}});
  EXPECT_EQ(history.state.cluster("m1")->taints.size(), 1u);
}

TEST(Fold, ReplicaWithAnotherHashStops) {
  FoldHistory history = FoldHistory::with_namespace();
  history.create_config();
  const Revision revision = history.state.revision();
  EXPECT_FALSE(history.put({StateHashed{revision, history.state.hash()}}).stop);
  Hash128 other = history.state.hash();
  other.lo ^= 1;
  const Folded folded = history.put({StateHashed{revision, other}});
  ASSERT_TRUE(folded.stop);
  EXPECT_NE(folded.stop->find(to_string(other)), std::string::npos);
  EXPECT_NE(folded.stop->find(to_string(history.state.hash())), std::string::npos);
}

TEST(Fold, EntryOfANewerFoldVersionStops) {
  FoldHistory history;
  Entry entry = history.entry({});
  entry.fold_version = kFoldVersion + 1;
  EXPECT_TRUE(fold(history.state, entry).stop);
}

TEST(Fold, SameHistoryGivesTheSameHashAlsoAcrossARestore) {
  std::vector<Entry> entries;
  FoldHistory history;
  const auto record = [&](std::vector<Event> events) {
    entries.push_back(history.entry(std::move(events)));
    fold(history.state, entries.back());
  };
  record({ObjectCreated{kNamespaceKey, json(R"({"metadata":{"name":"default"}})")}});
  for (int round = 0; round < 50; ++round) {
    const ObjectKey key{"configmaps", "default", "c" + std::to_string(round % 7)};
    const Value value = Value::object({{"metadata", Value::object({{"name", key.name}})}, {"data", round}});
    record({history.state.find(key) == nullptr ? Event{ObjectCreated{key, value}}
            : round % 3 == 0                   ? Event{ObjectRemoved{key}}
                                               : Event{ObjectUpdated{key, value}}});
  }
  for (size_t cut = 0; cut <= entries.size(); ++cut) {
    State state;
    for (size_t at = 0; at < cut; ++at) fold(state, entries[at]);
    std::vector<std::pair<ObjectKey, Object>> objects;
    for (const std::string& of_type : state.types()) {
      for (const auto& [name, object] : state.objects(of_type))
        objects.push_back({{of_type, name.ns, name.name}, object});
    }
    std::vector<EntryId> seen;
    for (size_t at = 0; at < cut; ++at) seen.push_back(entries[at].id);
    State restored;
    ASSERT_TRUE(State::restore(state.meta(), std::move(objects), std::move(seen), restored));
    for (size_t at = cut > 0 ? cut - 1 : 0; at < entries.size(); ++at) fold(restored, entries[at]);  // one twice
    ASSERT_EQ(restored.hash(), history.state.hash()) << "cut at " << cut;
    ASSERT_EQ(restored.revision(), history.state.revision());
  }
}

TEST(Fold, ResolvedDependenciesAreAnAnnotationAndAFinalizer) {
  FoldHistory history = FoldHistory::with_namespace();
  history.create_binding();
  const int64_t generation = history.state.value_of(kBindingKey)["metadata"]["generation"].as_int();
  const Value list = json(R"([{"apiVersion":"v1","kind":"ConfigMap","name":"settings","namespace":"default"}])");
  const ObjectKey attached{type::kResourceBinding, "default", "settings-configmap"};
  for (int twice = 0; twice < 2; ++twice) {
    EXPECT_FALSE(history.put({DependenciesResolved{kBindingKey, list, {}}}).refusal);
    const Value& binding = history.state.value_of(kBindingKey);
    EXPECT_EQ(binding["metadata"]["annotations"][kDependenciesAnnotation], Value{to_json(list)});
    EXPECT_EQ(binding["metadata"]["finalizers"], Value::array({kDistributorFinalizer}));
    EXPECT_EQ(binding["metadata"]["generation"].as_int(), generation);
  }
  EXPECT_EQ(history.state.dependencies().referrers(attached), std::set<ObjectKey>{kBindingKey});
  EXPECT_TRUE(history.put({DependenciesResolved{attached, list, {}}}).refusal) << "there is no such binding";
  history.put({DependenciesResolved{kBindingKey, Value::array(), {}}});
  EXPECT_TRUE(history.state.dependencies().referrers(attached).empty());
}

TEST(Fold, AnAttachedBindingIsMadeThenReplacedButForItsStatus) {
  FoldHistory history = FoldHistory::with_namespace();
  const ObjectKey attached{type::kResourceBinding, "default", "settings-configmap"};
  const auto put = [&](const char* spec) {
    return history.put({AttachedBindingPut{
        attached,
        {kBindingKey},
        Value::object({{"metadata", json(R"({"name":"settings-configmap","namespace":"default","finalizers":["a"]})")},
                       {"spec", json(spec)}}),
        {}}});
  };
  EXPECT_FALSE(put(R"({"requiredBy":[{"namespace":"default","name":"web-deployment"}]})").refusal);
  EXPECT_EQ(history.state.value_of(attached)["metadata"]["generation"], Value{1});
  EXPECT_EQ(history.state.dependencies().attached_to(kBindingKey), std::set<ObjectKey>{attached});
  Value observed = history.state.value_of(attached);
  observed.set("status", json(R"({"aggregatedStatus":[]})"));
  history.put({StatusUpdated{attached, observed}});
  EXPECT_FALSE(put("{}").refusal);
  EXPECT_EQ(history.state.value_of(attached)["status"], json(R"({"aggregatedStatus":[]})"));
  EXPECT_EQ(history.state.value_of(attached)["metadata"]["generation"], Value{2});
  EXPECT_TRUE(history.state.dependencies().attached_to(kBindingKey).empty());
  const ObjectKey nowhere{type::kResourceBinding, "nowhere", "settings-configmap"};
  EXPECT_TRUE(history.put({AttachedBindingPut{nowhere, {}, json(R"({"metadata":{},"spec":{}})"), {}}}).refusal);
}

TEST(Fold, WhetherWorksCouldBeRenderedIsACondition) {
  FoldHistory history = FoldHistory::with_namespace();
  history.create_binding();
  const auto told = [&](const ObjectKey& object, bool succeeded) {
    return history.put({WorksSynced{object, succeeded, succeeded ? "SyncWorkSucceed" : "SyncWorkFailed", "why", {}}});
  };
  EXPECT_FALSE(told(kBindingKey, false).refusal);
  EXPECT_FALSE(told(kNamespaceKey, false).refusal);
  for (const ObjectKey& key : {kBindingKey, kNamespaceKey}) {
    const Value& condition = history.state.value_of(key)["status"]["conditions"][0];
    EXPECT_EQ(condition["type"], Value{kWorksSyncedCondition});
    EXPECT_EQ(condition["status"], Value{"False"});
    EXPECT_EQ(condition["reason"], Value{"SyncWorkFailed"});
  }
  told(kBindingKey, true);
  EXPECT_EQ(history.state.value_of(kBindingKey)["status"]["conditions"][0]["status"], Value{"True"});
  EXPECT_TRUE(told(kConfig, false).refusal) << "there is no such object";
}

TEST(Fold, AnswersFromOutsideAreKeptForTheirBasisAndNotWithoutEnd) {
  FoldHistory history = FoldHistory::with_namespace();
  history.create_config();
  const auto answered = [&](const char* basis, Value answers) {
    return history.put({QuestionAnswered{kConfig, "Guess", "oracle/a", basis, std::move(answers)}});
  };
  const auto kept = [&](const char* basis, const std::string& qualifier) {
    return recorded_answer(history.state, kConfig, "Guess", basis, qualifier);
  };
  EXPECT_FALSE(answered("one", json(R"({"a":{"answer":1},"b":{"failure":"no"}})")).refusal);
  EXPECT_EQ(kept("one", "a")->answer, Value{1});
  EXPECT_EQ(kept("one", "a")->at, history.now);
  EXPECT_EQ(kept("one", "b")->failure, "no");
  EXPECT_FALSE(kept("one", "c"));
  EXPECT_FALSE(kept("two", "a"));
  answered("one", json(R"({"b":{"answer":null}})"));
  EXPECT_EQ(kept("one", "b")->failure, "") << "an answer takes the place of a failure";
  EXPECT_TRUE(kept("one", "a")) << "what was asked of the same stays";
  answered("two", json(R"({"c":{"answer":3}})"));
  EXPECT_FALSE(kept("one", "a")) << "what was asked of another is dropped";
  EXPECT_TRUE(kept("two", "c"));

  Value many = Value::object();
  for (size_t at = 0; at < kMostAnswersKept; ++at) many.set(std::to_string(at), json(R"({"answer":0})"));
  answered("two", many);
  EXPECT_FALSE(kept("two", "c")) << "too many: the former are dropped";
  EXPECT_EQ(history.state.value_of(answers_key(kConfig, "Guess"))["answers"].size(), kMostAnswersKept);
  EXPECT_TRUE(
      history.put({QuestionAnswered{{"configmaps", "default", "none"}, "Guess", "oracle/a", "one", many}}).refusal);
}

}  // namespace
}  // namespace shiplog
