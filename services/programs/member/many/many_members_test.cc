// Simulated members as a control plane sees them: over HTTPS.
#include "services/programs/member/many/many_members.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/system.h"
#include "services/adapters/members/https_members.h"
#include "services/http/io_threads.h"
#include "services/roles/collector/cluster_status.h"
#include "services/roles/collector/member_totals.h"
#include "services/runtime/thread_loop.h"
#include "tests/support/given.h"
#include "tests/support/http_peers.h"

namespace shiplog {
namespace {

using given::History;
using testing::Awaited;

class ManyMembersOverHttps : public ::testing::Test {
 protected:
  void start(member::ManyOptions options) {
    const Validity validity = valid_for_days(SystemClock{}.now(), 1);
    const KeyPair authority = make_authority("authority", validity).value();
    const KeyPair server =
        issue_server_certificate(authority, "test", {{"localhost"}, {"127.0.0.1"}}, validity).value();
    options.name = "m";
    options.ca_pem = authority.certificate_pem;
    options.server.certificate_pem = server.certificate_pem;
    options.server.key_pem = server.key_pem;
    options.token = "secret";
    many = member::ManyMembers::start(options, loop).value();
    history.object({type::kNamespace, "", "default"}, "{}");
    for (const auto& [name, target] : many->targets()) {
      history.object({type::kCluster, "", name}, R"({"spec": {"apiEndpoint": ")" + target.url +
                                                     R"(", "secretRef": {"namespace": "default", "name": ")" + name +
                                                     R"("}}})");
      history.object({type::kSecret, "default", name}, R"({"data": {"token": ")" + base64_encode(target.bearer_token) +
                                                           R"(", "caBundle": ")" + base64_encode(target.ca_pem) +
                                                           R"("}})");
    }
    members = std::make_unique<HttpsMembers>(HttpsMembers::Options{.state = &history.state(),
                                                                   .executor = &loop,
                                                                   .random = &random,
                                                                   .io = io,
                                                                   .open = {},
                                                                   .user_agent = "test",
                                                                   .denied_networks = nullptr});
  }
  ~ManyMembersOverHttps() override {
    loop.call([this] {
      watches.clear();
      members.reset();
    });
    io->stop();  // what hangs ends now, and calls back
    loop.stop();
    if (many) many->stop(Millis{0});
  }

  MemberResponse ask(const std::string& cluster, MemberRequest request) {
    Awaited<Result<MemberResponse>> answered;
    loop.post([&] {
      members->request(cluster, std::move(request),
                       [&](Result<MemberResponse> response) { answered.set(std::move(response)); });
    });
    const auto answer = answered.get();
    EXPECT_TRUE(answer && answer->has_value())
        << (answer && !answer->has_value() ? answer->error().message : "no answer in time");
    return answer && answer->has_value() ? answer->value() : MemberResponse{};
  }
  MemberResponse get(const std::string& cluster, const std::string& path) {
    return ask(cluster, {.method = "GET", .path = path, .body = {}});
  }

  /// The events of a watch so far.
  struct Seen {
    std::mutex mutex;
    std::vector<Value> events;
    size_t count(std::string_view type) {
      const std::lock_guard lock{mutex};
      return static_cast<size_t>(
          std::ranges::count_if(events, [&](const Value& event) { return event["type"].as_string() == type; }));
    }
  };
  std::shared_ptr<Seen> watch(const std::string& cluster, const std::string& path) {
    auto seen = std::make_shared<Seen>();
    loop.call([&] {
      watches.push_back(members->watch(
          cluster, path,
          [seen](const Value& event) {
            const std::lock_guard lock{seen->mutex};
            seen->events.push_back(event);
          },
          [](const Result<void>&) {}));
    });
    return seen;
  }

  ThreadLoop loop;
  SystemRandom random;
  History history;
  std::shared_ptr<IoThreads> io = std::make_shared<IoThreads>(1);
  std::unique_ptr<member::ManyMembers> many;
  std::unique_ptr<HttpsMembers> members;
  std::vector<std::unique_ptr<MemberWatch>> watches;
};

