#include "services/adapters/members/https_members.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "events/base/base64.h"
#include "events/base/system.h"
#include "services/http/io_threads.h"
#include "services/runtime/thread_loop.h"
#include "tests/support/given.h"
#include "tests/support/http_peers.h"
#include "tests/support/http_server.h"

namespace shiplog {
namespace {

using given::History;
using testing::Awaited;

const ObjectKey kCluster{type::kCluster, "", "m1"};
const ObjectKey kSecret{type::kSecret, "karmada-cluster", "m1"};

void register_member(History& history, const std::string& url) {
  history.object(kCluster, R"({"spec": {"apiEndpoint": ")" + url +
                               R"(", "secretRef": {"namespace": "karmada-cluster", "name": "m1"}}})");
  history.object({type::kNamespace, "", "karmada-cluster"}, "{}");
}

std::unique_ptr<HttpsMembers> make_members(const History& history, ThreadLoop& loop, SystemRandom& random,
                                           std::shared_ptr<IoThreads> io = std::make_shared<IoThreads>(1)) {
  return std::make_unique<HttpsMembers>(HttpsMembers::Options{.state = &history.state(),
                                                              .executor = &loop,
                                                              .random = &random,
                                                              .io = std::move(io),
                                                              .open = {},
                                                              .user_agent = "test",
                                                              .denied_networks = nullptr,
                                                              .watches_leave_out_managed_fields = true});
}

class MembersOverHttps : public ::testing::Test {
 protected:
  MembersOverHttps()
      : server{testing::serve(
            [this](const HttpRequest& request, const testing::Writer& writer) { serve(request, writer); })} {
    register_member(history, server->url());
    write_token("old");
    members = make_members(history, loop, random);
  }
  ~MembersOverHttps() override {
    loop.call([this] { members.reset(); });
    loop.stop();
    server->stop(Millis{1000});
  }

  void write_token(const std::string& token) {
    history.object(kSecret, R"({"data": {"token": ")" + base64_encode(token) + R"("}})");
  }
  /// 401 for all tokens but `valid`. The first request is held until release().
  void serve(const HttpRequest& request, const testing::Writer& writer) {
    std::unique_lock lock{mutex};
    tokens.emplace_back(request.headers.get("Authorization"));
    if (tokens.size() == 1) {
      arrived.set(true);
      released.wait(lock, [this] { return open; });
    }
    const int status = tokens.back() == "Bearer " + valid ? 200 : 401;
    writer->send({status, {{"Content-Type", "application/json"}}, "{}"});
  }
  void release() {
    const std::lock_guard lock{mutex};
    open = true;
    released.notify_all();
  }
  int status_while(const std::function<void()>& under_way) {
    Awaited<int> answered;
    loop.post([&] {
      members->request("m1", {.method = "GET", .path = "/x", .body = {}}, [&](const Result<MemberResponse>& response) {
        answered.set(response ? response.value().status : -1);
      });
    });
    EXPECT_TRUE(arrived.get());
    loop.call(under_way);
    release();
    return answered.get().value_or(-2);
  }

  std::mutex mutex;
  std::condition_variable released;
  bool open = false;
  std::string valid = "old";
  std::vector<std::string> tokens;
  Awaited<bool> arrived;
  ThreadLoop loop;
  SystemRandom random;
  History history;
  std::unique_ptr<HttpServer> server;
  std::unique_ptr<HttpsMembers> members;
};

TEST_F(MembersOverHttps, ARequestThatWasUnderWayWhenCredentialsChangedIsSentAgain_1_14_13) {
  const int status = status_while([this] {
    write_token("new");
    const std::lock_guard lock{mutex};
    valid = "new";
  });
  EXPECT_EQ(status, 200);
  EXPECT_EQ(tokens, (std::vector<std::string>{"Bearer old", "Bearer new"}));
}

