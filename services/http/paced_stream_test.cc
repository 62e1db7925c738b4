// Streamed answers whose reader sets the pace, and upgraded connections of which one side finishes first.
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/http/client.h"
#include "services/http/server.h"
#include "tests/support/http_peers.h"

namespace shiplog {
namespace {

using testing::ask;
using testing::Awaited;
using testing::eventually;
using ::testing::HasSubstr;

class PacedStream : public ::testing::Test {
 protected:
  void serve(HttpServer::Handler handler) {
    server_ = HttpServer::start({}, std::move(handler)).value();
    ClientTarget target;
    target.url = server_->url();
    client_ = HttpClient::create(io_, target).value();
  }
  static HttpRequest get(const std::string& method = "GET") {
    HttpRequest request;
    request.method = method;
    request.path = "/";
    return request;
  }

  std::shared_ptr<IoThreads> io_ = std::make_shared<IoThreads>(1);
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<HttpClient> client_;
};

/// Writes as fast as the client takes it, for ever.
void flood(const std::shared_ptr<ResponseWriter>& writer, const std::shared_ptr<std::atomic<size_t>>& sent) {
  writer->write(std::string(65536, 'x'), [writer, sent](const Result<void>& done) {
    if (!done) return;
    sent->fetch_add(65536);
    flood(writer, sent);
  });
}

TEST_F(PacedStream, AReaderThatAsksForNothingStopsTheServer) {
  const auto sent = std::make_shared<std::atomic<size_t>>(0);
  serve([sent](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    writer->start(200, {});
    flood(writer, sent);
  });
  std::mutex mutex;
  std::function<void()> more;
  std::atomic<size_t> received{0};
  std::atomic<int> parts{0};
  HttpClient::PacedStream paced;
  paced.on_head = [](const HttpResponse&) {};
  paced.on_part = [&](const std::string& bytes, std::function<void()> next) {
    const std::lock_guard lock{mutex};
    received += bytes.size();
    more = std::move(next);
    ++parts;
  };
  Awaited<bool> ended;
  paced.on_end = [&](const Result<void>& end) { ended.set(end.has_value()); };
  const auto stream = client_->stream(get(), std::move(paced));
  ASSERT_TRUE(eventually([&] { return parts == 1; }));
  // What is sent is what the sockets hold; it does not grow.
  size_t before = 1;
  ASSERT_TRUE(eventually([&] { return std::exchange(before, sent->load()) == sent->load() && sent->load() > 0; }));
  EXPECT_EQ(parts, 1);
  EXPECT_LT(sent->load(), size_t{64} << 20U);
  for (int part = 1; part < 50; ++part) {
    std::function<void()> next;
    {
      const std::lock_guard lock{mutex};
      next = more;
    }
    next();
    ASSERT_TRUE(eventually([&] { return parts == part + 1; }));
  }
  stream->cancel();
  EXPECT_EQ(ended.get(), std::optional{false});
}

TEST_F(PacedStream, OneOfThePoolLeavesItsConnectionForTheNext) {
  serve([](const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer) {
    writer->send({200, {{"X-Method", request.method}}, "answer"});
  });
  for (const char* method : {"GET", "HEAD", "GET"}) {
    std::string body;
    Awaited<bool> ended;
    HttpClient::PacedStream paced;
    paced.own_connection = false;
    paced.on_head = [](const HttpResponse&) {};
    paced.on_part = [&](const std::string& bytes, const std::function<void()>& more) {
      body += bytes;
      more();
    };
    paced.on_end = [&](const Result<void>& end) { ended.set(end.has_value()); };
    const auto stream = client_->stream(get(method), std::move(paced));
    EXPECT_EQ(ended.get(), std::optional{true}) << method;
    EXPECT_EQ(body, std::string{method} == "GET" ? "answer" : "");
  }
  EXPECT_EQ(client_->connections_opened(), 1U);
}

TEST_F(PacedStream, AnAnswerThatStopsInTheMiddleEnds) {
  std::shared_ptr<ResponseWriter> kept;
  serve([&](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    kept = writer;
    writer->start(200, {});
    writer->write("half", [](const Result<void>&) {});
  });
  Awaited<Result<void>> ended;
  HttpClient::PacedStream paced;
  paced.idle_timeout = Millis{50};
  paced.on_head = [](const HttpResponse&) {};
  paced.on_part = [](const std::string&, const std::function<void()>& more) { more(); };
  paced.on_end = [&](const Result<void>& end) { ended.set(end); };
  const auto stream = client_->stream(get(), std::move(paced));
  const auto end = ended.get();
  ASSERT_TRUE(end && !*end);
  EXPECT_EQ(end->error().code, ErrorCode::kTimeout);
  EXPECT_THAT(end->error().message, HasSubstr("no further bytes"));
}

TEST_F(PacedStream, ASideThatHasFinishedStillReceives) {
  Awaited<std::string> received;
  serve([&](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    writer->upgrade({{"Upgrade", "SPDY/3.1"}}, [&](Result<std::shared_ptr<ByteStream>> upgraded) {
      const auto stream = upgraded.value();
      stream->read([&, stream](const Result<std::string>& first) {
        received.set(first.value());
        stream->read([stream](const Result<std::string>& second) {
          if (!second || !second.value().empty()) return;
          stream->write("after the end", [stream](const Result<void>&) { stream->close(); });
        });
      });
    });
  });
  HttpRequest request = get();
  request.headers = {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}};
  Awaited<std::shared_ptr<ByteStream>> upgraded;
  client_->upgrade(std::move(request), Millis{20'000},
                   [&](Result<HttpClient::Upgraded> got) { upgraded.set(got.value().stream); });
  const auto stream = *upgraded.get();
  stream->write("last", [](const Result<void>&) {});
  stream->finish();
  EXPECT_EQ(received.get(), "last");
  Awaited<Result<std::string>> answer;
  stream->read([&](Result<std::string> bytes) { answer.set(std::move(bytes)); });
  const auto bytes = answer.get();
  ASSERT_TRUE(bytes && *bytes) << bytes->error().message;
  EXPECT_EQ(bytes->value(), "after the end");
}

}  // namespace
}  // namespace shiplog
