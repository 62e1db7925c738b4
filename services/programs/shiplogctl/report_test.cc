#include "services/programs/shiplogctl/report.h"

#include <gtest/gtest.h>

#include "tests/support/literals.h"

namespace shiplog::ctl {
namespace {

using test::json;

TEST(CtlReport, HistoryShowsTimeRequesterCauseAndChange) {
  EXPECT_EQ(
      history_table(json(R"({"items": [
    {"revision": 4, "time": "2024-05-01T12:00:00.123Z", "operation": "created", "verb": "create", "changes": [],
     "who": {"user": "alice", "service": "api"}, "why": {"event": "ObjectCreated", "causes": []}},
    {"revision": 9, "time": "2024-05-01T12:00:01.000Z", "operation": "updated", "verb": "decide",
     "who": {"user": "system:shiplog:scheduler", "service": "scheduler"},
     "why": {"event": "PlacementDecided", "summary": "m1:2", "explanation": {"summary": "1 of 1 clusters"},
             "causes": [{"event": "ObjectCreated", "user": "alice", "service": "api",
                         "object": {"type": "deployments.apps", "namespace": "default", "name": "web"}}]},
     "changes": [{"path": "spec.clusters", "change": "added", "after": "[]"},
                 {"path": "spec.replicas", "change": "changed", "before": "1", "after": "2"}]}]})")),
      "REVISION   TIME                   WHO         WHY                                                    CHANGED\n"
      "4          2024-05-01T12:00:00Z   alice       create                                                 created\n"
      "9          2024-05-01T12:00:01Z   scheduler   PlacementDecided m1:2                                  + "
      "spec.clusters: []\n"
      "                                              1 of 1 clusters                                        "
      "spec.replicas: 1 -> 2\n"
      "                                              since ObjectCreated deployments/default/web by alice\n");
}

TEST(CtlReport, FailoversShowCausePathAndDuration) {
  EXPECT_EQ(
      failovers_table(json(R"({"items": [
    {"started": "2024-05-01T12:00:00.123Z", "from": "m1", "replicas": 3, "purgeMode": "Directly", "reason": "Ill",
     "message": "since", "object": {"kind": "Deployment", "namespace": "default", "name": "web"}, "unplaced": 0,
     "to": [{"cluster": "m2", "replicas": 2}, {"cluster": "m3", "replicas": 1}], "ended": "T", "durationMillis": 61500,
     "endedBecause": "healthy"},
    {"started": "2024-05-01T11:00:00Z", "from": "m2", "replicas": 1, "reason": "Ill", "unplaced": 1, "to": [],
     "object": {"kind": "ClusterRole", "name": "r"}}]})")),
      "STARTED                OBJECT                   FROM     TO               PURGE      DURATION   CAUSE        "
      "RESULT\n"
      "2024-05-01T12:00:00Z   Deployment default/web   m1 (3)   m2 (2)           Directly   1 m 1 s    Ill: since   "
      "healthy\n"
      "                                                         m3 (1)\n"
      "2024-05-01T11:00:00Z   ClusterRole r            m2 (1)   no cluster (1)                         Ill          "
      "under way\n");
}

TEST(CtlReport, ManyChangesAreCutAndCounted) {
  Value changes = Value::array();
  for (int i = 0; i < 20; ++i) changes.push_back(json(R"({"path": "p", "change": "removed", "before": "1"})"));
  const Value version = Value::object({{"operation", "updated"}, {"changes", changes}});
  const std::string text = history_table(Value::object({{"items", Value::array({version})}}));
  EXPECT_NE(text.find("... and 8 more (-o json has all)"), std::string::npos) << text;
}

TEST(CtlReport, WhyShowsPolicyPlacementMembersAndRemedies) {
  EXPECT_EQ(why_text(json(R"({"object": {"type": "deployments.apps", "namespace": "default", "name": "web"},
    "binding": {"type": "resourcebindings.work.karmada.io", "namespace": "default", "name": "web-deployment"},
    "revision": 40,
    "policy": {"summary": "web is selected by policy p", "since": {"revision": 3, "time": "T1"}, "steps": ["no other"],
               "now": {"revision": 30, "time": "T3"}, "stepsNow": ["it is claimed already"]},
    "placement": {"summary": "placed on m1:2", "made": {"revision": 31, "time": "T4"}, "steps": ["duplicated"]},
    "clusters": [
      {"cluster": "m1", "replicas": 2, "availableReplicas": 9, "scores": [{"points": 100}, {"points": 1}],
       "verdicts": [{"rule": "ClusterAffinity"}]},
      {"cluster": "m2", "verdicts": [{"rule": "ClusterAffinity"}, {"rule": "APIEnablement", "passed": false, "reason": "no"}],
       "remedy": {"changes": ["do a", "do b"], "chosen": true}},
      {"cluster": "m3", "verdicts": [], "remedy": {"changes": ["do c"], "chosen": false}}],
    "members": [{"cluster": "m1", "work": {"namespace": "karmada-es-m1", "name": "w"},
                 "rendered": {"revision": 32, "time": "T5"}, "steps": ["image changed"],
                 "now": ["generation 2 of the Work is applied"]},
                {"cluster": "m4"}]})")),
            R"(deployments/default/web, bound by resourcebindings/default/web-deployment, as of revision 40

Policy: web is selected by policy p
  (since revision 3, T1)
  no other
  as of revision 30, T3:
  it is claimed already

Placement: placed on m1:2
  (revision 31, T4)
  duplicated

CLUSTER   REPLICAS   SCORE   ROOM   VERDICT
m1        2          101     9      chosen
m2                                  APIEnablement: no
m3                                  passes every filter, not selected

LEFT OUT   WOULD HAVE TAKEN
m2         do a; do b
m3         do c; then it is eligible, but still not taken

In m1:
  - generation 2 of the Work is applied
  Work karmada-es-m1/w (revision 32, T5)
  image changed

In m4:
  nothing has been rendered yet
)");
}

