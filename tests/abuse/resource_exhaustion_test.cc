// Resources that one client can consume: processor time that grows faster than the request, memory for idle
// connections, and delays of other clients.
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "events/base/json.h"
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

/// User and system time of the control plane until now.
double cpu_seconds() {
  const std::string stat = read_file("/proc/" + std::to_string(plane().process("plane").pid()) + "/stat");
  std::istringstream fields{stat.substr(stat.rfind(')') + 2)};
  std::string skipped;
  for (int field = 0; field < 11; ++field) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

size_t resident_bytes() {
  std::istringstream fields{read_file("/proc/" + std::to_string(plane().process("plane").pid()) + "/statm")};
  size_t all = 0, resident = 0;
  fields >> all >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

struct ScriptedRequest {
  std::string method, target, body, type = "application/json";
};

constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kStrategic = "application/strategic-merge-patch+json";
constexpr const char* kApply = "application/apply-patch+yaml";
constexpr const char* kJsonPatch = "application/json-patch+json";

/// `item` of 0 to n-1, separated by commas, in unsorted order.
std::string items(size_t n, const std::function<std::string(const std::string&)>& item) {
  constexpr size_t kPrime = 7919;
  std::string text;
  for (size_t i = 0; i < n; ++i) text += (i == 0 ? "" : ",") + item(std::to_string(i * kPrime % n));
  return text;
}

std::string map_with(const std::string& name, const std::string& metadata, const std::string& data = "") {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + '"' +
         (metadata.empty() ? "" : "," + metadata) + R"(},"data":{)" + data + "}}";
}

std::string deployment_with(const std::string& name, const std::string& containers, const std::string& pod = "") {
  return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name +
         R"("},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{)" +
         pod + R"("containers":[)" + containers + "]}}}}";
}

std::string owners(size_t n) {
  return R"("ownerReferences":[)" +
         items(n,
               [](const std::string& i) {
                 return R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":"00000000-0000-0000-0000-)" + i + "\"}";
               }) +
         "]";
}
std::string finalizers(size_t n, const std::string& domain = "e.io") {
  return R"("finalizers":[)" + items(n, [&](const std::string& i) { return '"' + domain + "/" + i + '"'; }) + "]";
}
std::string managers(size_t n, const std::string& operation) {
  return R"("managedFields":[)" +
         items(n,
               [&](const std::string& i) {
                 return R"({"manager":"m)" + i + R"(","operation":")" + operation +
                        R"(","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k)" + i + R"(":{}}}})";
               }) +
         "]";
}
std::string keys(size_t n, const std::string& prefix, const std::string& value = R"("")") {
  return items(n, [&](const std::string& i) { return '"' + prefix + i + "\":" + value; });
}
std::string containers(size_t n, const std::string& image = "i") {
  return items(n, [&](const std::string& i) { return R"({"name":"c)" + i + R"(","image":")" + image + "\"}"; });
}

struct Attack {
  const char* name;
  size_t n;
  std::function<std::vector<ScriptedRequest>(size_t n, const std::string& name)> requests;
};

