#include <gtest/gtest.h>

#include "services/programs/member/condition.h"
#include "services/programs/member/decide.h"
#include "services/programs/member/schedule.h"
#include "tests/support/simulated_member.h"

namespace shiplog::member::testing {
namespace {

std::vector<std::string> names(const std::vector<Value>& objects) {
  std::vector<std::string> found;
  for (const Value& object : objects) found.push_back(object["metadata"]["name"].str());
  return found;
}

std::string image_of(const Value& pod) { return pod["spec"]["containers"][0]["image"].str(); }

TEST(MemberStatefulSet, BringsPodsUpOneAfterTheOther) {
  SimulatedMember member;
  member.put(kStatefulSets, workload("StatefulSet", "db", 3));
  member.stage.run(Millis{400});
  EXPECT_EQ(names(member.pods()), (std::vector<std::string>{"db-0"}));
  member.stage.run(Millis{3000});
  EXPECT_EQ(names(member.pods()), (std::vector<std::string>{"db-0", "db-1", "db-2"}));
  const Value& status = member.find(kStatefulSets, "db")["status"];
  EXPECT_EQ(status["readyReplicas"].as_int(), 3);
  EXPECT_EQ(status["currentRevision"], status["updateRevision"]);
  member.expect_settled();

  member.edit(kStatefulSets, "db", [](Value& db) { db.edit("spec").set("replicas", 1); });
  member.stage.run(Millis{3000});
  EXPECT_EQ(names(member.pods()), (std::vector<std::string>{"db-0"}));
}

TEST(MemberStatefulSet, UpdatesFromTheHighestOrdinalDownToThePartition) {
  SimulatedMember member;
  Value db = workload("StatefulSet", "db", 3);
  db.edit("spec").set("podManagementPolicy", "Parallel");
  db.edit("spec").set("updateStrategy", json(R"({"type":"RollingUpdate","rollingUpdate":{"partition":1}})"));
  member.put(kStatefulSets, db);
  member.stage.run(Millis{600});
  ASSERT_EQ(member.pods().size(), 3U);
  member.stage.run(Millis{2000});
  member.edit(kStatefulSets, "db", [](Value& edited) { set_image(edited, "nginx:2"); });
  member.stage.run(Millis{300});
  EXPECT_EQ(image_of(member.find(kPods, "db-2")), "nginx:2");
  EXPECT_EQ(image_of(member.find(kPods, "db-1")), "nginx:1");
  member.stage.run(Millis{5000});
  EXPECT_EQ(image_of(member.find(kPods, "db-1")), "nginx:2");
  EXPECT_EQ(image_of(member.find(kPods, "db-0")), "nginx:1");
  EXPECT_EQ(member.find(kStatefulSets, "db")["status"]["updatedReplicas"].as_int(), 2);
  member.expect_settled();
}

TEST(MemberDaemonSet, HasAPodOnEveryNodeAndRolls) {
  SimulatedMember member;
  member.put(kDaemonSets, workload("DaemonSet", "agent", -1));
  member.stage.run(Millis{2000});
  std::set<std::string> nodes;
  for (const Value& pod : member.pods()) nodes.insert(pod["spec"]["nodeName"].str());
  EXPECT_EQ(nodes.size(), 3U);
  const auto status = [&] { return member.find(kDaemonSets, "agent")["status"]; };
  EXPECT_EQ(status()["desiredNumberScheduled"].as_int(), 3);
  EXPECT_EQ(status()["numberReady"].as_int(), 3);
  EXPECT_EQ(status()["numberAvailable"].as_int(), 3);

  member.edit(kDaemonSets, "agent", [](Value& agent) { set_image(agent, "nginx:2"); });
  size_t fewest = 3;
  for (int step = 0; step < 600; ++step) {
    member.stage.run(Millis{10});
    fewest = std::min(fewest, member.ready());
  }
  EXPECT_EQ(fewest, 2U);
  EXPECT_EQ(status()["updatedNumberScheduled"].as_int(), 3);
  for (const Value& pod : member.pods()) EXPECT_EQ(image_of(pod), "nginx:2");
  member.expect_settled();
}

TEST(MemberDaemonSet, LeavesNodesThatItsSelectorExcludes) {
  SimulatedMember member;
  Value agent = workload("DaemonSet", "agent", -1);
  agent.edit("spec")
      .edit("template")
      .edit("spec")
      .set("nodeSelector", json(R"({"kubernetes.io/hostname":"member-node-2"})"));
  member.put(kDaemonSets, agent);
  member.stage.run(Millis{2000});
  ASSERT_EQ(member.pods().size(), 1U);
  EXPECT_EQ(member.pods()[0]["spec"]["nodeName"].as_string(), "member-node-2");
}

TEST(MemberJob, CompletesWithNoMorePodsAtOnceThanAllowed) {
  SimulatedMember member;
  Value job = workload("Job", "sum", -1, "busybox");
  job.edit("spec").set("completions", 5);
  job.edit("spec").set("parallelism", 2);
  member.put(kJobs, job);
  size_t most = 0;
  for (int step = 0; step < 800; ++step) {
    member.stage.run(Millis{10});
    most = std::max(most, member.pods(is_active).size());
  }
  EXPECT_EQ(most, 2U);
  const Value& done = member.find(kJobs, "sum");
  EXPECT_EQ(condition_of(done, "Complete")["status"].as_string(), "True");
  EXPECT_EQ(condition_of(done, "Complete")["reason"].as_string(), "CompletionsReached");
  EXPECT_EQ(done["status"]["succeeded"].as_int(), 5);
  EXPECT_FALSE(done["status"]["completionTime"].is_empty());
  EXPECT_FALSE(done["status"].contains("active"));
  EXPECT_EQ(member.pods().size(), 5U);
  EXPECT_TRUE(usage_of_nodes(member.stage.state()).requested.empty());  // finished pods use no capacity
  member.expect_settled();
}

TEST(MemberJob, GivesIndexesInOrder) {
  SimulatedMember member;
  Value job = workload("Job", "sum", -1, "busybox");
  job.edit("spec").set("completions", 3);
  job.edit("spec").set("parallelism", 3);
  job.edit("spec").set("completionMode", "Indexed");
  member.put(kJobs, job);
  member.stage.run(Millis{4000});
  EXPECT_EQ(member.find(kJobs, "sum")["status"]["completedIndexes"].as_string(), "0-2");
}

TEST(MemberJob, FailsWhenItsDeadlinePasses) {
  SimulatedMember member;
  Value job = workload("Job", "sum", -1, "fail/busybox");
  job.edit("spec").set("activeDeadlineSeconds", 10);
  job.edit("spec").set("ttlSecondsAfterFinished", 20);
  member.put(kJobs, job);
  member.stage.run(Millis{12'000});
  EXPECT_EQ(condition_of(member.find(kJobs, "sum"), "Failed")["reason"].as_string(), "DeadlineExceeded");
  EXPECT_TRUE(member.pods().empty());
  member.stage.run(Millis{22'000});
  EXPECT_TRUE(member.find(kJobs, "sum").is_null());
}

TEST(MemberJob, ReportsUnsupportedFields) {
  SimulatedMember member;
  Value job = workload("Job", "sum", -1, "busybox");
  job.edit("spec").set("podFailurePolicy", json(R"({"rules":[]})"));
  member.put(kJobs, job);
  const auto decided = decide_job(member.stage.state(), {kJobs, "default", "sum"}, member.stage.now());
  ASSERT_FALSE(decided);
  EXPECT_NE(decided.error().message.find("spec.podFailurePolicy is not simulated"), std::string::npos);
}

TEST(MemberCronJob, CreatesAJobWhenDueAndDeletesOldOnes) {
  SimulatedMember member;
  member.put(kCronJobs, json(R"({"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"tick"},
      "spec":{"schedule":"*/2 * * * *","successfulJobsHistoryLimit":2,"jobTemplate":{"spec":{"template":
      {"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"busybox"}]}}}}}})"));
  member.stage.run(Millis{125'000});
  const auto jobs = [&] {
    std::vector<std::string> found;
    for (const auto& [name, job] : member.stage.state().objects(kJobs)) found.push_back(name.name.str());
    return found;
  };
  EXPECT_EQ(jobs().size(), 1U);
  member.stage.run(Millis{600'000});
  EXPECT_EQ(jobs().size(), 2U);
  const Value& status = member.find(kCronJobs, "tick")["status"];
  EXPECT_EQ(status["lastScheduleTime"].as_string(), "2026-01-01T00:12:00Z");
  EXPECT_FALSE(status["lastSuccessfulTime"].is_empty());
  EXPECT_FALSE(status.contains("active"));
}

TEST(MemberSchedule, SupportsCronNotation) {
  const auto fires = [](std::string_view text, std::string_view at) {
    const auto schedule = Schedule::parse(text);
    EXPECT_TRUE(schedule) << schedule.error().message;
    return schedule && schedule.value().fires_at(parse_rfc3339(at).value());
  };
  EXPECT_TRUE(fires("30 6 * * *", "2026-01-01T06:30:00Z"));
  EXPECT_FALSE(fires("30 6 * * *", "2026-01-01T06:31:00Z"));
  EXPECT_TRUE(fires("*/15 8-17 * * mon-fri", "2026-01-02T17:45:00Z"));   // a Friday
  EXPECT_FALSE(fires("*/15 8-17 * * mon-fri", "2026-01-03T17:45:00Z"));  // a Saturday
  EXPECT_TRUE(fires("0 0 1 * 7", "2026-01-04T00:00:00Z"));               // either day field suffices: a Sunday
  EXPECT_TRUE(fires("0 0 1 * 7", "2026-01-01T00:00:00Z"));               // and a first
  EXPECT_TRUE(fires("@monthly", "2026-03-01T00:00:00Z"));
  for (const char* wrong : {"", "* * * *", "60 * * * *", "*/0 * * * *", "5-1 * * * *", "* * * foo *", "1,, * * * *"}) {
    EXPECT_FALSE(Schedule::parse(wrong)) << wrong;
  }
}

TEST(MemberAddress, ServicesGetAddressesOfTheirOwn) {
  SimulatedMember member;
  std::set<std::string> addresses;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "s" + std::to_string(i);
    Value service = json(R"({"apiVersion":"v1","kind":"Service","metadata":{},"spec":{"type":"LoadBalancer",
        "ports":[{"port":80}]}})");
    service.edit("metadata").set("name", name);
    member.put(kServices, service);
  }
  member.put(kServices, json(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"headless"},
      "spec":{"clusterIP":"None"}})"));
  member.stage.run(Millis{1000});
  std::set<int64_t> ports;
  for (int i = 0; i < 20; ++i) {
    const Value& service = member.find(kServices, "s" + std::to_string(i));
    addresses.insert(service["spec"]["clusterIP"].str());
    ports.insert(service["spec"]["ports"][0]["nodePort"].as_int());
    EXPECT_EQ(service["status"]["loadBalancer"]["ingress"].size(), 1U);
  }
  EXPECT_EQ(addresses.size(), 20U);
  EXPECT_EQ(ports.size(), 20U);
  EXPECT_EQ(member.find(kServices, "headless")["spec"]["clusterIP"].as_string(), "None");
  member.expect_settled();

  // The control plane replaces a Service by its template, which has no addresses: it receives the same addresses again.
  const std::string before = member.find(kServices, "s3")["spec"]["clusterIP"].str();
  member.edit(kServices, "s3", [](Value& service) {
    service.edit("spec").erase("clusterIP");
    service.edit("spec").erase("clusterIPs");
  });
  member.stage.run(Millis{1000});
  EXPECT_EQ(member.find(kServices, "s3")["spec"]["clusterIP"].as_string(), before);
}

// `helm install --wait`, Flux and Argo CD wait for it.
TEST(MemberClaim, IsBoundWithTheCapacityThatItRequests) {
  SimulatedMember member;
  const Value claim = json(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},
      "spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})");
  member.put(kClaims, claim);
  member.stage.run(Millis{1000});
  const Value& bound = member.find(kClaims, "data");
  EXPECT_EQ(bound["status"], json(R"({"phase":"Bound","accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"}})"));
  EXPECT_EQ(bound["spec"]["volumeName"].str(), "pvc-" + bound["metadata"]["uid"].str());
  member.expect_settled();
}

TEST(MemberServiceAccount, EveryNamespaceHasADefaultOne) {
  SimulatedMember member;
  EXPECT_FALSE(member.find(kServiceAccounts, "default").is_null());
  member.remove(kServiceAccounts, "default");
  member.stage.run(Millis{1000});
  EXPECT_FALSE(member.find(kServiceAccounts, "default").is_null());
}

TEST(MemberInitialObjects, AreNamespacesAndReadyNodes) {
  MemberOptions options;
  options.name = "m1";
  options.nodes = 2;
  options.node_memory = Quantity::from_units(int64_t{4} << 30);
  State state;
  Entry entry;
  entry.id.bytes[0] = 1;
  entry.events = initial_objects(options);
  EXPECT_FALSE(fold(state, entry).refusal);
  EXPECT_EQ(state.objects(type::kNamespace).size(), 4U);
  const Value& node = state.value_of({kNodes, "", "m1-node-2"});
  EXPECT_EQ(condition_of(node, "Ready")["status"].as_string(), "True");
  EXPECT_EQ(node["status"]["allocatable"]["memory"].as_string(), "4Gi");
  EXPECT_EQ(node["status"]["allocatable"]["pods"].as_string(), "110");
}

}  // namespace
}  // namespace shiplog::member::testing
