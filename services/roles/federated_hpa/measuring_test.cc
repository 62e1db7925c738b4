#include "services/roles/federated_hpa/measuring.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include <gtest/gtest.h>

#include "events/state/answers.h"
#include "events/state/condition.h"
#include "services/roles/federated_hpa/decide.h"
#include "services/roles/federated_hpa/role.h"
#include "tests/support/fake_task.h"

namespace shiplog::federated_hpa {
namespace {

using given::FakeTask;
using given::History;
using given::json;

/// Members that answer what a test gives, later, one request after the other.
class ScriptedMembers final : public Members {
 public:
  void request(const std::string& cluster, MemberRequest request,
               std::function<void(Result<MemberResponse>)> done) override {
    asked.push_back(cluster + " " + request.path);
    timeouts.push_back(request.timeout);
    open_.emplace_back([this, path = request.path, cluster, done = std::move(done)] { done(answer(cluster, path)); });
  }
  std::unique_ptr<MemberWatch> watch(const std::string&, std::string, std::function<void(const Value&)>,
                                     std::function<void(Result<void>)>) override {
    return nullptr;
  }
  /// Answers until nothing is asked any more.
  void run() {
    while (!open_.empty()) {
      auto next = std::move(open_.front());
      open_.pop_front();
      next();
    }
  }

  std::function<Result<MemberResponse>(const std::string& cluster, const std::string& path)> answer;
  std::vector<std::string> asked;
  std::vector<Millis> timeouts;

 private:
  std::deque<std::function<void()>> open_;
};

Result<MemberResponse> found(const std::string& body) { return MemberResponse{.status = 200, .body = json(body)}; }
Result<MemberResponse> refused(int status, const std::string& message) {
  return MemberResponse{.status = status, .body = Value::object({{"message", message}})};
}

constexpr const char* kScale = R"({"spec":{"replicas":1},"status":{"replicas":1,"selector":"app=web"}})";
constexpr const char* kPods = R"({"items":[{"metadata":{"name":"a"},
    "spec":{"containers":[{"name":"c","resources":{"requests":{"memory":"100Mi"}}}]},
    "status":{"phase":"Running","startTime":"2026-01-02T09:00:00Z",
              "conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T10:00:00Z"}]}}]})";
constexpr const char* kUsage = R"({"items":[{"metadata":{"name":"a"},"timestamp":"2026-01-02T11:00:00Z","window":"15s",
    "containers":[{"name":"c","usage":{"memory":"100Mi"}}]}]})";

bool ends(const std::string& path, const std::string& end) { return path.substr(0, path.find('?')).ends_with(end); }

Result<MemberResponse> healthy(const std::string&, const std::string& path) {
  if (ends(path, "/scale")) return found(kScale);
  if (path.starts_with("/apis/metrics.k8s.io")) return found(kUsage);
  if (path.starts_with("/api/v1/")) return found(kPods);
  return refused(404, "not found");
}

class Measuring : public testing::Test {
 protected:
  Measuring() { members_.answer = healthy; }

  ReplicasMeasured measured(const std::string& metrics) {
    MeasuringPlan plan;
    plan.target.key = {"deployments.apps", "default", "web"};
    plan.target.served = Served{"apps", "v1", "deployments", true, ".spec.replicas"};
    plan.target.clusters = {"m1", "m2"};
    plan.metrics = json(metrics);
    plan.sources = metric_sources(history_.state(), "default", plan.metrics);
    plan.target.selector = selector_;
    plan.most_replicas = most_replicas_;
    std::optional<ReplicasMeasured> result;
    measure(
        members_, reads_, std::move(plan), [this] { return now_; },
        [&](ReplicasMeasured all) {
          EXPECT_FALSE(result);
          result = std::move(all);
        });
    members_.run();
    EXPECT_TRUE(result);
    return result.value_or(ReplicasMeasured{});
  }

