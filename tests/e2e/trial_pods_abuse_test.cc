// Clients that misuse the streams of a trial member: it refuses them, and keeps serving others.
#include <gmock/gmock.h>

#include "services/http/client.h"
#include "services/http/io_threads.h"
#include "services/http/kubeconfig.h"
#include "services/http/spdy/frames.h"
#include "services/http/websocket/frames.h"
#include "tests/support/fleet.h"
#include "tests/support/http_peers.h"

namespace shiplog::e2e {
namespace {

using testing::Awaited;
using ::testing::HasSubstr;

constexpr const char* kPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: main, image: nginx, ports: [{containerPort: 80}]}]}
)";

using Stream = std::shared_ptr<ByteStream>;

class TrialPodsAbuse : public ::testing::Test {
 protected:
  TrialPodsAbuse() {
    fleet_.member("edge");
    fleet_.kubectl_ok({"apply", "-f", "-"}, kPod, "edge");
    fleet_.kubectl_ok({"wait", "--for=condition=Ready", "pod/web", "--timeout=60s"}, "", "edge");
    const auto kubeconfig = read_kubeconfig({fleet_.kubeconfig("edge")});
    target_ = context_of(kubeconfig.value()).value().target;
  }

  HttpClient::Upgraded upgrade(const std::string& path, HttpHeaders headers) {
    clients_.push_back(HttpClient::create(io_, target_).value());
    HttpRequest request;
    request.method = headers.contains("Sec-WebSocket-Key") ? "GET" : "POST";
    request.target = "/api/v1/namespaces/default/pods/web/" + path;
    request.headers = std::move(headers);
    Awaited<Result<HttpClient::Upgraded>> answer;
    clients_.back()->upgrade(request, Millis{20'000},
                             [&](Result<HttpClient::Upgraded> got) { answer.set(std::move(got)); });
    auto got = answer.get();
    EXPECT_TRUE(got && *got);
    return got && *got ? std::move(got->value()) : HttpClient::Upgraded{};
  }
  Stream spdy(const std::string& path, const char* protocol) {
    return upgrade(path, {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}, {"X-Stream-Protocol-Version", protocol}})
        .stream;
  }
  Stream websocket(const std::string& path, const char* protocol) {
    return upgrade(path, {{"Connection", "Upgrade"},
                          {"Upgrade", "websocket"},
                          {"Sec-WebSocket-Version", "13"},
                          {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                          {"Sec-WebSocket-Protocol", protocol}})
        .stream;
  }

  /// Reads until the server closes.
  static std::string all(const Stream& stream) {
    std::string received;
    while (true) {
      Awaited<Result<std::string>> next;
      stream->read([&](Result<std::string> bytes) { next.set(std::move(bytes)); });
      const auto bytes = next.get();
      EXPECT_TRUE(bytes) << "the server does not close";
      if (!bytes || !*bytes || bytes->value().empty()) return received;
      received += bytes->value();
    }
  }
  static void send(const Stream& stream, std::string bytes) {
    stream->write(std::move(bytes), [](const Result<void>&) {});
  }

  void expect_it_serves() {
    EXPECT_TRUE(eventually([&] {
      return fleet_.kubectl({"exec", "web", "--", "echo", "alive"}, "", "edge").out == "alive\n";
    }));
  }

  Fleet fleet_;
  ClientTarget target_;
  std::shared_ptr<IoThreads> io_ = std::make_shared<IoThreads>(1);
  std::vector<std::unique_ptr<HttpClient>> clients_;
};

constexpr const char* kExec = "exec?command=cat&stdin=true&stdout=true&stderr=true&container=main";

TEST_F(TrialPodsAbuse, MalformedFramesCloseTheConnection) {
  const Stream garbage = spdy(kExec, "v4.channel.k8s.io");
  send(garbage, std::string(100'000, '\0'));
  all(garbage);
  const Stream unmasked = websocket(kExec, "v4.channel.k8s.io");
  send(unmasked, std::string{"\x82\x02\x00x", 4});
  EXPECT_THAT(all(unmasked), HasSubstr("must be masked"));
  const Stream tunnel = websocket("portforward", "SPDY/3.1+portforward.k8s.io");
  send(tunnel, std::string{"\x81\x81\x00\x00\x00\x00x", 7});
  all(tunnel);
  expect_it_serves();
}

TEST_F(TrialPodsAbuse, GiantFramesAndHeadersAreRefused) {
  const Stream message = websocket(kExec, "v4.channel.k8s.io");
  send(message, std::string{"\x82\xff\x00\x00\x00\xff\xff\xff\xff\xff", 10});
  EXPECT_THAT(all(message), HasSubstr("bytes that are allowed"));
  const Stream frame = spdy(kExec, "v4.channel.k8s.io");
  send(frame, std::string{"\x80\x03\x00\x01\x00\xff\xff\xff", 8});
  all(frame);
  const Stream bomb = spdy(kExec, "v4.channel.k8s.io");
  spdy::SpdyWriter writer;
  send(bomb, writer.syn_stream(1, {{"streamtype", std::string(4 << 20, 'a')}}));
  all(bomb);
  expect_it_serves();
}

TEST_F(TrialPodsAbuse, ThousandsOfStreamsAreRefused) {
  const Stream forward = spdy("portforward", "portforward.k8s.io");
  spdy::SpdyWriter writer;
  for (uint32_t id = 1; id < 20'000; id += 2) {
    send(forward, writer.syn_stream(id, {{"streamtype", "error"}, {"port", "80"}, {"requestid", std::to_string(id)}}));
  }
  Awaited<Result<std::string>> answers;
  forward->read([&](Result<std::string> bytes) { answers.set(std::move(bytes)); });
  EXPECT_TRUE(answers.get());
  expect_it_serves();
}

TEST_F(TrialPodsAbuse, UpgradesThatAreNotFinishedDoNotHoldUpOthers) {
  std::vector<Stream> unfinished;
  for (int count = 0; count < 100; ++count) unfinished.push_back(spdy(kExec, "v4.channel.k8s.io"));
  expect_it_serves();
}

TEST_F(TrialPodsAbuse, APodHasABoundedNumberOfStreams) {
  std::vector<Stream> running;
  for (int count = 0; count < 40; ++count) running.push_back(websocket(kExec, "v4.channel.k8s.io"));
  EXPECT_THAT(all(running.back()), HasSubstr("TooManyRequests"));
  running.clear();
  clients_.clear();
  expect_it_serves();
}

}  // namespace
}  // namespace shiplog::e2e