TEST_F(MembersOverHttps, ARefusalOfThePresentCredentialsIsTheAnswer_1_14_13) {
  const int status = status_while([this] {
    const std::lock_guard lock{mutex};
    valid = "none";
  });
  EXPECT_EQ(status, 401);
  EXPECT_EQ(tokens.size(), 1U);
}

TEST_F(MembersOverHttps, WhatWasCarriedOutWithTheOldOnesIsNotRepeated_1_14_13) {
  EXPECT_EQ(status_while([this] { write_token("new"); }), 200);
  EXPECT_EQ(tokens.size(), 1U);
}

TEST_F(MembersOverHttps, OnceClosedNothingHoldsTheNetworkThreads) {
  auto io = std::make_shared<IoThreads>(1);
  auto closed = make_members(history, loop, random, io);
  int answers = 0;
  std::unique_ptr<MemberWatch> watch;
  loop.call([&] {
    const Millis long_after_the_test{3'600'000};
    closed->request("m1", {.method = "GET", .path = "/x", .body = {}, .timeout = long_after_the_test},
                    [&](const Result<MemberResponse>&) { ++answers; });
  });
  EXPECT_TRUE(arrived.get()) << "the first one is held";
  loop.call([&] {
    watch = closed->watch(
        "m1", "/y", [](const Value&) {}, [](const Result<void>&) {});
  });
  EXPECT_GT(io.use_count(), 2);
  loop.call([&] {
    watch.reset();
    closed->close();
    closed->request("m1", {.method = "GET", .path = "/x", .body = {}}, [&](const Result<MemberResponse>& response) {
      EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
      ++answers;
    });
  });
  loop.call([&] { closed.reset(); });
  EXPECT_TRUE(testing::eventually([&] { return io.use_count() == 1; }));
  loop.call([] {});
  EXPECT_EQ(answers, 1) << "what was under way is not answered";
  release();
}

/// The document of a server, as it is now.
class KnownDocuments : public ::testing::Test {
 protected:
  KnownDocuments()
      : server{testing::serve([this](const HttpRequest& request, const testing::Writer& writer) {
          const std::lock_guard lock{mutex};
          conditions.emplace_back(request.headers.get("If-None-Match"));
          accepts.emplace_back(request.headers.get("Accept"));
          HttpHeaders headers{{"Content-Type", "application/json"}};
          if (!etag.empty()) headers.set("ETag", etag);
          if (!etag.empty() && conditions.back() == etag) return writer->send({304, headers, ""});
          writer->send({200, headers, document});
        })} {
    register_member(history, server->url());
    history.object(kSecret, R"({"data": {"token": ""}})");
    members = make_members(history, loop, random);
  }
  ~KnownDocuments() override {
    loop.call([this] { members.reset(); });
    loop.stop();
    server->stop(Millis{1000});
  }

  void serve(const std::string& new_document, const std::string& new_etag) {
    const std::lock_guard lock{mutex};
    document = new_document;
    etag = new_etag;
  }
  MemberResponse read(const std::optional<Edition>& known) {
    Awaited<MemberResponse> answered;
    loop.post([&] {
      MemberRequest request{.method = "GET", .path = "/x", .body = {}};
      request.accept = "application/json;as=X";
      request.known = known;
      members->request("m1", std::move(request),
                       [&](const Result<MemberResponse>& response) { answered.set(response.value()); });
    });
    return answered.get().value_or(MemberResponse{});
  }

  std::mutex mutex;
  std::string document = R"({"a":1})", etag = R"(W/"1")";
  std::vector<std::string> conditions, accepts;
  ThreadLoop loop;
  SystemRandom random;
  History history;
  std::unique_ptr<HttpServer> server;
  std::unique_ptr<HttpsMembers> members;
};