  /// How many requests that begin so another measurement makes.
  int64_t asked_again(const std::string& begin) {
    members_.asked.clear();
    measured(kMemory);
    return std::ranges::count_if(members_.asked, [&](const std::string& each) { return each.starts_with(begin); });
  }
  /// The other member is healthy.
  void answer_of_m1(const std::string& begin, const std::string& body) {
    members_.answer = [begin, body](const std::string& cluster, const std::string& path) {
      return cluster == "m1" && path.starts_with(begin) ? found(body) : healthy(cluster, path);
    };
  }

  static constexpr const char* kMemory =
      R"([{"type":"Resource","resource":{"name":"memory","target":{"type":"Utilization","averageUtilization":50}}}])";
  static constexpr int64_t kMi100 = int64_t{100} * 1024 * 1024 * 1000;
  History history_;
  ScriptedMembers members_;
  UtcMillis now_ = given::kNoon;
  MemberReads reads_;
  std::map<std::string, int64_t> most_replicas_;
  std::string selector_;  // of the template
};

TEST_F(Measuring, ReadsScalePodsAndMetricsOfEachCluster) {
  const ReplicasMeasured all = measured(kMemory);
  ASSERT_EQ(all.clusters.size(), 2U);
  for (const ClusterFigures& cluster : all.clusters) {
    EXPECT_EQ(cluster.failure, "");
    EXPECT_EQ(cluster.replicas, 1);
    EXPECT_EQ(cluster.ready_pods, 1);
    EXPECT_EQ(cluster.metrics[0], (MetricSums{.ready = 1, .usage = kMi100, .requested = kMi100, .failure = {}}));
  }
  EXPECT_EQ(all.selector, "app=web");
  EXPECT_EQ(members_.asked[0], "m1 /apis/apps/v1/namespaces/default/deployments/web/scale");
  EXPECT_EQ(members_.asked[2], "m1 /api/v1/namespaces/default/pods?labelSelector=app%3Dweb&limit=100");
}

TEST_F(Measuring, AMemberThatFailsIsLeftOutAndTheOthersCount_5_8_2) {
  members_.answer = [](const std::string& cluster, const std::string& path) -> Result<MemberResponse> {
    if (cluster == "m1") return Error{ErrorCode::kTimeout, std::string(9000, 'x') + "\n\xff"};
    return healthy(cluster, path);
  };
  const ReplicasMeasured all = measured(kMemory);
  EXPECT_LE(all.clusters[0].failure.size(), 210U);
  EXPECT_FALSE(all.clusters[0].failure.empty());
  EXPECT_EQ(all.clusters[1].replicas, 1);
  EXPECT_EQ(asked_again("m1 "), 0) << "what has not answered is not asked again so soon";
  now_ = now_ + MemberReads::kSilentFor;
  EXPECT_EQ(asked_again("m1 "), 1);
}

TEST_F(Measuring, ARequestThatWasNeverSentSilencesNoMember) {
  members_.answer = [](const std::string&, const std::string&) -> Result<MemberResponse> {
    return Error{ErrorCode::kTooManyRequests, "https://m1: no connection was free"};
  };
  EXPECT_FALSE(measured(kMemory).clusters[0].failure.empty());
  EXPECT_EQ(asked_again("m1 "), 1);
}

TEST_F(Measuring, WhoWaitsForASilentMemberDoesNotAskIt) {
  for (size_t i = 0; i < MemberReads::kMostOfMember; ++i) reads_.enter("m1", [] {});
  std::optional<ReplicasMeasured> result;
  MeasuringPlan plan;
  plan.target.clusters = {"m1"};
  measure(
      members_, reads_, std::move(plan), [this] { return now_; },
      [&](ReplicasMeasured all) { result = std::move(all); });
  EXPECT_FALSE(result);
  reads_.silence("m1", now_);
  reads_.leave("m1");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->clusters[0].failure, "it has not answered lately");
  EXPECT_TRUE(members_.asked.empty());
}

