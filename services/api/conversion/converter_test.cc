// Calls of conversion webhooks, on a server in this process that answers when the test lets it.
#include "services/api/conversion/converter.h"

#include <deque>
#include <mutex>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/random.h"
#include "tests/support/http_peers.h"

namespace shiplog::api {
namespace {

using Objects = Result<std::vector<Value>>;

class ConverterTest : public ::testing::Test {
 protected:
  ConverterTest() {
    server_ = HttpServer::start(testing::tls_options(), [this](const HttpRequest& request, auto writer) {
                const Value asked = parse_json(request.body).value()["request"];
                const std::lock_guard lock{mutex_};
                asked_.push_back(asked);
                if (frozen_) return held_.push_back(writer);
                writer->send({200, {}, to_json(answer_to(asked))});
              }).value();
  }
  ~ConverterTest() override {
    webhooks_.stop();
    const std::lock_guard lock{mutex_};
    frozen_ = false;  // what still arrives is not held
    held_.clear();
  }

  static Value answer_to(const Value& asked) {
    std::vector<Value> objects;
    for (const Value& object : asked["objects"].items()) {
      objects.push_back(object);
      objects.back().set("apiVersion", asked["desiredAPIVersion"]);
    }
    Value response = Value::object({{"uid", asked["uid"]}, {"result", Value::object({{"status", "Success"}})}});
    response.set("convertedObjects", Value::array(std::move(objects)));
    return Value::object(
        {{"kind", "ConversionReview"}, {"apiVersion", "apiextensions.k8s.io/v1"}, {"response", std::move(response)}});
  }

  /// A kind whose conversion webhook is the server.
  Kind kind(const std::string& plural) const {
    Kind made;
    made.group = "example.com";
    made.version = "v2";
    made.kind = "Shirt";
    made.plural = plural;
    made.conversion = parse_json(R"({"conversionReviewVersions":["v1"]})").value();
    Value& client = made.conversion.edit("clientConfig");
    client.set("url", "https://127.0.0.1:" + std::to_string(server_->bound_port()));
    client.set("caBundle", base64_encode(testing::TestCertificates::get().authority.certificate_pem));
    return made;
  }
  static Value shirt(int number) {
    Value object = Value::object({{"apiVersion", "example.com/v1"}, {"kind", "Shirt"}});
    object.edit("metadata").set("name", "shirt-" + std::to_string(number));
    return object;
  }
  ConversionTask task(const Kind& wanted, int count = 1) {
    ConversionTask made;
    made.calls.webhooks = &webhooks_;
    made.calls.random = &random_;
    made.calls.post = [this](std::function<void()> work) {
      const std::lock_guard lock{mutex_};
      posted_.push_back(std::move(work));
    };
    made.wanted = &wanted;
    for (int i = 0; i < count; ++i) made.objects.push_back(shirt(i));
    return made;
  }
  /// Runs what is posted until `over`.
  template <class Over>
  bool run_until(Over over) {
    return testing::eventually([&] {
      std::deque<std::function<void()>> work;
      {
        const std::lock_guard lock{mutex_};
        work.swap(posted_);
      }
      for (const auto& each : work) each();
      return over();
    });
  }
  Objects converted(ConversionTask asked) {
    std::optional<Objects> result;
    converter_->convert(std::move(asked), [&](Objects objects) { result = std::move(objects); });
    EXPECT_TRUE(run_until([&] { return result.has_value(); }));
    return result.value_or(Objects{Error{}});
  }
  /// How many of the requests for the kind are not refused at once.
  size_t admitted(const Kind& wanted, size_t requests, const std::function<bool()>& abandoned = nullptr) {
    const auto refused = std::make_shared<size_t>(0);
    for (size_t i = 0; i < requests; ++i) {
      ConversionTask asked = task(wanted);
      asked.abandoned = abandoned;
      converter_->convert(std::move(asked), [refused, this](const Objects& result) {
        if (!result && result.error().code == ErrorCode::kTooManyRequests) ++*refused;
        if (!result && result.error().code == ErrorCode::kUnavailable) ++dropped_;
      });
    }
    return requests - *refused;
  }
  void freeze() {
    const std::lock_guard lock{mutex_};
    frozen_ = true;
  }
  std::vector<Value> asked() {
    const std::lock_guard lock{mutex_};
    return asked_;
  }

  SeededRandom random_{7};
  size_t dropped_ = 0;
  std::mutex mutex_;
  bool frozen_ = false;
  std::vector<Value> asked_;
  std::vector<std::shared_ptr<ResponseWriter>> held_;
  std::deque<std::function<void()>> posted_;
  Webhooks webhooks_;
  std::shared_ptr<Converter> converter_ = std::make_shared<Converter>();
  std::unique_ptr<HttpServer> server_;
};

TEST_F(ConverterTest, ManyObjectsAreConvertedInSeveralCallsAndKeepTheirOrder) {
  const Kind wanted = kind("shirts");
  const Objects objects = converted(task(wanted, 450));
  ASSERT_TRUE(objects) << objects.error().message;
  ASSERT_EQ(objects.value().size(), 450U);
  for (int i = 0; i < 450; ++i) {
    Value expected = shirt(i);
    expected.set("apiVersion", "example.com/v2");
    EXPECT_EQ(objects.value()[static_cast<size_t>(i)], expected);
  }
  ASSERT_EQ(asked().size(), 3U);
  EXPECT_EQ(asked()[2]["objects"].size(), 50U);
}

TEST_F(ConverterTest, NoCallIsMadeOnceTheRequestIsOver) {
  const Kind wanted = kind("shirts");
  ConversionTask late = task(wanted);
  late.until = ConversionTask::Moment{};
  const Objects timed_out = converted(std::move(late));
  ASSERT_FALSE(timed_out);
  EXPECT_EQ(timed_out.error().code, ErrorCode::kTimeout);
  // Its client disconnects during the first call.
  ConversionTask left = task(wanted, 450);
  left.abandoned = [this] { return !asked().empty(); };
  const Objects dropped = converted(std::move(left));
  ASSERT_FALSE(dropped);
  EXPECT_EQ(dropped.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(asked().size(), 1U);
}

TEST_F(ConverterTest, KindsWithSlowWebhooksLeaveSomethingToTheOthers) {
  freeze();
  const std::vector<Kind> kinds = {kind("a"), kind("b"), kind("c"), kind("d"), kind("e")};
  std::vector<size_t> all;
  for (const Kind& each : kinds) all.push_back(admitted(each, 45));
  EXPECT_EQ(all, (std::vector<size_t>{40, 40, 20, 10, 5}));
}

TEST_F(ConverterTest, WaitingRequestsOfClosedConnectionsMakeRoom) {
  freeze();
  const Kind wanted = kind("shirts");
  bool closed = false;
  EXPECT_EQ(admitted(wanted, 45, [&] { return closed; }), 40U);
  closed = true;
  EXPECT_EQ(admitted(wanted, 40), 32U) << "8 calls are under way";
  EXPECT_TRUE(run_until([&] { return dropped_ == 32; }));
}

}  // namespace
}  // namespace shiplog::api
