// Interpreter webhooks (L-18 to L-22), called by a real shiplogd on a real HTTPS server in this process.
#include <atomic>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/system.h"
#include "services/http/server.h"
#include "services/http/tls.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kConfigurations = "/apis/config.karmada.io/v1alpha1/resourceinterpreterwebhookconfigurations";
const std::string kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const std::string kGames = "/apis/games.example.com/v1/namespaces/default/games";
const std::string kPolicies = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies";
const std::string kGameBindings = "/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings";

enum class Mode { kGood, kSilent, kWrongUid, kEmptyResponse, kBadPatch, kEndless, kFails, kNoJson };

/// Implements all eight operations for the kind Game: {spec: {size, config}, status: {players}}.
class GameWebhook {
 public:
  GameWebhook() {
    const Validity validity = valid_for_days(SystemClock{}.now(), 1);
    authority_ = make_authority("game-ca", validity).value();
    pair_ =
        issue_server_certificate(authority_, "games", {.dns = {"games.default.svc"}, .ips = {"127.0.0.1"}}, validity)
            .value();
    start();
  }
  /// Listens on a new port each time: another process may use the former one now.
  void start() {
    HttpServer::Options options;
    options.certificate_pem = pair_.certificate_pem;
    options.key_pem = pair_.key_pem;
    auto started =
        HttpServer::start(options, [this](const HttpRequest& request, auto writer) { take(request, writer); });
    ASSERT_TRUE(started.has_value()) << (started ? "" : started.error().message);
    server_ = std::move(started).value();
    port_ = server_->bound_port();
  }
  void stop() {
    server_.reset();
    const std::lock_guard lock{mutex_};
    held_.clear();
  }
  /// Requests that are held stay unanswered.
  void become(Mode mode) { mode_ = mode; }
  size_t asked(const std::string& operation) {
    const std::lock_guard lock{mutex_};
    return asked_.count(operation);
  }
  Value client(const std::string& path = "/interpret") const {
    return Value::object({{"url", "https://127.0.0.1:" + std::to_string(port_) + path},
                          {"caBundle", base64_encode(authority_.certificate_pem)}});
  }
  uint16_t port() const { return port_; }
  std::string ca() const { return base64_encode(authority_.certificate_pem); }

 private:
  using Writer = std::shared_ptr<ResponseWriter>;

  void take(const HttpRequest& request, const Writer& writer) {
    auto parsed = parse_json(request.body);
    const Value asked = parsed ? parsed.value()["request"] : Value{};
    {
      const std::lock_guard lock{mutex_};
      asked_.insert(asked["operation"].str());
    }
    Value response = answer(asked);
    response.set("uid", asked["uid"]);
    switch (mode_.load()) {
      case Mode::kGood:
        break;
      case Mode::kSilent: {
        const std::lock_guard lock{mutex_};
        held_.push_back(writer);
        return;
      }
      case Mode::kWrongUid:
        response.set("uid", "another-uid");
        break;
      case Mode::kEmptyResponse:
        response = Value::object({{"uid", asked["uid"]}, {"successful", true}});
        break;
      case Mode::kBadPatch:
        response.set("patchType", "JSONPatch");
        response.set("patch", base64_encode(R"([{"op":"replace","path":"/spec/not/there","value":1}])"));
        break;
      case Mode::kEndless:
        writer->start(200, {{"Content-Type", "application/json"}});
        return flood(writer, 1024);
      case Mode::kFails:
        return writer->send({503, {}, "the games are closed"});
      case Mode::kNoJson:
        return writer->send({200, {}, "<html>"});
    }
    writer->send({200,
                  {{"Content-Type", "application/json"}},
                  to_json(Value::object({{"apiVersion", "config.karmada.io/v1alpha1"},
                                         {"kind", "ResourceInterpreterContext"},
                                         {"response", std::move(response)}}))});
  }

  /// Writes a gigabyte, or as much as the client reads.
  static void flood(const Writer& writer, int megabytes) {
    if (megabytes == 0) return writer->end();
    writer->write(std::string(1U << 20U, ' '), [writer, megabytes](const Result<void>& written) {
      if (written) flood(writer, megabytes - 1);
    });
  }

