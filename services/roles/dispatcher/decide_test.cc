#include "services/roles/dispatcher/decide.h"

#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "events/journal/journal.h"
#include "events/state/work.h"
#include "services/interpreter/customizations.h"
#include "services/interpreter/scripts.h"
#include "services/roles/dispatcher/render.h"
#include "tests/support/decided.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

class DispatcherDecide : public ::testing::Test {
 protected:
  DispatcherDecide() {
    for (const char* name : {"m1", "m2", "m3"}) join(name);
  }

  void join(const std::string& name) {
    stage.put(cluster_key(name), cluster_object(name));
    stage.put({type::kNamespace, "", execution_space(name)}, namespace_object(execution_space(name)));
  }
  ObjectKey place(const Value& object, const std::vector<Target>& targets) {
    const ObjectKey key{object["kind"].as_string() == "Deployment" ? "deployments.apps" : plural(object),
                        object["metadata"]["namespace"].str(), object["metadata"]["name"].str()};
    stage.put(key, object);
    const Value made = binding(object, targets);
    stage.put(testing::binding_key(made), made);
    return testing::binding_key(made);
  }
  static std::string plural(const Value& object) {
    const auto kind = object["kind"].as_string();
    return kind == "Job" ? "jobs.batch" : kind == "Service" ? "services" : "configmaps";
  }
  /// Decides, and folds what was decided.
  std::vector<Event> decide(const ObjectKey& key) {
    auto decided = dispatcher::decide(stage.state(), key, stage.now());
    EXPECT_TRUE(decided) << decided.error().message;
    if (!decision_of(decided)) return {};
    const Folded folded = stage.write(decision_of(decided)->events, decision_of(decided)->expects);
    EXPECT_FALSE(folded.refusal) << folded.refusal->reason;
    EXPECT_FALSE(decision_of(dispatcher::decide(stage.state(), key, stage.now()))) << "one decision settles it";
    return decision_of(decided)->events;
  }
  const Value& work(const std::string& cluster, const Value& object) {
    return stage.state().value_of(work_key(cluster, object));
  }
  const Value& manifest(const std::string& cluster, const Value& object) {
    return work(cluster, object)["spec"]["workload"]["manifests"][0];
  }

  Stage stage;
};

TEST_F(DispatcherDecide, NamesWorksAfterTheirManifests_N_4_N_5) {
  EXPECT_EQ(work_name("Deployment", "default", "nginx"), "nginx-687f7fb96f");
  EXPECT_EQ(work_name("ConfigMap", "prod", "app-config"), "app-config-56df94fb94");
  EXPECT_EQ(work_name("ClusterRole", "", "system:x"), "system.x-6ffff577cc");
  EXPECT_EQ(work_name("Namespace", "", "test"), "test-69fd499b4c");
  EXPECT_EQ(safe_hash("default/nginx-deployment"), "5bdc5c4dcf");  // N-6
}

TEST_F(DispatcherDecide, RendersAWorkForEachTarget_B_4_B_23) {  // B-3, B-9
  const Value web = deployment("default", "web", 5);
  decide(place(web, {{"m1", 2}, {"m2", 3}}));
  EXPECT_TRUE(work("m3", web).is_null());
  EXPECT_EQ(manifest("m1", web)["spec"]["replicas"], Value{2});
  EXPECT_EQ(manifest("m2", web)["spec"]["replicas"], Value{3});

  const Value& made = work("m1", web);
  EXPECT_EQ(made["metadata"]["finalizers"], Value::array({"karmada.io/execution-controller"}));
  EXPECT_EQ(label_of(made, "resourcebinding.karmada.io/permanent-id"), "id-defaultweb");
  EXPECT_EQ(label_of(made, "work.karmada.io/permanent-id").size(), 36U);
  EXPECT_EQ(annotation_of(made, "resourcebinding.karmada.io/name"), "web-deployment");
  EXPECT_EQ(annotation_of(made, "work.karmada.io/conflict-resolution"), "abort");
  EXPECT_TRUE(made["metadata"]["ownerReferences"].is_null());
  EXPECT_EQ(made["spec"]["suspendDispatching"], Value{false});           // B-24: always written
  EXPECT_EQ(made["spec"]["preserveResourcesOnDeletion"], Value{false});  // B-24
}

