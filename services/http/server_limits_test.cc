#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/http_peers.h"
#include "tests/support/http_server.h"

// What a server does not put up with: peers that are slow or silent, and too many of them.
namespace shiplog {
namespace {

using ::testing::AllOf;
using testing::answer_with_path;
using testing::Awaited;
using testing::eventually;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RawClient;
using testing::serve;
using ::testing::StartsWith;
using testing::Writer;

TEST(HttpServer, DropsAHalfSentHeader) {
  HttpServer::Options options;
  options.header_timeout = Millis{80};
  const auto server = serve(answer_with_path, options);
  RawClient client{server->bound_port()};
  client.send("GET / HTTP/1.1\r\nHos");
  EXPECT_THAT(client.read_to_end(), AllOf(StartsWith("HTTP/1.1 408 "), HasSubstr("did not arrive in time")));
}

TEST(HttpServer, DropsAHalfSentBody) {
  HttpServer::Options options;
  options.body_timeout = Millis{80};
  const auto server = serve(answer_with_path, options);
  RawClient client{server->bound_port()};
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf");
  EXPECT_THAT(client.read_to_end(), StartsWith("HTTP/1.1 408 "));
}

/// A byte now and then, until the server has had enough.
template <class OneMore>
bool ends_although(OneMore one_more) {
  return eventually([&] { return !one_more(); });
}

TEST(HttpServer, DropsAHeaderThatDribbles) {
  HttpServer::Options options;
  options.header_timeout = Millis{80};
  const auto server = serve(answer_with_path, options);
  RawClient client{server->bound_port()};
  client.send("GET / HTTP/1.1\r\nHost: x\r\nX: ");
  EXPECT_TRUE(ends_although([&] { return server->stats().refused == 0 && client.send("x"); }));
  EXPECT_THAT(client.read_to_end(), StartsWith("HTTP/1.1 408 "));
}

TEST(HttpServer, DropsABodyThatDribbles) {
  HttpServer::Options options;
  options.body_timeout = Millis{80};
  const auto server = serve(answer_with_path, options);
  RawClient client{server->bound_port()};
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
  EXPECT_TRUE(ends_although([&] { return server->stats().refused == 0 && client.send("x"); }));
  EXPECT_THAT(client.read_to_end(), StartsWith("HTTP/1.1 408 "));
}

TEST(HttpServer, ClosesAnIdleConnectionWithoutAnAnswer) {
  HttpServer::Options options;
  options.header_timeout = Millis{80};
  const auto server = serve(answer_with_path, options);
  const auto begin = std::chrono::steady_clock::now();
  RawClient client{server->bound_port()};
  EXPECT_THAT(client.read_to_end(), IsEmpty());
  // Reading ends after 20 s in any case, and at once when a connection is refused: neither is what is to happen.
  const auto lasted = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(lasted, std::chrono::milliseconds{80});
  EXPECT_LT(lasted, std::chrono::seconds{10});
  EXPECT_TRUE(ends_although([&] { return client.send("GET / HTTP/1.1\r\n"); })) << "it is closed";
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 0; }));
}

TEST(HttpServer, ClosesAnIdleConnectionAfterItsRequest) {
  HttpServer::Options options;
  options.idle_timeout = Millis{80};
  const auto server = serve(answer_with_path, options);
  RawClient client{server->bound_port()};
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(client.read_to_end(), IsEmpty());
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 0; }));
}

TEST(HttpServer, DropsATlsHandshakeThatDoesNotComeOn) {
  HttpServer::Options options = testing::tls_options();
  options.header_timeout = Millis{80};
  Awaited<std::string> trouble;
  options.on_trouble = [&](const HttpPeer&, const Error& error) { trouble.set(error.message); };
  const auto server = serve(answer_with_path, options);
  RawClient client{server->bound_port()};
  EXPECT_THAT(client.read_to_end(), IsEmpty());
  EXPECT_EQ(trouble.get(), "the TLS handshake took too long");
}