  static Value answer(const Value& asked) {
    const auto operation = asked["operation"].as_string();
    const Value& object = asked["object"];
    Value response = Value::object({{"successful", true}});
    Value patch;
    const auto put = [&](const char* path, Value value) {
      patch = Value::array({Value::object({{"op", "add"}, {"path", path}, {"value", std::move(value)}})});
    };
    if (operation == "InterpretReplica") {
      response.set("replicas", object["spec"]["size"]);
    } else if (operation == "ReviseReplica") {
      put("/spec/size", asked["replicas"]);
    } else if (operation == "Retain") {
      if (!asked["observedObject"]["spec"]["door"].is_null())
        put("/spec/door", asked["observedObject"]["spec"]["door"]);
    } else if (operation == "InterpretStatus") {
      response.set("rawStatus", Value::object({{"seen", object["status"]["players"].as_int()}}));
    } else if (operation == "InterpretHealth") {
      response.set("healthy", object["status"]["players"].as_int() > 0);
    } else if (operation == "InterpretDependency") {
      response.set("dependencies", Value::array({Value::object({{"apiVersion", "v1"},
                                                                {"kind", "ConfigMap"},
                                                                {"namespace", object["metadata"]["namespace"]},
                                                                {"name", object["spec"]["config"]}})}));
    } else if (operation == "AggregateStatus") {
      int64_t players = 0;
      for (const Value& item : asked["aggregatedStatus"].items()) players += item["status"]["seen"].as_int();
      put("/status", Value::object({{"players", players}}));
    }
    if (!patch.is_null()) {
      response.set("patchType", "JSONPatch");
      response.set("patch", base64_encode(to_json(patch)));
    }
    return response;
  }

  KeyPair authority_, pair_;
  uint16_t port_ = 0;
  std::atomic<Mode> mode_{Mode::kGood};
  std::mutex mutex_;
  std::multiset<std::string> asked_;
  std::vector<Writer> held_;
  std::unique_ptr<HttpServer> server_;  // last: its handler uses the rest
};

class InterpreterWebhooks : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve("plane", {"--journal=sqlite:" + fleet_.path("journal.db")});
    open();
    define(*api_);
    for (const char* name : {"member1", "member2"}) {
      fleet_.join(name);
      define(fleet_.api(name));
    }
    for (const char* name : {"member1", "member2"}) {
      EXPECT_TRUE(eventually([&] {
        return api_->get("/apis/cluster.karmada.io/v1alpha1/clusters/" + std::string{name})
                   .body.find("games.example.com/v1") != std::string::npos;
      })) << name
          << " is not known to serve games";
    }
    EXPECT_EQ(
        api_->post("/api/v1/namespaces/default/configmaps", json(R"({"metadata":{"name":"rules"},"data":{"a":"b"}})"))
            .status,
        201);
    EXPECT_EQ(api_->post(kPolicies, json(R"({"metadata":{"name":"games"},"spec":{"propagateDeps":true,
      "resourceSelectors":[{"apiVersion":"games.example.com/v1","kind":"Game"}],
      "placement":{"clusterAffinity":{"clusterNames":["member1","member2"]},"replicaScheduling":{
        "replicaSchedulingType":"Divided","replicaDivisionPreference":"Weighted","weightPreference":{"staticWeightList":[
          {"targetCluster":{"clusterNames":["member1","member2"]},"weight":1}]}}}}})"))
                  .status,
              201);
  }
  void open() { api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane")); }

  static void define(const ApiClient& api) {
    const Answer made = api.post(kDefinitions, json(R"({"metadata":{"name":"games.games.example.com"},"spec":{
      "group":"games.example.com","scope":"Namespaced","names":{"plural":"games","singular":"game","kind":"Game",
        "listKind":"GameList"},
      "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{
        "type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})"));
    EXPECT_EQ(made.status, 201) << made;
    EXPECT_TRUE(eventually([&] { return api.get(kGames).status == 200; }));
  }

  void configure(const Value& client, int64_t timeout_seconds = 10) {
    Value hook = json(R"({"name":"games.example.com","interpreterContextVersions":["v1alpha1"],"rules":[
      {"operations":["*"],"apiGroups":["games.example.com"],"apiVersions":["*"],"kinds":["Game"]}]})");
    hook.set("clientConfig", client);
    hook.set("timeoutSeconds", timeout_seconds);
    const Value whole = Value::object({{"apiVersion", "config.karmada.io/v1alpha1"},
                                       {"kind", "ResourceInterpreterWebhookConfiguration"},
                                       {"metadata", Value::object({{"name", "games"}})},
                                       {"webhooks", Value::array({hook})}});
    const Answer before = api_->get(kConfigurations + "/games");
    const Answer made = before.status == 404 ? api_->post(kConfigurations, whole)
                                             : api_->patch(kConfigurations + "/games", "merge",
                                                           Value::object({{"webhooks", whole["webhooks"]}}));
    EXPECT_EQ(made.status, before.status == 404 ? 201 : 200) << made;
  }
  void make(const std::string& name, int64_t size) {
    const Answer made =
        api_->post(kGames, Value::object({{"apiVersion", "games.example.com/v1"},
                                          {"kind", "Game"},
                                          {"metadata", Value::object({{"name", name}})},
                                          {"spec", Value::object({{"size", size}, {"config", "rules"}})}}));
    EXPECT_EQ(made.status, 201) << made;
  }
  void resize(const std::string& name, int64_t size) {
    const Answer changed =
        api_->patch(kGames + "/" + name, "merge", Value::object({{"spec", Value::object({{"size", size}})}}));
    EXPECT_EQ(changed.status, 200) << changed;
  }
  int64_t size_on(const std::string& member, const std::string& name) {
    return fleet_.api(member).get(kGames + "/" + name).json["spec"]["size"].as_int();
  }
  void expect_sizes(const std::string& name, int64_t each) {
    EXPECT_TRUE(eventually([&] { return size_on("member1", name) == each && size_on("member2", name) == each; }))
        << name << ": " << size_on("member1", name) << " and " << size_on("member2", name) << " instead of " << each
        << "\n"
        << fleet_.log_tail("plane");
  }
  void expect_logged(const std::string& text) {
    EXPECT_TRUE(eventually([&] { return fleet_.log_tail("plane", 1 << 20).find(text) != std::string::npos; }))
        << text << " is not in\n"
        << fleet_.log_tail("plane");
  }
  void expect_replay() { expect_replay_equals(fleet_, *api_, "sqlite:" + fleet_.path("journal.db")); }

  GameWebhook webhook_;
  Fleet fleet_;
  std::unique_ptr<ApiClient> api_;
};