/// Results of scripts as far as they are known in this process.
class KnownResults final : public interpreter::ScriptResults {
 public:
  KnownResults() { interpreter::run_scripts_elsewhere(this); }
  ~KnownResults() override { interpreter::run_scripts_elsewhere(nullptr); }
  std::optional<Result<Value>> find(const std::string& basis, UtcMillis) override {
    const auto known = known_.find(basis);
    return known == known_.end() ? std::nullopt : std::optional<Result<Value>>{known->second};
  }
  void learn(const Question& question) {
    known_.emplace(question.basis, interpreter::run_script(question.request, UtcMillis{}).results);
  }

 private:
  std::map<std::string, Result<Value>> known_;
};

// Otherwise a replay, which knows them all, would compute another decision.
TEST_F(DispatcherDecide, NothingIsDecidedBeforeAllResultsOfScriptsAreKnown) {
  const Value web = deployment("default", "web", 5);
  stage.put({interpreter::kCustomizationType, "", "c"},
            Value::object(
                {{"apiVersion", "config.karmada.io/v1alpha1"},
                 {"kind", "ResourceInterpreterCustomization"},
                 {"metadata", Value::object({{"name", "c"}})},
                 {"spec",
                  Value::object({{"target", Value::object({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}})},
                                 {"customizations",
                                  Value::object({{"replicaRevision",
                                                  Value::object({{"luaScript",
                                                                  "function ReviseReplica(o, n) o.spec.replicas = n + "
                                                                  "10 return o end"}})}})}})}}));
  const ObjectKey key = place(web, {{"m1", 2}, {"m2", 3}});
  KnownResults results;
  const auto first = dispatcher::decide(stage.state(), key, stage.now());
  const auto& needs = std::get<NeedsAnswers>(first.value());
  ASSERT_EQ(needs.questions.size(), 2U) << "one for each number of replicas";
  results.learn(*needs.questions[0]);
  const auto second = dispatcher::decide(stage.state(), key, stage.now());
  const auto& other = std::get<NeedsAnswers>(second.value());
  ASSERT_EQ(other.questions.size(), 1U) << "nothing is decided although one target could be rendered";
  results.learn(*other.questions[0]);
  decide(key);
  EXPECT_EQ(manifest("m1", web)["spec"]["replicas"], Value{12});
  EXPECT_EQ(manifest("m2", web)["spec"]["replicas"], Value{13});
}

TEST_F(DispatcherDecide, MarksTheManifest_B_12_B_13) {  // T-16
  Value web = deployment("default", "web", 2);
  web.edit("metadata").edit("annotations").set("note", "kept");
  decide(place(web, {{"m1", 2}}));
  const Value& sent = manifest("m1", web);
  EXPECT_EQ(label_of(sent, "karmada.io/managed"), "true");
  EXPECT_EQ(label_of(sent, "work.karmada.io/permanent-id"), label_of(work("m1", web), "work.karmada.io/permanent-id"));
  EXPECT_EQ(annotation_of(sent, "resourcetemplate.karmada.io/generation"), "1");
  EXPECT_EQ(annotation_of(sent, "resourcetemplate.karmada.io/uid"),
            uid_of(stage.state().value_of({"deployments.apps", "default", "web"})));
  EXPECT_EQ(annotation_of(sent, "work.karmada.io/namespace"), "karmada-es-m1");
  EXPECT_EQ(annotation_of(sent, "note"), "kept");
  EXPECT_EQ(annotation_of(sent, "resourcetemplate.karmada.io/managed-labels"),
            "karmada.io/managed,resourcebinding.karmada.io/permanent-id,work.karmada.io/permanent-id");
  const auto keys = annotation_of(sent, "resourcetemplate.karmada.io/managed-annotations");
  EXPECT_TRUE(keys.starts_with("note,resourcebinding.karmada.io/name,")) << keys;
  EXPECT_NE(keys.find("resourcetemplate.karmada.io/managed-annotations,resourcetemplate.karmada.io/managed-labels"),
            std::string_view::npos);
}

