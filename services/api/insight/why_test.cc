#include "services/api/insight/why.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/claim.h"
#include "events/state/work.h"
#include "tests/support/projected_fleet.h"

namespace shiplog::api {
namespace {

const ObjectKey kTemplate{"deployments.apps", "default", "web"};
const ObjectKey kBinding{type::kResourceBinding, "default", "web-deployment"};
const ObjectKey kWork{type::kWork, "karmada-es-m1", work_name("Deployment", "default", "web")};

Value with(const ObjectKey& key, std::initializer_list<std::pair<const char*, Value>> members) {
  Value value = object_value(key);
  for (const auto& [name, member] : members) value.set(name, member);
  return value;
}

/// A Deployment that policy p claimed, was placed on m1 and not on m2, was rendered, and was then claimed by q.
class InsightWhyTest : public testing::Test {
 protected:
  InsightWhyTest() {
    for (const char* name : {"m1", "m2"}) {
      fleet.create({type::kCluster, "", name});
      decide("collector", {ClusterConditionChanged{{type::kCluster, "", name}, "Ready", "True", "ClusterReady", ""}});
    }
    fleet.create({type::kNamespace, "", "karmada-es-m1"});
    decide("api", {ObjectCreated{kTemplate, with(kTemplate, {{"kind", "Deployment"}})}});
    bind("web is selected by p", "won by name");
    before_placement_ = fleet.revision();
    place("placed on m1:2");
    decide("dispatcher",
           {WorkRendered{kWork, object_value(kWork), {Text{"rendered"}, "", {}, {Text{"image changed"}}, {}}}});
    decide("dispatcher", {WorkApplied{kWork, 1, "taken"}});
    bind("web is selected by p", "claimed already");
    with_p_ = fleet.revision();
    bind("web is selected by q", "won by priority");
  }

  void decide(const std::string& service, std::vector<Event> events) {
    Entry entry;
    entry.actor = {"system:shiplog:" + service, {}, service, "", ""};
    entry.as_of = fleet.revision();
    entry.events = std::move(events);
    const Folded folded = fleet.write(std::move(entry));
    ASSERT_FALSE(folded.refusal) << folded.refusal->reason;
  }
  void bind(const std::string& summary, const std::string& step, const char* policy_id = "an-id") {
    const Value resource =
        Value::object({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"namespace", "default"}, {"name", "web"}});
    Value value = with(kBinding, {{"spec", Value::object({{"resource", resource}})}});
    if (!scheduler_.empty()) value.edit("spec").set("schedulerName", scheduler_);
    if (!uid_.empty()) value.edit("metadata").set("uid", uid_);
    value.edit("data").set("text", summary + step);  // so that it changes
    value.edit("metadata").set("labels", Value::object({{label::kPolicyId, policy_id}}));
    decide("binder", {BindingPut{kBinding, std::move(value), {Text{summary}, "", {}, {Text{step}}, {}}}});
  }
  /// A user writes where it runs.
  void set_clusters(const std::string& user) {
    Value value = fleet.state().value_of(kBinding);
    value.edit("spec").set("clusters", Value::array({Value::object({{"name", "m2"}, {"replicas", 4}})}));
    Entry entry;
    entry.actor = {user, {}, "api", "", ""};
    entry.events = {ObjectUpdated{kBinding, std::move(value)}};
    const Folded folded = fleet.write(std::move(entry));
    ASSERT_FALSE(folded.refusal) << folded.refusal->reason;
  }
  void place(const std::string& summary) {
    PlacementDecided placed;
    placed.binding = kBinding;
    placed.targets = {{"m1", 2}};
    placed.why.summary = Text{summary};
    placed.why.steps = {Text{"sum"}, Duplicated{2}};
    placed.why.clusters = {{"m1", 0, -1, 2}};
    placed.why.add({"m2"}, {{{"TaintToleration", false, Text{"tainted"}}}, {}});
    decide("scheduler", {placed});
  }

