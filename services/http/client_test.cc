#include "services/http/client.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/http_peers.h"

namespace shiplog {
namespace {

using testing::ask;
using testing::Awaited;
using testing::eventually;
using ::testing::HasSubstr;
using testing::TestCertificates;
using testing::tls_options;
using testing::tls_target;

/// Returns the request line in headers, and the body.
void echo(HttpRequest request, const std::shared_ptr<ResponseWriter>& writer) {
  HttpResponse response;
  response.headers.add("X-Method", request.method);
  response.headers.add("X-Path", request.path);
  response.headers.add("X-Target", request.target);
  response.headers.add("X-User", request.peer.common_name);
  std::string groups;
  for (const auto& group : request.peer.organizations) groups += group + ";";
  response.headers.add("X-Groups", groups);
  response.headers.add("X-Authorization", std::string{request.headers.get("authorization")});
  response.body = std::move(request.body);
  writer->send(std::move(response));
}

struct HttpClientTest : ::testing::Test {
  std::shared_ptr<IoThreads> io = std::make_shared<IoThreads>(2);

  static std::unique_ptr<HttpServer> serve(HttpServer::Handler handler, HttpServer::Options options = tls_options()) {
    return HttpServer::start(std::move(options), std::move(handler)).value();
  }
  std::unique_ptr<HttpClient> client_for(const ClientTarget& target, const HttpClient::Options& options = {}) {
    return HttpClient::create(io, target, options).value();
  }
};

HttpRequest post(std::string path, std::string body) {
  HttpRequest request;
  request.method = "POST";
  request.path = std::move(path);
  request.body = std::move(body);
  return request;
}

HttpRequest get(std::string path) {
  HttpRequest request;
  request.path = std::move(path);
  return request;
}

TEST_F(HttpClientTest, CarriesMethodPathQueryHeadersAndBodyBothWays) {
  const auto server = serve(echo);
  const auto client = client_for(tls_target(*server));
  HttpRequest request = post("/api/v1/pods/a b", std::string(300'000, 'x'));
  request.query = {{"labelSelector", "app=web,tier!=db"}, {"limit", "5"}};
  const auto answer = ask(*client, request);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer.value().status, 200);
  EXPECT_EQ(answer.value().headers.get("x-method"), "POST");
  EXPECT_EQ(answer.value().headers.get("x-path"), "/api/v1/pods/a b");
  EXPECT_EQ(answer.value().headers.get("x-target"),
            "/api/v1/pods/a%20b?labelSelector=app%3Dweb%2Ctier%21%3Ddb&limit=5");
  EXPECT_EQ(answer.value().body, request.body);
}

TEST_F(HttpClientTest, KeepsOneConnectionForRequestsInTurn) {
  const auto server = serve(echo);
  const auto client = client_for(tls_target(*server));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(ask(*client, post("/", std::to_string(i))));
  EXPECT_EQ(client->connections_opened(), 1U);
  EXPECT_EQ(server->stats().accepted, 1U);
  EXPECT_EQ(server->stats().requests, 20U);
}

TEST_F(HttpClientTest, ClosesAConnectionThatHasRestedForTooLong) {
  const auto server = serve(echo);
  HttpClient::Options options;
  options.idle_timeout = Millis{30};
  const auto client = client_for(tls_target(*server), options);
  ASSERT_TRUE(ask(*client, get("/")));
  ASSERT_TRUE(ask(*client, get("/")));
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 0; }));
  ASSERT_TRUE(ask(*client, get("/")));
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 0; })) << "the next one, too";
}

