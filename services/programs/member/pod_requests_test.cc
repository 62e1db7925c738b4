#include "services/programs/member/pod_requests.h"

#include <gmock/gmock.h>

#include "events/base/json.h"
#include "events/base/quantity.h"
#include "services/programs/member/log_lines.h"
#include "services/programs/member/metrics.h"
#include "services/programs/member/pod_forward.h"

namespace shiplog::member {
namespace {

using ::testing::HasSubstr;

const char* kRequestedPod = R"({
  "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "labels": {"app": "web"}},
  "spec": {"nodeName": "n1", "initContainers": [{"name": "init", "image": "i"}],
           "containers": [{"name": "a", "image": "nginx", "ports": [{"containerPort": 80}],
                           "resources": {"requests": {"cpu": "500m", "memory": "200Mi"}}},
                          {"name": "b", "image": "fail/x"}]},
  "status": {"phase": "Running", "containerStatuses": [
      {"name": "a", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}},
      {"name": "b", "state": {"waiting": {"reason": "ImagePullBackOff"}}}],
    "initContainerStatuses": [{"name": "init", "state": {"terminated": {
      "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:25Z"}}}]}})";

Value pod() { return parse_json(kRequestedPod).value(); }
UtcMillis at(const char* time) { return parse_rfc3339(time).value(); }

HttpRequest query(HttpRequest::Query query) {
  HttpRequest request;
  request.query = std::move(query);
  return request;
}

TEST(PodRequests, TheContainerMustBeNamedIfThereAreSeveral) {
  EXPECT_EQ(container_meant(pod(), "").error().message,
            "a container name must be specified for pod web, choose one of: [init a b]");
  EXPECT_EQ(container_meant(pod(), "c").error().message, "container c is not valid for pod web");
  EXPECT_EQ(container_meant(pod(), "a").value(), "a");
}

TEST(PodRequests, AContainerThatDoesNotRunHasNoLogAndRunsNothing) {
  EXPECT_EQ(container_life(pod(), "b", false).error().message,
            "container \"b\" in pod \"web\" is waiting to start: trying and failing to pull image");
  EXPECT_EQ(container_life(pod(), "a", true).error().message,
            "previous terminated container \"a\" in pod \"web\" not found");
  EXPECT_TRUE(container_life(pod(), "init", false).value().finished);
  EXPECT_TRUE(check_running(pod(), "a"));
  EXPECT_THAT(check_running(pod(), "b").error().message, HasSubstr("container not found (\"b\")"));
  Value completed = pod();
  completed.edit("status").set("phase", "Succeeded");
  EXPECT_EQ(check_running(completed, "a").error().message,
            "cannot exec into a container in a completed pod; current phase is Succeeded");
}