TEST_F(InterpreterWebhooks, EveryOperationIsCalled_L_19_L_20) {
  configure(webhook_.client());
  make("chess", 6);
  expect_sizes("chess", 3);
  EXPECT_TRUE(eventually([&] {
    return fleet_.api("member2").get("/api/v1/namespaces/default/configmaps/rules").status == 200;
  })) << "InterpretDependency";

  // Statuses of members pass through InterpretStatus and InterpretHealth, and are aggregated by AggregateStatus.
  for (const char* member : {"member1", "member2"}) {
    const Answer response =
        fleet_.api(member).patch(kGames + "/chess/status", "merge", json(R"({"status":{"players":4}})"));
    EXPECT_EQ(response.status, 200) << response;
  }
  EXPECT_TRUE(eventually([&] { return api_->get(kGames + "/chess").json["status"]["players"].as_int() == 8; }))
      << api_->get(kGames + "/chess");
  const Value binding = api_->get(kGameBindings + "/chess-game").json;
  EXPECT_EQ(binding["spec"]["replicas"].as_int(), 6);
  EXPECT_EQ(binding["status"]["aggregatedStatus"][0]["status"], json(R"({"seen":4})"));
  EXPECT_EQ(binding["status"]["aggregatedStatus"][0]["health"].as_string(), "Healthy");

  // Retain: fields set in the member are kept when the template changes.
  EXPECT_EQ(fleet_.api("member1").patch(kGames + "/chess", "merge", json(R"({"spec":{"door":"green"}})")).status, 200);
  resize("chess", 10);
  expect_sizes("chess", 5);
  EXPECT_EQ(fleet_.api("member1").get(kGames + "/chess").json["spec"]["door"].as_string(), "green");
  EXPECT_GT(webhook_.asked("Retain"), 0U);

  // A restart without the webhook: its answers are in the journal.
  fleet_.kill("plane");
  webhook_.stop();
  fleet_.serve("plane", {"--journal=sqlite:" + fleet_.path("journal.db")});
  open();
  EXPECT_EQ(api_->get(kGameBindings + "/chess-game").json["spec"]["replicas"].as_int(), 10);
  const Value replay = expect_replay_equals(fleet_, *api_, "sqlite:" + fleet_.path("journal.db"));
  EXPECT_GT(replay["decisions"].as_int(), 0);
}