TEST(CtlReport, WhyTellsWhatIsHiddenFromWhatIsNotRendered) {
  const std::string text =
      why_text(json(R"({"object": {"type": "deployments.apps", "namespace": "default", "name": "web"},
    "revision": 40, "members": [{"cluster": "m1", "hidden": true,
      "conditions": [{"type": "Applied", "status": "True", "reason": "Applied", "message": "it is there"}]}]})"));
  EXPECT_NE(text.find("\nIn m1:\n  - the Work has Applied=True: it is there\n"
                      "  the rest is not shown: it needs the permission to get cluster m1\n"),
            std::string::npos)
      << text;
}

TEST(CtlReport, WhyReportsThatTheClustersAreNotThoseOfTheLastPlacement) {
  const std::string text =
      why_text(json(R"({"object": {"type": "deployments.apps", "namespace": "default", "name": "web"},
    "revision": 40, "placement": {"summary": "placed on m1:2", "made": {"revision": 31, "time": "T4"},
    "changed": {"revision": 35, "time": "T5", "user": "jane"}}})"));
  EXPECT_NE(text.find("\nLast placement (no longer in force): placed on m1:2\n"), std::string::npos) << text;
}

TEST(CtlReport, WhyNamesNoEndOfAnEvictionThatWaitsForAnotherCluster) {
  const auto evicting = [](const char* more) {
    return why_text(json((std::string{R"({"object": {"type": "deployments.apps", "name": "web"}, "revision": 40,
      "evictions": [{"cluster": "m1", "since": "T1", "until": "T2")"} +
                          more + "}]}")
                             .c_str()));
  };
  EXPECT_NE(evicting("").find("Being evicted from m1 since T1, until T2 at the latest\n"), std::string::npos);
  EXPECT_NE(
      evicting(R"(, "keptAsLastCopy": true)")
          .find("Being evicted from m1 since T1; the copy is kept, also after T2, as no other cluster was found\n"),
      std::string::npos)
      << evicting(R"(, "keptAsLastCopy": true)");
}

TEST(CtlReport, WhyNamesWhenAKeptCopyIsATargetAgain) {
  const std::string text = why_text(json(R"({"object": {"type": "deployments.apps", "name": "web"}, "revision": 40,
    "evictions": [{"cluster": "m1", "since": "T1", "until": "T2", "keptAsLastCopy": true, "takenAgain": true}],
    "placement": {"outcome": "PlacementRefused", "summary": "cannot be placed: x", "made": {"revision": 31},
                  "changed": {"revision": 35}},
    "policy": {"summary": "web is selected by p", "since": {"revision": 1}, "now": {"revision": 1},
               "alsoSelectedBy": ["PropagationPolicy default/q", "ClusterPropagationPolicy r"]}})"));
  EXPECT_NE(
      text.find("the copy is kept, and after T2 the cluster is a target again, as no taint drives it off any more"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("\nPlacement: cannot be placed: x\n"), std::string::npos) << text;
  EXPECT_NE(
      text.find("  now also selected by PropagationPolicy default/q, ClusterPropagationPolicy r: what is claimed"),
      std::string::npos)
      << text;
}

TEST(CtlReport, WhatAUserOfANamespaceIsNotShownIsReportedAsHidden) {
  const std::string history = history_table(json(R"({"items": [
    {"revision": 9, "time": "2024-05-01T12:00:01.000Z", "operation": "updated", "who": {"service": "collector"},
     "why": {"causes": [{"revision": 7, "hidden": true}]}, "changes": []},
    {"revision": 10, "time": "2024-05-01T12:00:02.000Z", "operation": "updated", "who": {"hidden": true}, "why": {},
     "changes": []}]})"));
  EXPECT_NE(history.find("since revision 7, about what you may not get"), std::string::npos) << history;
  EXPECT_NE(history.find("   (hidden)"), std::string::npos) << history;
}

TEST(CtlReport, VersionsThatRetentionHasDeletedAreReported) {
  const std::string history = history_table(json(R"({"items": [
    {"revision": 9, "time": "2024-05-01T12:00:01.000Z", "operation": "updated", "who": {"user": "bob"}, "why": {},
     "changes": [], "previousDeleted": true}]})"));
  EXPECT_NE(history.find("(unknown: the version before is deleted)"), std::string::npos) << history;
  const std::string blame = blame_table(json(R"({"items": [{"path": "data.a", "value": "1"}], "origins": [],
    "examinedFrom": 9, "olderDeleted": true})"));
  EXPECT_NE(blame.find("revision 9 or earlier: older versions are deleted"), std::string::npos) << blame;
}

TEST(CtlReport, WhyNamesADependencyOfWhatIsOnNoCluster) {
  const std::string text = why_text(json(R"({"object": {"type": "configmaps", "namespace": "default", "name": "c"},
    "revision": 40, "requiredBy": [{"namespace": "default", "name": "web-deployment", "clusters": null}]})"));
  EXPECT_NE(text.find("Dependency of default/web-deployment, so it follows it to no cluster\n"), std::string::npos)
      << text;
}

TEST(CtlReport, AuditShowsRefusalsWithTheirReason) {
  const std::string text = audit_table(json(R"({"items": [
    {"offset": 3, "revision": 7, "time": "2024-05-01T12:00:00.1Z", "user": "bob", "service": "api", "verb": "create",
     "result": "refused", "refusal": {"code": "already_exists", "reason": "it exists"},
     "events": [{"kind": "ObjectCreated", "object": {"type": "nodes", "name": "n"}}, {"kind": "StateHashed"}]}]})"));
  EXPECT_EQ(text,
            "OFFSET   REVISION   TIME                   WHO   VERB     EVENT           OBJECT    RESULT\n"
            "3        7          2024-05-01T12:00:00Z   bob   create   ObjectCreated   nodes/n   refused: it exists\n"
            "                                                          StateHashed\n");
}

