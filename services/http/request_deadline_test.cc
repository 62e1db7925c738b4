#include <gmock/gmock.h>

#include "tests/support/http_peers.h"

namespace shiplog {
namespace {

using testing::Awaited;
using ::testing::HasSubstr;
using testing::RawClient;
using ::testing::StartsWith;

std::unique_ptr<HttpServer> start_server(HttpServer::Options options, HttpServer::Handler handler) {
  auto server = HttpServer::start(std::move(options), std::move(handler));
  EXPECT_TRUE(server) << server.error().message;
  return std::move(server).value();
}

TEST(RequestDeadline, AHandlerThatDoesNotAnswerIsAnsweredFor) {  // HTTP-16
  HttpServer::Options options;
  options.request_timeout = Millis{50};
  Awaited<std::shared_ptr<ResponseWriter>> kept;
  const auto server = start_server(
      options, [&](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) { kept.set(writer); });
  RawClient client{server->bound_port()};
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 504 "));
  (*kept.get())->send({200, {}, "too late"});
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 504 "));
}

TEST(RequestDeadline, AStreamMayTakeLonger) {  // HTTP-16
  HttpServer::Options options;
  options.request_timeout = Millis{50};
  options.header_timeout = Millis{50};
  Awaited<std::shared_ptr<ResponseWriter>> kept;
  const auto server = start_server(options, [&](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    writer->start(200, {});
    kept.set(writer);
  });
  RawClient client{server->bound_port()};
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_THAT(client.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  RawClient other{server->bound_port()};  // ends by its timeout, after that of the stream
  EXPECT_EQ(other.read_to_end(), "");
  const auto writer = *kept.get();
  writer->write("more", [](const Result<void>&) {});
  writer->end();
  EXPECT_THAT(client.read_until("0\r\n\r\n"), HasSubstr("more"));
}

}  // namespace
}  // namespace shiplog
