#include "services/http/tunnel.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/http_peers.h"

namespace shiplog {
namespace {

using testing::Awaited;
using ::testing::HasSubstr;
using Stream = std::shared_ptr<ByteStream>;

/// A port that nothing listens on, and that no other process can take meanwhile.
class UnservedPort {
 public:
  UnservedPort() {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    auto* const address = reinterpret_cast<sockaddr*>(&address_);
    EXPECT_EQ(::bind(socket_, address, size), 0);
    EXPECT_EQ(::getsockname(socket_, address, &size), 0);
  }
  UnservedPort(const UnservedPort&) = delete;
  UnservedPort& operator=(const UnservedPort&) = delete;
  ~UnservedPort() { ::close(socket_); }
  uint16_t number() const { return ::ntohs(address_.sin_port); }

 private:
  const int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address_{};
};

/// A server that nothing can connect to but what is beside it, and a gateway to which an agent beside the server opens
/// tunnels.
class TunnelTest : public ::testing::Test {
 protected:
  TunnelTest() {
    HttpServer::Options tls = testing::tls_options();
    member_ = HttpServer::start(tls, [](const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer) {
                writer->send({200, {}, "member says " + request.path + std::string(request.body.size(), 'x')});
              }).value();
    gateway_ = HttpServer::start({}, [this](const HttpRequest&, const std::shared_ptr<ResponseWriter>& writer) {
                 writer->upgrade({{"Upgrade", kTunnelProtocol}}, [this](Result<Stream> stream) {
                   if (stream) accepted_.set(std::move(stream).value());
                 });
               }).value();
  }
  ~TunnelTest() override {
    member_->stop(Millis{0});
    gateway_->stop(Millis{0});
  }

  /// The gateway's end and the agent's end of one connection.
  std::pair<Stream, Stream> connection() {
    ClientTarget target;
    target.url = gateway_->url();
    opener_ = HttpClient::create(io_, target).value();
    HttpRequest request;
    request.path = "/tunnel";
    request.headers = {{"Connection", "Upgrade"}, {"Upgrade", kTunnelProtocol}};
    Awaited<Result<HttpClient::Upgraded>> answer;
    opener_->upgrade(std::move(request), Millis{20'000},
                     [&](Result<HttpClient::Upgraded> got) { answer.set(std::move(got)); });
    auto upgraded = answer.get();
    auto accepted = accepted_.get();
    return {accepted.value(), upgraded->value().stream};
  }

  std::unique_ptr<HttpClient> client_through(const std::shared_ptr<WaitingTunnel>& tunnel) {
    HttpClient::Options options;
    options.dial = [tunnel](std::function<void(Result<std::optional<int>>)> then) {
      tunnel->take(Millis{20'000}, [then = std::move(then)](Result<int> socket) {
        socket ? then(std::optional{socket.value()}) : then(socket.error());
      });
    };
    return HttpClient::create(io_, testing::tls_target(*member_), options).value();
  }

  static Result<HttpResponse> get(HttpClient& client, const std::string& path, std::string body = {}) {
    HttpRequest request;
    request.path = path;
    request.method = body.empty() ? "GET" : "POST";
    request.body = std::move(body);
    Awaited<Result<HttpResponse>> answer;
    client.request(std::move(request), Millis{20'000}, [&](Result<HttpResponse> got) { answer.set(std::move(got)); });
    return answer.get().value();
  }

  std::shared_ptr<IoThreads> io_ = std::make_shared<IoThreads>(1);
  Awaited<Stream> accepted_;
  std::unique_ptr<HttpServer> member_, gateway_;
  std::unique_ptr<HttpClient> opener_;
};

TEST_F(TunnelTest, CarriesTlsToTheServerAtItsOtherEnd) {
  auto [gateway_end, agent_end] = connection();
  Awaited<bool> taken, ended;
  serve_tunnel(
      io_, agent_end, {"127.0.0.1", std::to_string(member_->bound_port())}, [&] { taken.set(true); },
      [&] { ended.set(true); });
  const auto tunnel = WaitingTunnel::start(io_, gateway_end, [] {});
  {
    const auto client = client_through(tunnel);
    const auto answer = get(*client, "/a");
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer.value().body, "member says /a");
    const auto large = get(*client, "/b", std::string(2'000'000, 'y'));
    ASSERT_TRUE(large) << large.error().message;
    EXPECT_EQ(large.value().body.size(), 2'000'000U + 14U);
    EXPECT_EQ(client->connections_opened(), 1U);
  }
  EXPECT_TRUE(taken.get());
  EXPECT_TRUE(ended.get()) << "with the client's connection";
}

TEST_F(TunnelTest, ReportsWhyTheServerIsNotReached) {
  auto [gateway_end, agent_end] = connection();
  const UnservedPort port;
  serve_tunnel(
      io_, agent_end, {"127.0.0.1", std::to_string(port.number())}, [] {}, [] {});
  const auto client = client_through(WaitingTunnel::start(io_, gateway_end, [] {}));
  const auto answer = get(*client, "/a");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr("at the other end: "));
}

TEST_F(TunnelTest, APeerThatDoesNotAnswerPingsIsGivenUpOn) {
  auto [gateway_end, agent_end] = connection();
  Awaited<bool> gone;
  const auto tunnel = WaitingTunnel::start(io_, gateway_end, [&] { gone.set(true); },
                                           {.ping_every = Millis{10}, .ping_answer = Millis{50}});
  EXPECT_TRUE(gone.get()) << "the agent's end is open, but reads nothing";
}

TEST_F(TunnelTest, PingsKeepItAliveUntilItIsUsed) {
  auto [gateway_end, agent_end] = connection();
  serve_tunnel(
      io_, agent_end, {"127.0.0.1", std::to_string(member_->bound_port())}, [] {}, [] {});
  std::atomic<bool> gone{false};
  const auto tunnel = WaitingTunnel::start(io_, gateway_end, [&] { gone = true; },
                                           {.ping_every = Millis{1}, .ping_answer = Millis{10'000}});
  const auto client = client_through(tunnel);
  EXPECT_TRUE(get(*client, "/a"));
  EXPECT_FALSE(gone);
}

TEST_F(TunnelTest, AServingEndThatHearsNothingEndsIt) {
  auto [gateway_end, agent_end] = connection();
  Awaited<bool> ended;
  serve_tunnel(
      io_, agent_end, {"127.0.0.1", "1"}, [] {}, [&] { ended.set(true); }, Millis{20});
  EXPECT_TRUE(ended.get());
}

TEST_F(TunnelTest, GarbageEndsIt) {
  auto [gateway_end, agent_end] = connection();
  Awaited<bool> gone;
  const auto tunnel = WaitingTunnel::start(io_, gateway_end, [&] { gone.set(true); });
  agent_end->write("g", [](const Result<void>&) {});
  EXPECT_TRUE(gone.get()) << "it was not asked to connect";
}

}  // namespace
}  // namespace shiplog