TEST_F(Measuring, MoreThanWasAskedForIsNotTakenApart) {
  std::string page = R"({"items":[{})";
  for (int i = 0; i < 100; ++i) page += ",{}";
  page += "]}";
  answer_of_m1("/api/v1/", page);
  EXPECT_EQ(measured(kMemory).clusters[0].failure, "it sent more pods at once than it was asked for");
  EXPECT_EQ(asked_again("m1 "), 0) << "no API server does that";
}

TEST_F(Measuring, PodsHaveAFewContainers) {
  std::string pod = R"({"items":[{"spec":{"containers":[{})";
  for (size_t i = 0; i < kMostPageContainers; ++i) pod += ",{}";
  pod += "]}}]}";
  answer_of_m1("/api/v1/", pod);
  EXPECT_EQ(measured(kMemory).clusters[0].failure, "the pods have too many containers");
}

TEST_F(Measuring, MetricsOfMorePodsThanThereAreCountAsNone) {
  std::string usage = R"({"items":[{"window":"1s"})";
  for (size_t i = 0; i < kMostPods; ++i) usage += R"(,{"window":"1s"})";
  usage += "]}";
  answer_of_m1("/apis/metrics.k8s.io", usage);
  const ClusterFigures cluster = measured(kMemory).clusters[0];
  EXPECT_EQ(cluster.failure, "");
  EXPECT_FALSE(cluster.metrics[0].failure.empty());
  EXPECT_EQ(cluster.metrics[0].missing, 1);
  EXPECT_EQ(asked_again("m1 /apis/metrics.k8s.io"), 0);
}

TEST_F(Measuring, AMetricsApiThatHangsIsAskedOnceAndThePodsCountAsUnknown) {
  members_.answer = [](const std::string& cluster, const std::string& path) -> Result<MemberResponse> {
    if (path.starts_with("/apis/metrics.k8s.io")) return Error{ErrorCode::kTimeout, "no answer"};
    return healthy(cluster, path);
  };
  const std::string metric = R"({"type":"Resource","resource":{"name":"memory","target":{"averageUtilization":50}}})";
  const std::string three = "[" + metric + "," + metric + "," + metric + "]";
  const ReplicasMeasured all = measured(three);
  EXPECT_EQ(std::ranges::count_if(members_.asked, [](const std::string& each) { return each.starts_with("m1 "); }), 3);
  EXPECT_EQ(all.clusters[0].failure, "");
  ASSERT_EQ(all.clusters[0].metrics.size(), 3U);
  for (const MetricSums& sums : all.clusters[0].metrics) EXPECT_EQ(sums.missing, 1);
  EXPECT_EQ(asked_again("m1 /apis/metrics.k8s.io"), 0);
  EXPECT_EQ(asked_again("m1 /api/v1/"), 1) << "the rest of the member answers";
}

TEST_F(Measuring, CustomMetricsThatHangSilenceThemForTheirNamespaceAlone) {
  members_.answer = [](const std::string& cluster, const std::string& path) -> Result<MemberResponse> {
    if (path.starts_with("/apis/custom.metrics")) return Error{ErrorCode::kTimeout, "no answer"};
    return healthy(cluster, path);
  };
  const char* queue = R"([{"type":"Pods","pods":{"metric":{"name":"queue"},"target":{"averageValue":"1"}}},
                          {"type":"Pods","pods":{"metric":{"name":"hits"},"target":{"averageValue":"1"}}}])";
  EXPECT_EQ(measured(queue).clusters[0].metrics[1].missing, 1);
  EXPECT_EQ(std::ranges::count_if(members_.asked, [](const std::string& each) { return each.starts_with("m1 "); }), 3);
  EXPECT_TRUE(reads_.silent("m1/custom.metrics.k8s.io/default", now_));
  EXPECT_FALSE(reads_.silent("m1", now_));
}