TEST_F(DispatcherDecide, WorksOfOneDecisionShareWhatIsTheSame) {
  const Value object = deployment("default", "web", 2);
  const ObjectKey key = place(object, {{"m1", 2}, {"m2", 2}});
  ASSERT_EQ(decide(key).size(), 2U);
  const auto same_memory = [&](const Value& one, const Value& other) {
    ASSERT_GT(one.as_string().size(), 14U) << "it does not lie inside the Value";
    EXPECT_EQ(one.as_string().data(), other.as_string().data()) << one.as_string();
  };
  const auto annotations = [&](const char* cluster) { return manifest(cluster, object)["metadata"]["annotations"]; };
  for (const char* name : {annotation::kManagedAnnotations, annotation::kManagedLabels, annotation::kTemplateUid}) {
    same_memory(annotations("m1")[name], annotations("m2")[name]);
  }
  const Value& first = work("m1", object);
  same_memory(first["metadata"]["labels"][label::kWorkId],
              manifest("m1", object)["metadata"]["labels"][label::kWorkId]);
  EXPECT_EQ(first["status"]["conditions"].items().data(), work("m2", object)["status"]["conditions"].items().data());
  EXPECT_EQ(manifest("m1", object)["spec"].members().data(),
            stage.state().value_of({"deployments.apps", "default", "web"})["spec"].members().data())
      << "the members run as many replicas as the template says: its spec is not copied";
}

TEST_F(DispatcherDecide, PrunesWhatTheServerPutIn_B_14) {
  Value web = deployment("default", "web", 2);
  web.edit("metadata").set("finalizers", Value::array({"a"}));
  web.edit("metadata").set("annotations", Value::object({{"deployment.kubernetes.io/revision", "3"}}));
  web.set("status", Value::object({{"replicas", 9}}));
  decide(place(web, {{"m1", 2}}));
  const Value& sent = manifest("m1", web);
  for (const char* field : {"uid", "resourceVersion", "creationTimestamp", "generation", "finalizers"}) {
    EXPECT_TRUE(sent["metadata"][field].is_null()) << field;
  }
  EXPECT_TRUE(sent["status"].is_null());
  EXPECT_TRUE(annotation_of(sent, "deployment.kubernetes.io/revision").empty());
}

TEST_F(DispatcherDecide, PrunesByKind_B_14) {
  const Value service = dispatcher::pruned(Value::object(
      {{"kind", "Service"},
       {"spec", Value::object({{"clusterIP", "10.0.0.1"}, {"clusterIPs", Value::array({"10.0.0.1"})}})}}));
  EXPECT_TRUE(service["spec"]["clusterIP"].is_null());
  const Value headless =
      dispatcher::pruned(Value::object({{"kind", "Service"}, {"spec", Value::object({{"clusterIP", "None"}})}}));
  EXPECT_EQ(headless["spec"]["clusterIP"], "None");
  const Value labels = Value::object({{"app", "x"}, {"controller-uid", "u"}, {"job-name", "j"}});
  const Value job = dispatcher::pruned(Value::object(
      {{"kind", "Job"},
       {"spec", Value::object({{"ttlSecondsAfterFinished", 5},
                               {"selector", Value::object({{"matchLabels", Value::object({{"controller-uid", "u"}})}})},
                               {"template", Value::object({{"metadata", Value::object({{"labels", labels}})}})}})}}));
  EXPECT_EQ(job["spec"]["template"]["metadata"]["labels"], Value::object({{"app", "x"}}));
  EXPECT_TRUE(job["spec"]["ttlSecondsAfterFinished"].is_null());
  EXPECT_TRUE(job["spec"]["selector"].is_null());
  const Value account = dispatcher::pruned(Value::object(
      {{"kind", "ServiceAccount"},
       {"metadata", Value::object({{"name", "sa"}})},
       {"secrets", Value::array({Value::object({{"name", "sa-token-x"}}), Value::object({{"name", "mine"}})})}}));
  EXPECT_EQ(account["secrets"], Value::array({Value::object({{"name", "mine"}})}));
}

