#include <atomic>
#include <mutex>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/system.h"
#include "services/adapters/webhooks/endpoint.h"
#include "services/adapters/webhooks/webhook_resolver.h"
#include "services/runtime/thread_loop.h"
#include "tests/support/given.h"
#include "tests/support/http_peers.h"

namespace shiplog {
namespace {

using given::json;

TEST(WebhookEndpoint, AServiceIsCalledAtItsAddressInTheControlPlane_L_22) {
  given::History history;
  const auto service = [&](const char* name, const std::string& spec) {
    history.object({"services", "default", name}, R"({"apiVersion":"v1","kind":"Service","spec":)" + spec + "}");
  };
  service("inside", R"({"type":"ClusterIP","clusterIP":"10.0.0.7","ports":[{"port":443},{"port":8443}]})");
  service("nodes", R"({"type":"NodePort","clusterIP":"fd00::7","ports":[{"port":443}]})");
  service("headless", R"({"clusterIP":"None","ports":[{"port":443}]})");
  service("outside", R"({"type":"ExternalName","externalName":"games.example.com"})");
  const FindObject find = [&](const ObjectKey& key) -> Result<Value> {
    const Object* object = history.state().find(key);
    if (object == nullptr) return Error{ErrorCode::kNotFound, ""};
    return object->value;
  };
  UnknownService unknown = UnknownService::kByName;
  const auto at = [&](const std::string& client) -> std::string {
    const auto endpoint = webhook_endpoint(json(client), find, unknown);
    if (!endpoint) return endpoint.error().message;
    return endpoint.value().target.url + " as \"" + endpoint.value().target.server_name + "\" " + endpoint.value().path;
  };
  const auto of = [](const std::string& name, const std::string& more = "") {
    return R"({"service":{"namespace":"default","name":")" + name + "\"" + more + "}}";
  };
  EXPECT_EQ(at(of("inside")), "https://10.0.0.7:443 as \"inside.default.svc\" /");
  EXPECT_EQ(at(of("inside", R"(,"port":8443,"path":"/a/b")")), "https://10.0.0.7:8443 as \"inside.default.svc\" /a/b");
  EXPECT_EQ(at(of("inside", R"(,"port":1)")), "service \"inside\" of namespace \"default\" has no port 1");
  EXPECT_EQ(at(of("nodes")), "https://[fd00::7]:443 as \"nodes.default.svc\" /");
  EXPECT_EQ(
      at(of("headless")),
      "service \"headless\" of namespace \"default\" has neither a cluster IP nor an external name to call it at");
  EXPECT_EQ(at(of("outside", R"(,"port":9443)")), "https://games.example.com:9443 as \"outside.default.svc\" /");
  EXPECT_EQ(at(of("unknown")), "https://unknown.default.svc:443 as \"unknown.default.svc\" /");
  EXPECT_EQ(at(R"({"url":"https://x:1/y/z"})"), "https://x:1 as \"\" /y/z");
  EXPECT_EQ(at(R"({"url":"https://x"})"), "https://x as \"\" /");
  EXPECT_EQ(at(R"({"url":"https://x","service":{"namespace":"default","name":"inside"}})"),
            "https://10.0.0.7:443 as \"inside.default.svc\" /")
      << "a service takes precedence over a url";
  EXPECT_EQ(at(R"({"url":"https://x","caBundle":"!"})"), "the caBundle is not base64");
  EXPECT_EQ(at(R"({"url":"http://x"})"), "the url is not https");
  unknown = UnknownService::kRefused;
  EXPECT_EQ(at(of("unknown")), "service \"unknown\" of namespace \"default\" not found");
}

/// A webhook over real TLS that holds back its answers until the test releases them.
class InterpreterWebhookCalls : public ::testing::Test {
 protected:
  InterpreterWebhookCalls() {
    auto started = HttpServer::start(testing::tls_options(), [this](const HttpRequest& request, auto writer) {
      const Value received = parse_json(request.body).value()["request"];
      const std::lock_guard lock{mutex_};
      ++asked_;
      traceparents_.push_back(std::string{request.headers.get("traceparent")});
      const auto answer = [writer, received] {
        writer->send(
            {200,
             {},
             to_json(Value::object({{"response", Value::object({{"uid", received["uid"]},
                                                                {"successful", true},
                                                                {"replicas", received["object"]["size"]}})}}))});
      };
      held_.push_back(answer);
    });
    EXPECT_TRUE(started.has_value());
    server_ = std::move(started).value();
  }
  QuestionPtr question(int64_t size, Millis timeout = Millis{20'000}) const {
    auto question = std::make_shared<Question>();
    question->operation = "InterpretReplica";
    question->source = "c/h";
    question->request = Value::object({{"object", Value::object({{"size", size}})}});
    question->address =
        Value::object({{"url", "https://127.0.0.1:" + std::to_string(server_->bound_port()) + "/"},
                       {"caBundle", base64_encode(testing::TestCertificates::get().authority.certificate_pem)}});
    question->timeout = timeout;
    return question;
  }
  size_t received() {
    const std::lock_guard lock{mutex_};
    return asked_;
  }
  size_t let_go() {
    std::vector<std::function<void()>> held;
    {
      const std::lock_guard lock{mutex_};
      held.swap(held_);
    }
    for (const auto& answer : held) answer();
    return held.size();
  }

  std::mutex mutex_;
  size_t asked_ = 0;
  std::vector<std::string> traceparents_;  // as received
  std::vector<std::function<void()>> held_;
  std::unique_ptr<HttpServer> server_;
  SystemRandom random_;
  ThreadLoop loop_;
  State state_;
};

TEST_F(InterpreterWebhookCalls, LimitsConcurrencyAndWaitingIsNotPartOfTheTimeout_L_21) {
  WebhookResolver resolver{{.executor = &loop_, .random = &random_, .user_agent = "test", .at_once = 2}};
  std::mutex mutex;
  std::map<int64_t, Result<Value>> answers;
  const auto answered = [&] {
    const std::lock_guard lock{mutex};
    return answers.size();
  };
  loop_.call([&] {
    for (int64_t size = 1; size <= 7; ++size) {
      resolver.ask(state_, question(size), {}, [&, size](Result<Value> answer) {
        const std::lock_guard lock{mutex};
        answers.emplace(size, std::move(answer));
      });
    }
  });
  while (answered() < 7) {
    ASSERT_TRUE(testing::eventually([&] { return received() > answered(); }));
    EXPECT_LE(received() - answered(), 2U);
    const size_t before = answered();
    const size_t gone = let_go();
    ASSERT_TRUE(testing::eventually([&] { return answered() >= before + gone; }));
  }
  for (const auto& [size, answer] : answers) {
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer.value(), Value::object({{"replicas", size}}));
  }
  loop_.stop();
}

TEST_F(InterpreterWebhookCalls, ATimeoutOfItsOwnEndsACall_L_21) {
  WebhookResolver resolver{{.executor = &loop_, .random = &random_, .user_agent = "test"}};
  testing::Awaited<Result<Value>> answer;
  loop_.call([&] {
    resolver.ask(state_, question(1, Millis{50}), {}, [&](Result<Value> result) { answer.set(std::move(result)); });
  });
  const auto result = answer.get();
  ASSERT_TRUE(result.has_value());
  ASSERT_FALSE(result->has_value());
  EXPECT_TRUE(result->error().message.starts_with("interpreter webhook c/h: https://127.0.0.1:"))
      << result->error().message;
  loop_.stop();
}

TEST_F(InterpreterWebhookCalls, CallBelongsToTheTraceOfItsQuestionOrToANewOne) {
  WebhookResolver resolver{{.executor = &loop_, .random = &random_, .user_agent = "test"}};
  const TraceContext trace{"4bf92f3577b34da6a3ce929d0e0e4736", true};
  for (const TraceContext& given : {trace, TraceContext{}}) {
    testing::Awaited<Result<Value>> answer;
    loop_.call([&] {
      resolver.ask(state_, question(1), given, [&](Result<Value> result) { answer.set(std::move(result)); });
    });
    ASSERT_TRUE(testing::eventually([&] { return let_go() == 1; }));
    ASSERT_TRUE(answer.get().has_value());
  }
  const std::lock_guard lock{mutex_};
  ASSERT_EQ(traceparents_.size(), 2U);
  EXPECT_EQ(parse_traceparent(traceparents_[0]), trace) << traceparents_[0];
  const auto begun = parse_traceparent(traceparents_[1]);
  ASSERT_TRUE(begun) << traceparents_[1];
  EXPECT_NE(begun->id, trace.id);
  loop_.stop();
}

TEST_F(InterpreterWebhookCalls, AnotherAuthorityThanTheConfiguredOneIsNotTrusted_L_22) {
  WebhookResolver resolver{{.executor = &loop_, .random = &random_, .user_agent = "test"}};
  auto other = std::make_shared<Question>(*question(1));
  const auto authority = make_authority("other", valid_for_days(SystemClock{}.now(), 1)).value();
  other->address.set("caBundle", base64_encode(authority.certificate_pem));
  testing::Awaited<Result<Value>> answer;
  loop_.call([&] { resolver.ask(state_, other, {}, [&](Result<Value> result) { answer.set(std::move(result)); }); });
  const auto result = answer.get();
  ASSERT_TRUE(result.has_value() && !result->has_value());
  EXPECT_NE(result->error().message.find("certificate"), std::string::npos) << result->error().message;
  EXPECT_EQ(received(), 0U);
  loop_.stop();
}

}  // namespace
}  // namespace shiplog