TEST_F(Measuring, MetricsThatComeTooLateLeaveThePods) {
  members_.answer = [this](const std::string& cluster, const std::string& path) {
    if (path.starts_with("/api/v1/")) now_ = now_ + kReadingTimeout;
    return healthy(cluster, path);
  };
  const ClusterFigures cluster = measured(kMemory).clusters[0];
  EXPECT_EQ(cluster.failure, "");
  EXPECT_EQ(cluster.pods, 1);
  ASSERT_EQ(cluster.metrics.size(), 1U);
  EXPECT_EQ(cluster.metrics[0].failure, "it took longer than 10 seconds to read it");
  EXPECT_EQ(cluster.metrics[0].missing, 1);
}

TEST_F(Measuring, AClusterWithoutASelectorIsLeftOutWithItsReplicas) {
  answer_of_m1("/apis/apps/v1", R"({"spec":{"replicas":10},"status":{"replicas":10}})");
  const ReplicasMeasured all = measured(kMemory);
  EXPECT_EQ(all.clusters[0], (ClusterFigures{.cluster = "m1", .metrics = {}, .failure = "its scale has no selector"}));
  EXPECT_EQ(all.clusters[1].replicas, 1);
  EXPECT_EQ(all.selector, "app=web");
}

TEST_F(Measuring, AClusterWithoutPodsIsLeftOutWithItsReplicas) {
  answer_of_m1("/api/v1/", R"({"items":[]})");
  EXPECT_EQ(measured(kMemory).clusters[0].failure, "it has replicas, but none of their pods");
  members_.answer = [](const std::string& cluster, const std::string& path) {
    return path.starts_with("/api/v1/") ? found(R"({"items":[]})") : healthy(cluster, path);
  };
  EXPECT_EQ(measured(kMemory).clusters[0].failure, "") << "there are none at all";
}

TEST_F(Measuring, AClusterWithMoreReplicasThanItWasGivenIsLeftOut) {
  most_replicas_ = {{"m1", 20}, {"m2", 20}};
  answer_of_m1("/apis/apps/v1", R"({"spec":{"replicas":2147483647},"status":{"replicas":1,"selector":"app=web"}})");
  const ReplicasMeasured all = measured(kMemory);
  EXPECT_EQ(all.clusters[0].failure, "it reports 2147483647 replicas, and was to have at most 20");
  EXPECT_EQ(all.clusters[1].failure, "");
}

TEST_F(Measuring, TheSelectorIsTheTemplatesIfItHasOne) {
  answer_of_m1("/apis/apps/v1", R"({"spec":{"replicas":1},"status":{"replicas":1,"selector":"app=a\u001b[2J"}})");
  EXPECT_EQ(measured(kMemory).selector, "app=a?[2J");
  selector_ = "app=web";
  EXPECT_EQ(measured(kMemory).selector, "app=web");
  members_.answer = [](const std::string&, const std::string&) { return found(R"({"spec":{"replicas":1}})"); };
  EXPECT_EQ(measured(kMemory).selector, "") << "no cluster has one";
}

TEST_F(Measuring, AnObjectThatIsNotThereIsKnownNotToBeThere) {
  const char* object =
      R"([{"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"Service","name":"web"},
                            "metric":{"name":"hits"},"target":{"type":"Value","value":"1"}}}])";
  EXPECT_FALSE(measured(object).clusters[0].metrics[0].unknown) << "404";
  members_.answer = [](const std::string& cluster, const std::string& path) {
    return path.starts_with("/apis/custom.metrics") ? refused(503, "starts") : healthy(cluster, path);
  };
  EXPECT_TRUE(measured(object).clusters[0].metrics[0].unknown);
  members_.answer = [](const std::string& cluster, const std::string& path) {
    return path.starts_with("/apis/custom.metrics") ? found(R"({"items":[]})") : healthy(cluster, path);
  };
  EXPECT_TRUE(measured(object).clusters[0].metrics[0].unknown);
}

