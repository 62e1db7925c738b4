#include <atomic>
#include <mutex>

#include <gmock/gmock.h>

#include "tests/support/http_peers.h"

namespace shiplog {
namespace {

using testing::Awaited;
using testing::eventually;
using ::testing::HasSubstr;
using testing::RawClient;
using ::testing::StartsWith;

using Stream = std::shared_ptr<ByteStream>;

/// Sends back what it receives, in the new protocol.
void echo_stream(const Stream& stream) {
  stream->read([stream](Result<std::string> bytes) {
    if (!bytes || bytes.value().empty()) return stream->close();
    stream->write("echo " + bytes.value(), [stream](const Result<void>& written) {
      if (written) echo_stream(stream);
    });
  });
}

HttpServer::Handler upgrading(const std::function<void(Stream)>& upgraded) {
  return [upgraded](const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer) {
    const std::string protocol{request.headers.get("Upgrade")};
    if (protocol.empty()) return writer->send({400, {}, "no upgrade"});
    writer->upgrade({{"Upgrade", protocol}}, [upgraded](Result<Stream> stream) {
      if (stream) upgraded(stream.value());
    });
  };
}

std::unique_ptr<HttpServer> start(HttpServer::Options options, HttpServer::Handler handler) {
  auto server = HttpServer::start(std::move(options), std::move(handler));
  EXPECT_TRUE(server) << server.error().message;
  return std::move(server).value();
}

constexpr const char* kRequest = "GET /exec HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n";

HttpRequest upgrade_request() {
  HttpRequest request;
  request.path = "/exec";
  request.headers = {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}};
  return request;
}

TEST(Upgrade, TheConnectionCarriesAnotherProtocolAfterwards) {
  const auto server = start({}, upgrading(&echo_stream));
  RawClient client{server->bound_port()};
  ASSERT_TRUE(client.send(kRequest));
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
  EXPECT_THAT(head, HasSubstr("Connection: Upgrade\r\n"));
  EXPECT_THAT(head, HasSubstr("Upgrade: SPDY/3.1\r\n"));
  ASSERT_TRUE(client.send("one"));
  EXPECT_EQ(client.read_until("one"), "echo one");
  const std::string binary("\x80\x00 binary", 9);
  ASSERT_TRUE(client.send(binary));
  EXPECT_EQ(client.read_until("binary"), "echo " + binary);
  EXPECT_EQ(server->stats().streams, 1U);
  client.close();
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 0; }));
  EXPECT_EQ(server->stats().streams, 0U);
}

TEST(Upgrade, BytesBehindTheRequestAreNotLost) {
  const auto server = start({}, upgrading(&echo_stream));
  RawClient client{server->bound_port()};
  ASSERT_TRUE(client.send(std::string{kRequest} + "early"));
  client.read_until("\r\n\r\n");
  EXPECT_EQ(client.read_until("early"), "echo early");
}

TEST(Upgrade, WorksForTheClientToo) {
  const auto server = start(testing::tls_options(), upgrading(&echo_stream));
  const auto io = std::make_shared<IoThreads>(1);
  const auto client = HttpClient::create(io, testing::tls_target(*server)).value();
  Awaited<Result<HttpClient::Upgraded>> answer;
  client->upgrade(upgrade_request(), Millis{20'000},
                  [&](Result<HttpClient::Upgraded> got) { answer.set(std::move(got)); });
  auto upgraded = answer.get();
  ASSERT_TRUE(upgraded && *upgraded) << upgraded->error().message;
  EXPECT_EQ(upgraded->value().response.status, 101);
  const Stream stream = upgraded->value().stream;
  ASSERT_NE(stream, nullptr);
  const std::string large(300'000, 'x');
  stream->write(large, [](const Result<void>&) {});
  std::string received;
  while (received.size() < large.size()) {
    Awaited<Result<std::string>> next;
    stream->read([&](Result<std::string> bytes) { next.set(std::move(bytes)); });
    const auto bytes = next.get();
    ASSERT_TRUE(bytes && *bytes) << bytes->error().message;
    ASSERT_FALSE(bytes->value().empty());
    received += bytes->value();
  }
  EXPECT_THAT(received, StartsWith("echo xxx"));
  stream->close();
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 0; }));
}

TEST(Upgrade, AnAnswerWithoutUpgradeIsAnAnswer) {
  const auto server = start({}, [](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    writer->send({403, {}, "no"});
  });
  const auto io = std::make_shared<IoThreads>(1);
  ClientTarget target;
  target.url = server->url();
  const auto client = HttpClient::create(io, target).value();
  Awaited<Result<HttpClient::Upgraded>> answer;
  client->upgrade(upgrade_request(), Millis{20'000},
                  [&](Result<HttpClient::Upgraded> got) { answer.set(std::move(got)); });
  const auto refused = answer.get();
  ASSERT_TRUE(refused && *refused);
  EXPECT_EQ(refused->value().response.status, 403);
  EXPECT_EQ(refused->value().response.body, "no");
  EXPECT_EQ(refused->value().stream, nullptr);
}

TEST(Upgrade, APeerThatDoesNotReadIsGivenUpOn) {
  HttpServer::Options options;
  options.write_timeout = Millis{100};
  Awaited<Result<void>> failed;
  const auto server = start(options, upgrading([&](const Stream& stream) {
                              stream->write(std::string(64 << 20U, 'x'),
                                            [&, stream](Result<void> written) { failed.set(std::move(written)); });
                            }));
  RawClient client{server->bound_port(), 4096};
  ASSERT_TRUE(client.send(kRequest));
  const auto written = failed.get();
  ASSERT_TRUE(written);
  ASSERT_FALSE(*written);
  EXPECT_EQ(written->error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 0; }));
}

TEST(Upgrade, StopsWithTheServer) {
  Awaited<Stream> kept;
  const auto server = start({}, upgrading([&](const Stream& stream) { kept.set(stream); }));
  RawClient client{server->bound_port()};
  ASSERT_TRUE(client.send(kRequest));
  const auto stream = kept.get();
  ASSERT_TRUE(stream);
  server->stop(Millis{5'000});
  EXPECT_EQ(server->stats().connections, 0U);
  Awaited<Result<std::string>> end;
  (*stream)->read([&](Result<std::string> bytes) { end.set(std::move(bytes)); });
  EXPECT_FALSE(*end.get());
}

TEST(Upgrade, AnAnsweredRequestCannotBeUpgraded) {
  Awaited<Result<Stream>> late;
  const auto server = start({}, [&](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    writer->send({200, {}, "done"});
    writer->upgrade({}, [&](Result<Stream> stream) { late.set(std::move(stream)); });
  });
  RawClient client{server->bound_port()};
  ASSERT_TRUE(client.send(kRequest));
  EXPECT_THAT(client.read_answer(), HasSubstr("done"));
  EXPECT_FALSE(*late.get());
}

}  // namespace
}  // namespace shiplog
