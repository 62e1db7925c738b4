#include "services/programs/member/fault_switches.h"

#include <map>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/http/server.h"
#include "tests/support/simulated_member.h"

namespace shiplog {
namespace {

/// Timers in virtual time.
class VirtualTimeExecutor final : public Executor {
 public:
  void post(std::function<void()> run) override { post_after(Millis{0}, std::move(run)); }
  void post_after(Millis delay, std::function<void()> run) override { due_.emplace(now_ + delay, std::move(run)); }
  UtcMillis now() const override { return now_; }
  void pass(Millis time) {
    const UtcMillis until = now_ + time;
    while (!due_.empty() && due_.begin()->first <= until) {
      auto node = due_.extract(due_.begin());
      now_ = node.key();
      node.mapped()();
    }
    now_ = until;
  }

 private:
  UtcMillis now_{1'000'000};
  std::multimap<UtcMillis, std::function<void()>> due_;
};

/// Records the response.
struct RecordedResponse final : ResponseWriter {
  void send(HttpResponse given) override { response = std::move(given); }
  void start(int, HttpHeaders) override { started = true; }
  void write(std::string, Done) override {}
  void end() override { ended = true; }
  void upgrade(HttpHeaders, Upgraded) override {}
  void on_close(std::function<void()>) override {}
  bool closed() const override { return ended; }

  std::optional<HttpResponse> response;
  bool started = false;
  bool ended = false;
};

struct Fixture : ::testing::Test {
  Fixture() {
    switches->resume_with([this](const HttpRequest& request, const std::shared_ptr<ResponseWriter>&) {
      resumed.push_back(request.path);
    });
  }

  HttpRequest request(const std::string& method, const std::string& path, const std::string& body = "") const {
    HttpRequest made;
    made.method = method;
    made.path = path;
    made.body = body;
    made.peer.address = "127.0.0.1";
    made.peer.certified = true;
    made.peer.common_name = "admin";
    made.peer.organizations = {"system:masters"};
    return made;
  }
  /// The response's status; 0: the request was passed on; -1: the connection was closed.
  int ask(const HttpRequest& sent) {
    answer = std::make_shared<RecordedResponse>();
    if (!switches->intercept(sent, answer)) return 0;
    if (answer->started) return -1;
    return answer->response ? answer->response->status : -2;  // -2: delayed
  }
  int read() { return ask(request("GET", "/api/v1/pods")); }
  int write() { return ask(request("POST", "/api/v1/namespaces/default/pods")); }
  int set(const std::string& body) { return ask(request("PUT", FaultSwitches::kPath, body)); }