std::vector<Attack> attacks() {
  const auto map = [](const std::string& name) { return kConfigMaps + "/" + name; };
  const auto web = [](const std::string& name) { return kDeployments + "/" + name; };
  return {
      {"owners", 8'000,
       [=](size_t n, const std::string& name) {
         return std::vector<ScriptedRequest>{{"POST", kConfigMaps, map_with(name, owners(n))},
                                             {"PATCH", map(name), R"({"metadata":{)" + owners(n + 1) + "}}", kMerge},
                                             {"DELETE", map(name), ""}};
       }},
      {"finalizers", 30'000,
       [=](size_t n, const std::string& name) {
         return std::vector<ScriptedRequest>{
             {"POST", kConfigMaps, map_with(name, finalizers(n))},
             {"PATCH", map(name), R"({"metadata":{)" + finalizers(n + 1) + "}}", kMerge},
             {"DELETE", map(name), ""},
             {"PATCH", map(name), R"({"metadata":{)" + finalizers(n / 2) + "}}", kMerge},
             {"PATCH", map(name), R"({"metadata":{)" + finalizers(n, "x.io") + "}}", kMerge},
             {"PATCH", map(name), R"({"metadata":{"finalizers":null}})", kMerge}};
       }},
      {"applied-finalizers", 15'000,
       [=](size_t n, const std::string& name) {
         const std::string target = map(name) + "?fieldManager=";
         return std::vector<ScriptedRequest>{{"PATCH", target + "a", map_with(name, finalizers(n)), kApply},
                                             {"PATCH", target + "b", map_with(name, finalizers(n / 2)), kApply},
                                             {"PATCH", target + "a", map_with(name, finalizers(n / 3)), kApply}};
       }},
      {"managers", 4'000,
       [=](size_t n, const std::string& name) {
         return std::vector<ScriptedRequest>{
             {"POST", kConfigMaps, map_with(name, managers(n, "Update"))},
             {"PATCH", map(name), R"({"metadata":{)" + managers(n, "Apply") + R"(},"data":{"a":"1"}})", kMerge},
             {"PATCH", map(name) + "?fieldManager=x", map_with(name, "", R"("z":"1")"), kApply}};
       }},
      {"members", 40'000,
       [=](size_t n, const std::string& name) {
         return std::vector<ScriptedRequest>{
             {"POST", kConfigMaps, map_with(name, "", keys(n, "z"))},
             {"PATCH", map(name), R"({"data":{)" + keys(n / 2, "a") + "}}", kMerge},
             {"PATCH", map(name), R"({"data":{)" + keys(n / 2, "b") + "}}", kStrategic},
             {"PATCH", map(name), R"({"data":{)" + keys(n, "z", "null") + "}}", kMerge},
             {"PATCH", map(name) + "?fieldManager=x", map_with(name, "", keys(n, "c")), kApply},
             {"PATCH", map(name) + "?fieldManager=x", map_with(name, ""), kApply}};
       }},
      {"json-patch", 60'000,
       [=](size_t n, const std::string& name) {
         return std::vector<ScriptedRequest>{
             {"POST", kConfigMaps, map_with(name, finalizers(n / 4), keys(n / 4, "z"))},
             {"PATCH", map(name),
              "[" +
                  items(
                      n / 12,
                      [](const std::string& i) { return R"({"op":"add","path":"/data/a)" + i + R"(","value":""})"; }) +
                  "]",
              kJsonPatch},
             {"PATCH", map(name),
              "[" +
                  items(n / 12,
                        [](const std::string& i) {
                          return R"({"op":"add","path":"/metadata/finalizers/0","value":"y.io/)" + i + R"("})";
                        }) +
                  "]",
              kJsonPatch}};
       }},
      {"unknown-fields", 40'000,
       [=](size_t n, const std::string& name) {
         const std::string body =
             R"({"metadata":{"name":")" + name + R"(",)" + keys(n, "u") + "}," + keys(n, "v") + "}";
         return std::vector<ScriptedRequest>{{"POST", kConfigMaps, body},
                                             {"POST", kConfigMaps + "?fieldValidation=Strict", body}};
       }},
      {"errors", 60'000,
       [=](size_t n, const std::string& name) {
         return std::vector<ScriptedRequest>{
             {"POST", kConfigMaps, map_with(name, "", keys(n, "!"))},
             {"POST", kConfigMaps, map_with(name, "", keys(n, "k", "1"))},
             {"POST", kConfigMaps, map_with(name, R"("labels":{)" + keys(n, "!", R"("!")") + "}")},
             {"POST", kDeployments,
              deployment_with(name, items(n / 2, [](const std::string&) { return std::string{R"({"name":"_"})"}; }))}};
       }},
      {"containers", 5'000,
       [=](size_t n, const std::string& name) {
         const auto patch = [](const std::string& list) { return R"({"spec":{"template":{"spec":{)" + list + "}}}}"; };
         const std::string order = R"("$setElementOrder/containers":[)" +
                                   items(n, [](const std::string& i) { return R"({"name":"c)" + i + "\"}"; }) + "],";
         return std::vector<ScriptedRequest>{
             {"POST", kDeployments, deployment_with(name, containers(n))},
             {"PATCH", web(name), patch(order + R"("containers":[)" + containers(n, "j") + "]"), kStrategic},
             {"PATCH", web(name) + "?force=true&fieldManager=x", deployment_with(name, containers(n / 2, "k")), kApply},
             {"PATCH", web(name),
              patch(R"("containers":[)" +
                    items(n, [](const std::string& i) { return R"({"name":"c)" + i + R"(","$patch":"delete"})"; }) +
                    R"(,{"name":"last","image":"i"}])"),
              kStrategic}};
       }},
      {"volumes", 6'000,
       [=](size_t n, const std::string& name) {
         const std::string volumes =
             R"("volumes":[)" +
             items(n, [](const std::string& i) { return R"({"name":"v)" + i + R"(","emptyDir":{}})"; }) + "],";
         const std::string mounts =
             R"({"name":"c","image":"i","volumeMounts":[)" +
             items(n, [](const std::string& i) { return R"({"name":"v)" + i + R"(","mountPath":"/)" + i + "\"}"; }) +
             "]}";
         return std::vector<ScriptedRequest>{{"POST", kDeployments, deployment_with(name, mounts, volumes)}};
       }},
      {"yaml", 50'000,
       [=](size_t n, const std::string& name) {
         std::string body = "metadata:\n  name: " + name + "\n  finalizers:\n";
         for (size_t i = 0; i < n; ++i) body += "  - e.io/" + std::to_string(i) + "\n";
         return std::vector<ScriptedRequest>{{"POST", kConfigMaps, body, "application/yaml"},
                                             {"PATCH", map(name), R"({"metadata":{"finalizers":null}})", kMerge}};
       }},
  };
}

