// The audit log of kube-apiserver, written by the real shiplogd.
#include <chrono>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events/base/json.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";
const std::string kHead = "apiVersion: audit.k8s.io/v1\nkind: Policy\n";

class AuditLog : public ::testing::Test {
 protected:
  std::string policy(const std::string& rest) {
    std::ofstream{fleet_.path("policy.yaml")} << kHead + rest;
    return "--audit-policy-file=" + fleet_.path("policy.yaml");
  }
  std::string log_option() const { return "--audit-log-path=" + fleet_.path("audit.log"); }

  /// Those of the log that `wanted` selects.
  template <class Wanted>
  std::vector<Value> events(const Wanted& wanted) const {
    std::vector<Value> events;
    std::ifstream log{fleet_.path("audit.log")};
    for (std::string line; std::getline(log, line);) {
      Value event = json(line);
      if (wanted(event)) events.push_back(std::move(event));
    }
    return events;
  }
  std::vector<Value> of_request(const std::string& audit_id) const {
    return events([&](const Value& event) { return event["auditID"].as_string() == audit_id; });
  }
  Answer as(const std::string& user, const std::string& method, const std::string& target, const std::string& body = {},
            HttpHeaders more = {}) {
    more.add("Impersonate-User", user);
    return fleet_.api().call(method, target, body, std::move(more));
  }

  Fleet fleet_;
};

/// A write to it blocks until it is drained, as one to a disk that hangs.
class FullPipe {
 public:
  explicit FullPipe(std::string path) : path_{std::move(path)} {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    reader_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK);
    writer_ = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK);
    const std::string filling(4096, 'x');
    while (::write(writer_, filling.data(), filling.size()) > 0) {
    }
  }
  ~FullPipe() {
    ::close(reader_);
    ::close(writer_);
  }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;

  const std::string& path() const { return path_; }
  void drain() const {
    std::string taken(65536, '\0');
    while (::read(reader_, taken.data(), taken.size()) > 0) {
    }
  }

 private:
  std::string path_;
  int reader_ = -1;
  int writer_ = -1;
};

std::string id_of(const Answer& answer) { return std::string{answer.headers.get("Audit-Id")}; }

