// A member whose responses exceed the limits or are meant to delay the control plane. The memory for responses is
// bounded: of each response, of all responses of a member, and of all members.
#include <atomic>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "services/http/server.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

constexpr int64_t kMostGrowthKb = 100 * 1024;
const std::string kMaps = "/api/v1/namespaces/default/configmaps";

using WriterPtr = std::shared_ptr<ResponseWriter>;

/// Writes the chunks that `next` returns while the client reads them; "" ends the response.
void pour(const WriterPtr& writer, const std::function<std::string()>& next) {
  std::string chunk = next();
  if (chunk.empty()) return writer->end();
  writer->write(std::move(chunk), [writer, next](const Result<void>& taken) {
    if (taken) pour(writer, next);
  });
}

/// Chunks of a repeated pattern, `bytes` in total.
std::function<std::string()> repeat(const std::string& pattern, size_t bytes) {
  std::string chunk;
  while (chunk.size() < 64 * 1024) chunk += pattern;
  return [chunk, left = bytes]() mutable {
    if (left == 0) return std::string{};
    left -= std::min(left, chunk.size());
    return chunk;
  };
}

/// A Kubernetes API with one kind, as far as a collector reads it. `attack` answers the requests for which it returns
/// true.
class Hostile {
 public:
  using Attack = std::function<bool(const HttpRequest& request, const WriterPtr& writer)>;

  explicit Hostile(Attack attack) {
    HttpServer::Options options;
    options.max_body_bytes = 8U << 20U;
    static int made = 0;
    const std::string id = "hostile-" + std::to_string(++made);
    server_ =
        HttpServer::start(options, [attack = std::move(attack), id](HttpRequest request, const WriterPtr& writer) {
          if (attack(request, writer)) return;
          const std::string& path = request.path;
          std::string body = "{}";
          int status = 200;
          if (request.method == "POST") {
            status = 201;
            body = request.body;
          } else if (path == "/version") {
            body = R"({"gitVersion":"v1.32.0"})";
          } else if (path == "/apis") {
            body = R"({"groups":[]})";
          } else if (path == "/api/v1") {
            body = R"({"groupVersion":"v1","resources":[{"name":"configmaps","kind":"ConfigMap"}]})";
          } else if (path == "/api/v1/namespaces/kube-system") {
            body = R"({"metadata":{"name":"kube-system","uid":")" + id + R"("}})";
          } else {
            body = R"({"kind":"List","metadata":{"resourceVersion":"1"},"items":[]})";
          }
          HttpResponse response;
          response.status = status;
          response.headers.set("Content-Type", "application/json");
          response.body = body;
          writer->send(std::move(response));
        }).value();
  }
  std::string url() const { return server_->url(); }

 private:
  std::unique_ptr<HttpServer> server_;
};