  Result<Value> ask(const ObjectKey& object, const std::string& cluster = "", std::optional<Revision> at = {}) {
    Reader reader = fleet.reader();
    const View view = must(reader.view());
    return why(
        view, kinds_, {object, cluster, at},
        {[this](const PlacementInputs& scene, const std::vector<std::string>& asked) { return remedies(scene, asked); },
         [this] { return roles_; }});
  }
  Result<std::map<std::string, ClusterRemedy>> remedies(const PlacementInputs& scene,
                                                        const std::vector<std::string>& asked) const {
    EXPECT_EQ(scene.key, kBinding);
    // As it was before it was placed, and then as it is.
    const bool now = !scene.binding["spec"]["clusters"].is_null();
    if (now && taint_is_gone_) return std::map<std::string, ClusterRemedy>{};
    EXPECT_EQ(scene.fleet.size(), 2U);
    EXPECT_EQ(scene.beside.size(), 2U) << "the feature gates and the options; nobody it stays with or apart from";
    EXPECT_EQ(asked, std::vector<std::string>{"m2"}) << "what was chosen is not asked about";
    return std::map<std::string, ClusterRemedy>{{"m2", {{"take the taint off"}, true}}};
  }

  TestFleet fleet;
  Kinds kinds_ = Kinds::compiled();
  Revision before_placement_, with_p_;
  bool taint_is_gone_ = false;
  std::string uid_, scheduler_;  // of the next binding; empty: it has none
  std::vector<RoleLeadership> roles_;
};

/// All sentences about one member.
std::string now_of(const Value& answer, size_t member = 0) {
  std::string text;
  for (const Value& sentence : answer["members"][member]["now"].items()) text += sentence.str() + "\n";
  return text;
}

TEST_F(InsightWhyTest, ShowsPolicyPlacementAndMembersFromAnyOfTheThreeObjects) {
  const Value of_template = must(ask(kTemplate));
  EXPECT_EQ(of_template["policy"]["summary"].str(), "web is selected by q");
  EXPECT_EQ(of_template["placement"]["summary"].str(), "placed on m1:2");
  EXPECT_EQ(of_template["placement"]["steps"][0].str(), "sum");
  EXPECT_EQ(to_json(of_template["placement"]["facts"]), R"([{"replicas":2,"type":"Duplicated"}])");
  ASSERT_EQ(of_template["clusters"].size(), 2U);
  EXPECT_EQ(of_template["clusters"][0]["replicas"].as_int(), 2);
  EXPECT_TRUE(of_template["clusters"][0]["remedy"].is_null());
  EXPECT_EQ(of_template["clusters"][1]["remedy"]["changes"][0].str(), "take the taint off");
  ASSERT_EQ(of_template["members"].size(), 1U);
  EXPECT_EQ(of_template["members"][0]["steps"][0].str(), "image changed");
  EXPECT_EQ(of_template["members"][0]["conditions"][0]["type"].str(), "Applied");
  const Value of_binding = must(ask(kBinding));
  EXPECT_EQ(of_binding, of_template) << "the template's type is found from the binding";
}

TEST_F(InsightWhyTest, ReportsThatNothingFollowsATemplateWithoutItsPolicy) {
  EXPECT_TRUE(must(ask(kTemplate))["summary"].is_null());
  EXPECT_TRUE(must(ask(kTemplate))["policy"]["released"].is_null());
  bind("web is selected by q", "stripped", "");
  const Value left = must(ask(kTemplate));
  EXPECT_EQ(left["summary"].str().find("no policy has it any more"), 0U) << left["summary"].str();
  EXPECT_TRUE(left["policy"]["released"].as_bool());
  EXPECT_FALSE(left["placement"].is_null()) << "it is where it was";
}

TEST_F(InsightWhyTest, AnEarlierRevisionContainsNoLaterChanges) {
  const Value then = must(ask(kTemplate, "", with_p_));
  EXPECT_EQ(then["policy"]["summary"].str(), "web is selected by p");
  EXPECT_EQ(then["policy"]["steps"][0].str(), "won by name") << "how it was won, not what was said last";
  EXPECT_EQ(then["policy"]["stepsNow"][0].str(), "claimed already");
  const Value unplaced = must(ask(kTemplate, "", before_placement_));
  EXPECT_TRUE(unplaced["placement"].is_null());
  EXPECT_TRUE(unplaced["members"].is_null());
  const auto too_early = ask(kTemplate, "", Revision{1});
  ASSERT_FALSE(too_early);
  EXPECT_EQ(too_early.error().code, ErrorCode::kNotFound);
}

TEST_F(InsightWhyTest, OneClusterOnlyAndAMissingOneIsReported) {
  const Value one = must(ask(kTemplate, "m2"));
  ASSERT_EQ(one["clusters"].size(), 1U);
  EXPECT_EQ(one["clusters"][0]["cluster"].str(), "m2");
  EXPECT_TRUE(one["members"].is_null());
  const auto other = ask(kTemplate, "m9");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("cluster m9 was not in the fleet"), std::string::npos) << other.error().message;
}

