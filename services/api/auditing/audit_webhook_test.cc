#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/system.h"
#include "services/api/auditing/audit_backend.h"
#include "services/api/auditing/audit_webhook_sink.h"
#include "services/http/kubeconfig.h"
#include "services/http/server.h"

namespace shiplog::api {
namespace {

namespace fs = std::filesystem;

/// A server that fails so often, and keeps what it was sent.
class AuditReceiver {
 public:
  AuditReceiver() {
    auto server = HttpServer::start({}, [this](HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
      const std::lock_guard lock{mutex_};
      requests_.push_back(std::move(request));
      writer->send({failures_-- > 0 ? status_.load() : 200, {}, "{}"});
    });
    EXPECT_TRUE(server);
    server_ = std::move(server).value();
    std::string name = fs::temp_directory_path() / "webhook-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    EXPECT_TRUE(write_kubeconfig(config(), "siem", {.url = server_->url() + "/k8s/audit"}));
  }
  ~AuditReceiver() { fs::remove_all(folder_); }

  std::string config() const { return folder_ / "config"; }
  void fail(int times, int status) {
    failures_ = times;
    status_ = status;
  }
  std::vector<HttpRequest> requests() const {
    const std::lock_guard lock{mutex_};
    return requests_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::atomic<int> failures_{0}, status_{500};
  std::unique_ptr<HttpServer> server_;
  fs::path folder_;
};

std::vector<Value> events() {
  return {Value::object({{"kind", "Event"}, {"auditID", "a"}}), Value::object({{"kind", "Event"}, {"auditID", "b"}})};
}

TEST(AuditWebhook, PostsAnEventListToTheUrlOfTheKubeconfig) {
  const AuditReceiver receiver;
  SystemRandom random;
  const auto sink = make_audit_webhook(receiver.config(), Millis{10}, random).value();
  ASSERT_TRUE(sink->deliver(events()));
  const auto requests = receiver.requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].path, "/k8s/audit");
  const Value list = parse_json(requests[0].body).value();
  EXPECT_EQ(list["kind"].str(), "EventList");
  EXPECT_EQ(list["apiVersion"].str(), "audit.k8s.io/v1");
  EXPECT_EQ(list["items"][1]["auditID"].str(), "b");
}

TEST(AuditWebhook, TriesAgainWhatMaySucceedLaterFiveTimesInAll) {
  AuditReceiver receiver;
  SystemRandom random;
  const auto sink = make_audit_webhook(receiver.config(), Millis{5}, random).value();
  receiver.fail(2, 503);
  EXPECT_TRUE(sink->deliver(events()));
  EXPECT_EQ(receiver.requests().size(), 3U);
  receiver.fail(100, 503);
  EXPECT_FALSE(sink->deliver(events()));
  EXPECT_EQ(receiver.requests().size(), 3U + 5U);
  receiver.fail(100, 403);
  const auto refused = sink->deliver(events());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("/k8s/audit: the answer was 403"), std::string::npos);
  EXPECT_EQ(receiver.requests().size(), 3U + 5U + 1U);
}

TEST(AuditWebhook, AWaitBetweenTriesEndsWithTheProcess) {
  AuditReceiver receiver;
  SystemRandom random;
  receiver.fail(100, 503);
  const auto begin = std::chrono::steady_clock::now();
  {
    AuditBackend backend{{.plugin = "webhook"}, make_audit_webhook(receiver.config(), Millis{60'000}, random).value()};
    auto request = std::make_shared<AuditedRequest>();
    backend.record({request, AuditStage::kRequestReceived, {}, 0, "", "", ""}, nullptr);
    while (receiver.requests().empty()) std::this_thread::yield();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{20});
}

TEST(AuditWebhook, AKubeconfigThatCannotBeUsedIsNamed) {
  SystemRandom random;
  const auto sink = make_audit_webhook("/none/config", Millis{10}, random);
  ASSERT_FALSE(sink);
  EXPECT_NE(sink.error().message.find("/none/config"), std::string::npos);
}

}  // namespace
}  // namespace shiplog::api