/// CPU time of the attack with `n` elements.
double cost_of(const Attack& attack, size_t n) {
  const double before = cpu_seconds();
  for (const ScriptedRequest& request : attack.requests(n, std::string{attack.name} + "-" + std::to_string(n))) {
    const Answer answer = api().call(request.method, request.target, request.body, {{"Content-Type", request.type}},
                                     std::chrono::minutes{2});
    EXPECT_NE(answer.status, 0) << attack.name << ": " << request.method << " was not answered: " << answer.error;
    EXPECT_LT(answer.status, 500) << attack.name << answer.message();
    const bool refused = answer.status >= 400;
    EXPECT_TRUE(!refused || answer.body.size() < request.body.size() + 100'000)
        << attack.name << ": an error of " << answer.body.size() << " bytes";
  }
  return cpu_seconds() - before;
}

TEST(ResourceExhaustion, TheCostOfARequestGrowsNoFasterThanItsLists) {
  plane();
  for (const Attack& attack : attacks()) {
    const double once = cost_of(attack, attack.n);
    const double twice = cost_of(attack, 2 * attack.n);
    // Twice as much, plus other work of the process; it is four times as much if every pair of elements is compared.
    EXPECT_LT(twice, 3 * once + 0.5) << attack.name << ": " << once << " s, with twice the elements " << twice << " s";
  }
}

TEST(ResourceExhaustion, PatternsAreMatchedInLinearTime) {
  const Answer made = api().post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json(R"({
      "metadata":{"name":"bombs.example.com"},
      "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"bombs","singular":"bomb","kind":"Bomb"},
        "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
          "properties":{"text":{"type":"string","pattern":"^(([a-z])+.)+[A-Z]([a-z])+$"},
                        "more":{"type":"string","pattern":"(a?){25}a{25}b|^(a|aa)+$"}}}}}]}})"));
  ASSERT_EQ(made.status, 201) << made;
  const std::string bombs = "/apis/example.com/v1/namespaces/default/bombs";
  const auto bomb = [](const std::string& name, size_t length) {
    const std::string text(length, 'a');
    return Value::object({{"apiVersion", "example.com/v1"},
                          {"kind", "Bomb"},
                          {"metadata", Value::object({{"name", name}})},
                          {"text", text},
                          {"more", text}});
  };
  ASSERT_TRUE(eventually([&] { return api().post(bombs, bomb("small", 3)).status == 422; }));
  const double before = cpu_seconds();
  const Answer refused = api().post(bombs, bomb("large", 50'000));
  expect_failure(refused, 422, "Invalid", "should match");
  EXPECT_LT(cpu_seconds() - before, 2.0) << "an engine that backtracks takes minutes";
}

TEST(ResourceExhaustion, RulesOfARoleAreNotExpandedToAllCombinations) {
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/";
  ASSERT_EQ(api()
                .post(rbac + "namespaces/default/rolebindings", json(R"({"metadata":{"name":"author"},
      "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"admin"},
      "subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"author"}]})"))
                .status,
            201);
  const auto names = [](const std::string& prefix) {
    return "[" + items(1000, [&](const std::string& i) { return '"' + prefix + i + '"'; }) + "]";
  };
  const std::string body = R"({"metadata":{"name":"product"},"rules":[{"verbs":)" + names("v") + R"(,"apiGroups":)" +
                           names("g") + R"(,"resources":)" + names("r") + R"(,"resourceNames":)" + names("n") + "}]}";
  const double before = cpu_seconds();
  const Answer refused = api().call("POST", rbac + "namespaces/default/roles", body,
                                    {{"Content-Type", "application/json"}, {"Impersonate-User", "author"}});
  expect_failure(refused, 403, "Forbidden", "combinations");
  EXPECT_LT(cpu_seconds() - before, 2.0);
}

TEST(ResourceExhaustion, SmallRequestsAreAnsweredBesideLargeOnes) {
  ASSERT_EQ(api().post(kConfigMaps, config_map("small")).status, 201);
  const std::string large = map_with("flood", finalizers(40'000), keys(40'000, "k"));
  std::atomic<bool> stopped{false};
  std::atomic<int> stored{0}, busy{0}, other{0};
  std::vector<std::thread> flood;
  for (int number = 0; number < 8; ++number) {
    flood.emplace_back([&, target = kConfigMaps + "/flood-" + std::to_string(number)] {
      const ApiClient client = plane().api();
      std::string body = large;
      body.replace(body.find("flood"), 5, target.substr(kConfigMaps.size() + 1));
      for (int round = 0; !stopped; ++round) {
        const Answer answer =
            round == 0 ? client.call("POST", kConfigMaps, body, {{"Content-Type", "application/json"}})
                       : client.call("PATCH", target, R"({"data":{"round":")" + std::to_string(round) + R"("}})",
                                     {{"Content-Type", kMerge}});
        ++(answer.status == 200 || answer.status == 201 ? stored : answer.status == 429 ? busy : other);
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return stored >= 8; }));
  for (int number = 0; number < 100; ++number) {
    EXPECT_EQ(api().call("GET", kConfigMaps + "/small", {}, {}, std::chrono::seconds{10}).status, 200);
  }
  stopped = true;
  for (std::thread& thread : flood) thread.join();
  EXPECT_EQ(other, 0);
}

/// A TCP connection to the control plane that sends nothing.
int connect_to_plane() {
  const std::string kubeconfig = read_file(plane().kubeconfig("plane"));
  const std::string host = "https://127.0.0.1:";
  const size_t position = kubeconfig.find(host);
  EXPECT_NE(position, std::string::npos);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(kubeconfig.substr(position + host.size()))));
  ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

TEST(ResourceExhaustion, ConnectionsWithoutAHandshakeTakeLittleMemoryAndAreClosed) {
  ASSERT_EQ(api().get("/livez").status, 200);
  constexpr size_t kConnections = 900;
  const size_t before = resident_bytes();
  std::vector<int> silent;
  for (size_t i = 0; i < kConnections; ++i) silent.push_back(connect_to_plane());
  ASSERT_EQ(api().get("/livez").status, 200) << "accepted after all of them";
  const size_t after = resident_bytes();
  EXPECT_LT(after, before + kConnections * 20'000) << (after - before) / kConnections << " bytes a connection";
  char byte = 0;
  timeval patience{.tv_sec = 60, .tv_usec = 0};
  ::setsockopt(silent.back(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  EXPECT_LE(::recv(silent.back(), &byte, 1, 0), 0) << "closed after the handshake timeout";
  EXPECT_NE(errno, EAGAIN);
  for (const int fd : silent) ::close(fd);
}

}  // namespace
}  // namespace shiplog::e2e