TEST_F(InsightWhyTest, WithoutAPolicyItIsReportedAndAMissingObjectIsNotFound) {
  const ObjectKey map = config_map("default", "alone");
  fleet.create(map);
  EXPECT_NE(must(ask(map))["summary"].str().find("no policy has it"), std::string::npos);
  Value claimed = object_value(map);
  claimed.edit("metadata").set("labels", Value::object({{label::kClusterPolicyId, "an-id"}}));
  claimed.edit("metadata").set("annotations", Value::object({{annotation::kClusterPolicyName, "slow"}}));
  decide("binder", {ObjectUpdated{map, std::move(claimed)}});
  EXPECT_EQ(must(ask(map))["summary"].str().find("ClusterPropagationPolicy slow has it, but has not been applied"), 0U)
      << must(ask(map))["summary"].str();
  const auto none = ask(config_map("default", "none"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

TEST_F(InsightWhyTest, WhatNoPolicyReachesIsReportedWithTheReason_D_4) {
  fleet.create({type::kNamespace, "", "kube-system"});
  const ObjectKey map = config_map("kube-system", "skipped");
  fleet.create(map);
  EXPECT_EQ(
      must(ask(map))["summary"].str(),
      "policies do not reach it, and it is in no member: --skipped-propagating-namespaces leaves its namespace out");
  const ObjectKey policy{type::kPropagationPolicy, "default", "p"};
  fleet.create(policy);
  EXPECT_EQ(must(ask(policy))["summary"].str(),
            "policies do not reach it, and it is in no member: objects of its kind are for the control plane alone");
}

TEST_F(InsightWhyTest, AnUnreachableMemberHasAPendingGeneration) {
  EXPECT_EQ(now_of(must(ask(kTemplate))).find("generation 1 of the Work is applied"), 0U)
      << now_of(must(ask(kTemplate)));
  const Revision before = fleet.revision();
  const ObjectKey m1{type::kCluster, "", "m1"};
  decide("collector", {ClusterConditionChanged{m1, "Ready", "False", "ClusterNotReachable", "connection refused"}});
  Value changed = object_value(kWork);
  changed.set("spec", Value::object({{"suspendDispatching", false}}));
  decide("dispatcher", {WorkRendered{kWork, changed, {}}});
  const std::string now = now_of(must(ask(kTemplate)));
  EXPECT_EQ(now.find("cluster m1 is unreachable since "), 0U) << now;
  EXPECT_NE(now.find("(ClusterNotReachable: connection refused)"), std::string::npos) << now;
  EXPECT_NE(now.find("generation 2 of the Work, rendered at "), std::string::npos) << now;
  EXPECT_NE(now.find("has not been applied yet; the member has generation 1"), std::string::npos) << now;
  EXPECT_EQ(now_of(must(ask(kTemplate, "", before))).find("unreachable"), std::string::npos);
}

TEST_F(InsightWhyTest, ATaintThatWasRemovedSinceThePlacementIsReported) {
  EXPECT_TRUE(must(ask(kTemplate))["clusters"][1]["remedyNow"].is_null()) << "nothing has changed";
  taint_is_gone_ = true;
  const Value line = must(ask(kTemplate))["clusters"][1];
  EXPECT_EQ(line["verdicts"][0]["reason"].str(), "tainted");
  EXPECT_EQ(line["remedy"]["changes"][0].str(), "take the taint off");
  EXPECT_EQ(line["remedyNow"], Value::object({{"changes", Value::array()}, {"chosen", true}}));
}

TEST_F(InsightWhyTest, AnEvictionShowsItsReasonAndWhatItWaitsFor) {
  decide("taint",
         {EvictionStarted{kBinding, "m1", "TaintUntolerated", "cluster m1 has taint {fire}", "TaintManager", 0}});
  PlacementDecided moved;
  moved.binding = kBinding;
  moved.targets = {{"m2", 2}};
  moved.observed_generation = 2;
  decide("scheduler", {moved});
  const Value evicting = must(ask(kTemplate));
  ASSERT_EQ(evicting["evictions"].size(), 1U);
  EXPECT_EQ(evicting["evictions"][0]["cluster"].str(), "m1");
  EXPECT_EQ(evicting["evictions"][0]["reason"].str(), "TaintUntolerated");
  EXPECT_FALSE(evicting["evictions"][0]["until"].is_null());
  ASSERT_EQ(evicting["evictions"][0]["waitsFor"].size(), 1U);
  EXPECT_EQ(evicting["members"].size(), 2U) << "the cluster that it leaves still has it";
  decide("taint", {EvictionFinished{kBinding, "m1", "grace period is over"}});
  const Value finished = must(ask(kTemplate));
  EXPECT_TRUE(finished["evictions"].is_null());
  EXPECT_EQ(finished["pastEvictions"][0]["summary"].str(), "from m1: grace period is over");
}

TEST_F(InsightWhyTest, AnOverrideThatFailsIsTheReasonThatAMemberKeepsWhatItHas) {
  Explanation why;
  why.add({"m1"}, {{{"Override", false, OverrideFailed{"default", "o", "m1", 1, "no such path"}}}, {}});
  decide("dispatcher", {WorksSynced{kBinding, false, "SyncWorkFailed", "it failed", why}});
  const std::string now = now_of(must(ask(kTemplate)));
  EXPECT_EQ(now.find("the present version could not be rendered: Apply override policy(default/o)"), 0U) << now;
  decide("dispatcher", {WorksSynced{kBinding, true, "SyncWorkSucceed", "again", {}}});
  EXPECT_EQ(now_of(must(ask(kTemplate))).find("could not be rendered"), std::string::npos);
}

TEST_F(InsightWhyTest, ARoleWithoutALeaderIsReported) {
  roles_ = {{.role = "scheduler", .since = UtcMillis{1'700'000'000'000}}, {.role = "dispatcher", .led = true}};
  const auto notes = [&](std::optional<Revision> at) {
    std::string text;
    const Value answer = must(ask(kTemplate, "", at));
    for (const Value& note : answer["notes"].items()) text += note.str() + "\n";
    return text;
  };
  EXPECT_EQ(notes({}).find("no scheduler is running since 2023-11-14T22:13:20Z: nothing is placed or moved"), 0U)
      << notes({});
  EXPECT_EQ(notes({}).find("no dispatcher"), std::string::npos);
  EXPECT_EQ(notes(fleet.revision()).find("no scheduler is running"), std::string::npos)
      << "it is known of the present only";
}

// A Deployment is deleted and created again: its binding has the same name, and the claim and placement are others.
TEST_F(InsightWhyTest, DecisionsAboutAnEarlierBindingOfTheSameNameDoNotExplainIt) {
  fleet.remove(kBinding);
  uid_ = "second";
  bind("web is selected by q", "won by priority again");
  const Revision created = fleet.revision();
  const Value again = must(ask(kTemplate));
  EXPECT_EQ(again["policy"]["since"]["revision"].as_int(), static_cast<int64_t>(created.value));
  EXPECT_EQ(again["policy"]["steps"][0].str(), "won by priority again");
  EXPECT_TRUE(again["placement"].is_null()) << to_json(again["placement"]);
  bind("web is selected by q", "claimed already");
  EXPECT_EQ(must(ask(kTemplate))["policy"]["since"]["revision"].as_int(), static_cast<int64_t>(created.value));
  EXPECT_EQ(must(ask(kTemplate, "", with_p_))["policy"]["summary"].str(), "web is selected by p");
}

TEST_F(InsightWhyTest, ClustersThatAUserWroteAreReportedWithTheirAuthor) {  // S-14, S-52
  EXPECT_TRUE(must(ask(kTemplate))["placement"]["changed"].is_null());
  const Revision placed = fleet.revision();
  set_clusters("jane");
  const Revision written = fleet.revision();
  decide("dispatcher", {WorksSynced{kBinding, true, "SyncWorkSucceed", "a change of something else", {}}});
  const Value answer = must(ask(kTemplate));
  const Value& changed = answer["placement"]["changed"];
  EXPECT_EQ(changed["revision"].as_int(), static_cast<int64_t>(written.value));
  EXPECT_EQ(changed["user"].str(), "jane");
  const std::string note = answer["notes"][0].str();
  EXPECT_EQ(note.find("its clusters are m2:4, as jane wrote them at revision " + std::to_string(written.value) + ", "),
            0U)
      << note;
  EXPECT_NE(note.find("not as they were placed last"), std::string::npos) << note;
  EXPECT_TRUE(must(ask(kTemplate, "", placed))["placement"]["changed"].is_null());
}

TEST_F(InsightWhyTest, ABindingForAnotherSchedulerIsNotOneThatWaits_S_1) {
  fleet.remove(kBinding);
  uid_ = "second";
  scheduler_ = "other";
  bind("web is selected by q", "won by priority");
  const Value waiting = must(ask(kTemplate));
  ASSERT_EQ(waiting["notes"].size(), 1U) << to_json(waiting["notes"]);
  EXPECT_EQ(waiting["notes"][0].str(),
            "it is for the scheduler \"other\" (spec.schedulerName): this control plane places only what is for "
            "default-scheduler");
  set_clusters("other");
  const Value placed = must(ask(kTemplate));
  ASSERT_EQ(placed["notes"].size(), 2U) << to_json(placed["notes"]);
  EXPECT_EQ(placed["notes"][0].str().find("its clusters are m2:4, as other wrote them at revision "), 0U)
      << placed["notes"][0].str();
  EXPECT_EQ(placed["notes"][1], waiting["notes"][0]);
}

TEST_F(InsightWhyTest, AGroupWithoutTheFeatureGateHasNoEffect_M_10) {
  const auto notes = [&] { return to_json(must(ask(kTemplate))["notes"]); };
  fleet.remove(kBinding);
  uid_ = "second";
  bind("web is selected by q", "won by priority");
  EXPECT_EQ(notes().find("WorkloadAffinity"), std::string::npos);
  Value grouped = fleet.state().value_of(kBinding);
  grouped.edit("spec").set("workloadAffinityGroups", Value::object({{"antiAffinityGroup", "tier=gold"}}));
  decide("binder", {BindingPut{kBinding, std::move(grouped), {Text{"grouped"}, "", {}, {}, {}}}});
  EXPECT_NE(notes().find("spec.placement.workloadAffinity has no effect: the feature gate WorkloadAffinity is off"),
            std::string::npos)
      << notes();
  decide("api", {FeatureGatesSet{{"WorkloadAffinity"}}});
  EXPECT_EQ(notes().find("WorkloadAffinity"), std::string::npos) << notes();
}

TEST_F(InsightWhyTest, AnEvictionOfTheLastHealthyCopyWaitsForAnotherCluster_2_6_5) {
  const Value resource = fleet.state().value_of(kBinding)["spec"]["resource"];
  const Value status =
      Value::object({{"identifier", Value::object({{"kind", "Deployment"}, {"namespace", "default"}, {"name", "web"}})},
                     {"health", "Healthy"}});
  decide("collector", {WorkStatusObserved{kWork, Value::array({status}), 1}});
  decide("taint", {EvictionStarted{kBinding, "m1", "TaintUntolerated", "", "TaintManager", 0}});
  EXPECT_TRUE(must(ask(kTemplate))["evictions"][0]["keptAsLastCopy"].as_bool());
  PlacementDecided moved;
  moved.binding = kBinding;
  moved.targets = {{"m2", 2}};
  moved.observed_generation = fleet.state().value_of(kBinding)["metadata"]["generation"].as_int();
  decide("scheduler", {moved});
  EXPECT_TRUE(must(ask(kTemplate))["evictions"][0]["keptAsLastCopy"].is_null()) << "another cluster was found";
}

TEST_F(InsightWhyTest, AKeptCopyWhoseClusterTakesItAgainIsOneThatStays) {  // decision 0151
  const Value resource = fleet.state().value_of(kBinding)["spec"]["resource"];
  const Value status =
      Value::object({{"identifier", Value::object({{"kind", "Deployment"}, {"namespace", "default"}, {"name", "web"}})},
                     {"health", "Healthy"}});
  decide("collector", {WorkStatusObserved{kWork, Value::array({status}), 1}});
  Value placed = fleet.state().value_of(kBinding);
  placed.edit("metadata").edit("annotations").set(kAppliedPlacementAnnotation, "{}");
  decide("scheduler", {ObjectUpdated{kBinding, std::move(placed)}});
  decide("taint", {TaintAdded{{type::kCluster, "", "m1"}, {"fire", "", "NoExecute"}, "a fire"}});
  decide("taint", {EvictionStarted{kBinding, "m1", "TaintUntolerated", "", "TaintManager", 0}});
  PlacementRefused refused;
  refused.binding = kBinding;
  refused.reason = "NoClusterFit";
  refused.message = "0/2 clusters are available";
  decide("scheduler", {refused});
  const Value driven_off = must(ask(kTemplate))["evictions"][0];
  EXPECT_TRUE(driven_off["keptAsLastCopy"].as_bool());
  EXPECT_TRUE(driven_off["takenAgain"].is_null());
  EXPECT_EQ(driven_off["waitsFor"][0].str(), "it could not be placed: 0/2 clusters are available");
  decide("taint", {TaintRemoved{{type::kCluster, "", "m1"}, {"fire", "", "NoExecute"}, "it is out"}});
  EXPECT_TRUE(must(ask(kTemplate))["evictions"][0]["takenAgain"].as_bool());
}

TEST_F(InsightWhyTest, WhatMembersHaveOfADeletedObjectIsReported) {
  Value work = fleet.state().value_of(kWork);
  work.edit("metadata")
      .set("annotations",
           Value::object({{annotation::kBindingNamespace, "default"}, {annotation::kBindingName, "web-deployment"}}));
  work.set("spec", must(parse_json(R"({"workload": {"manifests": [{"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"namespace": "default", "name": "web"}}]}})")));
  decide("dispatcher", {ObjectUpdated{kWork, std::move(work)}});
  fleet.remove(kBinding);
  fleet.remove(kTemplate);
  for (const ObjectKey& object : {kTemplate, kWork}) {
    const Value left = must(ask(object));
    EXPECT_EQ(left["object"]["name"].str(), "web");
    EXPECT_EQ(left["object"]["type"].str(), "deployments.apps");
    EXPECT_EQ(left["summary"].str().find("it has no binding any more"), 0U) << left["summary"].str();
    ASSERT_EQ(left["members"].size(), 1U);
    EXPECT_EQ(left["members"][0]["cluster"].str(), "m1");
  }
  fleet.remove(kWork);
  EXPECT_EQ(ask(kTemplate).error().code, ErrorCode::kNotFound);
}

