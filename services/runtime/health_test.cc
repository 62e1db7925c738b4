#include "services/runtime/health.h"

#include <future>

#include <gtest/gtest.h>

#include "services/http/client.h"
#include "services/http/io_threads.h"
#include "services/runtime/probe_server.h"

namespace shiplog {
namespace {

HttpResponse get(const std::string& target, const HealthChecks& checks) {
  HttpRequest request;
  request.target = target;
  EXPECT_TRUE(parse_target(request));
  return health_response(request, checks);
}

std::vector<HealthCheck> no_scheduler(std::string_view path) {
  if (path == "/livez") return {{"fold-thread"}};
  return {{"fold-thread"}, {"leaders", "no process leads for the role scheduler"}};
}

TEST(Health, PassesWithOk) {
  EXPECT_EQ(get("/livez", no_scheduler).status, 200);
  EXPECT_EQ(get("/livez", no_scheduler).body, "ok");
  EXPECT_EQ(get("/readyz", {}).body, "ok");
}

TEST(Health, ListsTheChecksAsKubernetesDoes) {
  EXPECT_EQ(get("/livez?verbose", no_scheduler).body, "[+]ping ok\n[+]fold-thread ok\nlivez check passed\n");
  const HttpResponse failed = get("/readyz", no_scheduler);
  EXPECT_EQ(failed.status, 500);
  EXPECT_EQ(failed.body,
            "[+]ping ok\n[+]fold-thread ok\n[-]leaders failed: no process leads for the role scheduler\n"
            "readyz check failed\n");
}

TEST(Health, LeavesOutExcludedChecks) {
  EXPECT_EQ(get("/readyz?exclude=leaders", no_scheduler).status, 200);
  EXPECT_EQ(get("/readyz?exclude=leaders&verbose", no_scheduler).body,
            "[+]ping ok\n[+]fold-thread ok\n[+]leaders excluded: ok\nreadyz check passed\n");
}

TEST(Health, WarnsOfExcludedNamesThatAreNoChecks) {
  EXPECT_EQ(get("/readyz?exclude=leaders&exclude=leader&exclude=etcd&verbose", no_scheduler).body,
            "[+]ping ok\n[+]fold-thread ok\n[+]leaders excluded: ok\n"
            "warn: some health checks cannot be excluded: no matches for \"etcd\",\"leader\"\n"
            "readyz check passed\n");
  EXPECT_EQ(get("/livez?exclude=etcd", no_scheduler).body, "ok");
}

TEST(Health, EachCheckHasAPathOfItsOwn) {  // DISC-15
  EXPECT_EQ(get("/readyz/fold-thread", no_scheduler).body, "ok");
  const HttpResponse failed = get("/readyz/leaders", no_scheduler);
  EXPECT_EQ(failed.status, 500);
  EXPECT_EQ(failed.body, "internal server error: no process leads for the role scheduler\n");
  EXPECT_EQ(get("/livez/leaders", no_scheduler).status, 404) << "not a check of /livez";
  for (const char* path : {"/readyz/", "/readyz/etcd", "/readyz/leaders/"}) {
    EXPECT_EQ(get(path, no_scheduler).status, 404) << path;
  }
  EXPECT_FALSE(is_health_path("/readyzz"));
  EXPECT_FALSE(is_health_path("/ready"));
}

TEST(Health, PingPassesWhateverTheChecksAre) { EXPECT_EQ(get("/readyz/ping", no_scheduler).body, "ok"); }

/// The status from a server with these options; 0: no response.
int status_of(const ProbeServer::Options& options, const std::string& method, const std::string& target) {
  const auto server = ProbeServer::start(options);
  EXPECT_TRUE(server);
  ClientTarget at;
  at.url = server.value()->url();
  const auto client = HttpClient::create(std::make_shared<IoThreads>(1), at, {});
  EXPECT_TRUE(client);
  std::promise<int> status;
  HttpRequest request;
  request.method = method;
  request.target = target;
  client.value()->request(std::move(request), Millis{5000}, [&](const Result<HttpResponse>& response) {
    status.set_value(response ? response.value().status : 0);
  });
  return status.get_future().get();
}

TEST(ProbeServer, ServesTheConfiguredPathsAndNothingElse) {
  ProbeServer::Options health{"127.0.0.1", 0, true, false, no_scheduler};
  EXPECT_EQ(status_of(health, "GET", "/healthz/ping"), 200);
  EXPECT_EQ(status_of(health, "GET", "/livez"), 200);
  EXPECT_EQ(status_of(health, "GET", "/livez/fold-thread"), 200);
  EXPECT_EQ(status_of(health, "GET", "/livez/leaders"), 404);
  EXPECT_EQ(status_of(health, "GET", "/readyz"), 500);
  EXPECT_EQ(status_of(health, "GET", "/metrics"), 404) << "only where the operator binds it";
  EXPECT_EQ(status_of(health, "GET", "/api/v1/secrets"), 404);
  EXPECT_EQ(status_of(health, "POST", "/livez"), 405);
  ProbeServer::Options metrics{"127.0.0.1", 0, false, true, no_scheduler};
  EXPECT_EQ(status_of(metrics, "GET", "/metrics"), 200);
  EXPECT_EQ(status_of(metrics, "GET", "/livez"), 404);
}

TEST(ProbeServer, AnAddressInUseIsAnError) {
  const auto first = ProbeServer::start({"127.0.0.1", 0, true, false, {}});
  ASSERT_TRUE(first);
  const std::string url = first.value()->url();
  const auto port = static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  EXPECT_FALSE(ProbeServer::start({"127.0.0.1", port, true, false, {}}));
}

}  // namespace
}  // namespace shiplog
