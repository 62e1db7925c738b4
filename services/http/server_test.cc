#include "services/http/server.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/http_peers.h"
#include "tests/support/http_server.h"

namespace shiplog {
namespace {

using ::testing::AllOf;
using testing::answer_with_path;
using testing::Awaited;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::RawClient;
using testing::serve;
using ::testing::StartsWith;
using testing::Writer;

TEST(HttpServer, KeepsTheConnectionAndAnswersInTurn) {
  const auto server = serve(answer_with_path);
  RawClient client{server->bound_port()};
  for (const std::string path : {"/a", "/b", "/c"}) {
    client.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string answer = client.read_answer();
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 OK\r\nDate: "), HasSubstr("GET " + path)));
  }
  EXPECT_EQ(server->stats().accepted, 1U);
}

TEST(HttpServer, AnswersPipelinedRequestsInOrderEvenIfTheHandlerIsSlow) {
  std::vector<std::thread> threads;
  const auto server = serve([&](const HttpRequest& request, const Writer& writer) {
    threads.emplace_back([request, writer] { answer_with_path(request, writer); });
  });
  RawClient client{server->bound_port()};
  std::string all;
  for (int i = 0; i < 500; ++i) all += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
  client.send(all);  // far more than the server reads ahead of an answer
  for (int i = 0; i < 500; ++i) ASSERT_THAT(client.read_answer(), HasSubstr("GET /" + std::to_string(i) + " "));
  server->stop(Millis{1'000});
  for (auto& thread : threads) thread.join();
}

TEST(HttpServer, ReadsChunkedBodiesAndDecodesTheTarget) {
  HttpRequest seen;
  const auto server = serve([&](HttpRequest request, const Writer& writer) {
    seen = std::move(request);
    writer->send({201, {}, ""});
  });
  RawClient client{server->bound_port()};
  client.send(
      "POST /a%20b?q=x%3Dy+z&flag HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;ext=1\r\n "
      "world\r\n0\r\n\r\n");
  EXPECT_THAT(client.read_answer(), AllOf(StartsWith("HTTP/1.1 201 Created"), HasSubstr("Content-Length: 0")));
  EXPECT_EQ(seen.path, "/a b");
  EXPECT_EQ(seen.query, (HttpRequest::Query{{"q", "x=y z"}, {"flag", ""}}));
  EXPECT_EQ(seen.body, "hello world");
  EXPECT_EQ(seen.headers.get("TRANSFER-encoding"), "chunked");
  EXPECT_EQ(seen.peer.address, "127.0.0.1");
  EXPECT_FALSE(seen.peer.certified);
}

TEST(HttpServer, AnswersHeadWithoutABody) {
  const auto server = serve(answer_with_path);
  RawClient client{server->bound_port()};
  client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string all = client.read_to_end();
  EXPECT_THAT(all, HasSubstr("Content-Length: 8\r\n\r\nHTTP/1.1 200 OK"));
  EXPECT_THAT(all, HasSubstr("Connection: close"));
}

TEST(HttpServer, SendsContinueBeforeTheBodyIsSent) {
  const auto server = serve(answer_with_path);
  RawClient client{server->bound_port()};
  client.send("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("body");
  EXPECT_THAT(client.read_answer(), HasSubstr("PUT /a body"));
}

TEST(HttpServer, ServesHttp10AndClosesAfterIt) {
  const auto server = serve([](const HttpRequest&, const Writer& writer) {
    writer->start(200, {});
    writer->write("plain ", nullptr);
    writer->write("stream", nullptr);
    writer->end();
  });
  RawClient client{server->bound_port()};
  client.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_THAT(client.read_to_end(), AllOf(HasSubstr("\r\n\r\nplain stream"), Not(HasSubstr("chunked"))));
}

TEST(HttpServer, RefusesABodyThatAnnouncesTooMuchBeforeItIsSent) {
  HttpServer::Options options;
  options.max_body_bytes = 1000;
  const auto server = serve(answer_with_path, options);
  RawClient client{server->bound_port()};
  client.send("POST /apis HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(client.read_to_end(), AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("\"path\":\"/apis\""),
                                          HasSubstr("larger than 1000 bytes"), HasSubstr("Connection: close")));
}

TEST(HttpServer, RefusesAChunkedBodyThatGrowsTooLargeAndStillDeliversTheAnswer) {
  HttpServer::Options options;
  options.max_body_bytes = 100'000;
  const auto server = serve(answer_with_path, options);
  RawClient client{server->bound_port()};
  client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "8000\r\n" + std::string(0x8000, 'x') + "\r\n";
  for (int i = 0; i < 30 && client.send(chunk); ++i) {
  }
  EXPECT_THAT(client.read_to_end(), StartsWith("HTTP/1.1 413 "));
  EXPECT_EQ(server->stats().requests, 0U);
}

TEST(HttpServer, TakesABodyOfExactlyTheLimit) {
  HttpServer::Options options;
  options.max_body_bytes = 200'000;
  const auto server = serve(
      [](const HttpRequest& request, const Writer& writer) {
        writer->send({200, {}, std::to_string(request.body.size())});
      },
      options);
  RawClient client{server->bound_port()};
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + std::string(200'000, 'x'));
  EXPECT_THAT(client.read_answer(), HasSubstr("\r\n\r\n200000"));
}

struct Refused {
  const char* name;
  std::string request;
  const char* status;
};

class HttpServerRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(HttpServerRefuses, MalformedRequest) {
  HttpServer::Options options;
  options.max_target_bytes = 1000;
  const auto server = serve(answer_with_path, options);
  RawClient client{server->bound_port()};
  client.send(GetParam().request);
  EXPECT_THAT(client.read_to_end(), StartsWith(std::string{"HTTP/1.1 "} + GetParam().status));
  EXPECT_EQ(server->stats().requests, 0U);
  EXPECT_EQ(server->stats().refused, 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Each, HttpServerRefuses,
    ::testing::Values(
        Refused{"Garbage", "\x16\x03\x01 hello\r\n\r\n", "400"}, Refused{"NoHost", "GET / HTTP/1.1\r\n\r\n", "400"},
        Refused{"BadVersion", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", "400"},
        Refused{"BadEscape", "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
        Refused{"NulInPath", "GET /a%00b HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
        Refused{"LongTarget", "GET /" + std::string(1001, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", "414"},
        Refused{"OneEndlessHeader", "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(70'000, 'a'), "431"},
        Refused{"HeaderFlood",
                [] {
                  std::string flood = "GET / HTTP/1.1\r\nHost: x\r\n";
                  for (int i = 0; i < 10'000; ++i) flood += "X-" + std::to_string(i) + ": y\r\n";
                  return flood;
                }(),
                "431"},
        Refused{"TwoLengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
                "400"},
        Refused{"LengthAndChunks",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "400"},
        Refused{"NegativeLength", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "400"},
        Refused{"OtherEncoding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", "501"},
        Refused{"BadChunk", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"},
        Refused{"EndlessChunkHeader",
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(80'000, 'e'), "400"},
        Refused{"OtherExpectation", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: magic\r\n\r\n", "417"}),
    [](const auto& each) { return each.param.name; });

TEST(HttpServer, NotifiesAStreamThatItsClientHasDisconnected) {
  Awaited<bool> gone;
  Awaited<Writer> stream;
  const auto server = serve([&](const HttpRequest&, const Writer& writer) {
    writer->on_close([&gone] { gone.set(true); });
    writer->start(200, {{"Content-Type", "application/json"}});
    writer->write("{}", nullptr);
    stream.set(writer);
  });
  RawClient client{server->bound_port()};
  client.send("GET /watch HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.read_until("{}\r\n"), HasSubstr("Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"));
  EXPECT_EQ(server->stats().streams, 1U);
  EXPECT_EQ(server->stats().in_flight, 0U);
  client.close();
  EXPECT_EQ(gone.get(), true);
  const Writer writer = *stream.get();
  EXPECT_TRUE(writer->closed());
  Awaited<Result<void>> late;
  writer->write("more", [&](Result<void> done) { late.set(std::move(done)); });
  ASSERT_TRUE(late.get().has_value());
  EXPECT_EQ(late.get()->error().code, ErrorCode::kUnavailable);
  Awaited<bool> again;
  writer->on_close([&] { again.set(true); });  // at once, as it is closed already
  EXPECT_EQ(again.get(), true);
  EXPECT_EQ(server->stats().streams, 0U);
}

TEST(HttpServer, HoldsAStreamBackForASlowReaderAndLosesNothing) {
  const std::string chunk(256 * 1024, 'z');
  std::atomic<int> taken{0};
  std::function<void(Writer)> next = [&](const Writer& writer) {
    if (taken == 100) return writer->end();
    writer->write(chunk, [&, writer](const Result<void>& done) {
      if (!done) return;
      ++taken;
      next(writer);
    });
  };
  const auto server = serve([&](const HttpRequest&, const Writer& writer) {
    writer->start(200, {});
    next(writer);
  });
  RawClient client{server->bound_port(), 16 * 1024};
  client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  client.read_until("\r\n\r\n");
  // 25 MB cannot fit between the two: the writer must have been made to wait.
  EXPECT_LT(taken, 100);
  const std::string all = client.read_to_end();
  EXPECT_EQ(taken, 100);
  EXPECT_EQ(std::count(all.begin(), all.end(), 'z'), 100 * 256 * 1024);
  EXPECT_TRUE(all.ends_with("\r\n0\r\n\r\n"));
}

TEST(HttpServer, WritesChunksOfManyThreadsWhole) {
  const auto server = serve([&](const HttpRequest&, const Writer& writer) {
    writer->start(200, {});
    std::vector<std::thread> threads;
    for (const char c : {'a', 'b', 'c'}) {
      threads.emplace_back([writer, c] {
        for (int i = 0; i < 200; ++i) writer->write(std::string(7, c) + "\n", nullptr);
      });
    }
    for (auto& thread : threads) thread.join();
    writer->end();
  });
  RawClient client{server->bound_port()};
  client.send("GET / HTTP/1.0\r\n\r\n");
  const std::string all = client.read_to_end();
  for (const char c : {'a', 'b', 'c'}) {
    size_t lines = 0;
    const std::string line = std::string(7, c) + "\n";
    for (size_t at = all.find(line); at != std::string::npos; at = all.find(line, at + 1)) ++lines;
    EXPECT_EQ(lines, 200U);
  }
}

TEST(HttpServer, AnswersForAHandlerThatForgetsTo) {
  const auto server = serve([](const HttpRequest&, const Writer&) {});
  RawClient client{server->bound_port()};
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.read_answer(), AllOf(StartsWith("HTTP/1.1 500 "), HasSubstr("gave no answer")));
}

TEST(HttpServer, AnswersForAHandlerThatThrows) {
  const auto server = serve([](const HttpRequest&, const Writer&) { throw std::runtime_error{"boom"}; });
  RawClient client{server->bound_port()};
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.read_answer(), AllOf(StartsWith("HTTP/1.1 500 "), HasSubstr("boom")));
}

TEST(HttpServer, KeepsLineBreaksOutOfHeaders) {
  const auto server = serve([](const HttpRequest&, const Writer& writer) {
    writer->send({200, {{"Warning", "299 - \"field\r\nSet-Cookie: x\""}}, ""});
  });
  RawClient client{server->bound_port()};
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.read_answer(), HasSubstr("Warning: 299 - \"field  Set-Cookie: x\"\r\n"));
}

TEST(HttpServer, StopEndsStreamsOrderlyAndWaitsForRequestsUnderWay) {
  Awaited<Writer> request;
  Awaited<bool> stream_told;
  auto server = serve([&](const HttpRequest& asked, const Writer& writer) {
    if (asked.path == "/watch") {
      writer->on_close([&, writer] { stream_told.set(writer->closed()); });
      writer->start(200, {});
      writer->write("event", nullptr);
    } else {
      request.set(writer);
    }
  });
  RawClient idle{server->bound_port()};
  RawClient watch{server->bound_port()};
  RawClient client{server->bound_port()};
  watch.send("GET /watch HTTP/1.1\r\nHost: x\r\n\r\n");
  watch.read_until("event\r\n");
  client.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  const Writer writer = *request.get();
  std::thread stopping{[&] { server->stop(Millis{20'000}); }};
  EXPECT_EQ(watch.read_to_end(), "0\r\n\r\n");
  EXPECT_EQ(stream_told.get(), true);
  EXPECT_THAT(idle.read_to_end(), IsEmpty());
  writer->send({200, {}, "in time"});
  EXPECT_THAT(client.read_to_end(), AllOf(HasSubstr("in time"), HasSubstr("Connection: close")));
  stopping.join();
  EXPECT_EQ(server->stats().connections, 0U);
}

TEST(HttpServer, StopClosesWhatDoesNotFinishInTime) {
  Awaited<Writer> request;
  auto server = serve([&](const HttpRequest&, const Writer& writer) { request.set(writer); });
  RawClient client{server->bound_port()};
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const Writer writer = *request.get();
  server->stop(Millis{50});
  EXPECT_TRUE(writer->closed());
  EXPECT_THAT(client.read_to_end(), IsEmpty());
  server.reset();
  writer->send({200, {}, "too late"});  // outlives the server without harm
}

TEST(HttpServer, ReportsWhyItCannotListen) {
  const auto server = serve(answer_with_path);
  HttpServer::Options options;
  options.port = server->bound_port();
  const auto second = HttpServer::start(options, answer_with_path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message,
            "cannot listen on 127.0.0.1:" + std::to_string(options.port) + ": address already in use");
}

TEST(HttpServer, NamesTheCertificateThatCannotBeRead) {
  HttpServer::Options options = testing::tls_options();
  options.key_pem = testing::TestCertificates::get().client.key_pem;
  const auto server = HttpServer::start(options, answer_with_path);
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().message, HasSubstr("private key does not belong to the certificate"));
}

}  // namespace
}  // namespace shiplog
