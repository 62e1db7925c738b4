// A member over HTTP as the estimator sees it.
#include "services/programs/estimator/member_view.h"

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "events/base/random.h"
#include "events/base/system.h"
#include "services/http/io_threads.h"
#include "tests/support/http_peers.h"
#include "tests/support/http_server.h"

namespace shiplog::estimator {
namespace {

using testing::eventually;
using testing::Writer;
using ObjectsOrError = Result<MemberObjects>;

std::string object(const std::string& name, const std::string& version, const std::string& ns) {
  return R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name + R"(","resourceVersion":")" + version +
         R"("}})";
}

class EstimatorsMemberView : public ::testing::Test {
 protected:
  EstimatorsMemberView() {
    server_ = testing::serve([this](const HttpRequest& request, const Writer& writer) { serve(request, writer); });
    ClientTarget target;
    target.url = server_->url();
    auto client = MemberClient::open([target]() -> Result<ClientTarget> { return target; },
                                     [this](const ClientTarget& to) -> Result<std::shared_ptr<HttpClient>> {
                                       SHIPLOG_TRY(std::shared_ptr<HttpClient> made, HttpClient::create(io_, to));
                                       return made;
                                     },
                                     clock_);
    view_ = std::make_unique<MemberView>("m1", std::move(client).value(), random_, true);
  }
  ~EstimatorsMemberView() override {
    view_->stop();
    io_->stop();
    view_.reset();
    server_.reset();
  }

  void serve(const HttpRequest& request, const Writer& writer) {
    if (frozen_) {
      const std::lock_guard lock{mutex_};
      return others_.push_back(writer);
    }
    if (silent_) return writer->send({503, {}, "overloaded"});
    const auto* limit = request.query_value("limit");
    if (request.query_value("watch") != nullptr) {
      writer->start(200, {{"Content-Type", "application/json"}});
      const std::lock_guard lock{mutex_};
      if (request.path == "/api/v1/pods") pods_ = writer;
      others_.push_back(writer);
      return;
    }
    if (limit != nullptr && *limit != "1") ++lists_;
    std::string items;
    if (request.path == "/api/v1/nodes") items = object("n1", "1", "");
    if (request.path == "/api/v1/pods") items = object("a", "2", "default");
    writer->send({200,
                  {{"Content-Type", "application/json"}},
                  R"({"metadata":{"resourceVersion":"10"},"items":[)" + items + "]}"});
  }
  void send_event(const std::string& type, const std::string& pod) {
    ASSERT_TRUE(eventually([&] {
      const std::lock_guard lock{mutex_};
      return pods_ != nullptr;
    }));
    const std::lock_guard lock{mutex_};
    pods_->write(R"({"type":")" + type + R"(","object":)" + pod + "}\n", [](const Result<void>&) {});
  }
  ObjectsOrError objects() {
    std::promise<ObjectsOrError> answer;
    view_->with([&](const Result<const MemberObjects*>& found) {
      answer.set_value(found ? ObjectsOrError{*found.value()} : ObjectsOrError{found.error()});
    });
    return answer.get_future().get();
  }
  std::string pods() {
    const auto found = objects();
    if (!found) return found.error().message;
    std::string names;
    for (const auto& [name, pod] : found.value().pods) names += name + " ";
    return names;
  }

  std::atomic<bool> silent_{false}, frozen_{false};
  std::atomic<int> lists_{0};
  std::mutex mutex_;
  Writer pods_;
  std::vector<Writer> others_;
  SystemClock clock_;
  SeededRandom random_{1};
  std::shared_ptr<IoThreads> io_ = std::make_shared<IoThreads>(1);
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<MemberView> view_;
};

TEST_F(EstimatorsMemberView, FollowsTheMemberAndListsItOnce) {
  EXPECT_EQ(pods(), "default/a ");
  EXPECT_EQ(objects().value().nodes.size(), 1U);
  send_event("ADDED", object("b", "11", "default"));
  EXPECT_TRUE(eventually([&] { return pods() == "default/a default/b "; })) << pods();
  send_event("DELETED", object("a", "12", "default"));
  EXPECT_TRUE(eventually([&] { return pods() == "default/b "; })) << pods();
  EXPECT_EQ(lists_, 5) << "each kind once, however many questions";
}

TEST_F(EstimatorsMemberView, MoreChangesThanAreKeptAreReadAnew) {
  EXPECT_EQ(pods(), "default/a ");
  for (int number = 0; number < 600; ++number) {
    send_event("MODIFIED", object("a", std::to_string(100 + number), "default"));
  }
  send_event("ADDED", object("b", "800", "default"));
  EXPECT_TRUE(eventually([&] { return pods() == "default/a default/b "; })) << pods();
  EXPECT_EQ(objects().value().pods["default/a"]["metadata"]["resourceVersion"].as_string(), "699");
}

TEST_F(EstimatorsMemberView, OfAMemberThatDoesNotAnswerNothingOldIsReported) {
  EXPECT_EQ(pods(), "default/a ");
  silent_ = true;
  ObjectsOrError found = objects();
  EXPECT_TRUE(eventually([&] { return !(found = objects()); })) << "it is asked after a second";
  EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(found.error().message.find("HTTP status 503"), std::string::npos) << found.error().message;
  silent_ = false;
  EXPECT_EQ(pods(), "default/a ") << "it answers again";
}

TEST_F(EstimatorsMemberView, OfAMemberThatIsFrozenNothingOldIsReported) {
  EXPECT_EQ(pods(), "default/a ");
  frozen_ = true;
  ObjectsOrError found = objects();
  EXPECT_TRUE(eventually([&] { return !(found = objects()); })) << "its watches stay open";
  EXPECT_EQ(pods().find("default/a"), std::string::npos);
}

}  // namespace
}  // namespace shiplog::estimator