TEST_F(KnownDocuments, AreNotSentAgainByAServerThatGivesETags) {
  const MemberResponse first = read(Edition{});
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body["a"], Value{1});
  const MemberResponse same = read(first.edition);
  EXPECT_EQ(same.status, 304);
  EXPECT_TRUE(same.body.is_null());
  EXPECT_EQ(same.edition, first.edition);
  serve(R"({"a":2})", R"(W/"2")");
  EXPECT_EQ(read(first.edition).body["a"], Value{2});
  EXPECT_EQ(conditions, (std::vector<std::string>{"", R"(W/"1")", R"(W/"1")"}));
  EXPECT_EQ(accepts.front(), "application/json;as=X");
}

TEST_F(KnownDocuments, AreNotParsedAgainIfTheirTextIsTheSame) {
  serve(R"({"a":1})", "");
  const MemberResponse first = read(Edition{});
  EXPECT_EQ(first.status, 200);
  EXPECT_TRUE(first.edition.etag.empty());
  EXPECT_EQ(read(first.edition).status, 304);
  serve(R"({"a":1})", R"("9")");
  const MemberResponse with_etag = read(first.edition);
  EXPECT_EQ(with_etag.status, 304);
  EXPECT_EQ(with_etag.edition.etag, R"("9")") << "the next request has it";
  serve(R"({"a":2})", "");
  EXPECT_EQ(read(with_etag.edition).body["a"], Value{2});
  EXPECT_EQ(conditions, (std::vector<std::string>{"", "", "", R"("9")"}));
}

TEST_F(KnownDocuments, WithoutTheirETagAreComparedByTheirText) {
  const MemberResponse first = read(Edition{});
  serve(R"({"a":2})", R"(W/"1")");  // an ETag that lies
  EXPECT_EQ(read(first.edition).status, 304);
  EXPECT_EQ(read(Edition{.digest = first.edition.digest}).body["a"], Value{2});
}

TEST_F(KnownDocuments, OfWhichNoneIsWantedAreAlwaysRead) {
  EXPECT_EQ(read(std::nullopt).status, 200);
  EXPECT_EQ(read(std::nullopt).body["a"], Value{1});
}

TEST_F(KnownDocuments, OfWatchedObjectsOnlyPartsAreReadIfNoMoreAreWanted) {
  serve(R"({"type":"ADDED","object":{"metadata":{"name":"a","uid":"u"},"spec":{"x":1},"status":{"y":[{"z":1,"w":2}]}}})"
        "\n"
        R"({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "7"}}})"
        "\n",
        "");
  const ObjectParts parts{{}, {{"metadata", {{"name", {}}}}, {"status", {{"y", {{"z", {}}}}}}}};
  std::vector<Value> events;
  Awaited<bool> ended;
  std::unique_ptr<MemberWatch> watch;
  loop.call([&] {
    watch = members->watch_parts(
        "m1", "/x", parts, [&](const Value& event) { events.push_back(event); },
        [&](const Result<void>& end) { ended.set(end.has_value()); });
  });
  EXPECT_TRUE(ended.get().value_or(false));
  loop.call([&] { watch.reset(); });
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(to_json(events[0]), R"({"object":{"metadata":{"name":"a"},"status":{"y":[{"z":1}]}},"type":"ADDED"})");
  EXPECT_EQ(events[1]["object"]["metadata"]["resourceVersion"], Value{"7"}) << "with white space it is read as it is";
}

TEST_F(MembersOverHttps, OfWhatOnlyErrorsAreReadASuccessHasNoBody) {
  release();
  const auto body_of = [this](bool only_errors) {
    Awaited<Value> answered;
    loop.post([&] {
      members->request("m1", {.method = "GET", .path = "/x", .body = {}, .only_errors = only_errors},
                       [&](const Result<MemberResponse>& response) { answered.set(response.value().body); });
    });
    return answered.get().value_or("none");
  };
  {
    const std::lock_guard lock{mutex};
    valid = "old";
  }
  EXPECT_TRUE(body_of(false).is_object());
  EXPECT_TRUE(body_of(true).is_null());
  {
    const std::lock_guard lock{mutex};
    valid = "none";
  }
  EXPECT_TRUE(body_of(true).is_object());
}