class HostileMember : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve("plane", {"--log-level=warn"});
    fleet_.join("honest");
    api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
    place("warm-up", "honest");
    before_kb_ = memory_kb("VmRSS:");
  }
  void TearDown() override {
    const int64_t growth_kb = memory_kb("VmHWM:") - before_kb_;
    RecordProperty("growth_kb", std::to_string(growth_kb));
    EXPECT_LT(growth_kb, kMostGrowthKb) << "KiB more than before the attack, at the most";
    place("afterwards", "honest");
  }

  int64_t memory_kb(const std::string& field) {
    std::ifstream status{"/proc/" + std::to_string(fleet_.process("plane").pid()) + "/status"};
    for (std::string name; status >> name;) {
      if (name != field) continue;
      int64_t kb = 0;
      status >> kb;
      return kb;
    }
    return 0;
  }
  void add(const std::string& name, const Hostile& member) {
    fleet_.kubectl_ok({"apply", "-f", "-"},
                      "apiVersion: v1\nkind: Secret\nmetadata: {name: " + name +
                          ", namespace: karmada-cluster}\nstringData: {token: secret-of-the-fleet}\n---\n"
                          "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: " +
                          name + "}\nspec:\n  syncMode: Push\n  apiEndpoint: " + member.url() +
                          "\n  secretRef: {namespace: karmada-cluster, name: " + name + "}\n");
  }
  /// Propagates a ConfigMap to a cluster; of "honest" it waits for the ConfigMap.
  void place(const std::string& name, const std::string& cluster) {
    fleet_.kubectl_ok({"apply", "-f", "-"},
                      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name +
                          "}\n---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: " +
                          name + "}\nspec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: " + name +
                          "}]\n  placement: {clusterAffinity: {clusterNames: [" + cluster + "]}}\n");
    if (cluster != "honest") return;
    EXPECT_TRUE(eventually([&] { return fleet_.api("honest").get(kMaps + "/" + name).status == 200; })) << name;
  }
  std::string condition(const std::string& cluster, const std::string& type) {
    const Value object = api_->get("/apis/cluster.karmada.io/v1alpha1/clusters/" + cluster).json;
    for (const Value& item : object["status"]["conditions"].items()) {
      if (item["type"].as_string() == type) return item["status"].str() + " " + item["message"].str();
    }
    return "";
  }
  /// The Cluster and an Event report the limit that was exceeded.
  void expect_reported(const std::string& cluster, const std::string& text) {
    EXPECT_TRUE(eventually([&] {
      const std::string message = condition(cluster, "WithinLimits");
      return message.starts_with("False ") && message.find(text) != std::string::npos;
    })) << condition(cluster, "WithinLimits");
    EXPECT_TRUE(eventually([&] {
      return fleet_.kubectl_ok({"get", "events", "-A", "--field-selector=involvedObject.name=" + cluster})
                 .find("LimitExceeded") != std::string::npos;
    }));
  }
  static Hostile::Attack on(const std::string& path, std::function<std::function<std::string()>()> body) {
    return [path, body = std::move(body)](const HttpRequest& request, const WriterPtr& writer) {
      if (request.path != path) return false;
      writer->start(200, {{"Content-Type", "application/json"}});
      pour(writer, body());
      return true;
    };
  }

  Fleet fleet_;
  std::unique_ptr<ApiClient> api_;
  int64_t before_kb_ = 0;
};

TEST_F(HostileMember, ThatClaimsToBeAnotherOneIsNotTakenIn) {
  const std::string clusters = "/apis/cluster.karmada.io/v1alpha1/clusters/";
  const std::string id = api_->get(clusters + "honest").json["spec"]["id"].str();
  ASSERT_FALSE(id.empty());
  const Hostile twin{[id](const HttpRequest& request, const WriterPtr& writer) {
    if (request.path != "/api/v1/namespaces/kube-system") return false;
    HttpResponse response;
    response.headers.set("Content-Type", "application/json");
    response.body = R"({"metadata":{"name":"kube-system","uid":")" + id + R"("}})";
    writer->send(std::move(response));
    return true;
  }};
  add("twin", twin);
  EXPECT_TRUE(eventually([&] {
    return condition("twin", "Ready") == "False the member is registered as the cluster honest";
  })) << condition("twin", "Ready");
  EXPECT_TRUE(api_->get(clusters + "twin").json["spec"]["id"].is_empty());
  place("after", "honest");
  EXPECT_TRUE(condition("honest", "Ready").starts_with("True "));
}

