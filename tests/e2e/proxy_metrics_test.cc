// Metrics of requests that are passed on: to members, through tunnels of agents, and to the servers of APIServices.
#include <cstdlib>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/e2e/addon_server.h"
#include "tests/support/fleet.h"
#include "tests/support/impersonator.h"

namespace shiplog::e2e {
namespace {

const std::string kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters/";
const std::string kMaps = "/api/v1/namespaces/default/configmaps";
const std::string kRequests = "shiplog_cluster_proxy_requests_total";

class MetricsOfForwarding : public ::testing::Test {
 protected:
  void SetUp() override { fleet_.serve(); }

  static std::string proxy(const std::string& cluster, const std::string& path) {
    return kClusters + cluster + "/proxy" + path;
  }
  ApiClient api() const { return fleet_.api(); }
  std::string scrape() const { return api().get("/metrics", "*/*").body; }
  /// Of the series "name{labels}"; nullopt: it is not exported.
  std::optional<double> value(const std::string& series) const {
    const std::string text = "\n" + scrape();
    const size_t found = text.find("\n" + series + " ");
    if (found == std::string::npos) return std::nullopt;
    return std::strtod(text.c_str() + found + series.size() + 2, nullptr);
  }
  std::optional<double> requests(const std::string& cluster, const std::string& verb, const std::string& code) const {
    return value(kRequests + "{member_cluster=\"" + cluster + "\",verb=\"" + verb + "\",code_class=\"" + code + "\"}");
  }
  std::optional<double> tunnels(const std::string& state) const {
    return value("shiplog_member_tunnels{member_cluster=\"p1\",state=\"" + state + "\"}");
  }
  size_t series() const {
    const std::string text = scrape();
    size_t count = 0;
    for (size_t at = text.find(kRequests + "{"); at != std::string::npos; at = text.find(kRequests + "{", at + 1)) {
      ++count;
    }
    return count;
  }

  Fleet fleet_;
};

TEST_F(MetricsOfForwarding, RequestsToMembersAreCountedByClusterVerbAndClassOfStatus) {
  fleet_.join("m1");
  fleet_.kubectl_ok({"apply", "-f", "-"}, kImpersonatesAnyone, "m1");
  const ApiClient client = api();
  EXPECT_EQ(client.post(proxy("m1", kMaps), json(R"({"metadata":{"name":"one"}})")).status, 201);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.get(proxy("m1", kMaps + "/one")).status, 200);
  EXPECT_EQ(client.get(proxy("m1", kMaps)).status, 200);
  EXPECT_EQ(client.get(proxy("*", kMaps)).status, 200);
  EXPECT_EQ(client.patch(proxy("m1", kMaps + "/one"), "merge", json(R"({"data":{"a":"b"}})")).status, 200);
  EXPECT_EQ(client.remove(proxy("m1", kMaps + "/gone")).status, 404);
  EXPECT_EQ(client.get(proxy("m1", "/version")).status, 200);
  EXPECT_EQ(requests("m1", "POST", "2xx"), 1);
  EXPECT_EQ(requests("m1", "GET", "2xx"), 3);
  EXPECT_EQ(requests("m1", "LIST", "2xx"), 1);
  EXPECT_EQ(requests("*", "LIST", "2xx"), 1);
  EXPECT_EQ(requests("m1", "PATCH", "2xx"), 1);
  EXPECT_EQ(requests("m1", "DELETE", "4xx"), 1);
  const std::string durations = "shiplog_cluster_proxy_request_duration_seconds_count{member_cluster=\"m1\",verb=";
  EXPECT_EQ(value(durations + "\"GET\"}"), 3);
  EXPECT_EQ(value(durations + "\"LIST\"}"), 1);
  EXPECT_EQ(value("shiplog_cluster_proxy_upgraded_connections{member_cluster=\"m1\"}"), 0);

  // What users invent is no label.
  EXPECT_EQ(client.get(proxy("nowhere", kMaps)).status, 404);
  EXPECT_EQ(client.get(proxy("m1", "/api/%2e%2e/v1")).status, 400);
  EXPECT_EQ(requests("other", "GET", "4xx"), 1);
  EXPECT_EQ(requests("other", "LIST", "4xx"), 1);
  const size_t before = series();
  for (int i = 0; i < 20; ++i) {
    const std::string invented = "invented-" + std::to_string(i);
    EXPECT_EQ(client.get(proxy(invented, "/api/v1/" + invented)).status, 404);
    EXPECT_EQ(client.get(proxy("m1", "/api/v1/" + invented)).status, 404);
  }
  EXPECT_EQ(series(), before + 1) << "LIST of m1, 4xx";
  EXPECT_EQ(requests("other", "LIST", "4xx"), 21);
  EXPECT_EQ(scrape().find("invented"), std::string::npos);