TEST_F(DispatcherDecide, DividesCompletionsByParallelism_X_55_X_56) {  // B-10
  EXPECT_EQ(dispatcher::divide(10, {{"a", 2}, {"b", 4}}, ""), (std::vector<Target>{{"a", 3}, {"b", 7}}));
  EXPECT_EQ(dispatcher::divide(7, {{"a", 1}, {"b", 1}, {"c", 1}}, "uid-1"),
            (std::vector<Target>{{"a", 2}, {"b", 2}, {"c", 3}}));
  EXPECT_EQ(dispatcher::divide(7, {{"a", 0}, {"b", 0}}, ""), (std::vector<Target>{{"a", 0}, {"b", 0}}));
}

// This runs on the fold thread. Handed out one by one, these would take a quarter of an hour.
TEST_F(DispatcherDecide, TwoBillionCompletionsTakeNoLonger_B_10) {  // S-47
  EXPECT_EQ(dispatcher::divide(2147483647, {{"a", 2}, {"b", 1}}, ""),
            (std::vector<Target>{{"a", 1431655765}, {"b", 715827882}}));
}

TEST_F(DispatcherDecide, DividedJobGetsItsShareOfCompletions_B_10) {
  Value job = Value::object({{"apiVersion", "batch/v1"},
                             {"kind", "Job"},
                             {"metadata", Value::object({{"name", "sum"}, {"namespace", "default"}})},
                             {"spec", Value::object({{"parallelism", 6}, {"completions", 10}, {"replicas", 6}})}});
  const ObjectKey key = place(job, {{"m1", 2}, {"m2", 4}});
  Value divided = stage.state().value_of(key);
  divided.edit("spec").edit("placement").edit("replicaScheduling").set("replicaSchedulingType", "Divided");
  stage.put(key, divided);
  decide(key);
  EXPECT_EQ(manifest("m1", job)["spec"]["parallelism"], Value{2});
  EXPECT_EQ(manifest("m1", job)["spec"]["completions"].as_int() + manifest("m2", job)["spec"]["completions"].as_int(),
            10);
}

TEST_F(DispatcherDecide, TemplateScaledButNotRescheduledKeepsTheTargets_B_9) {  // B-8, TRAP-7, Q-22
  const Value web = deployment("default", "web", 5);
  const ObjectKey key = place(web, {{"m1", 5}});
  stage.put({"deployments.apps", "default", "web"}, deployment("default", "web", 50));
  decide(key);
  EXPECT_EQ(manifest("m1", web)["spec"]["replicas"], Value{5});
}

TEST_F(DispatcherDecide, ChangesOnlyTheWorkThatDiffers) {
  const Value web = deployment("default", "web", 5);
  const ObjectKey key = place(web, {{"m1", 2}, {"m2", 3}});
  EXPECT_EQ(decide(key).size(), 2U);
  Value moved = stage.state().value_of(key);
  moved.edit("spec").set("clusters", binding(web, {{"m1", 2}, {"m2", 4}})["spec"]["clusters"]);
  stage.put(key, moved);
  const auto events = decide(key);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(std::get<WorkRendered>(events[0]).work, work_key("m2", web));
  EXPECT_EQ(work("m2", web)["metadata"]["generation"], Value{2});
}

TEST_F(DispatcherDecide, WorkOfAClusterThatIsNoTargetGoes_B_4) {  // B-2, B-3, TN-34
  const Value web = deployment("default", "web", 5);
  const ObjectKey key = place(web, {{"m1", 2}, {"m2", 3}});
  decide(key);
  Value moved = stage.state().value_of(key);
  moved.edit("spec").set("clusters", binding(web, {{"m2", 5}})["spec"]["clusters"]);
  stage.put(key, moved);
  decide(key);
  EXPECT_TRUE(deleting(work("m1", web)));
  EXPECT_FALSE(deleting(work("m2", web)));
}

TEST_F(DispatcherDecide, EvictingClusterKeepsItsWorkAsItIs_B_4_B_5) {  // TN-31
  const Value web = deployment("default", "web", 5);
  const ObjectKey key = place(web, {{"m1", 5}});
  decide(key);
  stage.write({EvictionStarted{
      .binding = key, .cluster = "m1", .reason = "TaintUntolerated", .message = "", .producer = "TaintManager"}});
  Value changed = web;
  changed.edit("spec").edit("template").edit("spec").set("priority", 1);
  stage.put({"deployments.apps", "default", "web"}, changed);
  EXPECT_TRUE(decide(key).empty());
  stage.write({EvictionFinished{key, "m1", "timeout"}});
  decide(key);
  EXPECT_TRUE(deleting(work("m1", web)));  // TN-34
}