TEST_F(Measuring, EndlessPagesEnd) {
  members_.answer = [this](const std::string& cluster, const std::string& path) -> Result<MemberResponse> {
    if (cluster == "m2" || !path.starts_with("/api/v1/")) return healthy(cluster, path);
    now_ = now_ + Millis{10};
    return found(R"({"metadata":{"continue":"more"},"items":[]})");
  };
  EXPECT_EQ(measured(kMemory).clusters[0].failure, "it took longer than 10 seconds to read it");
  std::string page = R"({"metadata":{"continue":"more"},"items":[{})";
  for (int i = 1; i < 100; ++i) page += ",{}";
  page += "]}";
  members_.answer = [&](const std::string& cluster, const std::string& path) -> Result<MemberResponse> {
    return path.starts_with("/api/v1/") ? found(page) : healthy(cluster, path);
  };
  EXPECT_EQ(measured(kMemory).clusters[0].failure, "the target has more than 5000 pods there");
}

TEST_F(Measuring, NonsenseIsNoFigure) {
  for (const char* scale : {R"({"spec":{"replicas":-5},"status":{"selector":""}})", R"({"spec":7,"status":[]})",
                            R"({"spec":{"replicas":1e300},"status":{"selector":5}})"}) {
    members_.answer = [&](const std::string&, const std::string&) { return found(scale); };
    const ReplicasMeasured all = measured(kMemory);
    EXPECT_EQ(all.selector, "");
    EXPECT_GE(all.clusters[0].replicas, 0);
    EXPECT_LE(all.clusters[0].replicas, INT32_MAX);
  }
  members_.answer = [](const std::string&, const std::string&) { return found("[]"); };
  EXPECT_FALSE(measured(kMemory).clusters[0].failure.empty());
}

TEST_F(Measuring, CustomMetricsOfEitherVersion) {
  members_.answer = [](const std::string& cluster, const std::string& path) -> Result<MemberResponse> {
    if (path.starts_with(
            "/apis/custom.metrics.k8s.io/v1beta1/namespaces/default/pods/*/queue?labelSelector=app%3Dweb")) {
      return found(
          R"({"items":[{"describedObject":{"name":"a"},"value":"7"},{"describedObject":{"name":"z"},"value":"9"}]})");
    }
    if (path.starts_with("/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/services/web/hits")) {
      return found(R"({"items":[{"describedObject":{"name":"web"},"value":"1500m"}]})");
    }
    return healthy(cluster, path);
  };
  const ReplicasMeasured all = measured(R"([
      {"type":"Pods","pods":{"metric":{"name":"queue"},"target":{"averageValue":"1"}}},
      {"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"Service","name":"web"},
                                 "metric":{"name":"hits"},"target":{"type":"Value","value":"1"}}},
      {"type":"Pods","pods":{"metric":{"name":"other"},"target":{"averageValue":"1"}}}])");
  EXPECT_EQ(all.clusters[0].metrics[0].usage, 7000);
  EXPECT_EQ(all.clusters[0].metrics[1].usage, 1500);
  EXPECT_EQ(all.clusters[0].metrics[2].failure, "not found");
  EXPECT_EQ(all.clusters[0].metrics[2].missing, 1) << "nothing is known of its pod";
}