TEST_F(HostileMember, CannotExhaustMemoryWithResponses) {
  const Hostile large{on("/api/v1/pods", [] { return repeat("x", 256U << 20U); })};
  add("large", large);
  expect_reported("large", "/api/v1/pods");

  // Short values use more memory than their text.
  const Hostile wide{on("/apis", [] {
    return [first = true, body = repeat("[],", 3U << 20U)]() mutable {
      return std::exchange(first, false) ? std::string{R"({"groups":[)"} : body();
    };
  })};
  add("wide", wide);
  expect_reported("wide", "values");

  const Hostile pages{[](const HttpRequest& request, const WriterPtr& writer) {
    if (request.path != "/api/v1/pods") return false;
    HttpResponse response;
    response.body = R"({"metadata":{"continue":"more"},"items":[)";
    for (int i = 0; i < 250; ++i) {
      response.body += std::string{i == 0 ? "" : ","} + R"({"spec":{"nodeName":"n"},"metadata":{"annotations":{"a":")" +
                       std::string(10'000, 'x') + R"("}}})";
    }
    response.body += "]}";
    writer->send(std::move(response));
    return true;
  }};
  add("pages", pages);
  const Hostile deep{on("/apis", [] { return repeat("[", 3U << 20U); })};
  add("deep", deep);
  EXPECT_TRUE(eventually([&] { return condition("deep", "Ready").starts_with("True "); }))
      << "the APIs that can be read are used";
  EXPECT_TRUE(eventually([&] { return condition("deep", "CompleteAPIEnablements").starts_with("False "); }));

  const Hostile head{[](const HttpRequest& request, const WriterPtr& writer) {
    if (request.path != "/readyz") return false;
    HttpResponse response;
    response.headers.set("X-Large", std::string(2U << 20U, 'x'));
    writer->send(std::move(response));
    return true;
  }};
  add("head", head);
  EXPECT_TRUE(eventually([&] { return condition("head", "Ready").find("header") != std::string::npos; }))
      << condition("head", "Ready");
}

TEST_F(HostileMember, CannotExhaustMemoryWithWatches) {
  const auto watched = [](const HttpRequest& request) {
    return request.path == "/api/v1/configmaps" && request.target.find("watch=true") != std::string::npos;
  };
  const auto stream = [watched](std::string pattern) {
    return [watched, pattern = std::move(pattern)](const HttpRequest& request, const WriterPtr& writer) {
      if (!watched(request)) return false;
      writer->start(200, {{"Content-Type", "application/json"}});
      pour(writer, repeat(pattern, 512U << 20U));
      return true;
    };
  };
  const Hostile endless{stream("x")};
  add("endless", endless);
  place("to-endless", "endless");
  expect_reported("endless", "a line is longer than");

  const Hostile flood{stream(R"({"type":"ADDED","object":{"kind":"ConfigMap","metadata":{"name":"a"}}})"
                             "\n")};
  add("flood", flood);
  place("to-flood", "flood");
  // The API responds regardless of the rate of events.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(api_->get(kMaps + "/warm-up").status, 200);
}

TEST_F(HostileMember, IsNotFollowedAndDelaysNoOtherMember) {
  std::atomic<int> trapped{0};
  const Hostile trap{[&](const HttpRequest&, const WriterPtr&) {
    ++trapped;
    return false;
  }};
  const Hostile redirecting{[&](const HttpRequest&, const WriterPtr& writer) {
    HttpResponse response;
    response.status = 307;
    response.headers.set("Location", trap.url() + "/api/v1/secrets");
    writer->send(std::move(response));
    return true;
  }};
  add("elsewhere", redirecting);
  EXPECT_TRUE(eventually([&] { return condition("elsewhere", "Ready").find("307") != std::string::npos; }))
      << condition("elsewhere", "Ready");
  EXPECT_EQ(trapped.load(), 0);

  // It accepts every request and never responds.
  const auto held = std::make_shared<std::pair<std::mutex, std::vector<WriterPtr>>>();
  const Hostile silent{[held](const HttpRequest&, const WriterPtr& writer) {
    writer->start(200, {});
    const std::lock_guard lock{held->first};
    held->second.push_back(writer);  // destroying it would end the response
    return true;
  }};
  add("silent", silent);
  place("meanwhile", "honest");
  EXPECT_TRUE(eventually([&] { return condition("silent", "Ready").find("no answer within") != std::string::npos; }))
      << condition("silent", "Ready");
}

}  // namespace
}  // namespace shiplog::e2e