TEST_F(InsightWhyTest, PoliciesThatSelectItNowAreNamed) {
  Value claimed = with(kTemplate, {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}});
  claimed.edit("metadata").set("labels", Value::object({{label::kPolicyId, "an-id"}}));
  claimed.edit("metadata")
      .set("annotations", Value::object({{annotation::kPolicyNamespace, "default"}, {annotation::kPolicyName, "q"}}));
  decide("binder", {ObjectUpdated{kTemplate, std::move(claimed)}});
  EXPECT_TRUE(must(ask(kTemplate))["policy"]["alsoSelectedBy"].is_null());
  const Value selecting = must(parse_json(
      R"({"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}], "placement": {}})"));
  for (const char* name : {"q", "rival"}) {
    const ObjectKey policy{type::kPropagationPolicy, "default", name};
    decide("api", {ObjectCreated{policy, with(policy, {{"spec", selecting}})}});
  }
  const Value policy = must(ask(kTemplate))["policy"];
  EXPECT_EQ(to_json(policy["alsoSelectedBy"]), R"(["PropagationPolicy default/rival"])") << "q has it";
  EXPECT_EQ(must(ask(kBinding))["policy"], policy);
}

TEST_F(InsightWhyTest, DecisionsThatRetentionHasDeletedAreReportedAsSuch) {
  Value binding = fleet.state().value_of(kBinding);
  binding.edit("metadata")
      .set("annotations", Value::object({{annotation::kPolicyNamespace, "default"}, {annotation::kPolicyName, "q"}}));
  decide("binder", {ObjectUpdated{kBinding, std::move(binding)}});
  EXPECT_EQ(to_json(must(ask(kTemplate))["notes"]).find("--decision-retention"), std::string::npos);
  auto cut = must(fleet.projections().expired({.history = {}, .audit = {}, .decisions = fleet.now()}));
  while (must(fleet.projections().trim_some(cut)).more) {
  }
  const Value why = must(ask(kTemplate));
  EXPECT_TRUE(why["policy"].is_null());
  EXPECT_TRUE(why["placement"].is_null());
  EXPECT_EQ(why["notes"][0].str(),
            "PropagationPolicy default/q has it; why is not known any more: that decision has been deleted "
            "(--decision-retention)");
  EXPECT_EQ(why["notes"][1].str().find("it is placed on m1:2; why is not known any more"), 0U) << why["notes"][1].str();
  EXPECT_TRUE(ask(kTemplate, "m1")) << "it has been placed";
}