  VirtualTimeExecutor executor;
  std::shared_ptr<FaultSwitches> switches = FaultSwitches::make(executor, {}).value();
  std::shared_ptr<RecordedResponse> answer;
  std::vector<std::string> resumed;
};

using MemberSwitches = Fixture;

TEST_F(MemberSwitches, PassEverythingAtFirst) {
  EXPECT_EQ(read(), 0);
  EXPECT_EQ(write(), 0);
  EXPECT_EQ(ask(request("GET", FaultSwitches::kPath)), 200);
  EXPECT_EQ(parse_json(answer->response->body).value(),
            parse_json(R"({"latencyMs":0,"refuse":"none","flapSeconds":0,"down":false,"readyDelayMs":500})").value());
}

TEST_F(MemberSwitches, RefuseWritesOrEverythingOrWithAStatus) {
  EXPECT_EQ(set(R"({"refuse":"writes"})"), 200);
  EXPECT_EQ(read(), 0);
  EXPECT_EQ(write(), 503);
  EXPECT_EQ(set(R"({"refuse":"all"})"), 200);
  EXPECT_EQ(read(), 503);
  EXPECT_EQ(set(R"({"refuse":429})"), 200);
  EXPECT_EQ(read(), 429);
  EXPECT_EQ(parse_json(answer->response->body).value()["reason"].as_string(), "TooManyRequests");
  EXPECT_EQ(set(R"({"refuse":"none"})"), 200);
  EXPECT_EQ(write(), 0);
}

TEST_F(MemberSwitches, DelayRequestsAndThenContinueThem) {
  EXPECT_EQ(set(R"({"latencyMs":300})"), 200);
  EXPECT_EQ(read(), -2);
  executor.pass(Millis{299});
  EXPECT_TRUE(resumed.empty());
  executor.pass(Millis{1});
  EXPECT_EQ(resumed, (std::vector<std::string>{"/api/v1/pods"}));
}

TEST_F(MemberSwitches, DownClosesConnectionsAndEndsWatches) {
  HttpRequest watch = request("GET", "/api/v1/pods");
  watch.query = {{"watch", "true"}};
  EXPECT_EQ(ask(watch), 0);
  const auto watcher = answer;
  EXPECT_EQ(set(R"({"down":true})"), 200);
  EXPECT_TRUE(watcher->ended);
  EXPECT_EQ(read(), -1);
  EXPECT_EQ(set(R"({"down":false})"), 200);
  EXPECT_EQ(read(), 0);
}

TEST_F(MemberSwitches, FlapUpAndDown) {
  HttpRequest watch = request("GET", "/api/v1/pods");
  watch.query = {{"watch", "1"}};
  EXPECT_EQ(set(R"({"flapSeconds":10})"), 200);
  EXPECT_EQ(ask(watch), 0);
  const auto watcher = answer;
  executor.pass(Millis{9999});
  EXPECT_EQ(read(), 0);
  EXPECT_FALSE(watcher->ended);
  executor.pass(Millis{1});
  EXPECT_EQ(read(), -1);
  EXPECT_TRUE(watcher->ended);
  executor.pass(Millis{10'000});
  EXPECT_EQ(read(), 0);
  EXPECT_EQ(set(R"({"flapSeconds":0})"), 200);
  executor.pass(Millis{10'000});
  EXPECT_EQ(read(), 0);
}

TEST_F(MemberSwitches, ChangeTheReadyDelay) {
  EXPECT_EQ(set(R"({"readyDelayMs":7000})"), 200);
  EXPECT_EQ(switches->ready_delay(), Millis{7000});
}

/// Also of pods that wait already: the delay is read as time passes.
TEST(MemberSwitchesInUse, TheReadyDelayIsThatOfPods) {
  VirtualTimeExecutor executor;
  const auto switches = FaultSwitches::make(executor, {}).value();
  const auto set_delay = [&](int64_t millis) {
    EXPECT_TRUE(switches->change(Value::object({{"readyDelayMs", millis}})));
  };
  MemberOptions options;
  options.ready_delay = Millis{1};  // not this one
  options.switches = switches;
  set_delay(60'000);
  member::testing::SimulatedMember simulated{options};
  simulated.put(member::kDeployments, member::testing::workload("Deployment", "web", 2));
  simulated.stage.run(Millis{20'000});
  EXPECT_EQ(simulated.ready(), 0U);
  set_delay(30'000);
  simulated.stage.run(Millis{5000});
  EXPECT_EQ(simulated.ready(), 0U) << "25 s have passed";
  simulated.stage.run(Millis{8000});
  EXPECT_EQ(simulated.ready(), 2U);
}

TEST_F(MemberSwitches, RefuseUnknownFieldsAndKeepTheRest) {
  EXPECT_EQ(set(R"({"latencyMs":-1})"), 422);
  EXPECT_EQ(set(R"({"down":true,"refuse":"maybe"})"), 422);
  EXPECT_EQ(set(R"({"refuse":200})"), 422);
  EXPECT_EQ(set(R"({"slow":1})"), 422);
  EXPECT_NE(answer->response->body.find("slow: is not a switch"), std::string::npos);
  EXPECT_EQ(set("{"), 400);
  EXPECT_EQ(ask(request("DELETE", FaultSwitches::kPath)), 405);
  EXPECT_EQ(switches->settings(), FaultSwitches::Settings{});
}

TEST_F(MemberSwitches, AreForAdministratorsOnly) {
  HttpRequest sent = request("PUT", FaultSwitches::kPath, R"({"down":true})");
  sent.peer.organizations = {"system:nodes"};
  EXPECT_EQ(ask(sent), 403);
  sent.peer.certified = false;
  EXPECT_EQ(ask(sent), 401);
  EXPECT_FALSE(switches->is_down());
}

TEST_F(MemberSwitches, RefuseALatencyWithoutAHandler) {
  const auto alone = FaultSwitches::make(executor, {}).value();
  const auto changed = alone->change(parse_json(R"({"latencyMs":5})").value());
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, ErrorCode::kInvalid);
}

TEST_F(MemberSwitches, StartWithTheCommandLineSettings) {
  FaultSwitches::Settings given;
  given.flap_seconds = 5;
  given.latency = Millis{20};
  given.refuse = "writes";
  const auto made = FaultSwitches::make(executor, given);
  ASSERT_TRUE(made);
  EXPECT_EQ(made.value()->settings(), given);
  executor.pass(Millis{5000});
  EXPECT_TRUE(made.value()->is_down());
  given.refuse = "sometimes";
  EXPECT_FALSE(FaultSwitches::make(executor, given));
}

}  // namespace
}  // namespace shiplog