TEST(PodRequests, OptionsOfALogAreChecked) {
  EXPECT_EQ(log_options(query({{"tailLines", "-1"}})).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(log_options(query({{"limitBytes", "0"}})).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(log_options(query({{"sinceSeconds", "0"}})).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(log_options(query({{"sinceTime", "yesterday"}})).error().code, ErrorCode::kBadRequest);
  EXPECT_THAT(log_options(query({{"sinceSeconds", "1"}, {"sinceTime", "2026-01-01T00:00:00Z"}})).error().message,
              HasSubstr("at most one of"));
}

TEST(LogLines, AreTheSameWheneverTheyAreRead) {
  const Value web = pod();
  const LogLines lines{web, web["spec"]["containers"][0], at("2026-01-01T00:00:00Z"), std::nullopt};
  EXPECT_EQ(lines.count(at("2026-01-01T00:00:00Z")), 2);
  EXPECT_EQ(lines.count(at("2026-01-01T00:00:19Z")), 3);
  EXPECT_EQ(lines.line(2).time, at("2026-01-01T00:00:10Z"));
  EXPECT_THAT(lines.line(2).text, HasSubstr("heartbeat uptime=10s"));
  EXPECT_EQ(lines.line(2).text, lines.line(2).text);
  EXPECT_EQ(lines.first_since(at("2026-01-01T00:00:10Z")), 2);
  EXPECT_EQ(lines.first_since(at("2026-01-01T00:00:11Z")), 3);
  EXPECT_EQ(lines.first_since(at("2025-01-01T00:00:00Z")), 0);
  EXPECT_EQ(lines.next(at("2026-01-01T00:00:11Z")), at("2026-01-01T00:00:20Z"));
}

TEST(LogLines, EndWithTheContainer) {
  const Value web = pod();
  const LogLines lines{web, web["spec"]["initContainers"][0], at("2026-01-01T00:00:00Z"), at("2026-01-01T00:00:25Z")};
  const int64_t count = lines.count(at("2026-06-01T00:00:00Z"));
  EXPECT_EQ(count, 5);
  EXPECT_THAT(lines.line(count - 1).text, HasSubstr("completed"));
  EXPECT_EQ(lines.next(at("2026-06-01T00:00:00Z")), std::nullopt);
}

TEST(ForwardedPorts, AnswerOnceARequestHasArrived) {
  const ForwardedPod web = forwarded_pod(pod());
  EXPECT_EQ(web.ports, std::set<int64_t>{80});
  EXPECT_EQ(answer_of_port(web, 80, "GET / HTTP/1.1\r\nHost: x\r\n"), "");
  EXPECT_THAT(answer_of_port(web, 80, "GET / HTTP/1.1\r\n\r\n"), HasSubstr("pod shop/web on node n1, port 80"));
  EXPECT_THAT(refused_port(web, 81), HasSubstr("connection refused"));
}

TEST(Metrics, FollowFromRequestsAndRepeat) {
  const std::vector<Value> pods{pod()};
  const UtcMillis now = at("2026-01-01T00:00:07Z");
  const auto metrics = pod_metrics(pods, {}, now);
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(metrics, pod_metrics(pods, {}, at("2026-01-01T00:00:14Z"))) << "the same step";
  EXPECT_NE(metrics, pod_metrics(pods, {}, at("2026-01-01T00:00:15Z")));
  const Value& usage = metrics[0]["containers"][0]["usage"];
  const int64_t cpu = parse_quantity(usage["cpu"].as_string()).value().milli();
  EXPECT_GT(cpu, 500 / 5);
  EXPECT_LT(cpu, 500);
  EXPECT_EQ(metrics[0]["metadata"]["labels"]["app"].as_string(), "web");
  const auto nodes = node_metrics({parse_json(R"({"metadata": {"name": "n1"}})").value()}, pods, {}, now);
  EXPECT_GT(parse_quantity(nodes[0]["usage"]["cpu"].as_string()).value().milli(), cpu) << "and the system's";
}

TEST(Metrics, PodsOfAWorkloadShareWhatItsAnnotationsSay) {
  const Value workload = parse_json(R"({"metadata": {"uid": "d", "annotations": {
      "member.shiplog.io/cpu-usage": "900m", "member.shiplog.io/memory-usage": "300Mi"}}})")
                             .value();
  const Value set = parse_json(R"({"metadata": {"uid": "s", "ownerReferences": [{"controller": true, "uid": "d"}],
      "annotations": {"member.shiplog.io/cpu-usage": "5"}}})")
                        .value();
  Value owned = pod();
  owned.edit("metadata").set("ownerReferences", parse_json(R"([{"controller": true, "uid": "s"}])").value());
  Value pending = owned;
  pending.edit("status").set("phase", "Pending");
  const auto metrics = pod_metrics({owned, owned, owned, pending, pod()}, {workload, set}, at("2026-01-01T00:00:00Z"));
  ASSERT_EQ(metrics.size(), 4U);
  int64_t cpu = 0, memory = 0;
  for (const auto& container : metrics[0]["containers"].items()) {
    cpu += parse_quantity(container["usage"]["cpu"].as_string()).value().milli();
    memory += parse_quantity(container["usage"]["memory"].as_string()).value().units();
  }
  EXPECT_EQ(cpu, 300);
  EXPECT_EQ(memory, int64_t{100} * 1024 * 1024);
  EXPECT_NE(metrics[3]["containers"][0]["usage"], metrics[0]["containers"][0]["usage"]) << "it has no such owner";
}

TEST(Metrics, APodThatDoesNotRunHasNone) {
  Value pending = pod();
  pending.edit("status").set("phase", "Pending");
  EXPECT_TRUE(pod_metrics({pending}, {}, at("2026-01-01T00:00:00Z")).empty());
}

}  // namespace
}  // namespace shiplog::member
