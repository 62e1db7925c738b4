// Causes, effects and traces of what a fleet records, with real processes: deployments, a policy that changes, quotas,
// a taint, a cluster that fails.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/codec/codec.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "services/runtime/trace.h"
#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

const std::string kOneOfTwo =
    "{clusterAffinity: {clusterNames: [member1, member2]}, spreadConstraints: [{spreadByField: cluster, minGroups: 1, "
    "maxGroups: 1}]}";

class Causality : public ThreeMembers {
 protected:
  std::vector<std::string> options() const override {
    std::vector<std::string> all = ThreeMembers::options();
    all.emplace_back("--allow-no-execute-taint-policy");
    return all;
  }
  /// Every entry, oldest first.
  std::vector<Value> entries() const {
    const Value found = api_->get("/shiplog/v1/audit?limit=0&order=oldest").json;
    return {found["items"].items().begin(), found["items"].items().end()};
  }
  static bool has(const Value& entry, const std::string& kind, const std::string& object) {
    return std::ranges::any_of(entry["events"].items(), [&](const Value& event) {
      return event["kind"].as_string() == kind && event["object"]["name"].str().starts_with(object);
    });
  }
  /// The newest entry with such an event; null: none.
  Value newest(const std::string& kind, const std::string& object) const {
    const auto all = entries();
    const auto found = std::find_if(all.rbegin(), all.rend(), [&](const Value& one) { return has(one, kind, object); });
    return found == all.rend() ? Value{} : *found;
  }
  Value effects_of(const Value& entry) const {
    return api_->get("/shiplog/v1/effects?limit=0&of=" + entry["id"].str()).json;
  }
  static bool contains(const Value& effects, const std::string& kind, const std::string& object) {
    return std::ranges::any_of(effects["items"].items(), [&](const Value& item) { return has(item, kind, object); });
  }
  /// Where the recorded causes of an entry end.
  static const Value& origin(const std::map<std::string, Value>& by_id, const Value& entry) {
    const Value* at = &entry;
    for (size_t steps = 0; steps < by_id.size(); ++steps) {
      const auto cause = by_id.find((*at)["cause"]["entry"].str());
      if (cause == by_id.end()) break;
      at = &cause->second;
    }
    return *at;
  }
  void settled() {
    size_t before = 0;
    EXPECT_TRUE(eventually([&] { return std::exchange(before, entries().size()) == entries().size(); }));
  }
  /// Of the journal's file, as it is stored.
  void expect_traces() const {
    const auto journal = open_sqlite_journal(fleet_.path("plane/journal.db"), {.create = false});
    ASSERT_TRUE(journal);
    const auto tail = journal.value()->tail(Offset{0});
    ASSERT_TRUE(tail);
    size_t read = 0;
    std::set<std::string> services;
    while (true) {
      const auto records = tail.value()->next(1000, Millis{100});
      ASSERT_TRUE(records) << records.error().message;
      if (records.value().empty()) break;
      for (const JournalRecord& record : records.value()) {
        const Entry entry = decode(record.bytes).value();
        const std::string header = "00-" + trace_from_journal(entry.cause.trace_id).id + "-00f067aa0ba902b7-00";
        EXPECT_TRUE(parse_traceparent(header)) << "offset " << record.offset.value << " of " << entry.actor.service
                                               << " has no trace: \"" << entry.cause.trace_id << '"';
        services.insert(entry.actor.service);
        ++read;
      }
    }
    EXPECT_GE(read, entries().size());
    EXPECT_GE(services.size(), 20U) << "every role has a lease at least";
  }
};

TEST_F(Causality, EveryCauseEndsAtARequestOrAnObservationAndEffectsAreItsOtherDirection) {
  apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: limits}
spec: {overall: {cpu: 100, pods: 1000}, staticAssignments: [{clusterName: member2, hard: {pods: 100}}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: down}
spec:
  addOnConditions: [{conditionType: Ready, operator: In, statusValues: ["False", Unknown]}]
  removeOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]
  taints: [{key: down, effect: NoExecute}]