TEST_F(AuditLog, HasTheEventsOfARequestWithWhatTheJournalMadeOfIt) {
  fleet_.serve("plane", {policy("rules:\n- level: RequestResponse\n  resources: [{resources: [configmaps]}]\n"
                                "- level: Metadata\n"),
                         log_option()});
  const std::string map = R"({"metadata":{"name":"a"},"data":{"k":"v"}})";
  const Answer made = fleet_.api().call("POST", kMaps + "?fieldManager=test", map, {{"Audit-Id", "mine-1"}});
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(id_of(made), "mine-1");
  // Blocking is the default: what was answered is in the file.
  const auto recorded = of_request("mine-1");
  ASSERT_EQ(recorded.size(), 2U);
  const Value& received = recorded[0];
  EXPECT_EQ(received["stage"].str(), "RequestReceived");
  EXPECT_TRUE(received["responseStatus"].is_null());
  const Value& complete = recorded[1];
  EXPECT_EQ(complete["stage"].str(), "ResponseComplete");
  EXPECT_EQ(complete["verb"].str(), "create");
  EXPECT_EQ(complete["requestURI"].str(), kMaps + "?fieldManager=test");
  EXPECT_EQ(to_json(complete["objectRef"]),
            R"({"apiVersion":"v1","name":"a","namespace":"default","resource":"configmaps"})");
  EXPECT_EQ(complete["responseStatus"]["code"].as_int(), 201);
  EXPECT_EQ(complete["requestObject"]["data"]["k"].str(), "v");
  EXPECT_EQ(complete["responseObject"]["metadata"]["uid"], made.json["metadata"]["uid"]);
  EXPECT_EQ(complete["sourceIPs"][0].str(), "127.0.0.1");
  EXPECT_EQ(complete["annotations"]["authorization.k8s.io/decision"].str(), "allow");
  EXPECT_EQ(complete["annotations"]["shiplog.io/revision"], made.json["metadata"]["resourceVersion"]);
  // The entry that it names is in the journal's own trail.
  const std::string entry = complete["annotations"]["shiplog.io/entry"].str();
  const Answer trail = fleet_.api().get("/shiplog/v1/audit?kind=cm&name=a");
  EXPECT_EQ(trail.json["items"][0]["id"].str(), entry) << trail;

  // A denied request of somebody else.
  const Answer denied = as("jane", "DELETE", kMaps + "/a", "", {{"X-Forwarded-For", "192.0.2.7"}});
  ASSERT_EQ(denied.status, 403);
  const auto forbidden = of_request(id_of(denied)).back();
  EXPECT_EQ(forbidden["impersonatedUser"]["username"].str(), "jane");
  EXPECT_NE(forbidden["user"]["username"].str(), "jane");
  EXPECT_EQ(forbidden["annotations"]["authorization.k8s.io/decision"].str(), "forbid");
  EXPECT_EQ(forbidden["responseStatus"]["reason"].str(), "Forbidden");
  EXPECT_EQ(to_json(forbidden["sourceIPs"]), R"(["192.0.2.7","127.0.0.1"])");

  // A patch is recorded as it was sent; at level Metadata no object is.
  const Answer patched = fleet_.api().patch(kMaps + "/a", "merge", json(R"({"data":{"k":"w"}})"));
  ASSERT_EQ(patched.status, 200);
  EXPECT_EQ(to_json(of_request(id_of(patched)).back()["requestObject"]), R"({"data":{"k":"w"}})");
  const Answer secret = fleet_.api().post("/api/v1/namespaces/default/secrets",
                                          json(R"({"metadata":{"name":"s"},"stringData":{"password":"hunter2"}})"));
  ASSERT_EQ(secret.status, 201);
  EXPECT_EQ(of_request(id_of(secret)).back()["objectRef"]["name"].str(), "s");
  EXPECT_EQ(read_file(fleet_.path("audit.log")).find("hunter2"), std::string::npos);

  // A stream has a beginning and an end.
  const ApiClient watcher = fleet_.api();
  const auto watch = watcher.watch(kMaps + "?watch=true&timeoutSeconds=1");
  EXPECT_TRUE(eventually([&] { return watch->ended(); }));
  const auto is_watch = [](const Value& event) {
    return event["verb"].as_string() == "watch" && event["objectRef"]["resource"].as_string() == "configmaps";
  };
  EXPECT_TRUE(eventually([&] { return events(is_watch).size() == 3; }));
  const auto watched = events(is_watch);
  ASSERT_EQ(watched.size(), 3U);
  EXPECT_EQ(watched[1]["stage"].str(), "ResponseStarted");
  EXPECT_EQ(watched[2]["stage"].str(), "ResponseComplete");
  EXPECT_EQ(watched[2]["responseStatus"]["code"].as_int(), 200);
  EXPECT_TRUE(fleet_.api().get("/metrics").body.find("apiserver_audit_event_total ") != std::string::npos);
}

TEST_F(AuditLog, HoldsNoTokensAndThoseWhoTryThem) {
  fleet_.serve("plane", {policy("omitStages: [RequestReceived]\nrules:\n- level: RequestResponse\n"), log_option()});
  ASSERT_EQ(
      fleet_.api().post("/api/v1/namespaces/default/serviceaccounts", json(R"({"metadata":{"name":"robot"}})")).status,
      201);
  const Answer requested = fleet_.api().post("/api/v1/namespaces/default/serviceaccounts/robot/token",
                                             json(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest",
      "spec":{"expirationSeconds":3600}})"));
  ASSERT_EQ(requested.status, 201) << requested;
  const std::string token = requested.json["status"]["token"].str();
  ASSERT_GT(token.size(), 100U);
  const Answer review = fleet_.api().post("/apis/authentication.k8s.io/v1/tokenreviews",
                                          json(R"({"kind":"TokenReview","spec":{"token":")" + token + R"("}})"));
  ASSERT_EQ(review.status, 201) << review;
  ASSERT_EQ(fleet_.api()
                .post("/api/v1/namespaces/default/secrets", json(R"({"metadata":{"name":"robot-token","annotations":{
      "kubernetes.io/service-account.name":"robot"}},"type":"kubernetes.io/service-account-token"})"))
                .status,
            201);
  Answer stored;
  EXPECT_TRUE(eventually([&] {
    stored = fleet_.api().get("/api/v1/namespaces/default/secrets/robot-token");
    return !stored.json["data"]["token"].is_null();
  }));
  const std::string in_secret = stored.json["data"]["token"].str();
  ASSERT_EQ(fleet_.api().get("/api/v1/namespaces/default/secrets").status, 200);
  const std::string log = read_file(fleet_.path("audit.log"));
  EXPECT_NE(log.find("\"resource\":\"tokenreviews\""), std::string::npos);
  EXPECT_NE(log.find("\"name\":\"robot-token\""), std::string::npos);
  EXPECT_EQ(log.find(token), std::string::npos);
  EXPECT_EQ(log.find(in_secret), std::string::npos);

  // A wrong token: who tried is unknown, that it was tried is recorded. The client certificate is not sent along.
  const Ran tried = run({"curl", "-sk", "-H", "Authorization: Bearer guessed-s3cret",
                         fleet_.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"}) + kMaps},
                        {}, "", std::chrono::seconds{30});
  EXPECT_TRUE(tried.says("Unauthorized")) << tried;
  const auto failed = events([](const Value& event) { return event["responseStatus"]["code"].as_int() == 401; });
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0]["stage"].str(), "ResponseStarted");
  EXPECT_EQ(failed[0]["user"], Value::object());
  EXPECT_EQ(read_file(fleet_.path("audit.log")).find("guessed-s3cret"), std::string::npos);
}