TEST(HttpServer, DropsAReaderThatTakesNothing) {
  HttpServer::Options options;
  options.write_timeout = Millis{100};
  Awaited<std::string> trouble;
  options.on_trouble = [&](const HttpPeer&, const Error& error) { trouble.set(error.message); };
  Awaited<Result<void>> written;
  const auto server = serve(
      [&](const HttpRequest&, const Writer& writer) {
        writer->start(200, {});
        writer->write(std::string(30'000'000, 'z'), [&, writer](Result<void> done) { written.set(std::move(done)); });
      },
      options);
  RawClient client{server->bound_port(), 16 * 1024};
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(written.get().has_value());
  ASSERT_FALSE(written.get()->has_value());
  EXPECT_EQ(written.get()->error().code, ErrorCode::kTimeout);
  EXPECT_THAT(trouble.get().value_or(""), HasSubstr("too slowly"));
}

TEST(HttpServer, DropsAReaderThatTakesAByteNowAndThen) {
  HttpServer::Options options;
  options.write_timeout = Millis{100};
  Awaited<std::string> trouble;
  options.on_trouble = [&](const HttpPeer&, const Error& error) { trouble.set(error.message); };
  const auto server = serve(
      [&](const HttpRequest&, const Writer& writer) {
        writer->send({200, {}, std::string(30'000'000, 'z')});
      },
      options);
  RawClient client{server->bound_port(), 16 * 1024};
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(ends_although([&] { return server->stats().refused == 0 && client.take_a_byte(); }));
  EXPECT_THAT(trouble.get().value_or(""), HasSubstr("too slowly"));
}

TEST(HttpServer, AnswersTooManyRequestsWith429AndKeepsTheConnection) {
  HttpServer::Options options;
  options.max_in_flight = 1;
  Awaited<Writer> first;
  const auto server = serve(
      [&](const HttpRequest& request, const Writer& writer) {
        if (request.path != "/slow") return answer_with_path(request, writer);
        first.set(writer);
      },
      options);
  RawClient slow{server->bound_port()};
  slow.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  const Writer writer = *first.get();
  RawClient client{server->bound_port()};
  client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.read_answer(), AllOf(StartsWith("HTTP/1.1 429 "), HasSubstr("Retry-After: 1")));
  writer->send({200, {}, "done"});
  EXPECT_THAT(slow.read_answer(), HasSubstr("done"));
  EXPECT_TRUE(eventually([&] { return server->stats().in_flight == 0; }));
  client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, ClosesConnectionsOverTheLimit) {
  HttpServer::Options options;
  options.max_connections = 2;
  const auto server = serve(answer_with_path, options);
  RawClient first{server->bound_port()};
  auto second = std::make_unique<RawClient>(server->bound_port());
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 2; }));
  RawClient third{server->bound_port()};
  EXPECT_THAT(third.read_to_end(), IsEmpty());
  EXPECT_EQ(server->stats().refused, 1U);
  second.reset();
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 1; }));
  RawClient fourth{server->bound_port()};
  fourth.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(fourth.read_answer(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, OneAddressDoesNotGetAllConnections) {
  HttpServer::Options options;
  options.max_connections_per_address = 2;
  const auto server = serve(answer_with_path, options);
  auto first = std::make_unique<RawClient>(server->bound_port(), 0, "127.0.0.2");
  RawClient second{server->bound_port(), 0, "127.0.0.2"};
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 2; }));
  RawClient third{server->bound_port(), 0, "127.0.0.2"};
  EXPECT_THAT(third.read_to_end(), IsEmpty());
  RawClient elsewhere{server->bound_port(), 0, "127.0.0.3"};
  elsewhere.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(elsewhere.read_answer(), StartsWith("HTTP/1.1 200 "));
  first.reset();
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 2; }));
  RawClient fourth{server->bound_port(), 0, "127.0.0.2"};
  fourth.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(fourth.read_answer(), StartsWith("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace shiplog