/// The role on a state with one FederatedHPA of a Deployment that is placed on m1.
class FederatedHpaRoleTest : public Measuring {
 protected:
  FederatedHpaRoleTest() {
    put_deployment("web", "m1");
    put_autoscaler(kKey);
  }
  void put_autoscaler(const ObjectKey& key,
                      const std::string& rest = R"("maxReplicas":9,"metrics":)" + std::string{kMemory}) {
    history_.object(key, R"({"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":")" +
                             key.name.str() + R"("},"minReplicas":1,)" + rest + "}}");
  }
  void put_deployment(const std::string& name, const std::string& cluster) {
    history_.object({type::kCluster, "", cluster}, R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})");
    const ObjectKey deployment{"deployments.apps", "default", name};
    history_.object(deployment, R"({"metadata":{"labels":{"propagationpolicy.karmada.io/permanent-id":"p"}},
        "spec":{"replicas":1}})");
    Value binding = json(R"({"spec":{"resource":{"apiVersion":"apps/v1","kind":"Deployment","name":")" + name +
                         R"("},"clusters":[{"name":")" + cluster + R"(","replicas":1}]}})");
    binding.edit("spec").edit("resource").set("uid", history_.state().value_of(deployment)["metadata"]["uid"]);
    const ObjectKey key{type::kResourceBinding, "default", name + "-deployment"};
    history_.put(key, History::named(key, binding));
  }
  /// The pods use so much of the 100 MiB that they request.
  void uses(const std::string& memory) {
    members_.answer = [memory](const std::string& cluster, const std::string& path) {
      if (!path.starts_with("/apis/metrics.k8s.io")) return healthy(cluster, path);
      std::string usage = kUsage;
      usage.replace(usage.find("100Mi"), 5, memory);
      return found(usage);
    };
  }
  std::shared_ptr<FakeTask> step(const ObjectKey& key) {
    auto task = std::make_shared<FakeTask>(history_, key);
    role_->reconcile(task);
    members_.run();
    EXPECT_EQ(task->finished, 1);
    return task;
  }
  int64_t replicas() { return history_.state().value_of(kWeb)["spec"]["replicas"].as_int(); }

  const ObjectKey kKey{kFederatedHpa, "default", "web"};
  const ObjectKey kWeb{"deployments.apps", "default", "web"};
  const std::unique_ptr<Role> role_ = make_federated_hpa_role(members_);
};

TEST_F(FederatedHpaRoleTest, RecordsWhatItMeasuredThenDecides_5_8_1) {
  const auto task = step(kKey);
  EXPECT_EQ(replicas(), 2) << "all of the request of memory is used, and half is wanted";
  EXPECT_EQ(task->folded.size(), 2U);
  EXPECT_EQ(task->observed, 1) << "the measurement; the decision follows from it";
  EXPECT_EQ(task->look_again, kSyncEvery);
}

TEST_F(FederatedHpaRoleTest, WhatStaysIsNotWrittenAgain) {
  uses("50Mi");
  EXPECT_EQ(step(kKey)->folded.size(), 2U) << "its status";
  EXPECT_EQ(step(kKey)->folded.size(), 0U);
  EXPECT_EQ(replicas(), 1);
}

TEST_F(FederatedHpaRoleTest, WhatWasRecommendedIsNotUndoneAtOnce_5_8_6) {
  step(kKey);
  history_.edit(kWeb, [](Value& web) { web.edit("spec").set("replicas", 1); });
  uses("50Mi");
  step(kKey);
  EXPECT_EQ(replicas(), 2) << "two were recommended within the last five minutes";
}

TEST_F(FederatedHpaRoleTest, AnotherWriterIsNotOverwritten) {
  auto task = std::make_shared<FakeTask>(history_, kKey);
  role_->reconcile(task);
  task->before_append = [&] { history_.edit(kWeb, [](Value& web) { web.edit("spec").set("replicas", 7); }); };
  members_.run();
  EXPECT_EQ(task->finished, 1);
  EXPECT_NE(replicas(), 2);
}

TEST_F(FederatedHpaRoleTest, TwoOfTheSamePodsScaleNothing_5_8_2) {
  const ObjectKey other{kFederatedHpa, "default", "other"};
  members_.answer = [](const std::string& cluster, const std::string& path) {
    return path.starts_with("/apis/metrics.k8s.io") ? refused(503, "starts") : healthy(cluster, path);
  };
  put_autoscaler(other);
  history_.edit(other, [](Value& object) { object.edit("spec").edit("scaleTargetRef").set("name", "web"); });
  step(kKey);
  step(other);
  members_.answer = healthy;
  step(kKey);
  step(other);
  EXPECT_EQ(replicas(), 1);
  history_.remove(other);
  step(kKey);
  EXPECT_EQ(replicas(), 2);
}

