// Addresses of Services: unique in the fleet, whichever server creates the Service, and added to Services of older
// journals.
#include <future>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/random.h"
#include "events/base/system.h"
#include "events/codec/codec.h"
#include "events/entry.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kServices = "/api/v1/namespaces/default/services";

Value service(const std::string& name, const std::string& type = "ClusterIP") {
  return json(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":")" + name + R"("},"spec":{"type":")" + type +
              R"(","selector":{"app":"web"},"ports":[{"name":"http","port":80}]}})");
}

class Services : public ::testing::Test {
 protected:
  std::string journal() const { return "sqlite:" + fleet_.path("shared/journal.db"); }
  ApiClient serve(const std::string& name, std::vector<std::string> options = {}) {
    options.push_back("--journal=" + journal());
    fleet_.serve(name, std::move(options));
    return ApiClient{fleet_.kubeconfig(name)};
  }
  /// A Service as an older build stored it, without addresses.
  void write(const Value& object) {
    auto opened = open_sqlite_journal(fleet_.path("shared/journal.db"));
    ASSERT_TRUE(opened) << opened.error().message;
    SystemRandom random;
    Entry entry;
    entry.id = new_entry_id(random);
    entry.time = SystemClock{}.now();
    entry.fold_version = 1;
    entry.events = {ObjectCreated{{"services", "default", object["metadata"]["name"].str()}, object}};
    std::promise<Result<Offset>> done;
    opened.value()->append(encode(entry), [&](Result<Offset> result) { done.set_value(std::move(result)); });
    const auto stored = done.get_future().get();
    ASSERT_TRUE(stored) << stored.error().message;
  }
  static std::string ip(const Value& object) { return object["spec"]["clusterIP"].str(); }

  Fleet fleet_;
};

TEST_F(Services, TwoServersNeverAllocateTheSameAddress) {
  // The range has 13 addresses besides that of the Service "kubernetes", and 8 node ports.
  ApiClient first = serve("plane", {"--service-cluster-ip-range=10.0.0.0/28", "--service-node-port-range=31000-31007"});
  ApiClient second = serve("other", {"--roles=api"});
  EXPECT_EQ(ip(first.get(kServices + "/kubernetes").json), "10.0.0.1");
  std::vector<std::future<std::vector<Answer>>> clients;
  for (int client = 0; client < 4; ++client) {
    clients.push_back(std::async(std::launch::async, [&, client] {
      const ApiClient mine{fleet_.kubeconfig(client % 2 == 0 ? "plane" : "other")};
      std::vector<Answer> answers;
      for (int i = 0; i < 3; ++i) {
        const std::string name = "s" + std::to_string(client) + "-" + std::to_string(i);
        answers.push_back(mine.post(kServices, service(name, i < 2 ? "NodePort" : "ClusterIP")));
      }
      return answers;
    }));
  }
  std::set<std::string> ips;
  std::set<int64_t> ports;
  for (auto& client : clients) {
    for (const Answer& answer : client.get()) {
      ASSERT_EQ(answer.status, 201) << answer;
      EXPECT_TRUE(ips.insert(ip(answer.json)).second) << answer;
      const int64_t port = answer.json["spec"]["ports"][0]["nodePort"].as_int();
      if (port != 0) {
        EXPECT_TRUE(ports.insert(port).second) << answer;
      }
    }
  }
  EXPECT_EQ(ips.size(), 12U);
  EXPECT_EQ(ports.size(), 8U);

  EXPECT_EQ(second.post(kServices, service("last")).status, 201);
  const Answer full = first.post(kServices, service("more"));
  EXPECT_EQ(full.status, 500) << full;
  EXPECT_NE(full.json["message"].as_string().find("--service-cluster-ip-range is full"), std::string::npos) << full;
  Value wanted = service("taken");
  wanted.edit("spec").set("clusterIP", *ips.begin());
  const Answer taken = second.post(kServices, wanted);
  EXPECT_EQ(taken.status, 422) << taken;
  EXPECT_NE(taken.json["message"].as_string().find("already allocated"), std::string::npos) << taken;

  // The addresses of a deleted Service are free again, on the other server too.
  const std::string freed = ip(first.get(kServices + "/s0-0").json);
  EXPECT_EQ(first.remove(kServices + "/s0-0").status, 200);
  wanted.edit("spec").set("clusterIP", freed);
  EXPECT_EQ(second.post(kServices, wanted).status, 201);
  expect_replay_equals(fleet_, first, journal());
}

TEST_F(Services, KeepReleaseAndChangeTheirAddressesAsInKubernetes) {
  const ApiClient api = serve("plane");
  const Value created = api.post(kServices, service("web", "LoadBalancer")).json;
  EXPECT_TRUE(ip(created).starts_with("10.")) << to_json(created);
  const int64_t port = created["spec"]["ports"][0]["nodePort"].as_int();
  EXPECT_GE(port, 30000);
  // A replacement without addresses keeps them; the cluster IP cannot be changed.
  Value again = service("web", "NodePort");
  const Value kept = api.put(kServices + "/web", again).json;
  EXPECT_EQ(ip(kept), ip(created));
  EXPECT_EQ(kept["spec"]["ports"][0]["nodePort"].as_int(), port);
  again.edit("spec").set("clusterIP", "10.96.0.77");
  EXPECT_EQ(api.put(kServices + "/web", again).status, 422);
  // The other types do not have them.
  const Value plain = api.put(kServices + "/web", service("web")).json;
  EXPECT_EQ(ip(plain), ip(created));
  EXPECT_TRUE(plain["spec"]["ports"][0]["nodePort"].is_null());
  Value external = service("web", "ExternalName");
  external.edit("spec").set("externalName", "example.com");
  const Answer outside = api.put(kServices + "/web", external);
  EXPECT_EQ(outside.status, 200) << outside;
  EXPECT_TRUE(outside.json["spec"]["clusterIP"].is_null()) << outside;
  EXPECT_FALSE(ip(api.put(kServices + "/web", service("web")).json).empty());
  Value headless = service("headless");
  headless.edit("spec").set("clusterIP", "None");
  EXPECT_EQ(ip(api.post(kServices, headless).json), "None");
  // A dry run allocates nothing.
  EXPECT_EQ(api.post(kServices + "?dryRun=All", service("maybe")).status, 201);
  EXPECT_EQ(api.get(kServices + "/maybe").status, 404);
}

TEST_F(Services, OfAnOlderJournalGetClusterIpsAtTheStart) {
  serve("plane");
  fleet_.process("plane").terminate();
  write(service("old", "NodePort"));
  const ApiClient api = serve("plane");
  EXPECT_TRUE(eventually([&] { return !ip(api.get(kServices + "/old").json).empty(); }));
  const Value given = api.get(kServices + "/old").json;
  EXPECT_TRUE(given["spec"]["ports"][0]["nodePort"].is_null()) << "its members have chosen one";
  expect_replay_equals(fleet_, api, journal());
}

}  // namespace
}  // namespace shiplog::e2e