TEST_F(InsightWhyTest, ANamespaceIsSyncedSkippedOrBlocked) {
  const ObjectKey shop{type::kNamespace, "", "shop"};
  Value space = with(shop, {{"kind", "Namespace"}});
  decide("api", {ObjectCreated{shop, space}});
  const Value pending = must(ask(shop));
  EXPECT_EQ(pending["summary"].str(), "namespaces need no policy: it goes to every member of the fleet (2 now)");
  ASSERT_EQ(pending["members"].size(), 2U);
  EXPECT_NE(now_of(pending, 1).find("no Work has been rendered for it yet"), std::string::npos) << now_of(pending, 1);

  const ObjectKey work{type::kWork, "karmada-es-m1", work_name("Namespace", "", "shop")};
  Value rendered = object_value(work);
  rendered.set("spec", Value::object({{"workload", Value::object({{"manifests", Value::array({space})}})}}));
  decide("dispatcher", {WorkRendered{work, rendered, {}}});
  decide("dispatcher", {WorkApplyFailed{work, 1, "AppliedFailed", "it exists already"}});
  EXPECT_NE(now_of(must(ask(shop))).find("fails"), std::string::npos);
  EXPECT_NE(now_of(must(ask(shop))).find("it exists already"), std::string::npos);
  const Value of_work = must(ask(work));
  EXPECT_EQ(of_work["object"]["name"].str(), "shop");
  EXPECT_EQ(of_work["members"].size(), 1U) << "the Work's own cluster";

  Value skipped = space;
  skipped.edit("metadata").set("labels", Value::object({{"namespace.karmada.io/skip-auto-propagation", "true"}}));
  decide("api", {ObjectUpdated{shop, skipped}});
  EXPECT_EQ(
      must(ask(shop))["summary"].str(),
      "the namespace is not synchronized to members: its label namespace.karmada.io/skip-auto-propagation is true");
  EXPECT_EQ(must(ask(shop))["members"].size(), 1U) << "what is there already stays";
  EXPECT_EQ(must(ask({type::kNamespace, "", "karmada-es-m1"}))["summary"].str(),
            "the namespace is not synchronized to members: its name is reserved for the control plane");
}

}  // namespace
}  // namespace shiplog::api