TEST_F(DispatcherDecide, DirectPurgeHoldsBackEveryWorkUntilTheOldIsRemoved_B_2) {  // TN-32
  const Value web = deployment("default", "web", 5);
  const ObjectKey key = place(web, {{"m1", 5}});
  decide(key);
  Value purging = stage.state().value_of(key);
  purging.edit("spec").set("clusters", binding(web, {{"m2", 5}})["spec"]["clusters"]);
  purging.edit("spec").set("gracefulEvictionTasks",
                           Value::array({Value::object({{"fromCluster", "m1"}, {"purgeMode", "Directly"}})}));
  stage.put(key, purging);
  decide(key);
  EXPECT_TRUE(deleting(work("m1", web)));
  EXPECT_TRUE(work("m2", web).is_null());
  stage.write({WorkRemoved{work_key("m1", web)}});
  decide(key);
  EXPECT_FALSE(work("m2", web).is_null());
}

TEST_F(DispatcherDecide, DirectPurgeDoesNotWaitForAWorkThatAnotherBindingRequires_B_2) {
  stage.write({FoldVersionActivated{7}});
  const Value map = config_map("default", "settings", "x");
  const ObjectKey key = place(map, {{"m1", 0}});
  decide(key);
  Value purging = stage.state().value_of(key);
  purging.edit("spec").set("clusters", binding(map, {{"m2", 0}})["spec"]["clusters"]);
  purging.edit("spec").set("gracefulEvictionTasks",
                           Value::array({Value::object({{"fromCluster", "m1"}, {"purgeMode", "Directly"}})}));
  purging.edit("spec").set(
      "requiredBy",
      Value::array({Value::object({{"namespace", "default"},
                                   {"name", "web-deployment"},
                                   {"clusters", binding(map, {{"m1", 0}, {"m3", 0}})["spec"]["clusters"]}})}));
  stage.put(key, purging);
  decide(key);
  EXPECT_FALSE(deleting(work("m1", map)));
  EXPECT_FALSE(work("m2", map).is_null());
  EXPECT_FALSE(work("m3", map).is_null());
}

TEST_F(DispatcherDecide, TerminatingBindingDeletesItsWorksAndItsFinalizer_B_7) {  // D-40
  const Value web = deployment("default", "web", 5);
  const ObjectKey key = place(web, {{"m1", 5}});
  decide(key);
  stage.write({DeletionRequested{.object = key}});
  decide(key);
  EXPECT_TRUE(deleting(work("m1", web)));
  EXPECT_EQ(stage.state().find(key), nullptr);
}

TEST_F(DispatcherDecide, ReplacementWaitsForTheOldWorkToGo_B_25) {
  const Value web = deployment("default", "web", 5);
  const ObjectKey key = place(web, {{"m1", 5}});
  decide(key);
  stage.write({DeletionRequested{.object = work_key("m1", web)}});
  EXPECT_TRUE(decide(key).empty());
  stage.write({WorkRemoved{work_key("m1", web)}});
  EXPECT_EQ(decide(key).size(), 1U);
}

TEST_F(DispatcherDecide, ForeignLabelsOnTheWorkStay_B_25) {
  const Value web = deployment("default", "web", 5);
  const ObjectKey key = place(web, {{"m1", 5}});
  decide(key);
  Value labelled = work("m1", web);
  labelled.edit("metadata").edit("labels").set("team", "blue");
  stage.put(work_key("m1", web), labelled);
  Value moved = stage.state().value_of(key);
  moved.edit("spec").set("clusters", binding(web, {{"m1", 6}})["spec"]["clusters"]);
  stage.put(key, moved);
  decide(key);
  EXPECT_EQ(label_of(work("m1", web), "team"), "blue");
}

TEST_F(DispatcherDecide, NothingNewForALeavingClusterOrWithoutExecutionSpace) {
  stage.put(cluster_key("m4"), cluster_object("m4"));
  Value leaving = cluster_object("m5");
  leaving.edit("metadata").set("finalizers", Value::array({finalizer::kCluster}));
  join("m5");
  stage.put(cluster_key("m5"), leaving);
  stage.write({DeletionRequested{.object = cluster_key("m5")}});
  const Value web = deployment("default", "web", 5);
  EXPECT_TRUE(decide(place(web, {{"m4", 1}, {"m5", 1}, {"m6", 1}})).empty());
}

