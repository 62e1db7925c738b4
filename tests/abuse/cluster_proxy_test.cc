// The cluster proxy between hostile users and hostile members.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/http/client.h"
#include "services/http/kubeconfig.h"
#include "services/http/server.h"
#include "tests/support/fleet.h"
#include "tests/support/http_peers.h"
#include "tests/support/test_proxy.h"

namespace shiplog::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using WriterPtr = std::shared_ptr<ResponseWriter>;

const std::string kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters/";
constexpr int64_t kMostGrowthKb = 60 * 1024;

/// The API server of a member, which keeps what it receives.
class ScriptedMember {
 public:
  using Handler = std::function<void(const HttpRequest& request, const WriterPtr& writer)>;

  explicit ScriptedMember(Handler handler = {}) {
    server_ = HttpServer::start({}, [this, handler = std::move(handler)](HttpRequest request, const WriterPtr& writer) {
                // The collector's requests have another token.
                if (request.headers.get("Authorization") != "Bearer impersonator") return writer->send({404, {}, "{}"});
                {
                  const std::lock_guard lock{mutex_};
                  requests_.push_back(request);
                }
                if (handler) return handler(request, writer);
                writer->send({200, {{"Content-Type", "application/json"}}, R"({"kind":"Anything"})"});
              }).value();
  }
  std::string url() const { return server_->url(); }
  std::vector<HttpRequest> requests() const {
    const std::lock_guard lock{mutex_};
    return requests_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::unique_ptr<HttpServer> server_;
};

class ProxiedMember : public ::testing::Test {
 protected:
  void SetUp() override { fleet_.serve("plane", {"--log-level=warn"}); }

  void add(const std::string& name, const std::string& url) {
    const std::string secrets = "---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: karmada-cluster, name: ";
    fleet_.kubectl_ok({"apply", "-f", "-"},
                      "apiVersion: v1\nkind: Namespace\nmetadata: {name: karmada-cluster}\n" + secrets + name +
                          "}\nstringData: {token: own}\n" + secrets + name +
                          "-impersonator}\nstringData: {token: impersonator}\n---\n"
                          "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: " +
                          name + "}\nspec:\n  syncMode: Push\n  apiEndpoint: " + url +
                          "\n  secretRef: {namespace: karmada-cluster, name: " + name +
                          "}\n  impersonatorSecretRef: {namespace: karmada-cluster, name: " + name +
                          "-impersonator}\n");
  }
  /// `user` may reach these clusters.
  void permit(const std::string& user, const std::string& cluster) {
    fleet_.kubectl_ok({"create", "clusterrole", user, "--verb=*", "--resource=clusters.cluster.karmada.io/proxy",
                       "--resource-name=" + cluster});
    fleet_.kubectl_ok({"create", "clusterrolebinding", user, "--clusterrole=" + user, "--user=" + user});
  }
  Answer as(const std::string& user, const std::string& method, const std::string& target, HttpHeaders headers = {}) {
    headers.add("Impersonate-User", user);
    return fleet_.api().call(method, target, "", std::move(headers));
  }
  std::unique_ptr<HttpClient> client() {
    const auto kubeconfig = read_kubeconfig({fleet_.kubeconfig("plane")}).value();
    HttpClient::Options options;
    options.max_connections = 300;
    return HttpClient::create(io_, context_of(kubeconfig).value().target, options).value();
  }
  int64_t memory_kb(const std::string& field) {
    const std::string status = read_file("/proc/" + std::to_string(fleet_.process("plane").pid()) + "/status");
    const size_t at = status.find(field);
    return at == std::string::npos ? 0 : std::stoll(status.substr(at + field.size()));
  }
  /// So many refused requests of the user are in the audit trail.
  void expect_refusals_audited(const std::string& user, size_t count) {
    size_t found = 0;
    EXPECT_TRUE(eventually([&] {
      found = fleet_.api().get("/shiplog/v1/audit?refused=true&user=" + user).json["items"].size();
      return found == count;
    })) << user
        << ": " << found << " instead of " << count;
  }