TEST(CtlReport, AuditShowsWhatWasRequestedOfAMember) {
  const std::string text = audit_table(json(R"({"items": [
    {"offset": 3, "revision": 7, "time": "2024-05-01T12:00:00.1Z", "user": "bob", "service": "api", "verb": "delete",
     "result": "accepted",
     "events": [{"kind": "MemberRequested", "summary": "DELETE /api/v1/nodes/n -> 404",
                 "object": {"type": "clusters.cluster.karmada.io", "name": "m1"}}]}]})"));
  EXPECT_NE(text.find("accepted: DELETE /api/v1/nodes/n -> 404\n"), std::string::npos) << text;
}

TEST(CtlReport, WhatUsersWriteDoesNotControlTheTerminal) {
  const Value object = json(R"({"type":"configmaps","namespace":"a","name":"\u001b[31mx"})");
  const Value event = Value::object({{"family", "api"}, {"kind", "RequestDenied"}, {"object", object}});
  const Value entry =
      Value::object({{"time", "T"}, {"revision", 5}, {"result", "refused"}, {"events", Value::array({event})}});
  const Value item = Value::object({{"object", object}, {"operation", "created"}});
  const std::string texts[] = {
      event_lines(entry, {}), comparison_text(Value::object({{"items", Value::array({item})}})),
      why_text(Value::object({{"object", object}, {"notes", Value::array({"it is for \"\033]0;t\007\""})}}))};
  for (const std::string& text : texts) {
    EXPECT_EQ(text.find_first_of("\033\007"), std::string::npos) << text;
    EXPECT_NE(text.find("?[31mx"), std::string::npos) << text;
  }
  EXPECT_TRUE(event_lines(entry, {}, {.colour = true}).starts_with("\033[31mT"));
}

TEST(CtlReport, EventLinesAreOfTheRequestedFamily) {
  const Value entry = json(R"({"time": "T", "revision": 5, "user": "u", "service": "binder", "result": "accepted",
    "events": [{"kind": "BindingPut", "family": "scheduling", "summary": "s", "object": {"type": "t", "name": "n"}},
               {"kind": "ObjectUpdated", "family": "api", "object": {"type": "t", "name": "o"}}]})");
  EXPECT_EQ(event_lines(entry, {.family = "scheduling"}), "T  r5  scheduling  binder  BindingPut t/n: s\n");
  EXPECT_EQ(event_lines(entry, {}),
            "T  r5  scheduling  binder  BindingPut t/n: s\nT  r5  api  binder  ObjectUpdated t/o\n");
  EXPECT_EQ(event_lines(entry, {.family = "quota"}), "");
}

}  // namespace
}  // namespace shiplog::ctl
