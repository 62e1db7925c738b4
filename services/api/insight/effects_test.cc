#include "services/api/insight/effects.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/work.h"
#include "projections/history/history_query.h"
#include "services/api/insight/chain.h"
#include "tests/support/projected_fleet.h"

namespace shiplog::api {
namespace {

const ObjectKey kWeb{"deployments.apps", "default", "web"};
const ObjectKey kDb{"deployments.apps", "default", "db"};
const ObjectKey kCluster{type::kCluster, "", "m1"};

ObjectKey binding_of(const ObjectKey& key) { return {type::kResourceBinding, key.ns, key.name + "-deployment"}; }
ObjectKey work_of(const ObjectKey& key, const std::string& cluster = "m1") {
  return {type::kWork, "karmada-es-" + cluster, key.name};
}

class Effects : public testing::Test {
 protected:
  Effects() {
    for (const char* cluster : {"m1", "m2"}) fleet.create({type::kNamespace, "", "karmada-es-" + std::string{cluster}});
  }

  struct Written {
    Revision revision;
    EntryId id;
    Offset offset;
  };
  Written request(std::vector<Event> events, const char* user = "alice") {
    Entry entry;
    entry.actor = {user, {}, "api", "10.0.0.1", "kubectl"};
    entry.events = std::move(events);
    return write(std::move(entry));
  }
  Written decide(const std::string& service, const Written& cause, std::vector<Event> events,
                 const char* verb = "decide") {
    Entry entry;
    entry.actor = {"system:shiplog:" + service, {}, service, "", ""};
    entry.request = {verb, ""};
    entry.cause = {cause.revision, cause.id, ""};
    entry.events = std::move(events);
    return write(std::move(entry));
  }
  Written observe(const std::string& service, std::vector<Event> events) {
    return decide(service, {}, std::move(events), "observe");
  }
  Written write(Entry entry) {
    const Folded folded = fleet.write(std::move(entry));
    refused = folded.refusal.has_value();
    return {folded.revision, fleet.journal().back().second.id, fleet.journal().back().first};
  }

  static Event bound(const ObjectKey& key) { return BindingPut{binding_of(key), object_value(binding_of(key)), {}}; }
  static Event rendered(const ObjectKey& key, const std::string& text = {}) {
    Value work = object_value(work_of(key), text);
    Value annotations = Value::object();
    annotations.set(annotation::kBindingNamespace, key.ns);
    annotations.set(annotation::kBindingName, binding_of(key).name);
    work.edit("metadata").set("annotations", std::move(annotations));
    return WorkRendered{work_of(key), std::move(work), {}};
  }
  static Event applied(const ObjectKey& key) { return WorkApplied{work_of(key), 1, ""}; }
  static Event reported(const ObjectKey& key, const char* health) {
    return WorkStatusObserved{work_of(key), Value::array({Value::object({{"health", health}})})};
  }
  static Event aggregated(const ObjectKey& key, const char* message) {
    return StatusAggregated{binding_of(key),
                            Value::array({Value::object({{"clusterName", "m1"}})}),
                            true,
                            "FullyAppliedSuccess",
                            message,
                            ObjectKey{},
                            Value{}};
  }
  Written deploy(const ObjectKey& key) {
    const Written asked = request({ObjectCreated{key, object_value(key)}});
    const Written binding = decide("binder", asked, {bound(key)});
    PlacementDecided placed;
    placed.binding = binding_of(key);
    placed.targets = {{"m1", 2}};
    const Written placement = decide("scheduler", binding, {placed});
    decide("dispatcher", placement, {rendered(key)});
    return asked;
  }

  Value ask(const Written& root, EffectsQuestion question = {}) {
    Reader reader = fleet.reader();
    const View view = must(reader.view());
    question.root = *must(AuditQuery{view}.at(root.offset));
    return must(effects_of(view, question));
  }
  /// "kind:object" of each item, indented by its depth, one a line.
  static std::string tree(const Value& answer, int64_t node = 0, const std::string& indent = {}) {
    const Value& item = answer["items"][static_cast<size_t>(node)];
    std::string text = indent;
    for (const Value& event : item["events"].items()) {
      text += event["kind"].str() + ":" + event["object"]["name"].str() + " ";
    }
    if (item["result"].as_string() != "accepted") text += "(" + item["result"].str() + ") ";
    text.back() = '\n';
    for (const Value& other : answer["items"].items()) {
      if (!other["parent"].is_null() && other["parent"].as_int() == node) {
        text += tree(answer, other["node"].as_int(), indent + "  ");
      }
    }
    return text;
  }