TEST_F(DispatcherDecide, SuspensionIsPerCluster_B_24) {
  const Value web = deployment("default", "web", 5);
  const ObjectKey key = place(web, {{"m1", 2}, {"m2", 3}});
  Value suspended = stage.state().value_of(key);
  suspended.edit("spec").edit("suspension").edit("dispatchingOnClusters").set("clusterNames", Value::array({"m2"}));
  stage.put(key, suspended);
  decide(key);
  EXPECT_EQ(work("m1", web)["spec"]["suspendDispatching"], Value{false});
  EXPECT_EQ(work("m2", web)["spec"]["suspendDispatching"], Value{true});
}

TEST_F(DispatcherDecide, TemplatesOwnConflictResolutionWins_B_15) {
  Value map = config_map("default", "settings", "x");
  map.edit("metadata").edit("annotations").set(annotation::kConflictResolution, "overwrite");
  decide(place(map, {{"m1", 0}}));
  EXPECT_EQ(annotation_of(manifest("m1", map), annotation::kConflictResolution), "overwrite");
}

TEST_F(DispatcherDecide, EveryNamespaceGoesToEveryMember_B_27) {  // N-7
  const ObjectKey shop{type::kNamespace, "", "shop"};
  stage.put(shop, namespace_object("shop"));
  decide(shop);
  const Value ns = namespace_object("shop");
  for (const char* cluster : {"m1", "m2", "m3"}) {
    EXPECT_EQ(work(cluster, ns)["metadata"]["ownerReferences"][0]["name"], "shop") << cluster;
  }
  Value opted_out = namespace_object("quiet");
  opted_out.edit("metadata").edit("labels").set("namespace.karmada.io/skip-auto-propagation", "True");
  for (const Value& skipped : {opted_out, namespace_object("default"), namespace_object("kube-system"),
                               namespace_object("karmada-system"), namespace_object("karmada-es-m1")}) {
    EXPECT_FALSE(dispatcher::synced_namespace({}, skipped)) << skipped["metadata"]["name"].as_string();
  }
  FleetOptions options;  // D-4
  options.skipped_namespaces = {"team-.*"};
  EXPECT_TRUE(dispatcher::synced_namespace(options, namespace_object("kube-system")));
  EXPECT_FALSE(dispatcher::synced_namespace(options, namespace_object("team-a")));
  EXPECT_FALSE(dispatcher::synced_namespace(options, namespace_object("default"))) << "never, whatever is said";
}

// 40 clusters with a large template each make more than an entry holds; so do thousands of clusters.
TEST_F(DispatcherDecide, WorksOfManyClustersAreRenderedAndDeletedInParts) {
  constexpr size_t kClusters = 40;
  std::vector<Target> targets;
  for (size_t number = 0; number < kClusters; ++number) {
    targets.push_back({"c" + std::to_string(100 + number), 1});
    join(targets.back().cluster);
  }
  const ObjectKey key = place(config_map("default", "large", std::string(size_t{400} << 10, 'x')), targets);
  const auto parts = [&] {
    size_t count = 0;
    for (;; ++count) {
      const auto decided = dispatcher::decide(stage.state(), key, stage.now());
      const Decision* decision = decision_of(decided);
      if (decision == nullptr || count == 100) return count;
      Entry entry;
      entry.events = decision->events;
      entry.expects = decision->expects;
      EXPECT_LE(encode(entry).size(), kMaxEntryBytes);
      EXPECT_FALSE(stage.write(decision->events, decision->expects).refusal);
    }
  };
  EXPECT_EQ(parts(), 6U) << "7 Works each";
  EXPECT_EQ(stage.state().objects(type::kWork).size(), kClusters);
  stage.write({DeletionRequested{key}});
  EXPECT_EQ(parts(), 1U);
  for (const auto& [name, work] : stage.state().objects(type::kWork)) EXPECT_TRUE(deleting(work.value)) << name.ns;
}

}  // namespace
}  // namespace shiplog
