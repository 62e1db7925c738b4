#include "services/adapters/members/https_members.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
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

class MembersOverHttps : public ::testing::Test {
 protected:
  MembersOverHttps()
      : server{testing::serve(
            [this](const HttpRequest& request, const testing::Writer& writer) { serve(request, writer); })} {
    history.object(kCluster, R"({"spec": {"apiEndpoint": ")" + server->url() +
                                 R"(", "secretRef": {"namespace": "karmada-cluster", "name": "m1"}}})");
    history.object({type::kNamespace, "", "karmada-cluster"}, "{}");
    write_token("old");
    members = std::make_unique<HttpsMembers>(HttpsMembers::Options{.state = &history.state(),
                                                                   .executor = &loop,
                                                                   .random = &random,
                                                                   .io = std::make_shared<IoThreads>(1),
                                                                   .open = {},
                                                                   .user_agent = "test",
                                                                   .denied_networks = nullptr,
                                                                   .watches_leave_out_managed_fields = true});
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

}  // namespace
}  // namespace shiplog