TEST_F(FederatedHpaRoleTest, ASelectorThatAnotherClusterUsesDoesNotCount_5_8_2) {
  const ObjectKey other{kFederatedHpa, "default", "other"};
  put_deployment("other", "m2");
  put_autoscaler(other);
  step(other);
  step(kKey);
  EXPECT_EQ(replicas(), 2) << "a member may name any selector";
}

TEST_F(FederatedHpaRoleTest, OnesThatWereWokenTogetherDoNotReadTogether) {
  std::vector<ObjectKey> wake;
  role_->on_start(history_.state(), wake);
  EXPECT_EQ(wake, std::vector<ObjectKey>{kKey});
  const auto task = step(kKey);
  EXPECT_TRUE(members_.asked.empty());
  EXPECT_GT(task->look_again, Millis{0});
  EXPECT_LE(task->look_again, kSyncEvery);
  step(kKey);
  EXPECT_EQ(replicas(), 2);
}

TEST_F(FederatedHpaRoleTest, WithTooManyMetricsNothingIsRead) {
  std::string metrics;
  for (size_t i = 0; i <= kMostMetrics; ++i) {
    metrics += std::string{i == 0 ? "" : ","} + R"({"type":"Resource","resource":{"name":"memory",
        "target":{"type":"Utilization","averageUtilization":50}}})";
  }
  put_autoscaler(kKey, R"("maxReplicas":9,"metrics":[)" + metrics + "]");
  step(kKey);
  EXPECT_TRUE(members_.asked.empty());
  EXPECT_EQ(condition_of(history_.state().value_of(kKey), "ScalingActive")["reason"].as_string(),
            "InvalidMetricSourceType");
}

TEST_F(FederatedHpaRoleTest, WhatTheBoundsRemovedCountsForThePolicies_5_8_6) {
  history_.edit(kWeb, [](Value& web) { web.edit("spec").set("replicas", 6); });
  put_autoscaler(kKey, R"("maxReplicas":4,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0,"selectPolicy":"Max",
      "policies":[{"type":"Pods","value":1,"periodSeconds":600}]}},"metrics":)" +
                           std::string{kMemory});
  step(kKey);
  ASSERT_EQ(replicas(), 4);
  EXPECT_TRUE(members_.asked.empty());
  uses("10Mi");
  step(kKey);
  EXPECT_EQ(replicas(), 4) << "two were removed, and one is allowed in ten minutes";
}

TEST_F(FederatedHpaRoleTest, ARecordHasOnlyTheRecommendationsThatCanStillCount) {
  for (int i = 0; i < 8; ++i) {
    step(kKey);
    history_.edit(kWeb, [](Value& web) { web.edit("spec").set("replicas", 1); });
  }
  const Value& recorded = history_.state().value_of(answers_key(kKey, kMeasureReplicas))["answers"][kNoQualifier];
  EXPECT_EQ(recorded["answer"]["recommended"].size(), 1U);
}

TEST_F(FederatedHpaRoleTest, ItsOwnStatusWakesNothing) {
  const auto woken = [&](std::vector<Event> events) { return given::woken(*role_, history_, std::move(events)); };
  Value object = history_.state().value_of(kKey);
  object.edit("status").set("currentReplicas", 1);
  EXPECT_TRUE(woken({StatusUpdated{kKey, object}}).empty());
  object.edit("spec").set("maxReplicas", 3);
  object.edit("metadata").set("generation", 2);
  EXPECT_EQ(woken({ObjectUpdated{kKey, object}}), std::vector<ObjectKey>{kKey});
}

}  // namespace
}  // namespace shiplog::federated_hpa
