// A member that is listed and watched for the search cache, and what a hostile one makes of it.
#include "services/api/search/member_source.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/random.h"
#include "services/http/client.h"
#include "services/runtime/thread_loop.h"
#include "tests/support/http_peers.h"
#include "tests/support/http_server.h"

namespace shiplog::api {
namespace {

using testing::eventually;
using testing::Writer;

std::string pod(const std::string& name, const std::string& version, const std::string& ns = "default") {
  return R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name + R"(","resourceVersion":")" + version +
         R"("}})";
}
std::string list_of(const std::string& items, const std::string& version, const std::string& token = {}) {
  return R"({"kind":"PodList","metadata":{"resourceVersion":")" + version + R"(","continue":")" + token +
         R"("},"items":[)" + items + "]}";
}
std::string line(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

class MemberSourceTest : public ::testing::Test {
 protected:
  using Answer = std::function<void(const HttpRequest&, const Writer&)>;
  /// Lists and watches are answered by these.
  void start(Answer on_list, Answer on_watch, size_t budget = size_t{1} << 20U) {
    server_ = testing::serve([this, on_list = std::move(on_list), on_watch = std::move(on_watch)](
                                 const HttpRequest& request, const Writer& writer) {
      const bool watch = request.query_value("watch") != nullptr;
      ++(watch ? watches_ : lists_);
      watch ? on_watch(request, writer) : on_list(request, writer);
    });
    client_ = HttpClient::create(io_, {.url = server_->url()}).value();
    shared_.loop = &loop_;
    shared_.random = &random_;
    shared_.client = [this](const std::string&) -> Result<std::shared_ptr<HttpClient>> { return client_; };
    budget_ = std::make_shared<CacheBudget>(budget);
    source_ = std::make_shared<MemberSource>(CachedScope{"m1", "", "v1", "pods", "Pod", "", true}, shared_, budget_,
                                             [this] { ++changes_; });
    loop_.post([this] { source_->start(); });
  }
  void TearDown() override {
    if (source_ != nullptr) source_->stop();
    // What is under way calls back to the loop.
    if (client_ != nullptr) client_->close();
    server_.reset();
    loop_.stop();
  }
  static void send(const Writer& writer, const std::string& body, int status = 200) {
    writer->send({status, {{"Content-Type", "application/json"}}, body});
  }
  /// Answers a watch with the lines, and leaves it open.
  void stream(const Writer& writer, const std::string& lines) {
    writer->start(200, {{"Content-Type", "application/json"}});
    writer->write(lines, [](const Result<void>&) {});
    const std::lock_guard lock{mutex_};
    open_.push_back(writer);
  }
  std::string names() const {
    std::string names;
    for (const auto& object : source_->collection().objects("", "", 1000)) {
      names += std::string{object->name()} + "@" + std::string{object->version()} + " ";
    }
    return names;
  }

  std::mutex mutex_;
  std::vector<Writer> open_;
  std::vector<std::shared_ptr<std::function<void(const Result<void>&)>>> endless_;
  std::atomic<int> lists_{0}, watches_{0}, changes_{0};
  SeededRandom random_{1};
  std::shared_ptr<IoThreads> io_ = std::make_shared<IoThreads>(1);
  std::unique_ptr<HttpServer> server_;
  std::shared_ptr<HttpClient> client_;
  ThreadLoop loop_;
  MemberSource::Shared shared_;
  std::shared_ptr<CacheBudget> budget_;
  std::shared_ptr<MemberSource> source_;
};

TEST_F(MemberSourceTest, ListsInPagesAndFollowsTheWatch) {
  start(
      [](const HttpRequest& request, const Writer& writer) {
        EXPECT_EQ(request.path, "/api/v1/pods");
        const bool second = request.query_value("continue") != nullptr;
        send(writer, second ? list_of(pod("b", "2"), "10") : list_of(pod("a", "1"), "10", "next"));
      },
      [this](const HttpRequest& request, const Writer& writer) {
        EXPECT_EQ(*request.query_value("resourceVersion"), "10");
        stream(writer, line("ADDED", pod("c", "11")) + line("MODIFIED", pod("a", "12")) +
                           line("DELETED", pod("b", "13")) +
                           line("BOOKMARK", R"({"metadata":{"resourceVersion":"20"}})"));
      });
  ASSERT_TRUE(eventually([&] { return source_->collection().version() == "20"; })) << source_->problem();
  EXPECT_EQ(names(), "a@12 c@11 ");
  EXPECT_TRUE(source_->settled());
  EXPECT_EQ(source_->problem(), "");
}

TEST_F(MemberSourceTest, ListsAgainWhenTheWatchIsTooOld) {
  start(
      [this](const HttpRequest&, const Writer& writer) {
        send(writer, lists_ == 1 ? list_of(pod("a", "1"), "10") : list_of(pod("b", "2"), "20"));
      },
      [this](const HttpRequest&, const Writer& writer) {
        stream(writer, watches_ == 1 ? line("ERROR", R"({"code":410})") : "");
      });
  ASSERT_TRUE(eventually([&] { return names() == "b@2 "; }));
  EXPECT_EQ(source_->collection().version(), "20");
}

TEST_F(MemberSourceTest, AnEndlessLineEndsTheWatchAndTakesNoMemory) {
  const auto endless = [this](const HttpRequest&, const Writer& writer) {
    writer->start(200, {});
    const auto more = std::make_shared<std::function<void(const Result<void>&)>>();
    *more = [writer, weak = std::weak_ptr{more}](const Result<void>& written) {
      const auto self = weak.lock();
      if (written && self) writer->write(std::string(size_t{1} << 20U, 'x'), *self);
    };
    const std::lock_guard lock{mutex_};
    endless_.push_back(more);
    (*more)(ok());
  };
  start([](const HttpRequest&, const Writer& writer) { send(writer, list_of(pod("a", "1"), "10")); }, endless);
  ASSERT_TRUE(eventually([&] { return source_->problem().find("a line is larger") != std::string::npos; }))
      << source_->problem();
  EXPECT_EQ(names(), "a@1 ") << "what was listed stays";
}

TEST_F(MemberSourceTest, AnEndlessListIsGivenUp) {
  start([](const HttpRequest&, const Writer& writer) { send(writer, list_of(pod("a", "1"), "10", "again")); },
        [](const HttpRequest&, const Writer&) {});
  ASSERT_TRUE(
      eventually([&] { return source_->problem().find("no object that those before lack") != std::string::npos; }));
  EXPECT_FALSE(source_->collection().listed());
  EXPECT_TRUE(source_->settled()) << "nobody waits for it";
}

TEST_F(MemberSourceTest, WhatIsNotJsonOrNotAskedForIsRefused) {
  start([this](const HttpRequest&, const Writer& writer) { send(writer, lists_ == 1 ? "{" : "[]"); },
        [](const HttpRequest&, const Writer&) {});
  EXPECT_TRUE(eventually([&] { return !source_->problem().empty(); }));
  EXPECT_TRUE(eventually([&] { return lists_ >= 2; })) << "it is tried again";
  EXPECT_FALSE(source_->collection().listed());
}

TEST_F(MemberSourceTest, AMemberBeyondItsMemoryIsDroppedLoudly) {
  start(
      [](const HttpRequest&, const Writer& writer) {
        send(writer, list_of(pod("a", "1") + "," + pod("b", "1") + "," + pod("c", "1"), "10"));
      },
      [](const HttpRequest&, const Writer&) {}, 500);
  ASSERT_TRUE(eventually([&] { return source_->problem().find("--search-cache-bytes") != std::string::npos; }))
      << source_->problem();
  EXPECT_TRUE(eventually([&] { return budget_->used() == 0; }));
  EXPECT_FALSE(source_->collection().listed());
}

TEST_F(MemberSourceTest, AnErrorOfTheMemberIsAProblemWithItsStatus) {
  start([](const HttpRequest&, const Writer& writer) { send(writer, "{}", 403); },
        [](const HttpRequest&, const Writer&) {});
  ASSERT_TRUE(eventually([&] { return source_->problem().find("HTTP status 403") != std::string::npos; }));
}

TEST_F(MemberSourceTest, AFrozenMemberHoldsUpNoOther) {
  start(
      [this](const HttpRequest&, const Writer& writer) {
        const std::lock_guard lock{mutex_};
        open_.push_back(writer);  // never answered
      },
      [](const HttpRequest&, const Writer&) {});
  ASSERT_TRUE(eventually([&] { return lists_ == 1; }));
  std::atomic<bool> ran{false};
  loop_.post([&] { ran = true; });
  EXPECT_TRUE(eventually([&] { return ran.load(); })) << "its thread waits for no member";
  EXPECT_FALSE(source_->settled());
}

TEST_F(MemberSourceTest, NothingIsTakenInOnceItIsStopped) {
  start([](const HttpRequest&, const Writer& writer) { send(writer, list_of(pod("a", "1"), "10")); },
        [this](const HttpRequest&, const Writer& writer) { stream(writer, ""); });
  ASSERT_TRUE(eventually([&] { return watches_ == 1; }));
  source_->stop();
  Writer writer;
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock{mutex_};
    if (!open_.empty()) writer = open_.front();
    return writer != nullptr;
  }));
  writer->write(line("ADDED", pod("late", "11")), [](const Result<void>&) {});
  EXPECT_TRUE(eventually([&] { return writer->closed(); })) << "the watch is ended";
  loop_.call([] {});
  EXPECT_EQ(names(), "a@1 ");
}

TEST(ListTurns, SoManyAtOnceAndTheOthersInTurn) {
  ThreadLoop loop;
  Executor* executor = &loop;
  loop.call([&] {
    ListTurns turns{2, executor};
    std::string begun;
    for (const char name : {'a', 'b', 'c', 'd'}) turns.take([&begun, name] { begun += name; });
    EXPECT_EQ(begun, "ab");
  });
}

}  // namespace
}  // namespace shiplog::api