TEST_F(ManyMembersOverHttps, NodesAndPodsAreListedInPagesAndFollowedByWatches) {
  start({.members = 2, .nodes = 4, .pods = 230, .churn = 20});
  EXPECT_EQ(get("m1", "/readyz").status, 200);
  EXPECT_EQ(get("m1", "/api/v1/nodes").body["items"].size(), 4U);
  collector::MemberTotals totals;
  std::string token, version;
  for (int page = 0; page < 3; ++page) {
    const Value body = get("m2", "/api/v1/pods?limit=100" + (token.empty() ? token : "&continue=" + token)).body;
    for (const Value& pod : body["items"].items()) totals.put_pod(pod);
    token = body["metadata"]["continue"].str();
    if (page == 0) version = body["metadata"]["resourceVersion"].str();
    EXPECT_EQ(body["metadata"]["resourceVersion"].str(), version) << "all pages are of one version";
    EXPECT_EQ(token.empty(), page == 2);
  }
  const auto seen = watch("m2", "/api/v1/pods?resourceVersion=" + version);
  EXPECT_TRUE(testing::eventually([&] { return seen->count("ADDED") >= 50; }));
  // A page may show what came after its version; then the watch repeats it.
  const std::lock_guard lock{seen->mutex};
  size_t missing = 0;
  for (const Value& event : seen->events) {
    const bool gone = event["type"].as_string() == "DELETED";
    gone ? totals.remove_pod(event["object"]) : totals.put_pod(event["object"]);
    missing = gone ? 1 : 0;  // another pod follows
  }
  EXPECT_EQ(totals.pods() + missing, 230U);
}

TEST_F(ManyMembersOverHttps, WhatIsAppliedIsKeptAndBecomesReady) {
  start({.members = 1, .ready_delay = Millis{1}});
  const std::string path = "/apis/apps/v1/namespaces/default/deployments";
  const auto seen = watch("m1", "/apis/apps/v1/deployments?labelSelector=karmada.io%2Fmanaged%3Dtrue");
  MemberRequest create{.method = "POST",
                       .path = path,
                       .body = parse_json(R"({"metadata": {"name": "web",
      "labels": {"karmada.io/managed": "true"}}, "spec": {"replicas": 3}})")
                                   .value()};
  EXPECT_EQ(ask("m1", create).status, 201);
  EXPECT_EQ(ask("m1", create).status, 409);
  const auto late = watch("m1", "/apis/apps/v1/deployments");  // without a version: it begins with what there is
  EXPECT_TRUE(testing::eventually([&] { return late->count("ADDED") == 1; }));
  const auto selected = [&](const std::string& selector) {
    return get("m1", path + "?labelSelector=" + selector).body["items"].size();
  };
  EXPECT_EQ(selected("karmada.io%2Fmanaged%20in%20(yes,true)"), 1U);
  EXPECT_EQ(selected("karmada.io%2Fmanaged!%3Dtrue"), 0U);
  EXPECT_TRUE(
      testing::eventually([&] { return get("m1", path + "/web").body["status"]["readyReplicas"] == Value{3}; }));
  EXPECT_TRUE(testing::eventually([&] {  // of its creation too, if the watch began later than that
    const std::lock_guard lock{seen->mutex};
    return std::ranges::any_of(
        seen->events, [](const Value& event) { return event["object"]["status"]["readyReplicas"] == Value{3}; });
  }));
  EXPECT_EQ(ask("m1", {.method = "DELETE", .path = path + "/web", .body = {}}).status, 200);
  EXPECT_TRUE(testing::eventually([&] { return seen->count("DELETED") == 1; }));
  EXPECT_EQ(get("m1", path + "/web").status, 404);
}

TEST_F(ManyMembersOverHttps, DiscoveryIsOneDocumentWithAnETag) {
  start({.members = 2});
  const auto discover = [&](const std::string& cluster, const Edition& known) {
    MemberRequest request{.method = "GET", .path = "/apis", .body = {}};
    request.accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    request.known = known;
    return ask(cluster, std::move(request));
  };
  const auto has = [](const MemberResponse& response, const std::string& version) {
    const auto apis = collector::aggregated_apis(response.body);
    return apis && std::ranges::any_of(apis->lists.items(),
                                       [&](const Value& list) { return list["groupVersion"].as_string() == version; });
  };
  const MemberResponse first = discover("m1", {});
  EXPECT_EQ(first.status, 200);
  EXPECT_TRUE(has(first, "apps/v1"));
  EXPECT_FALSE(first.edition.etag.empty());
  EXPECT_EQ(discover("m1", {.etag = first.edition.etag}).status, 304) << "by its ETag";
  EXPECT_EQ(discover("m2", {.digest = first.edition.digest}).status, 304) << "the text is the same";

  const std::string definition = R"({"metadata":{"name":"tanks.fish.io"},"spec":{"group":"fish.io","scope":"Namespaced",
      "names":{"plural":"tanks","kind":"Tank"},"versions":[{"name":"v1","served":true,"storage":true}]}})";
  EXPECT_EQ(ask("m1", {.method = "POST",
                       .path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                       .body = parse_json(definition).value()})
                .status,
            201);
  const MemberResponse second = discover("m1", first.edition);
  EXPECT_EQ(second.status, 200);
  EXPECT_TRUE(has(second, "fish.io/v1"));
  EXPECT_EQ(get("m1", "/apis/fish.io/v1").body["resources"][0]["kind"], "Tank");
  EXPECT_EQ(discover("m2", first.edition).status, 304);
}