  Fleet fleet_;
  std::shared_ptr<IoThreads> io_ = std::make_shared<IoThreads>(1);
};

std::vector<std::string> values_of(const HttpHeaders& headers, std::string_view name) {
  std::vector<std::string> values;
  for (const auto& [field, value] : headers.all()) {
    if (equal_ignoring_case(field, name)) values.push_back(value);
  }
  return values;
}

TEST_F(ProxiedMember, GetsTheUserAndNothingThatTheUserForged) {
  const ScriptedMember member;
  add("m1", member.url());
  permit("ann", "m1");
  const Answer answer = as("ann", "GET", kClusters + "m1/proxy/api/v1/pods?limit=1",
                           {{"X-Remote-User", "root"},
                            {"X-Remote-Group", "system:masters"},
                            {"X-Forwarded-For", "6.6.6.6"},
                            {"Connection", "X-Removed"},
                            {"X-Removed", "1"},
                            {"Impersonate-Group", "dev"}});
  EXPECT_EQ(answer.status, 200) << answer;
  ASSERT_EQ(member.requests().size(), 1U);
  const HttpRequest got = member.requests()[0];
  EXPECT_EQ(got.target, "/api/v1/pods?limit=1");
  EXPECT_THAT(values_of(got.headers, "Impersonate-User"), ElementsAre("ann"));
  EXPECT_THAT(values_of(got.headers, "Impersonate-Group"), ElementsAre("dev"));
  EXPECT_THAT(values_of(got.headers, "X-Remote-User"), ElementsAre());
  EXPECT_THAT(values_of(got.headers, "X-Remote-Group"), ElementsAre());
  EXPECT_THAT(values_of(got.headers, "X-Removed"), ElementsAre());
  EXPECT_THAT(values_of(got.headers, "X-Forwarded-For"), ElementsAre("127.0.0.1"));
  EXPECT_FALSE(got.headers.get("Traceparent").empty());
}

TEST_F(ProxiedMember, IsOutOfReachWithoutPermissionForThisCluster) {
  const ScriptedMember first;
  const ScriptedMember second;
  add("m1", first.url());
  add("m2", second.url());
  permit("ann", "m1");
  EXPECT_EQ(as("ann", "GET", kClusters + "m1/proxy/api").status, 200);
  for (const char* path : {"m2/proxy/api", "*/proxy/api/v1/pods", "%2A/proxy/api/v1/pods", "m1/../m2/proxy/api"}) {
    EXPECT_EQ(as("ann", "GET", kClusters + path).status, 403) << path;
  }
  EXPECT_EQ(as("bob", "POST", kClusters + "m1/proxy/api/v1/namespaces").status, 403);
  EXPECT_TRUE(second.requests().empty());
  EXPECT_EQ(first.requests().size(), 1U);
  expect_refusals_audited("ann", 4);
  expect_refusals_audited("bob", 1);
}

TEST_F(ProxiedMember, ImpersonationNeedsPermissionHere) {
  const ScriptedMember member;
  add("m1", member.url());
  permit("ann", "m1");
  fleet_.kubectl_ok({"create", "serviceaccount", "robot"});
  fleet_.kubectl_ok({"create", "clusterrolebinding", "robot", "--clusterrole=ann", "--serviceaccount=default:robot"});
  const std::string token = fleet_.kubectl_ok({"create", "token", "robot"});
  const auto call = [&](const HttpHeaders& headers) {
    const std::string url = fleet_.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"});
    ClientTarget target;
    target.url = url;
    target.insecure = true;
    target.bearer_token = token.substr(0, token.find('\n'));
    const auto robot = HttpClient::create(io_, target).value();
    HttpRequest request;
    request.path = kClusters + "m1/proxy/api";
    request.headers = headers;
    return testing::ask(*robot, request).value().status;
  };
  EXPECT_EQ(call({}), 200);
  EXPECT_EQ(call({{"Impersonate-User", "system:admin"}}), 403);
  EXPECT_EQ(
      call({{"Impersonate-User", "system:serviceaccount:default:robot"}, {"Impersonate-Group", "system:masters"}}),
      403);
  EXPECT_EQ(member.requests().size(), 1U);
  expect_refusals_audited("system:serviceaccount:default:robot", 2);
}

TEST_F(ProxiedMember, PathsThatCouldLeaveItAreRefusedAndAudited) {
  const ScriptedMember member;
  add("m1", member.url() + "/k8s/clusters/c-1");
  permit("ann", "m1");
  for (const char* path : {"m1/proxy/../c-2/api", "m1/proxy/%2e%2e/c-2/api", "m1/proxy/%2e%2e%2fc-2/api",
                           "m1/proxy/api%2f..%2f..", "m1/proxy/a%5c..%5cb"}) {
    EXPECT_EQ(as("ann", "DELETE", kClusters + path).status, 400) << path;
  }
  EXPECT_TRUE(member.requests().empty());
  EXPECT_EQ(as("ann", "GET", kClusters + "m1/proxy//api//v1").status, 200);
  EXPECT_EQ(member.requests()[0].target, "/k8s/clusters/c-1/api/v1");
  expect_refusals_audited("ann", 5);
}

TEST_F(ProxiedMember, ThatNeverAnswersDelaysNoOther) {
  std::mutex mutex;
  std::vector<WriterPtr> kept;
  const ScriptedMember frozen{[&](const HttpRequest&, const WriterPtr& writer) {
    const std::lock_guard lock{mutex};
    kept.push_back(writer);
  }};
  const ScriptedMember healthy;
  add("frozen", frozen.url());
  add("healthy", healthy.url());
  const auto admin = client();
  std::atomic<int> refused{0};
  constexpr int kRequests = 230;
  for (int i = 0; i < kRequests; ++i) {
    HttpRequest request;
    request.path = kClusters + "frozen/proxy/api";
    admin->request(std::move(request), Millis{60'000}, [&](const Result<HttpResponse>& answer) {
      if (answer && answer.value().status == 429 && !answer.value().headers.get("Retry-After").empty()) ++refused;
    });
  }
  EXPECT_TRUE(eventually([&] { return refused == 30; })) << refused;
  EXPECT_EQ(fleet_.api().get(kClusters + "healthy/proxy/api").status, 200);
  EXPECT_EQ(fleet_.api().get("/api/v1/namespaces").status, 200);
  EXPECT_EQ(refused, 30) << "all others are still waiting for the frozen member";
  const std::lock_guard lock{mutex};
  kept.clear();
}

// 401, 403: what a member answers is a denied request here, whatever the method.
TEST_F(ProxiedMember, ReadsThatItDoesNotPermitAreAudited) {
  const ScriptedMember member{[](const HttpRequest& request, const WriterPtr& writer) {
    writer->send({request.path == "/api" ? 200 : 403, {{"Content-Type", "application/json"}}, "{}"});
  }};
  add("m1", member.url());
  permit("ann", "m1");
  EXPECT_EQ(as("ann", "GET", kClusters + "m1/proxy/api").status, 200);
  EXPECT_EQ(as("ann", "GET", kClusters + "m1/proxy/api/v1/namespaces/kube-system/secrets").status, 403);
  EXPECT_TRUE(eventually([&] {
    return fleet_.shiplogctl({"audit", "--refused", "--user", "ann"})
        .says("the member answered GET /api/v1/namespaces/kube-system/secrets with HTTP status 403");
  })) << fleet_.shiplogctl({"audit", "--user", "ann"});
  EXPECT_EQ(fleet_.api().get("/shiplog/v1/audit?user=ann").json["items"].size(), 1U) << "permitted reads are not";
}

TEST_F(ProxiedMember, IdentitiesInAWrongFormAreRefusedAndAudited) {
  const ScriptedMember member;
  add("m1", member.url());
  const auto with = [&](const HttpHeaders& headers) {
    return fleet_.api().call("GET", kClusters + "m1/proxy/api", "", headers).status;
  };
  EXPECT_EQ(with({{"Impersonate-Group", "system:masters"}}), 400) << "a group without a user";
  EXPECT_EQ(with({{"Impersonate-User", "ann"}, {"Impersonate-Users", "root"}}), 400) << "there is no such header";
  EXPECT_TRUE(member.requests().empty());
  const auto audited = [&](const std::string& words) {
    return eventually([&] {
      return fleet_.shiplogctl({"audit", "--refused", "--user", "kubernetes-admin"}).says(words);
    });
  };
  EXPECT_TRUE(audited("without impersonating a user name"));
  EXPECT_TRUE(audited("the header Impersonate-Users is not known"));
}

class ProxiedMemberWithLog : public ProxiedMember {
 protected:
  void SetUp() override { fleet_.serve(); }