---
)" + placed("web", "web", kOneOfTwo) +
        policy("db", "db", "member1") + deployment("web") + deployment("db"));
  expect_holders(kDeployment + "db", "member1");
  EXPECT_TRUE(eventually([&] { return !holders(kDeployment + "web").empty(); }));
  const std::string first = holders(kDeployment + "web");

  // A policy that changes: its effects are those on db, and none of web.
  apply(policy("db", "db", "member1, member3"));
  expect_holders(kDeployment + "db", "member1 member3");
  EXPECT_TRUE(eventually([&] { return condition("db", "FullyApplied").starts_with("True"); }))
      << condition("db", "FullyApplied");
  settled();
  const Value changed = effects_of(newest("ObjectUpdated", "db"));
  for (const char* kind :
       {"BindingPut", "PlacementDecided", "WorkRendered", "WorkApplied", "WorkStatusObserved", "StatusAggregated"}) {
    EXPECT_TRUE(contains(changed, kind, "db")) << kind << " " << to_json(changed);
  }
  EXPECT_EQ(to_json(changed).find("web"), std::string::npos) << to_json(changed);
  // The status that a member reports of one workload is no effect of the other, which its watch was begun for.
  const Value created = [&] {
    const auto all = entries();
    return *std::ranges::find_if(all, [](const Value& one) {
      return has(one, "ObjectCreated", "web") && one["events"][0]["object"]["type"].as_string() == "deployments.apps";
    });
  }();
  const Value of_web = effects_of(created);
  EXPECT_TRUE(contains(of_web, "WorkStatusObserved", "web")) << to_json(of_web);
  EXPECT_EQ(to_json(of_web).find("\"name\":\"db"), std::string::npos) << to_json(of_web);

  // A taint by a user: what it evicts follows from it.
  patch("cluster", first, R"({"spec":{"taints":[{"key":"fire","effect":"NoExecute"}]}})");
  const std::string second = first == "member1" ? "member2" : "member1";
  expect_holders(kDeployment + "web", second);
  settled();
  const Value evicted = effects_of(newest("ObjectUpdated", first));
  EXPECT_TRUE(contains(evicted, "EvictionStarted", "web")) << to_json(evicted);
  EXPECT_TRUE(contains(evicted, "WorkRendered", "web")) << to_json(evicted);
  EXPECT_TRUE(contains(evicted, "WorkApplied", "web")) << to_json(evicted);

  // A cluster that fails: the observation is where it begins.
  patch("cluster", first, R"({"spec":{"taints":null}})");
  fleet_.kill(second);
  EXPECT_TRUE(eventually([&] { return holders(kDeployment + "web") == first; }, std::chrono::seconds{90}));
  settled();
  const Value observed = newest("ClusterConditionChanged", second);
  EXPECT_TRUE(observed["cause"].is_null()) << to_json(observed);
  const Value failed = effects_of(observed);
  for (const char* kind : {"TaintAdded", "EvictionStarted", "PlacementDecided", "WorkApplied"}) {
    EXPECT_TRUE(contains(failed, kind, kind == std::string{"TaintAdded"} ? second : "web"))
        << kind << " " << to_json(failed);
  }
  const Value chain = api_->get("/shiplog/v1/chain?kind=rb&name=web-deployment&namespace=default").json;
  EXPECT_TRUE(std::ranges::any_of(chain["items"].items(), [&](const Value& item) {
    return item["id"] == observed["id"];
  })) << to_json(chain);

  std::map<std::string, Value> by_id;
  for (Value& entry : entries()) by_id.emplace(entry["id"].str(), std::move(entry));
  const std::set<std::string> decided = {"BindingPut",        "PlacementDecided", "WorkRendered",
                                         "EvictionStarted",   "EvictionFinished", "TaintAdded",
                                         "QuotaUsageChanged", "StatusAggregated"};
  std::set<std::string> seen;
  for (const auto& [id, entry] : by_id) {
    const std::string kind = entry["events"][0]["kind"].str();
    if (entry["verb"].as_string() == "observe" && entry["service"].as_string() == "collector") {
      EXPECT_TRUE(entry["cause"]["entry"].is_null()) << to_json(entry);
    }
    if (!decided.contains(kind)) continue;
    seen.insert(kind);
    const Value& begin = origin(by_id, entry);
    const bool asked = begin["service"].as_string() == "api";
    const bool watched = begin["verb"].as_string() == "observe";
    EXPECT_TRUE(asked || watched) << to_json(entry) << "\nends at " << to_json(begin);
  }
  EXPECT_EQ(seen, decided);
  expect_traces();
}

class EffectsCommand : public ThreeMembers {
 protected:
  int64_t revision_of(const std::string& path) {
    return std::stoll(api_->get(path).json["metadata"]["resourceVersion"].str());
  }
};