  fleet_.kill("m1");
  EXPECT_EQ(client.get(proxy("m1", kMaps + "/one")).status, 503);
  EXPECT_EQ(requests("m1", "GET", "5xx"), 1);
}

TEST_F(MetricsOfForwarding, SeriesOfAClusterEndWithIt) {
  fleet_.join("m1");
  const ApiClient client = api();
  EXPECT_NE(client.get(proxy("m1", "/version")).status, 0);
  EXPECT_NE(client.get(proxy("*", kMaps)).status, 0);
  const auto exported = [&](const std::string& cluster) {
    return scrape().find("shiplog_cluster_proxy_requests_total{member_cluster=\"" + cluster + "\"") !=
           std::string::npos;
  };
  EXPECT_TRUE(exported("m1"));
  fleet_.shiplogctl_ok({"unjoin", "m1"});
  EXPECT_TRUE(eventually([&] { return !exported("m1"); }));
  EXPECT_TRUE(exported("*"));
}

TEST_F(MetricsOfForwarding, UpgradedConnectionsAreCountedWhileTheyAreOpen) {
  fleet_.join("m1");
  fleet_.kubectl_ok({"apply", "-f", "-"}, kImpersonatesAnyone, "m1");
  fleet_.kubectl_ok({"run", "web", "--image=nginx"}, "", "m1");
  fleet_.kubectl_ok({"wait", "--for=condition=Ready", "pod/web", "--timeout=60s"}, "", "m1");
  const std::string server = fleet_.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"});
  const auto beside = [&](std::vector<std::string> words) -> Process& {
    words.insert(words.begin(), "--server=" + server + proxy("m1", ""));
    return fleet_.kubectl_beside(std::move(words));
  };
  const auto open = [&] { return value("shiplog_cluster_proxy_upgraded_connections{member_cluster=\"m1\"}"); };
  Process& first = beside({"exec", "web", "--", "sleep", "10000"});
  EXPECT_TRUE(eventually([&] { return open() == 1; })) << read_file(first.log());
  Process& second = beside({"exec", "web", "--", "sleep", "10000"});
  EXPECT_TRUE(eventually([&] { return open() == 2; })) << read_file(second.log());
  EXPECT_EQ(requests("m1", "CONNECT", "1xx"), 2);
  first.kill();
  EXPECT_TRUE(eventually([&] { return open() == 1; }));
  fleet_.kill("m1");
  EXPECT_TRUE(eventually([&] { return open() == 0; }));
}

TEST_F(MetricsOfForwarding, TunnelsAreCountedWhileTheyAreOpen) {
  fleet_.join_pull("p1", {"--cluster-api-endpoint=https://localhost:1"});  // there is no way but the tunnel
  fleet_.kubectl_ok({"apply", "-f", "-"}, kImpersonatesAnyone, "p1");
  EXPECT_TRUE(eventually([&] { return tunnels("waiting") == 4; })) << tunnels("waiting").value_or(-1);
  EXPECT_EQ(tunnels("in_use"), 0);
  const ApiClient client = api();
  {
    const auto watch = client.watch(proxy("p1", kMaps + "?watch=true"));
    EXPECT_TRUE(eventually([&] { return requests("p1", "WATCH", "2xx") == 1; }));
    EXPECT_TRUE(eventually([&] { return tunnels("in_use") == 1 && tunnels("waiting") == 4; }))
        << "the agent opens another one in its place";
  }
  EXPECT_TRUE(eventually([&] { return tunnels("in_use") == 0; })) << "it ends with its watch";
  fleet_.kill("agent-p1");
  EXPECT_TRUE(eventually([&] { return tunnels("waiting") == 0; }));
}

TEST_F(MetricsOfForwarding, RequestsForApiServicesAreCountedByStatus) {
  const ApiClient client = api();
  AddonServer addon{
      client.get("/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication").json["data"]};
  ASSERT_EQ(
      client
          .post("/api/v1/namespaces/default/services",
                json(R"({"metadata":{"name":"things"},"spec":{"type":"ExternalName","externalName":"127.0.0.1"}})"))
          .status,
      201);
  Value service = json(R"({"metadata":{"name":"v1.things.example.com"},"spec":{"group":"things.example.com",
      "version":"v1","groupPriorityMinimum":2000,"versionPriority":10,
      "service":{"namespace":"default","name":"things"}}})");
  service.edit("spec").set("caBundle", addon.ca_bundle());
  service.edit("spec").edit("service").set("port", int64_t{addon.port()});
  const std::string services = "/apis/apiregistration.k8s.io/v1/apiservices";
  ASSERT_EQ(client.post(services, service).status, 201);
  const std::string things = "/apis/things.example.com/v1/namespaces/default/things";
  ASSERT_TRUE(eventually([&] { return client.get(things).status == 200; }));
  const auto counted = [&](const std::string& code) {
    return value("shiplog_apiservice_requests_total{apiservice=\"v1.things.example.com\",code=\"" + code + "\"}");
  };
  const double before = counted("200").value_or(0);
  EXPECT_GE(before, 1);
  EXPECT_EQ(client.get(things).status, 200);
  EXPECT_EQ(client.post(things, json(R"({"metadata":{"name":"one"}})")).status, 201);
  EXPECT_EQ(client.get(things + "/none").status, 404);
  EXPECT_EQ(counted("200"), before + 1);
  EXPECT_EQ(counted("201"), 1);
  EXPECT_EQ(counted("404"), 1);
  ASSERT_EQ(client.remove(services + "/v1.things.example.com").status, 200);
  EXPECT_TRUE(eventually([&] { return !counted("200"); })) << "its series end with the APIService";
}

}  // namespace
}  // namespace shiplog::e2e