// A full disk: what must be recorded and cannot be is not carried out, and is counted.
TEST_F(AuditLog, BlockingStrictRefusesWhatCannotBeRecorded) {
  fleet_.serve("plane", {policy("rules:\n- level: Metadata\n  verbs: [create]\n  resources: [{resources: [configmaps]}]"
                                "\n"),
                         "--audit-log-path=/dev/full", "--audit-log-mode=blocking-strict"});
  const Answer refused = fleet_.api().post(kMaps, json(R"({"metadata":{"name":"a"}})"));
  EXPECT_EQ(refused.status, 500);
  EXPECT_NE(refused.message().find("audit event"), std::string::npos) << refused;
  EXPECT_EQ(fleet_.api().get(kMaps + "/a").status, 404);
  const std::string metrics = fleet_.api().get("/metrics").body;
  EXPECT_NE(metrics.find("apiserver_audit_error_total{plugin=\"log\"} 1"), std::string::npos);
  EXPECT_NE(metrics.find("apiserver_audit_requests_rejected_total 1"), std::string::npos);
  EXPECT_NE(fleet_.log_tail("plane", 100'000).find("No space left on device"), std::string::npos);
}

TEST_F(AuditLog, BlockingCarriesOutWhatCannotBeRecordedAndReportsIt) {
  fleet_.serve("plane", {policy("rules:\n- level: Metadata\n"), "--audit-log-path=/dev/full"});
  EXPECT_EQ(fleet_.api().post(kMaps, json(R"({"metadata":{"name":"a"}})")).status, 201);
  EXPECT_NE(fleet_.log_tail("plane", 100'000).find("event=audit.events_lost plugin=log"), std::string::npos);
}

// A disk that hangs, and a webhook that is not there.
TEST_F(AuditLog, InBatchModeNoRequestWaits) {
  FullPipe pipe{fleet_.path("audit.pipe")};
  std::ofstream{fleet_.path("webhook.yaml")} << R"({"clusters":[{"name":"s","cluster":{"server":"http://127.0.0.1:1"}}],
    "contexts":[{"name":"s","context":{"cluster":"s"}}],"current-context":"s"})";
  Process& plane =
      fleet_.serve("plane", {policy("rules:\n- level: RequestResponse\n"), "--audit-log-path=" + pipe.path(),
                             "--audit-log-mode=batch", "--audit-log-batch-buffer-size=20",
                             "--audit-webhook-config-file=" + fleet_.path("webhook.yaml"),
                             "--audit-webhook-batch-max-size=1", "--audit-webhook-initial-backoff=100ms"});
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(fleet_.api().post(kMaps, json(R"({"metadata":{"name":"m)" + std::to_string(i) + R"("}})")).status, 201);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{30});
  const std::string metrics = fleet_.api().get("/metrics").body;
  EXPECT_NE(metrics.find("apiserver_audit_error_total{plugin=\"log\"}"), std::string::npos);
  EXPECT_TRUE(eventually([&] {
    return fleet_.api().get("/metrics").body.find("apiserver_audit_error_total{plugin=\"webhook\"}") !=
           std::string::npos;
  }));
  // Nor does the end of the process.
  EXPECT_EQ(plane.terminate(), 0);
}

// In blocking mode those wait that are to be recorded, without a thread: others go on.
TEST_F(AuditLog, InBlockingModeADiskThatHangsHoldsNothingElse) {
  FullPipe pipe{fleet_.path("audit.pipe")};
  fleet_.serve("plane", {policy("rules:\n- level: Metadata\n  verbs: [create]\n  resources: [{resources: [configmaps]}]"
                                "\n"),
                         "--audit-log-path=" + pipe.path(), "--audit-log-mode=blocking"});
  const std::string waits = R"({"metadata":{"name":"waits"}})";
  for (int i = 0; i < 8; ++i) {  // more than there are worker threads
    EXPECT_EQ(fleet_.api().call("POST", kMaps, waits, {}, std::chrono::milliseconds{300}).status, 0);
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(fleet_.api().get(kMaps + "/waits").status, 404) << "it was not carried out before it was recorded";
  EXPECT_EQ(
      fleet_.api().post("/api/v1/namespaces/default/serviceaccounts", json(R"({"metadata":{"name":"a"}})")).status,
      201);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{10});
  // The disk is back.
  EXPECT_TRUE(eventually([&] {
    pipe.drain();
    return fleet_.api().get(kMaps + "/waits").status == 200;
  }));
}

TEST_F(AuditLog, WithoutAPolicyThereIsNoneAndAWrongOneIsAnErrorAtTheStart) {
  fleet_.serve("plane", {log_option()});
  EXPECT_EQ(fleet_.api().post(kMaps, json(R"({"metadata":{"name":"a"}})")).status, 201);
  EXPECT_FALSE(std::filesystem::exists(fleet_.path("audit.log")));
  EXPECT_NE(fleet_.log_tail("plane", 100'000).find("record nothing without --audit-policy-file"), std::string::npos);
  EXPECT_EQ(fleet_.process("plane").terminate(), 0);
  Process& wrong = fleet_.serve("plane", {policy("rules:\n- level: Metadata\n  user: [jane]\n"), log_option()}, false);
  EXPECT_TRUE(eventually([&] { return !wrong.running(); }));
  EXPECT_NE(fleet_.log_tail("plane").find("policy.yaml: rules[0].user: is no field of an audit policy"),
            std::string::npos)
      << fleet_.log_tail("plane");
}

// The journal's own trail in the same format: of everything, whether or not there is a policy.
TEST_F(AuditLog, TheJournalIsReadAsAnEventListToo) {
  fleet_.serve();
  ASSERT_EQ(fleet_.api().post(kMaps, json(R"({"metadata":{"name":"a"}})")).status, 201);
  ASSERT_EQ(as("jane", "DELETE", kMaps + "/a").status, 403);
  const Value list = json(fleet_.shiplogctl_ok({"audit", "--kind=cm", "--name=a", "--output=k8s"}));
  EXPECT_EQ(list["kind"].str(), "EventList");
  EXPECT_EQ(list["apiVersion"].str(), "audit.k8s.io/v1");
  ASSERT_EQ(list["items"].size(), 2U);
  const Value& denied = list["items"][0];
  EXPECT_EQ(denied["user"]["username"].str(), "jane");
  EXPECT_EQ(denied["responseStatus"]["code"].as_int(), 403);
  EXPECT_EQ(denied["annotations"]["authorization.k8s.io/decision"].str(), "forbid");
  const Value& made = list["items"][1];
  EXPECT_EQ(made["verb"].str(), "create");
  EXPECT_EQ(made["requestURI"].str(), kMaps);
  EXPECT_EQ(to_json(made["objectRef"]), R"({"name":"a","namespace":"default","resource":"configmaps"})");
  EXPECT_EQ(made["responseStatus"]["code"].as_int(), 201);
  // Page by page.
  const Value all = json(fleet_.shiplogctl_ok({"audit", "--limit=0", "--output=k8s"}));
  const Value plain = json(fleet_.shiplogctl_ok({"audit", "--limit=0", "--output=json"}));
  EXPECT_GT(all["items"].size(), 2U);
  EXPECT_EQ(all["items"].size(), plain["items"].size());
  EXPECT_EQ(fleet_.api().get("/shiplog/v1/audit?format=cef").status, 400);
}

}  // namespace
}  // namespace shiplog::e2e