  /// Sends these bytes over TLS with the administrator's certificate. What comes back until the server closes.
  std::string send_raw(const std::string& bytes) {
    const std::string url = fleet_.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"});
    const std::string pki = fleet_.path("plane/pki");
    const Ran ran = run({"openssl", "s_client", "-quiet", "-connect", url.substr(url.rfind('/') + 1), "-cert",
                         pki + "/admin.crt", "-key", pki + "/admin.key", "-CAfile", pki + "/ca.crt"},
                        {}, bytes, kPatience);
    return ran.out;
  }
  bool logged(const std::string& words) {
    return eventually([&] { return read_file(fleet_.path("plane.log")).find(words) != std::string::npos; });
  }
};

size_t count_of(const std::string& text, const std::string& words) {
  size_t count = 0;
  for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

TEST_F(ProxiedMemberWithLog, GetsNoRequestThatIsHiddenInAnotherOne) {
  const ScriptedMember member;
  add("m1", member.url());
  const std::string to = kClusters + "m1/proxy/api/v1/namespaces/default/pods";
  const std::string hidden = "GET " + kClusters + "m1/proxy/hidden HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const std::vector<std::string> headers = {
      "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
      "Content-Length: 5\r\nContent-Length: 500\r\n",
      "Content-Length: +5\r\n",
      "Transfer-Encoding : chunked\r\n",
      "Transfer-Encoding: xchunked\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
      "Host: b\r\n",
      "X-Note: a\rImpersonate-User: root\r\n",
      "X-Note: a\nImpersonate-User: root\r\n",
      "Impersonate-User\t: root\r\n",
  };
  for (const std::string& each : headers) {
    SCOPED_TRACE(each);
    const std::string answer =
        send_raw("POST " + to + " HTTP/1.1\r\nHost: a\r\n" + each + "\r\n" + "0\r\n\r\n" + hidden);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ") || answer.starts_with("HTTP/1.1 501 ")) << answer;
    EXPECT_EQ(count_of(answer, "HTTP/1.1 "), 1U) << answer;
  }
  EXPECT_TRUE(member.requests().empty());
  EXPECT_TRUE(eventually([&] {
    return count_of(read_file(fleet_.path("plane.log")), "event=http.refused peer=127.0.0.1 user=kubernetes-admin") ==
           headers.size();
  })) << fleet_.log_tail("plane");
}

TEST_F(ProxiedMemberWithLog, GetsNoHeadersFromFoldedLinesAndTrailers) {
  const ScriptedMember member;
  add("m1", member.url());
  const std::string to = " " + kClusters + "m1/proxy/api HTTP/1.1\r\nHost: a\r\nConnection: close\r\n";
  const std::string folded = send_raw("GET" + to + "X-Note: a\r\n Impersonate-User: root\r\n\r\n");
  const std::string trailed =
      send_raw("POST" + to + "Transfer-Encoding: chunked\r\nTrailer: Impersonate-User\r\n\r\n2\r\n{}\r\n0\r\n" +
               "Impersonate-User: root\r\nX-Remote-User: root\r\n\r\n");
  EXPECT_THAT(folded, HasSubstr("HTTP/1.1 200 "));
  EXPECT_THAT(trailed, HasSubstr("HTTP/1.1 200 "));
  ASSERT_EQ(member.requests().size(), 2U);
  for (const HttpRequest& got : member.requests()) {
    EXPECT_THAT(values_of(got.headers, "Impersonate-User"), ElementsAre("kubernetes-admin"));
    EXPECT_THAT(values_of(got.headers, "X-Remote-User"), ElementsAre());
    EXPECT_THAT(values_of(got.headers, "Trailer"), ElementsAre());
  }
  EXPECT_EQ(member.requests()[1].body, "{}");
}

void pour(const WriterPtr& writer, const std::shared_ptr<std::atomic<size_t>>& poured) {
  writer->write(std::string(65536, 'x'), [writer, poured](const Result<void>& taken) {
    if (!taken) return;
    poured->fetch_add(65536);
    pour(writer, poured);
  });
}

TEST_F(ProxiedMember, ThatNeverStopsFillsNoMemory) {
  const auto poured = std::make_shared<std::atomic<size_t>>(0);
  const ScriptedMember endless{[poured](const HttpRequest&, const WriterPtr& writer) {
    writer->start(200, {});
    pour(writer, poured);
  }};
  add("m1", endless.url());
  const auto admin = client();
  const int64_t before = memory_kb("VmRSS:");
  std::vector<std::shared_ptr<HttpClient::Stream>> streams;
  std::atomic<int> begun{0};
  for (int i = 0; i < 20; ++i) {
    HttpRequest request;
    request.path = kClusters + "m1/proxy/api/v1/pods";
    HttpClient::PacedStream slow;
    slow.on_head = [](const HttpResponse&) {};
    slow.on_part = [&](const std::string&, const std::function<void()>&) { ++begun; };  // never asks for more
    slow.on_end = [](const Result<void>&) {};
    streams.push_back(admin->stream(std::move(request), std::move(slow)));
  }
  EXPECT_TRUE(eventually([&] { return begun == 20; }));
  size_t last = 1;
  EXPECT_TRUE(eventually([&] { return std::exchange(last, poured->load()) == poured->load(); })) << "it is slowed down";
  EXPECT_LT(memory_kb("VmHWM:") - before, kMostGrowthKb);
  for (const auto& stream : streams) stream->cancel();
}

TEST_F(ProxiedMemberWithLog, WithEndlessHeadersOrListsIsGivenUpAndInTheLog) {
  const testing::TestProxy header{{.refusal = "HTTP/1.1 200 OK\r\nX-Note: " + std::string(1 << 20, 'x')}};
  const auto poured = std::make_shared<std::atomic<size_t>>(0);
  const ScriptedMember list{[poured](const HttpRequest&, const WriterPtr& writer) {
    writer->start(200, {{"Content-Type", "application/json"}});
    pour(writer, poured);
  }};
  const ScriptedMember healthy{[](const HttpRequest&, const WriterPtr& writer) {
    writer->send({200, {{"Content-Type", "application/json"}}, R"({"kind":"PodList","items":[{"kind":"Pod"}]})"});
  }};
  add("header", "http://127.0.0.1:" + std::to_string(header.port()));
  add("list", list.url());
  add("healthy", healthy.url());
  const Answer one = fleet_.api().get(kClusters + "header/proxy/api/v1/pods");
  EXPECT_EQ(one.status, 503) << one;
  EXPECT_THAT(one.message(), HasSubstr("cluster header cannot be reached"));
  EXPECT_TRUE(logged("event=proxy.member_failed cluster=header user=kubernetes-admin reason="))
      << fleet_.log_tail("plane");
  const Answer all = fleet_.api().get(kClusters + "*/proxy/api/v1/pods");
  EXPECT_EQ(all.status, 200) << all;
  EXPECT_EQ(all.json["items"].size(), 1U) << all;
  for (const char* name : {"header", "list"}) {
    EXPECT_TRUE(logged(std::string{"event=proxy.cluster_left_out cluster="} + name)) << fleet_.log_tail("plane");
  }
}

TEST_F(ProxiedMember, ThatSendsGarbageOrIsGoneIs503WithTheCause) {
  const testing::TestProxy garbage{{.refusal = "220 mail ready\r\n\r\n"}};
  add("garbage", "http://127.0.0.1:" + std::to_string(garbage.port()));
  add("gone", "http://127.0.0.1:1");
  for (const char* name : {"garbage", "gone"}) {
    const Answer answer = fleet_.api().get(kClusters + name + "/proxy/api");
    EXPECT_EQ(answer.status, 503) << answer;
    EXPECT_FALSE(answer.headers.contains("Retry-After")) << "kubectl shows the cause at once";
    EXPECT_THAT(answer.message(), HasSubstr(std::string{"cluster "} + name));
    EXPECT_EQ(answer.json["kind"], Value{"Status"});
  }
  EXPECT_EQ(fleet_.api().get(kClusters + "unknown/proxy/api").status, 404);
}

TEST_F(ProxiedMember, CannotSendClientsElsewhereOrGiveThemCookies) {
  const ScriptedMember member{[](const HttpRequest& request, const WriterPtr& writer) {
    if (request.path == "/away") return writer->send({302, {{"Location", "https://127.0.0.1:1/"}}, ""});
    writer->send({200, {{"Set-Cookie", "a=b"}, {"Content-Type", "text/plain"}}, "x"});
  }};
  add("m1", member.url());
  EXPECT_EQ(fleet_.api().get(kClusters + "m1/proxy/away").status, 503);
  const Answer page = fleet_.api().get(kClusters + "m1/proxy/page");
  EXPECT_EQ(page.status, 200);
  EXPECT_TRUE(page.headers.get("Set-Cookie").empty());
}

void echo(const std::shared_ptr<ByteStream>& stream) {
  stream->read([stream](Result<std::string> bytes) {
    if (!bytes) return;
    if (bytes.value().empty()) {
      return stream->write("the end", [stream](const Result<void>&) { stream->close(); });
    }
    stream->write(std::move(bytes).value(), [stream](const Result<void>& written) {
      if (written) echo(stream);
    });
  });
}

std::string next_bytes(const std::shared_ptr<ByteStream>& stream) {
  testing::Awaited<Result<std::string>> bytes;
  stream->read([&](Result<std::string> got) { bytes.set(std::move(got)); });
  const auto got = bytes.get();
  return got && *got ? got->value() : "";
}

TEST_F(ProxiedMember, UpgradedConnectionsCarryBytesBothWays_1_16_6) {
  const ScriptedMember member{[](const HttpRequest& request, const WriterPtr& writer) {
    writer->upgrade({{"Upgrade", std::string{request.headers.get("Upgrade")}}, {"X-Stream-Protocol-Version", "v5"}},
                    [](const Result<std::shared_ptr<ByteStream>>& stream) { echo(stream.value()); });
  }};
  add("m1", member.url());
  const auto admin = client();
  HttpRequest request;
  request.method = "POST";
  request.target = kClusters + "m1/proxy/api/v1/namespaces/default/pods/a/exec?command=ls";
  request.headers = {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}, {"X-Stream-Protocol-Version", "v5"}};
  testing::Awaited<Result<HttpClient::Upgraded>> upgraded;
  admin->upgrade(std::move(request), Millis{20'000},
                 [&](Result<HttpClient::Upgraded> got) { upgraded.set(std::move(got)); });
  auto got = upgraded.get();
  ASSERT_TRUE(got && *got);
  ASSERT_EQ(got->value().response.status, 101) << got->value().response.body;
  EXPECT_EQ(got->value().response.headers.get("X-Stream-Protocol-Version"), "v5");
  const auto stream = got->value().stream;
  const std::string large(1'000'000, 'y');
  stream->write(large, [](const Result<void>&) {});
  std::string received;
  while (received.size() < large.size()) {
    const std::string bytes = next_bytes(stream);
    ASSERT_FALSE(bytes.empty()) << received.size();
    received += bytes;
  }
  EXPECT_EQ(received, large);
  stream->finish();
  EXPECT_EQ(next_bytes(stream), "the end") << "what the member sends after this side has finished";
}

}  // namespace
}  // namespace shiplog::e2e
