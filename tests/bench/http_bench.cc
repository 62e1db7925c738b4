// What a request and an idle connection cost the HTTP server, beside Beast's streams and coroutines:
//   http_bench [--json=FILE]
#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "events/base/system.h"
#include "services/http/client.h"
#include "services/http/server.h"
#include "tests/bench/beast_server.h"
#include "tests/bench/figures.h"

namespace shiplog::bench {
namespace {

constexpr size_t kConnections = 1'000;
constexpr size_t kClients = 64;
constexpr size_t kRequests = 40'000;

/// Resident memory of this process in kilobytes.
double resident_kb() {
  std::ifstream file{"/proc/self/statm"};
  size_t total = 0;
  size_t resident = 0;
  file >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1024;
}

void pause_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds{ms}); }

/// The client process: `requests` requests over `connections` connections, then a byte on `done`; it keeps the
/// connections until it is killed.
[[noreturn]] void run_client(const ClientTarget& target, size_t connections, size_t requests, int done) {
  const auto io = std::make_shared<IoThreads>(1);
  HttpClient::Options options;
  options.max_connections = connections;
  const auto client = or_exit(HttpClient::create(io, target, options));
  std::atomic<size_t> answered{0};
  std::atomic<size_t> sent{0};
  std::function<void()> next = [&] {
    if (sent.fetch_add(1) >= requests) return;
    HttpRequest request;
    request.path = "/api/v1/namespaces/default/configmaps/settings";
    request.headers = {{"Accept", "application/json"}, {"User-Agent", "bench"}};
    client->request(std::move(request), Millis{60'000}, [&](Result<HttpResponse> response) {
      if (!response) std::fprintf(stderr, "%s\n", response.error().message.c_str());
      if (!response || response.value().status != 200) std::_Exit(2);
      ++answered;
      next();
    });
  };
  for (size_t index = 0; index < std::min(connections, requests); ++index) next();
  while (answered < requests) pause_ms(5);
  if (::write(done, "x", 1) != 1) std::_Exit(3);
  while (true) ::pause();
}

/// Runs `measured` between the start of a client process and its end.
void with_client(const ClientTarget& target, size_t connections, size_t requests,
                 const std::function<void()>& measured) {
  int done[2];
  if (::pipe(done) != 0) std::exit(1);
  const pid_t pid = ::fork();
  if (pid == 0) run_client(target, connections, requests, done[1]);
  ::close(done[1]);
  char byte = 0;
  const bool finished = ::read(done[0], &byte, 1) == 1;
  ::close(done[0]);
  if (finished) measured();
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  if (!finished) {
    std::fprintf(stderr, "the client failed\n");
    std::exit(1);
  }
}

void measure(Figures& figures, const std::string& name, const ClientTarget& target) {
  with_client(target, kClients, kClients, [] {});  // once, so that code and caches are warm
  const Time start = Time::now();
  with_client(target, kClients, kRequests, [] {});
  figures.rate("http", name + ", 64 clients", kRequests, Time::now().since(start));
  const double before = resident_kb();
  with_client(target, kConnections, kConnections, [&] {
    pause_ms(200);
    figures.value("http", name + ", memory of an idle connection", (resident_kb() - before) / kConnections, "KB");
  });
}

int run(int argc, char** argv) {
  Figures figures{option(argc, argv, "json")};
  const UtcMillis now = SystemClock{}.now();
  const KeyPair authority = or_exit(make_authority("bench", valid_for_days(now, 1)));
  const KeyPair certificate =
      or_exit(issue_server_certificate(authority, "localhost", {{"localhost"}, {"127.0.0.1"}}, valid_for_days(now, 1)));
  const std::string body(1'000, 'x');
  Figures::heading("one request and one idle connection of the HTTP server");
  for (const bool encrypted : {false, true}) {
    const std::string kind = encrypted ? "TLS" : "plain";
    const auto target = [&](uint16_t port) {
      ClientTarget to;
      to.url = (encrypted ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port);
      to.ca_pem = encrypted ? authority.certificate_pem : "";
      return to;
    };
    {
      const BeastServer server{encrypted ? certificate : KeyPair{}, body};
      measure(figures, "machine: Beast with coroutines, " + kind, target(server.port()));
    }
    HttpServer::Options options;
    if (encrypted) {
      options.certificate_pem = certificate.certificate_pem;
      options.key_pem = certificate.key_pem;
    }
    const auto server = or_exit(HttpServer::start(options, [&](const HttpRequest&, const auto& writer) {
      writer->send({200, {{"Content-Type", "application/json"}}, body});
    }));
    measure(figures, "shiplog, " + kind, target(server->bound_port()));
  }
  return 0;
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) { return shiplog::bench::run(argc, argv); }