TEST_F(HttpClientTest, KeepsAConnectionThatWorksForLongerThanItMayRest) {
  Awaited<std::shared_ptr<ResponseWriter>> slow;
  const auto server = serve([&](HttpRequest request, const std::shared_ptr<ResponseWriter>& writer) {
    if (request.path == "/slow") return slow.set(writer);
    echo(std::move(request), writer);
  });
  HttpClient::Options options;
  options.max_connections = 1;
  options.idle_timeout = Millis{50};
  const auto client = client_for(tls_target(*server), options);
  ASSERT_TRUE(ask(*client, get("/")));  // it rests
  Awaited<int> answered;
  client->request(get("/slow"), Millis{60'000},
                  [&](const Result<HttpResponse>& answer) { answered.set(answer ? answer.value().status : 0); });
  const auto writer = slow.get();
  ASSERT_TRUE(writer);
  std::this_thread::sleep_for(std::chrono::milliseconds{200});
  (*writer)->send({200, {}, "late"});
  EXPECT_EQ(answered.get(), 200);
}

TEST_F(HttpClientTest, NeverOpensMoreConnectionsThanAllowed) {
  const auto server = serve(echo);
  HttpClient::Options options;
  options.max_connections = 3;
  const auto client = client_for(tls_target(*server), options);
  std::atomic<int> answered{0};
  for (int i = 0; i < 100; ++i) {
    client->request(get("/"), Millis{20'000},
                    [&](const Result<HttpResponse>& answer) { answered += answer ? 1 : 1000; });
  }
  EXPECT_TRUE(eventually([&] { return answered == 100; }));
  // Fewer where the first connection has answered all before the next was open.
  EXPECT_LE(client->connections_opened(), 3U);
}

TEST_F(HttpClientTest, ARequestThatFindsNoFreeConnectionInTimeWasNotSent) {
  std::atomic<int> seen{0};
  Awaited<std::shared_ptr<ResponseWriter>> slow;
  const auto server = serve([&](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    ++seen;
    slow.set(writer);
  });
  HttpClient::Options options;
  options.max_connections = 1;
  const auto client = client_for(tls_target(*server), options);
  client->request(get("/slow"), Millis{60'000}, [](const Result<HttpResponse>&) {});
  const auto writer = slow.get();
  ASSERT_TRUE(writer);
  const auto answer = ask(*client, get("/"), Millis{100});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTooManyRequests) << answer.error().message;
  EXPECT_EQ(seen, 1);
  (*writer)->send({200, {}, "late"});
}

TEST_F(HttpClientTest, HandlerSeesTheClientCertificatesNames) {
  const auto server = serve(echo);
  ClientTarget target = tls_target(*server);
  target.certificate_pem = TestCertificates::get().client.certificate_pem;
  target.key_pem = TestCertificates::get().client.key_pem;
  const auto answer = ask(*client_for(target), get("/"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer.value().headers.get("X-User"), "alice");
  EXPECT_EQ(answer.value().headers.get("X-Groups"), "dev;ops;");
}

TEST_F(HttpClientTest, ClientWithoutCertificateIsServedWithoutAName) {
  const auto server = serve(echo);
  ClientTarget target = tls_target(*server);
  target.bearer_token = "sesame";
  const auto answer = ask(*client_for(target), get("/"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer.value().headers.get("X-User"), "");
  EXPECT_EQ(answer.value().headers.get("X-Authorization"), "Bearer sesame");
}

TEST_F(HttpClientTest, AClientCertificateOfAnotherAuthorityIdentifiesNoUser) {  // HTTP-14
  Awaited<HttpPeer> peer;
  const auto server = serve(
      [&](const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer) {
        peer.set(request.peer);
        echo(request, writer);
      },
      tls_options());
  const Validity validity = valid_for_days(testing::test_now(), 1);
  const KeyPair stranger = make_authority("stranger", validity).value();
  const KeyPair mallory = issue_client_certificate(stranger, "mallory", {"system:masters"}, validity).value();
  ClientTarget target = tls_target(*server);
  target.certificate_pem = mallory.certificate_pem;
  target.key_pem = mallory.key_pem;
  ASSERT_TRUE(ask(*client_for(target), get("/")));
  ASSERT_TRUE(peer.get());
  EXPECT_TRUE(peer.get()->stranger);
  EXPECT_FALSE(peer.get()->certified);
  EXPECT_EQ(peer.get()->common_name, "");
  EXPECT_TRUE(peer.get()->organizations.empty());
}

TEST_F(HttpClientTest, ReportsThatTheAuthorityIsNotTrusted) {
  const auto server = serve(echo);
  ClientTarget target = tls_target(*server);
  target.ca_pem = make_authority("other-ca", valid_for_days(testing::test_now(), 1)).value().certificate_pem;
  const auto answer = ask(*client_for(target), get("/"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr(server->url() + ": the server's certificate is not trusted"));
  EXPECT_THAT(answer.error().message, HasSubstr("issued by CN=test-ca"));
}

TEST_F(HttpClientTest, ReportsTheNamesThatTheCertificateHas) {
  const auto server = serve(echo);
  ClientTarget target = tls_target(*server);
  target.server_name = "member1.example.org";
  const auto answer = ask(*client_for(target), get("/"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message,
              HasSubstr("not valid for the name member1.example.org, only for localhost, 127.0.0.1"));
}

TEST_F(HttpClientTest, ServerNameReplacesTheUrlsHostInTheCheck) {
  const auto server = serve(echo);
  ClientTarget target = tls_target(*server);
  target.server_name = "localhost";
  EXPECT_TRUE(ask(*client_for(target), get("/")));
}

TEST_F(HttpClientTest, ReportsThatTheCertificateHasExpired) {
  const UtcMillis now = testing::test_now();
  const Validity past{{now.value - 7'200'000}, {now.value - 3'600'000}};
  HttpServer::Options options = tls_options();
  const KeyPair old =
      issue_server_certificate(TestCertificates::get().authority, "old", {{"localhost"}, {"127.0.0.1"}}, past).value();
  options.certificate_pem = old.certificate_pem;
  options.key_pem = old.key_pem;
  const auto server = serve(echo, options);
  const auto answer = ask(*client_for(tls_target(*server)), get("/"));
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("has expired (CN=old, valid until "));
}

TEST_F(HttpClientTest, AServersNewCertificateIsForNewConnections) {
  const auto server = serve(echo);
  const auto before = client_for(tls_target(*server));
  EXPECT_TRUE(ask(*before, get("/")));
  const Validity validity = valid_for_days(testing::test_now(), 1);
  const KeyPair other = make_authority("other-ca", validity).value();
  const KeyPair renewed = issue_server_certificate(other, "new", {{"localhost"}, {"127.0.0.1"}}, validity).value();
  EXPECT_FALSE(server->use_certificate("no PEM", renewed.key_pem));
  ASSERT_TRUE(server->use_certificate(renewed.certificate_pem, renewed.key_pem));
  EXPECT_TRUE(ask(*before, get("/"))) << "its connection is open";
  EXPECT_FALSE(ask(*client_for(tls_target(*server)), get("/")));
  ClientTarget target = tls_target(*server);
  target.ca_pem = other.certificate_pem;
  EXPECT_TRUE(ask(*client_for(target), get("/")));
}

TEST_F(HttpClientTest, InsecureTakesAnyCertificate) {
  const auto server = serve(echo);
  ClientTarget target;
  target.url = server->url();
  target.insecure = true;
  EXPECT_TRUE(ask(*client_for(target), get("/")));
}

TEST_F(HttpClientTest, NamesTheServerThatRefusesTheConnection) {
  std::string url;
  {
    const auto server = serve(echo);
    url = server->url();
  }
  ClientTarget target;
  target.url = url;
  target.insecure = true;
  const auto answer = ask(*client_for(target), get("/"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(answer.error().message, url + ": connection refused");
}

TEST_F(HttpClientTest, ReportsThatTheServerSpeaksNoTls) {
  const auto server = serve(echo, HttpServer::Options{});
  ClientTarget target;
  target.url = "https://127.0.0.1:" + std::to_string(server->bound_port());
  target.insecure = true;
  const auto answer = ask(*client_for(target), get("/"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr("does not speak TLS"));
}

TEST_F(HttpClientTest, GivesUpOnASilentServerInTime) {
  Awaited<std::shared_ptr<ResponseWriter>> kept;
  const auto server = serve([&](HttpRequest request, const std::shared_ptr<ResponseWriter>& writer) {
    if (request.path != "/silent") return echo(std::move(request), writer);
    kept.set(writer);
  });
  const auto client = client_for(tls_target(*server));
  ASSERT_TRUE(ask(*client, get("/")));  // connected, so that only the answer is waited for
  const auto answer = ask(*client, get("/silent"), Millis{100});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(answer.error().message, HasSubstr("no answer within 100 ms (was waiting for the answer)"));
  const auto writer = kept.get().value();
  EXPECT_TRUE(eventually([&] { return writer->closed(); }));  // the connection went with the request
}

TEST_F(HttpClientTest, SendsAGetAgainWhenTheKeptConnectionIsDead) {
  HttpServer::Options options = tls_options();
  auto first = serve(echo, options);
  const auto client = client_for(tls_target(*first));
  ASSERT_TRUE(ask(*client, get("/")));
  options.port = first->bound_port();
  first.reset();
  const auto second = serve(echo, options);
  EXPECT_TRUE(ask(*client, get("/")));
  EXPECT_EQ(client->connections_opened(), 2U);
}

TEST_F(HttpClientTest, RefusesAnAnswerLargerThanAllowed) {
  const auto server = serve([](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    writer->start(200, {});
    writer->write(std::string(100'000, 'x'), nullptr);
    writer->end();
  });
  HttpClient::Options options;
  options.max_response_bytes = 10'000;
  const auto answer = ask(*client_for(tls_target(*server), options), get("/"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTooLarge);
}

TEST_F(HttpClientTest, StreamGivesHeadThenDataThenEnd) {
  const auto server = serve([](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    writer->start(200, {{"Content-Type", "application/json"}});
    writer->write("one,", nullptr);
    writer->write("two,", [writer](const Result<void>&) {
      writer->write("three", nullptr);
      writer->end();
    });
  });
  const auto client = client_for(tls_target(*server));
  std::string seen;
  Awaited<Result<void>> end;
  client->stream(
      get("/watch"),
      [&](const HttpResponse& head) {
        seen += std::to_string(head.status) + " " + std::string{head.headers.get("content-type")} + ": ";
      },
      [&](std::string_view data) { seen += data; }, [&](const Result<void>& result) { end.set(result); });
  ASSERT_TRUE(end.get().has_value());
  EXPECT_TRUE(end.get()->has_value());
  EXPECT_EQ(seen, "200 application/json: one,two,three");
}

TEST_F(HttpClientTest, CancelledStreamEndsAndTheServerNotices) {
  Awaited<bool> noticed;
  const auto server = serve([&](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    writer->on_close([&noticed, writer] { noticed.set(writer->closed()); });
    writer->start(200, {});
    writer->write("x", nullptr);
  });
  const auto client = client_for(tls_target(*server));
  Awaited<std::string> data;
  Awaited<Result<void>> end;
  const auto stream = client->stream(
      get("/watch"), nullptr, [&](std::string_view bytes) { data.set(std::string{bytes}); },
      [&](const Result<void>& result) { end.set(result); });
  EXPECT_EQ(data.get(), "x");
  stream->cancel();
  ASSERT_TRUE(end.get().has_value());
  EXPECT_THAT(end.get()->error().message, HasSubstr("cancelled by the caller"));
  EXPECT_EQ(noticed.get(), true);
  stream->cancel();  // once more does nothing
}

TEST_F(HttpClientTest, StreamReportsACutInTheMiddle) {
  const auto server = serve([](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    writer->start(200, {});
    writer->write("half", nullptr);  // and drops the writer
  });
  const auto client = client_for(tls_target(*server));
  Awaited<Result<void>> end;
  client->stream(get("/watch"), nullptr, nullptr, [&](const Result<void>& result) { end.set(result); });
  ASSERT_TRUE(end.get().has_value());
  ASSERT_FALSE(end.get()->has_value());
  EXPECT_EQ(end.get()->error().code, ErrorCode::kUnavailable);
}

TEST_F(HttpClientTest, RefusesMoreStreamsThanAllowed) {
  const auto server = serve([](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    writer->on_close([writer] {});
    writer->start(200, {});
  });
  HttpClient::Options options;
  options.max_streams = 1;
  const auto client = client_for(tls_target(*server), options);
  Awaited<int> head;
  Awaited<Result<void>> second;
  client->stream(
      get("/"), [&](const HttpResponse& response) { head.set(response.status); }, nullptr, nullptr);
  EXPECT_EQ(head.get(), 200);
  client->stream(get("/"), nullptr, nullptr, [&](const Result<void>& result) { second.set(result); });
  ASSERT_TRUE(second.get().has_value());
  EXPECT_EQ(second.get()->error().code, ErrorCode::kTooManyRequests);
}

TEST_F(HttpClientTest, DestroyedClientEndsEverythingUnderWay) {
  const auto server = serve([](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    writer->on_close([writer] {});  // kept, never answered
  });
  auto client = client_for(tls_target(*server));
  Awaited<Result<HttpResponse>> answer;
  Awaited<Result<void>> end;
  client->request(get("/"), Millis{20'000}, [&](Result<HttpResponse> result) { answer.set(std::move(result)); });
  client->stream(get("/"), nullptr, nullptr, [&](const Result<void>& result) { end.set(result); });
  EXPECT_TRUE(eventually([&] { return server->stats().in_flight == 2; }));
  client.reset();
  ASSERT_TRUE(answer.get().has_value());
  EXPECT_THAT(answer.get()->error().message, HasSubstr("the client has been closed"));
  ASSERT_TRUE(end.get().has_value());
  EXPECT_FALSE(end.get()->has_value());
}

TEST_F(HttpClientTest, OnceClosedEndsWhatHoldsIt) {
  const auto server = serve([](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    writer->on_close([writer] {});  // kept, never answered
  });
  std::shared_ptr<HttpClient> client = client_for(tls_target(*server));
  Awaited<std::string> under_way, late;
  client->request(get("/"), Millis{3'600'000},
                  [&, kept = client](const Result<HttpResponse>& answer) { under_way.set(answer.error().message); });
  EXPECT_TRUE(eventually([&] { return server->stats().in_flight == 1; }));
  client->close();
  client->close();
  EXPECT_THAT(under_way.get().value_or(""), HasSubstr("the client has been closed"));
  client->request(get("/"), Millis{3'600'000},
                  [&](const Result<HttpResponse>& answer) { late.set(answer.error().message); });
  EXPECT_THAT(late.get().value_or(""), HasSubstr("the client has been closed"));
  EXPECT_TRUE(eventually([&] { return client.use_count() == 1; }));
}

TEST_F(HttpClientTest, NothingCallsBackOnceItsThreadsHaveStopped) {
  const auto server = serve([](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    writer->on_close([writer] {});  // kept, never answered
  });
  std::shared_ptr<HttpClient> client = client_for(tls_target(*server));
  std::atomic<bool> begun = false;
  std::atomic<bool> returned = false;
  std::atomic<int> late = 0;
  const auto stream = client->stream(get("/"), nullptr, nullptr, [&, kept = client](const Result<void>&) {
    begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    returned = true;
  });
  EXPECT_TRUE(eventually([&] { return server->stats().in_flight == 1; }));
  stream->cancel();
  EXPECT_TRUE(eventually([&] { return begun.load(); }));
  client.reset();
  io->stop();
  EXPECT_TRUE(returned) << "stop() waits for a callback that runs";
  io->post([&] { ++late; });
  io->stop();
  io.reset();
  EXPECT_EQ(late, 0);
}

TEST_F(HttpClientTest, ServesTwoHundredClientsAtTheSameTime) {
  std::vector<std::shared_ptr<ResponseWriter>> waiting;
  std::mutex mutex;
  HttpServer::Options server_options = tls_options();
  server_options.header_timeout = Millis{60'000};  // 200 handshakes at once take a slow machine a while
  // No request is answered before all have arrived: so all are connected at once.
  const auto server = serve(
      [&](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
        const std::lock_guard lock{mutex};
        waiting.push_back(std::move(writer));
        if (waiting.size() < 200) return;
        for (const auto& each : waiting) each->send({200, {}, "all here"});
        waiting.clear();
      },
      server_options);
  HttpClient::Options options;
  options.max_connections = 200;
  options.connect_timeout = Millis{60'000};
  const auto client = client_for(tls_target(*server), options);
  std::atomic<int> answered{0};
  for (int i = 0; i < 200; ++i) {
    client->request(get("/"), Millis{60'000}, [&](const Result<HttpResponse>& answer) {
      answered += answer && answer.value().body == "all here" ? 1 : 1000;
    });
  }
  EXPECT_TRUE(eventually([&] { return answered >= 200; }));
  EXPECT_EQ(answered, 200);
  EXPECT_EQ(client->connections_opened(), 200U);
}

TEST_F(HttpClientTest, RefusesTargetsThatCannotBeUsed) {
  const auto code = [&](const ClientTarget& target) { return HttpClient::create(io, target).error().message; };
  EXPECT_THAT(code({.url = "10.0.0.1:6443"}), HasSubstr("must begin with https://"));
  EXPECT_THAT(code({.url = "https://host:99999"}), HasSubstr("port"));
  EXPECT_THAT(code({.url = "https://host", .ca_pem = "nonsense"}), HasSubstr("authority is not PEM"));
  EXPECT_THAT(code({.url = "https://host", .certificate_pem = "x"}), HasSubstr("needs its key"));
}

TEST_F(HttpClientTest, RefusesARequestThatWouldSmuggleALine) {
  const auto server = serve(echo);
  const auto client = client_for(tls_target(*server));
  HttpRequest request = get("/");
  request.headers.add("X-Reason", "a\r\nAuthorization: Bearer stolen");
  const auto answer = ask(*client, request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kBadRequest);
}

TEST_F(HttpClientTest, ReadsALargeAnswerThatAnotherThreadSent) {
  const std::string large(5'000'000, 'y');
  const auto server = serve([&](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
    std::thread{[writer, &large] { writer->send({200, {}, large}); }}.join();  // from a thread of its own
  });
  const auto client = client_for(tls_target(*server));
  const auto answer = ask(*client, get("/"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer.value().body, large);
}

}  // namespace
}  // namespace shiplog
