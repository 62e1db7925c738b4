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

#include "events/base/json.h"
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

/// Notes delays, and does not wait for them. Its time stands still.
class HastyLoop final : public Executor {
 public:
  explicit HastyLoop(ThreadLoop& loop) : loop_{loop} {}
  void post(std::function<void()> run) override { loop_.post(std::move(run)); }
  void post_after(Millis delay, std::function<void()> run) override {
    {
      const std::lock_guard lock{mutex_};
      delays_.push_back(delay);
    }
    loop_.post(std::move(run));
  }
  UtcMillis now() const override { return UtcMillis{1'000'000}; }
  std::vector<Millis> delays() const {
    const std::lock_guard lock{mutex_};
    return delays_;
  }

 private:
  ThreadLoop& loop_;
  mutable std::mutex mutex_;
  std::vector<Millis> delays_;
};

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
    use(*server_);
    if (shared_.loop == nullptr) shared_.loop = &loop_;
    shared_.random = &random_;
    shared_.client = [this](const std::string&) -> Result<std::shared_ptr<HttpClient>> {
      const std::lock_guard lock{mutex_};
      return clients_.back();
    };
    budget_ = std::make_shared<CacheBudget>(budget);
    source_ = source_of("pods", "Pod");
    loop_.post([this] { source_->start(); });
  }
  /// Clients are for this server from here on.
  void use(const HttpServer& server) {
    auto client = HttpClient::create(io_, {.url = server.url()}).value();
    const std::lock_guard lock{mutex_};
    clients_.push_back(std::move(client));
  }
  std::shared_ptr<MemberSource> source_of(const std::string& plural, const std::string& kind) {
    return std::make_shared<MemberSource>(CachedScope{"m1", "", "v1", plural, kind, "", true}, shared_, budget_,
                                          [this] { ++changes_; });
  }
  void TearDown() override {
    if (source_ != nullptr) source_->stop();
    // What is under way calls back to the loop.
    for (const auto& client : clients_) client->close();
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
  std::vector<std::shared_ptr<HttpClient>> clients_;
  ThreadLoop loop_;
  HastyLoop hasty_{loop_};
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
  start([](const HttpRequest&, const Writer& writer) { send(writer, list_of(pod("a", "1"), "10")); }, endless,
        size_t{1} << 24U);
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
  EXPECT_TRUE(source_->settled()) << "requests do not wait for it";
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
  shared_.loop = &hasty_;
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
  EXPECT_TRUE(eventually([&] { return source_->settled(); })) << "requests do not wait for it for ever";
  EXPECT_EQ(source_->problem(), "") << "it is not known to have failed";
  EXPECT_FALSE(source_->collection().listed());
}

TEST_F(MemberSourceTest, AListsVersionIsLimitedAsThoseOfObjects) {
  start([](const HttpRequest&,
           const Writer& writer) { send(writer, list_of(pod("a", "1"), std::string(kLongestVersion + 1, '9'))); },
        [](const HttpRequest&, const Writer&) {});
  ASSERT_TRUE(eventually([&] { return source_->problem().find("too long") != std::string::npos; }))
      << source_->collection().version();
  EXPECT_FALSE(source_->collection().listed());
}

TEST_F(MemberSourceTest, TheBeginningOfALineIsCounted) {
  start([](const HttpRequest&, const Writer& writer) { send(writer, list_of(pod("a", "1"), "10")); },
        [this](const HttpRequest&, const Writer& writer) { stream(writer, std::string(size_t{3} << 20U, 'x')); });
  ASSERT_TRUE(eventually([&] { return source_->problem().find("no room for a line") != std::string::npos; }))
      << source_->problem();
  EXPECT_EQ(names(), "a@1 ") << "what was listed stays";
  EXPECT_LT(budget_->used(), size_t{1} << 16U);
}

TEST_F(MemberSourceTest, AWatchThatIsRefusedEndsAlsoIfItsTextDoesNot) {
  start([](const HttpRequest&, const Writer& writer) { send(writer, list_of(pod("a", "1"), "10")); },
        [this](const HttpRequest&, const Writer& writer) {
          writer->start(403, {});
          writer->write("no", [](const Result<void>&) {});
          const std::lock_guard lock{mutex_};
          open_.push_back(writer);
        });
  ASSERT_TRUE(eventually([&] { return source_->problem().find("HTTP status 403") != std::string::npos; }));
}