/// One request that follows another, to a server that answers each path with a status.
class RequestsInARow : public ::testing::Test {
 protected:
  RequestsInARow()
      : server{testing::serve([this](const HttpRequest& request, const testing::Writer& writer) {
          const std::lock_guard lock{mutex};
          paths.push_back(request.path);
          writer->send({status_of[request.path], {{"Content-Type", "application/json"}}, R"({"a":1})"});
        })} {
    register_member(history, server->url());
    history.object(kSecret, R"({"data": {"token": ""}})");
    members = make_members(history, loop, random);
  }
  ~RequestsInARow() override {
    loop.call([this] { members.reset(); });
    loop.stop();
    server->stop(Millis{1000});
  }

  MemberResponse health(int first, int next) {
    {
      const std::lock_guard lock{mutex};
      status_of = {{"/readyz", first}, {"/apis", next}};
      paths.clear();
    }
    Awaited<MemberResponse> answered;
    loop.post([&] {
      MemberRequest request{.path = "/readyz", .body = {}};
      MemberRequest apis{.path = "/apis", .body = {}};
      request.next = std::make_shared<const MemberRequest>(apis);
      request.patience = patience;
      members->request("m1", std::move(request),
                       [&](const Result<MemberResponse>& response) { answered.set(response.value()); });
    });
    return answered.get().value_or(MemberResponse{});
  }

  std::mutex mutex;
  std::map<std::string, int> status_of;
  std::vector<std::string> paths;
  Millis patience{0};
  ThreadLoop loop;
  SystemRandom random;
  History history;
  std::unique_ptr<HttpServer> server;
  std::unique_ptr<HttpsMembers> members;
};

TEST_F(RequestsInARow, TheNextIsSentOnceTheFirstHasBeenAnsweredWith200) {
  for (const Millis wait : {Millis{0}, Millis{20}}) {
    patience = wait;
    const MemberResponse both = health(200, 200);
    EXPECT_EQ(both.status, 200);
    ASSERT_NE(both.next, nullptr);
    EXPECT_EQ(both.next->value().body["a"], Value{1});
    EXPECT_EQ(paths, (std::vector<std::string>{"/readyz", "/apis"}));
    const MemberResponse missing = health(200, 404);
    ASSERT_NE(missing.next, nullptr);
    EXPECT_EQ(missing.next->value().status, 404);
  }
}

TEST_F(RequestsInARow, TheNextIsNotSentAfterAnotherAnswer) {
  const MemberResponse unready = health(500, 200);
  EXPECT_EQ(unready.status, 500);
  EXPECT_EQ(unready.next, nullptr);
  EXPECT_EQ(paths, (std::vector<std::string>{"/readyz"}));
}

TEST_F(RequestsInARow, ARefusalOfTheNextIsLeftToTheCallerWhoSendsItAgain_1_14_13) {
  const MemberResponse refused = health(200, 401);
  EXPECT_EQ(refused.status, 200);
  EXPECT_EQ(refused.next, nullptr);
}

TEST_F(RequestsInARow, ManyThatWaitForEachOtherAreAllAnswered) {
  constexpr int kMany = 50;
  {
    const std::lock_guard lock{mutex};
    status_of = {{"/readyz", 200}};
  }
  Awaited<bool> all;
  int answered = 0;
  loop.post([&] {
    for (int number = 0; number < kMany; ++number) {
      MemberRequest request{.path = "/readyz", .body = {}};
      request.patience = Millis{10};
      members->request("m1", std::move(request), [&](const Result<MemberResponse>& response) {
        EXPECT_EQ(response.value().status, 200);
        if (++answered == kMany) all.set(true);
      });
    }
  });
  EXPECT_TRUE(all.get().value_or(false));
}

}  // namespace
}  // namespace shiplog