TEST_F(EffectsCommand, DrawsWhatFollowedFromAChange) {
  apply(policy("web", "web", "member1, member2") + deployment("web"));
  expect_holders(kDeployment + "web", "member1 member2");
  EXPECT_TRUE(eventually([&] { return condition("web", "FullyApplied").starts_with("True"); }));
  const Value history =
      parse_json(fleet_.shiplogctl_ok({"history", "deployment/web", "--limit=0", "-o", "json"})).value();
  const std::string revision = std::to_string(history["items"][0]["revision"].as_int());
  const std::string tree = fleet_.shiplogctl_ok({"effects", revision});
  for (const char* words :
       {"kubernetes-admin: ObjectCreated deployments/default/web", "─ +",
        "dispatcher: WorkApplied works/karmada-es-member1/web", "collector: StatusAggregated", "Effects: "}) {
    EXPECT_NE(tree.find(words), std::string::npos) << words << "\n" << tree;
  }
  EXPECT_TRUE(fleet_.shiplogctl_ok({"effects", revision, "-o", "mermaid"}).starts_with("flowchart LR"));
  EXPECT_NE(fleet_.shiplogctl_ok({"effects", revision, "-o", "svg"}).find("</svg>"), std::string::npos);
  const Ran few = fleet_.shiplogctl({"effects", revision, "--limit=2"});
  EXPECT_EQ(few.code, 0) << few;
  EXPECT_NE(few.err.find("notice: only the first 2 entries are listed"), std::string::npos) << few;
  for (const auto& [of, error] : std::map<std::string, std::string>{
           {"999999", "is newer than the newest revision"},
           {"tomorrow", "is neither a revision, nor a time"},
           {"4bf92f3577b34da6a3ce929d0e0e4736", "there is no entry 4bf92f3577b34da6a3ce929d0e0e4736"}}) {
    const Ran wrong = fleet_.shiplogctl({"effects", of});
    EXPECT_EQ(wrong.code, 1) << wrong;
    EXPECT_NE(wrong.err.find(error), std::string::npos) << wrong;
  }
}

// Two tenants: each sees the effects on its own namespace, and only of changes that it may get.
TEST_F(EffectsCommand, ATenantSeesOnlyWhatItMayGet) {
  for (const char* ns : {"shop", "games"}) {
    fleet_.kubectl_ok({"create", "namespace", ns});
    fleet_.kubectl_ok(
        {"create", "rolebinding", "tenant", "--clusterrole=karmada-view", "--user=" + std::string{ns}, "-n", ns});
    fleet_.kubectl_ok({"create", "rolebinding", "view", "--clusterrole=view", "--user=" + std::string{ns}, "-n", ns});
  }
  fleet_.kubectl_ok({"apply", "-n", "shop", "-f", "-"}, policy("web", "web", "member1") + deployment("web"));
  const auto as = [&](const std::string& user, const std::string& path) {
    return api_->call("GET", path, "", {{"Impersonate-User", user}, {"Impersonate-Group", "system:authenticated"}});
  };
  const auto created = [&] {
    return api_->get("/shiplog/v1/audit?event=ObjectCreated&name=web&kind=deployment&namespace=shop")
        .json["items"][0]["id"]
        .str();
  };
  const std::string path = "/shiplog/v1/effects?of=" + created();
  EXPECT_TRUE(eventually([&] { return api_->get(path).json["events"]["StatusAggregated"].as_int() > 0; }));
  EXPECT_EQ(as("shop", path).status, 403) << "an administrator has to permit the path";
  fleet_.kubectl_ok(
      {"create", "clusterrole", "effects-reader", "--verb=get", "--non-resource-url=/shiplog/v1/effects"});
  fleet_.kubectl_ok({"create", "clusterrolebinding", "effects-reader", "--clusterrole=effects-reader",
                     "--group=system:authenticated"});
  EXPECT_TRUE(eventually([&] { return as("shop", path).status == 200; })) << as("shop", path).status;

  const Value own = as("shop", path).json;
  EXPECT_GT(own["unreadable"].as_int(), 0) << "its Works are in a namespace of the cluster";
  EXPECT_EQ(to_json(own).find("karmada-es-"), std::string::npos) << to_json(own);
  EXPECT_GT(own["events"]["PlacementDecided"].as_int(), 0) << to_json(own);
  EXPECT_GT(own["events"]["StatusAggregated"].as_int(), 0) << "below what it may not read";
  EXPECT_EQ(to_json(own).find("127.0.0.1"), std::string::npos) << "no addresses";

  const auto foreign = as("games", path);
  EXPECT_EQ(foreign.status, 403);
  EXPECT_EQ(to_json(foreign.json).find("web"), std::string::npos) << to_json(foreign.json);
  EXPECT_EQ(as("games", "/shiplog/v1/audit").status, 403);
  EXPECT_EQ(as("shop", "/shiplog/v1/effects").status, 400);
}

}  // namespace
}  // namespace shiplog::e2e