TEST_F(MemberSourceTest, AMemberThatEndsEachWatchIsAskedLessAndLessOften) {
  shared_.loop = &hasty_;
  start([](const HttpRequest&, const Writer& writer) { send(writer, list_of(pod("a", "1"), "10")); },
        [this](const HttpRequest&, const Writer& writer) {
          stream(writer,
                 line("BOOKMARK", R"({"metadata":{"resourceVersion":"11"}})") + line("ERROR", R"({"code":410})"));
        });
  ASSERT_TRUE(eventually([&] { return lists_ >= 6; }));
  const auto delays = hasty_.delays();
  ASSERT_GE(delays.size(), 5U);
  for (const Millis delay : delays) EXPECT_GE(delay, Millis{1'000});
  EXPECT_GE(delays.back(), Millis{8'000});
}

TEST_F(MemberSourceTest, AnotherServerIsListedAndTheFirstOneIsNotFollowed) {
  start([](const HttpRequest&, const Writer& writer) { send(writer, list_of(pod("old", "1"), "1000")); },
        [this](const HttpRequest&, const Writer& writer) { stream(writer, ""); });
  ASSERT_TRUE(eventually([&] { return watches_ == 1; }));
  std::atomic<int> resumed{0};
  const auto other = testing::serve([&, this](const HttpRequest& request, const Writer& writer) {
    if (request.query_value("watch") == nullptr) return send(writer, list_of(pod("new", "1"), "20"));
    resumed += *request.query_value("resourceVersion") == "20" ? 1 : 100;
    stream(writer, "");
  });
  use(*other);
  loop_.post([this] { source_->use_other_client(); });
  ASSERT_TRUE(eventually([&] { return names() == "new@1 "; }));
  ASSERT_TRUE(eventually([&] { return resumed > 0; }));
  EXPECT_EQ(resumed, 1) << "no version of the first one is used";
  Writer first;
  {
    const std::lock_guard lock{mutex_};
    first = open_.front();
  }
  EXPECT_TRUE(eventually([&] { return first->closed(); }));
}

TEST_F(MemberSourceTest, AWatchWithAnotherClientBeginsWithAList) {
  shared_.loop = &hasty_;
  const auto other = testing::serve([this](const HttpRequest& request, const Writer& writer) {
    if (request.query_value("watch") == nullptr) return send(writer, list_of(pod("new", "1"), "20"));
    stream(writer, "");
  });
  start([](const HttpRequest&, const Writer& writer) { send(writer, list_of(pod("old", "1"), "1000")); },
        [&, this](const HttpRequest&, const Writer& writer) {
          use(*other);
          send(writer, "");  // the watch ends in an orderly way
        });
  EXPECT_TRUE(eventually([&] { return names() == "new@1 "; }));
}

TEST_F(MemberSourceTest, WhereAChangeDoesNotFitTheBiggestKindIsDropped) {
  const CachedScope scope{"m1", "", "v1", "configmaps", "ConfigMap", "", true};
  const auto object = CachedObject::make(scope, parse_json(pod("a", "1")).value(), shared_.compressor,
                                         std::make_shared<CacheBudget>(size_t{1} << 20U));
  const size_t bytes = object.value()->bytes();
  shared_.biggest = [this](const std::string&) { return source_; };
  start(
      [](const HttpRequest& request, const Writer& writer) {
        const bool big = request.path == "/api/v1/pods";
        const std::string more = big ? "," + pod("b", "1") + "," + pod("c", "1") + "," + pod("d", "1") : "";
        send(writer, list_of(pod("a", "1") + more, "10"));
      },
      [this](const HttpRequest& request, const Writer& writer) {
        const bool big = request.path == "/api/v1/pods";
        stream(writer, big ? "" : line("MODIFIED", pod("a", "11")) + line("ADDED", pod("new", "12")));
      },
      bytes * 13 / 2);  // five are listed, the next one fits, the one after that does not
  ASSERT_TRUE(eventually([&] { return watches_ == 1; })) << source_->problem();
  const auto maps = source_of("configmaps", "ConfigMap");
  loop_.post([&] { maps->start(); });
  EXPECT_TRUE(eventually([&] { return maps->collection().version() == "12"; })) << maps->problem();
  EXPECT_EQ(maps->collection().size(), 2U);
  EXPECT_EQ(maps->problem(), "");
  EXPECT_FALSE(source_->collection().listed());
  EXPECT_NE(source_->problem().find("the search cache is full"), std::string::npos);
  maps->stop();
}

TEST_F(MemberSourceTest, APageOfTooManyValuesIsAskedForInSmallOnes) {
  start(
      [](const HttpRequest& request, const Writer& writer) {
        std::string many = R"({"a":[0)";
        if (*request.query_value("limit") == "250") {
          for (int i = 0; i < 500'000; ++i) many += ",0";
        }
        send(writer, list_of(pod("a", "1"), "10").insert(1, "\"values\":" + many + "]},"));
      },
      [this](const HttpRequest&, const Writer& writer) { stream(writer, ""); });
  EXPECT_TRUE(eventually([&] { return source_->collection().listed(); })) << source_->problem();
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

class ListTurnsTest : public ::testing::Test {
 protected:
  void take(char name, const std::string& cluster) {
    loop_.call([&, name] { turns_.take(cluster, [this, name] { begun_ += name; }); });
    loop_.call([] {});
  }
  void give_back(const std::string& cluster) {
    loop_.call([&] { turns_.give_back(cluster); });
    loop_.call([] {});
  }

  ThreadLoop loop_;
  Executor* executor_ = &loop_;
  ListTurns turns_{3, 2, executor_};
  std::string begun_;
};

TEST_F(ListTurnsTest, SoManyAtOnceAndTheOthersInTurn) {
  for (const char name : {'a', 'b', 'c', 'd', 'e'}) take(name, std::string{name});
  EXPECT_EQ(begun_, "abc");
  give_back("a");
  give_back("b");
  EXPECT_EQ(begun_, "abcde");
}

TEST_F(ListTurnsTest, OneClusterTakesNotAllOfThem) {
  for (const char name : {'1', '2', '3', '4'}) take(name, "frozen");
  EXPECT_EQ(begun_, "12");
  take('a', "other");
  EXPECT_EQ(begun_, "12a");
  take('b', "other");
  give_back("other");
  EXPECT_EQ(begun_, "12ab") << "before what waits of the frozen one";
  give_back("frozen");
  EXPECT_EQ(begun_, "12ab3");
}

}  // namespace
}  // namespace shiplog::api