TEST_F(ManyMembersOverHttps, AMemberThatBeginsToHangIsSilentAndMissesNothingAfterwards) {
  start({.members = 2, .pods = 10, .churn = 20});
  const auto hang = [&](int count) {
    const ClientTarget target = many->targets().front().second;
    ClientTarget root = target;
    root.url = target.url.substr(0, target.url.rfind('/'));
    const auto client = HttpClient::create(io, root, {}).value();
    HttpRequest request;
    request.method = "POST";
    request.target = "/hang?members=" + std::to_string(count);
    Awaited<int> answered;
    client->request(std::move(request), Millis{30'000}, [&](const Result<HttpResponse>& response) {
      answered.set(response ? response.value().status : 0);
    });
    EXPECT_EQ(answered.get(), 200);
  };
  const std::string version = get("m2", "/api/v1/pods").body["metadata"]["resourceVersion"].str();
  const auto seen = watch("m2", "/api/v1/pods?resourceVersion=" + version);
  EXPECT_TRUE(testing::eventually([&] { return seen->count("ADDED") >= 5; }));
  hang(1);
  const auto ended = std::make_shared<std::atomic<int>>(0);
  loop.post([&, ended] {
    MemberRequest request{.method = "GET", .path = "/readyz", .body = {}};
    request.timeout = Millis{600'000};
    members->request("m2", std::move(request), [ended](const Result<MemberResponse>&) { ++*ended; });
  });
  for (int number = 0; number < 20; ++number) EXPECT_EQ(get("m1", "/readyz").status, 200);
  EXPECT_EQ(*ended, 0);
  hang(0);
  EXPECT_EQ(get("m2", "/readyz").status, 200);
  const size_t before = seen->count("ADDED");
  EXPECT_TRUE(testing::eventually([&] { return seen->count("ADDED") >= before + 5; }));
  const std::lock_guard lock{seen->mutex};
  int64_t last = 0;
  for (const Value& event : seen->events) {
    int64_t number = 0;
    const auto text = event["object"]["metadata"]["resourceVersion"].as_string();
    std::from_chars(text.data(), text.data() + text.size(), number);
    EXPECT_TRUE(last == 0 || number == last + 1) << "an event is missing before " << number;
    last = number;
  }
}

TEST_F(ManyMembersOverHttps, APageSkipsNothingWhenObjectsComeAndGoBetweenPages) {
  start({.members = 1});
  const std::string path = "/api/v1/namespaces/default/configmaps";
  const auto create = [&](const std::string& name) {
    const Value object = Value::object({{"metadata", Value::object({{"name", name}})}});
    EXPECT_EQ(ask("m1", {.method = "POST", .path = path, .body = object}).status, 201);
  };
  for (const char* name : {"b", "c", "d", "e", "f"}) create(name);
  std::string listed, token;
  do {
    const Value page = get("m1", path + "?limit=2" + (token.empty() ? token : "&continue=" + token)).body;
    for (const Value& item : page["items"].items()) listed += item["metadata"]["name"].str();
    token = page["metadata"]["continue"].str();
    if (listed == "bc") {
      EXPECT_EQ(ask("m1", {.method = "DELETE", .path = path + "/b", .body = {}}).status, 200);
      EXPECT_EQ(ask("m1", {.method = "DELETE", .path = path + "/c", .body = {}}).status, 200);
    }
    if (listed == "bcde") create("a");
  } while (!token.empty());
  EXPECT_EQ(listed, "bcdef");
}

TEST_F(ManyMembersOverHttps, MembersThatHangDelayNoOther) {
  start({.members = 3, .hanging = 2});
  const auto ended = std::make_shared<std::atomic<int>>(0);
  loop.post([&] {
    for (int number = 0; number < 50; ++number) {
      for (const char* cluster : {"m2", "m3"}) {
        MemberRequest request{.method = "GET", .path = "/api/v1/nodes", .body = {}};
        request.timeout = Millis{600'000};
        members->request(cluster, std::move(request), [ended](const Result<MemberResponse>&) { ++*ended; });
      }
    }
  });
  for (int number = 0; number < 20; ++number) EXPECT_EQ(get("m1", "/api/v1/nodes").status, 200);
  EXPECT_EQ(*ended, 0) << "the others still wait";
}

}  // namespace
}  // namespace shiplog