TEST_F(InterpreterWebhooks, WithoutAnAnswerOperationsWaitAndNoOtherLevelIsUsed_L_21) {
  configure(webhook_.client(), 1);
  make("chess", 6);
  expect_sizes("chess", 3);

  // No server listens.
  webhook_.stop();
  make("go", 4);
  resize("chess", 8);
  expect_logged("interpreter webhook games/games.example.com: https://127.0.0.1:" + std::to_string(webhook_.port()));
  EXPECT_EQ(api_->get(kGameBindings + "/go-game").status, 404);
  EXPECT_EQ(size_on("member1", "chess"), 3);
  webhook_.start();
  configure(webhook_.client(), 1);
  expect_sizes("go", 2);
  expect_sizes("chess", 4);

  // A webhook that does not answer before the timeout; the process is killed while it waits.
  webhook_.become(Mode::kSilent);
  make("ludo", 2);
  expect_logged("ludo");
  EXPECT_TRUE(eventually([&] { return webhook_.asked("InterpretReplica") > 2; }));
  fleet_.kill("plane");
  fleet_.serve("plane", {"--journal=sqlite:" + fleet_.path("journal.db")});
  open();
  EXPECT_EQ(api_->get(kGameBindings + "/ludo-game").status, 404);
  expect_logged("ludo");
  webhook_.become(Mode::kGood);
  expect_sizes("ludo", 1);
  webhook_.stop();
  expect_replay();
}

TEST_F(InterpreterWebhooks, InvalidAnswersCountAsNone_L_20) {
  configure(webhook_.client(), 5);
  const std::map<Mode, std::string> reasons = {
      {Mode::kWrongUid, "response.uid is not that of the request"},
      {Mode::kEmptyResponse, "response.replicas is missing"},
      {Mode::kFails, "HTTP status 503 Service Unavailable: the games are closed"},
      {Mode::kNoJson, "its answer is no JSON"},
      {Mode::kEndless, "larger than"},
  };
  int number = 0;
  for (const auto& [mode, reason] : reasons) {
    webhook_.become(mode);
    const std::string name = "game-" + std::to_string(++number);
    make(name, 2);
    expect_logged(reason);
    EXPECT_EQ(api_->get(kGameBindings + "/" + name + "-game").status, 404) << reason;
    webhook_.become(Mode::kGood);
    expect_sizes(name, 1);
  }
  // A patch that cannot be applied: the binding reports it, and the members keep their objects.
  webhook_.become(Mode::kBadPatch);
  resize("game-1", 4);
  const auto synced = [&] {
    const Value binding = api_->get(kGameBindings + "/game-1-game").json;
    for (const Value& condition : binding["status"]["conditions"].items()) {
      if (condition["type"].as_string() == "WorksSynced") return condition["message"].str();
    }
    return std::string{};
  };
  EXPECT_TRUE(eventually([&] { return synced().find("response.patch does not apply") != std::string::npos; }))
      << synced();
  EXPECT_EQ(size_on("member1", "game-1"), 1);
  webhook_.become(Mode::kGood);
  expect_sizes("game-1", 2);
  webhook_.stop();
  expect_replay();
}

TEST_F(InterpreterWebhooks, AServiceIsCalledAtItsAddress_L_22) {
  EXPECT_EQ(
      api_->post("/api/v1/namespaces/default/services",
                 json(R"({"metadata":{"name":"games"},"spec":{"type":"ExternalName","externalName":"127.0.0.1"}})"))
          .status,
      201);
  configure(Value::object({{"service", Value::object({{"namespace", "default"},
                                                      {"name", "games"},
                                                      {"port", static_cast<int64_t>(webhook_.port())},
                                                      {"path", "/interpret"}})},
                           {"caBundle", webhook_.ca()}}));
  make("chess", 4);
  expect_sizes("chess", 2);
  // Without the configuration no level interprets the kind, and its answers are deleted.
  EXPECT_EQ(api_->remove(kConfigurations + "/games").status, 200);
  EXPECT_TRUE(eventually([&] { return api_->get(kGameBindings + "/chess-game").json["spec"]["replicas"].is_null(); }));
  expect_replay();
}

}  // namespace
}  // namespace shiplog::e2e