  TestFleet fleet;
  bool refused = false;
};

TEST_F(Effects, LeadFromARequestToTheStatusOfTheMembers) {
  const Written asked = deploy(kWeb);
  observe("dispatcher", {applied(kWeb)});
  const Written seen = observe("collector", {reported(kWeb, "Healthy")});
  decide("collector", seen, {aggregated(kWeb, "applied")});
  const Value answer = ask(asked);
  EXPECT_EQ(tree(answer), R"(ObjectCreated:web
  BindingPut:web-deployment
    PlacementDecided:web-deployment
      WorkRendered:web
        WorkApplied:web
          WorkStatusObserved:web
            StatusAggregated:web-deployment
)");
  EXPECT_EQ(answer["events"]["WorkRendered"], Value{1});
  EXPECT_EQ(answer["events"]["ObjectCreated"], Value{}) << "the cause is no effect of itself";
  EXPECT_EQ(answer["items"][1]["service"], Value{"binder"});
  EXPECT_EQ(answer["items"][2]["afterMillis"], Value{120'000});
  EXPECT_EQ(answer["unreadable"], Value{0});
  EXPECT_TRUE(answer["truncated"].is_null());
}

// Reports of many Works share an entry: each hangs below the Work that it is about, and so does what followed from it.
TEST_F(Effects, OfAGatheredReportAreDividedByWhatTheyAreAbout) {
  const Written web = deploy(kWeb);
  const Written db = deploy(kDb);
  observe("dispatcher", {applied(kDb), applied(kWeb)});
  const Written seen = observe("collector", {reported(kWeb, "Healthy"), reported(kDb, "Unhealthy")});
  decide("collector", seen, {aggregated(kDb, "db")});
  decide("collector", seen, {aggregated(kWeb, "web")});
  for (const auto& [root, name, other] : {std::tuple{web, "web", "db"}, std::tuple{db, "db", "web"}}) {
    const std::string text = tree(ask(root));
    EXPECT_EQ(text.find(std::string{":"} + other), std::string::npos) << text;
    for (const char* kind : {"WorkApplied:", "WorkStatusObserved:", "StatusAggregated:"}) {
      EXPECT_NE(text.find(kind + std::string{name}), std::string::npos) << kind << "\n" << text;
    }
  }
}

// Earlier builds recorded as the cause of a report what had once queued the watch of that member.
TEST_F(Effects, AReportDoesNotFollowFromWhatQueuedItsWatch) {
  const Written web = deploy(kWeb);
  const Written db = deploy(kDb);
  observe("dispatcher", {applied(kDb)});
  Reader reader = fleet.reader();
  const auto rendering_of_web = [&] {
    const View view = must(reader.view());
    const auto versions = must(HistoryQuery{view}.versions(work_of(kWeb), true, 1));
    return Written{versions.front().entry.revision, versions.front().entry.id, versions.front().entry.offset};
  }();
  const Written seen = decide("collector", rendering_of_web, {reported(kDb, "Healthy")}, "observe");
  decide("collector", seen, {aggregated(kDb, "applied")});
  EXPECT_EQ(tree(ask(web)).find(":db"), std::string::npos) << tree(ask(web));
  EXPECT_NE(tree(ask(db)).find("StatusAggregated:db"), std::string::npos) << tree(ask(db));
  const View view = must(reader.view());
  const auto chain = must(chain_of(view, binding_of(kDb)));
  ASSERT_FALSE(chain.empty());
  EXPECT_EQ(chain.front().events.front().subject, kDb) << "and why the status of db is so begins with db";
}

// What is found when a cluster is looked at follows from no request; what follows from it is its effect.
TEST_F(Effects, AFailureIsNoEffectOfTheRegistration) {
  const Written joined = request({ObjectCreated{kCluster, object_value(kCluster)}});
  observe("collector", {ClusterJoined{kCluster, "id"}, ClusterConditionChanged{kCluster, "Ready", "True", "", ""}});
  const Written failed =
      decide("collector", joined, {ClusterConditionChanged{kCluster, "Ready", "False", "Down", ""}}, "observe");
  const Written tainted = decide("taint", failed, {TaintAdded{kCluster, {"not-ready", "", "NoExecute"}, "not ready"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(tree(ask(joined)), "ObjectCreated:m1\n  ClusterJoined:m1 ClusterConditionChanged:m1\n");
  EXPECT_EQ(tree(ask(failed)), "ClusterConditionChanged:m1\n  TaintAdded:m1\n");
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const auto chain = must(chain_of(view, kCluster, tainted.revision));
  // The last request for the object itself comes first, as always; the causes begin with the observation.
  ASSERT_EQ(chain.size(), 3U);
  EXPECT_EQ(chain[0].offset, joined.offset);
  EXPECT_EQ(chain[1].offset, failed.offset);
}

// A process that starts decides about what it finds; the objects tell what that follows from.
TEST_F(Effects, IncludeWhatWasDecidedAfterARestart) {
  const Written asked = request({ObjectCreated{kWeb, object_value(kWeb)}});
  decide("binder", asked, {bound(kWeb)});
  PlacementDecided placed;
  placed.binding = binding_of(kWeb);
  placed.targets = {{"m1", 2}};
  decide("scheduler", {}, {placed});
  EXPECT_EQ(tree(ask(asked)), "ObjectCreated:web\n  BindingPut:web-deployment\n    PlacementDecided:web-deployment\n");
}

TEST_F(Effects, EndWhereAnotherRequestBegins) {
  const Written first = deploy(kWeb);
  observe("dispatcher", {applied(kWeb)});
  const Written second = request({ObjectUpdated{kWeb, object_value(kWeb, "v2")}}, "bob");
  const Written again = decide("dispatcher", second, {rendered(kWeb, "v2")});
  observe("dispatcher", {WorkApplied{work_of(kWeb), 2, "again"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(ask(first)["events"]["WorkApplied"], Value{1}) << tree(ask(first));
  EXPECT_EQ(tree(ask(second)), "ObjectUpdated:web\n  WorkRendered:web\n    WorkApplied:web\n");
  EXPECT_EQ(tree(ask(again)), "WorkRendered:web\n  WorkApplied:web\n");
}

TEST_F(Effects, ShowRefusalsWithTheirReason) {
  const Written asked = request({ObjectCreated{kWeb, object_value(kWeb)}});
  decide("binder", asked, {ObjectCreated{kWeb, object_value(kWeb)}});
  ASSERT_TRUE(refused);
  const Value answer = ask(asked);
  EXPECT_EQ(tree(answer), "ObjectCreated:web\n  ObjectCreated:web (refused)\n");
  EXPECT_FALSE(answer["items"][1]["refusal"]["reason"].str().empty());
}

TEST_F(Effects, AreBoundedInNumberDepthAndTime) {
  const Written asked = request({ObjectCreated{kWeb, object_value(kWeb)}});
  Written last = asked;
  for (int step = 0; step < 5; ++step) {
    last = decide("binder", last,
                  {BindingPut{binding_of(kWeb), object_value(binding_of(kWeb), std::to_string(step)), {}}});
  }
  EXPECT_EQ(ask(asked)["items"].size(), 6U);
  const Value few = ask(asked, {.root = {}, .limit = 3});
  EXPECT_EQ(few["items"].size(), 3U);
  EXPECT_EQ(few["truncated"], Value{"limit"});
  EXPECT_EQ(few["items"][2]["more"], Value{true});
  const Value shallow = ask(asked, {.root = {}, .depth = 2});
  EXPECT_EQ(shallow["items"].size(), 3U);
  EXPECT_EQ(shallow["truncated"], Value{"depth"});
  const Value soon = ask(asked, {.root = {}, .within = Millis{120'000}});  // entries are a minute apart
  EXPECT_EQ(soon["items"].size(), 3U);
  EXPECT_TRUE(soon["truncated"].is_null()) << "that is what was asked for";
  const Value none = ask(asked, {.root = {}, .expired = [] { return true; }});
  EXPECT_EQ(none["items"].size(), 1U);
  EXPECT_EQ(none["truncated"], Value{"time"});
}

TEST_F(Effects, OfAMemberThatReportsWithoutEndAreCutThere) {
  deploy(kWeb);
  const Written applied_at = observe("dispatcher", {applied(kWeb)});
  for (int report = 0; report < 40; ++report) {
    observe("collector", {reported(kWeb, std::to_string(report).c_str())});
  }
  const Value answer = ask(applied_at);
  EXPECT_EQ(answer["items"].size(), 21U);
  EXPECT_EQ(answer["items"][0]["more"], Value{true});
}

// A tenant sees what concerns the objects that it may get, and how much else there was.
TEST_F(Effects, LeaveOutWhatTheUserMayNotRead) {
  const Written asked = deploy(kWeb);
  observe("dispatcher", {applied(kWeb)});
  const Written seen = observe("collector", {reported(kWeb, "Healthy")});
  decide("collector", seen, {aggregated(kWeb, "applied")});
  const MayRead tenant = [](const ObjectKey& key) { return key.ns == "default"; };
  const Value answer = ask(asked, {.root = {}, .may_read = tenant});
  EXPECT_EQ(tree(answer), R"(ObjectCreated:web
  BindingPut:web-deployment
    PlacementDecided:web-deployment
      StatusAggregated:web-deployment
)");
  EXPECT_EQ(answer["unreadable"], Value{3});
  EXPECT_EQ(to_json(answer).find("karmada-es"), std::string::npos) << to_json(answer);
  EXPECT_EQ(answer["events"]["WorkApplied"], Value{});

  Reader reader = fleet.reader();
  const View view = must(reader.view());
  EffectsQuestion foreign{.root = *must(AuditQuery{view}.at(asked.offset))};
  foreign.may_read = [](const ObjectKey& key) { return key.ns == "other"; };
  const auto refusal = effects_of(view, foreign);
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().code, ErrorCode::kForbidden);
  EXPECT_EQ(refusal.error().message.find("web"), std::string::npos);
}

TEST_F(Effects, ShowTenantsNothingOfADeletedNamespaceOfTheSameName) {
  const ObjectKey team{type::kNamespace, "", "team"};
  const ObjectKey secretive{"configmaps", "team", "secretive"};
  fleet.create(team);
  const Written before = request({ObjectCreated{secretive, object_value(secretive)}});
  decide("binder", before, {ObjectUpdated{secretive, object_value(secretive, "changed")}});
  request({DeletionRequested{.object = secretive}});
  request({DeletionRequested{.object = team}});
  const MayRead tenant = [](const ObjectKey& key) { return key.ns == "team" || key.name == "team"; };
  EXPECT_EQ(ask(before, {.root = {}, .may_read = tenant})["items"].size(), 2U);
  fleet.create(team);

  Reader reader = fleet.reader();
  const View view = must(reader.view());
  EffectsQuestion question{.root = *must(AuditQuery{view}.at(before.offset))};
  question.may_read = tenant;
  const auto refusal = effects_of(view, question);
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().code, ErrorCode::kForbidden);
}

// The reason of a refusal may name what another event of the entry is about.
TEST_F(Effects, OfWhichAPartIsReadableShowNoReason) {
  const Written asked = request({ObjectCreated{kWeb, object_value(kWeb)}});
  const ObjectKey other{"configmaps", "other", "secretive"};
  request({ObjectCreated{other, object_value(other)}});
  decide("binder", asked, {bound(kWeb), ObjectCreated{other, object_value(other)}});
  ASSERT_TRUE(refused);
  const Value answer = ask(asked, {.root = {}, .may_read = [](const ObjectKey& key) { return key.ns == "default"; }});
  EXPECT_EQ(to_json(answer).find("secretive"), std::string::npos) << to_json(answer);
  EXPECT_EQ(answer["unreadable"], Value{1});
}

TEST_F(Effects, EntryIsFoundByItsId) {
  const Written asked = request({ObjectCreated{kWeb, object_value(kWeb)}});
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  EXPECT_EQ(must(entry_with_id(view, asked.id, [] { return false; })).offset, asked.offset);
  EXPECT_EQ(parse_entry_id(to_string(asked.id)), asked.id);
  for (const char* text : {"", "41", "4BF92F3577B34DA6A3CE929D0E0E4736", "4bf92f3577b34da6a3ce929d0e0e473g"}) {
    EXPECT_FALSE(parse_entry_id(text)) << text;
  }
  const auto none = entry_with_id(view, new_entry_id(fleet.random()), [] { return true; });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace shiplog::api
