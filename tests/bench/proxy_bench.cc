// What the cluster proxy costs: requests per second and latency through it, beside a direct connection to the member
// and, if nginx is installed, beside nginx as a TLS reverse proxy; then 1,000 watches through it. The member is a
// server of this program that answers every request with 2 KB.
//   proxy_bench [--seconds=10] [--connections=8] [--watches=1000] [--json=FILE] [--directory=DIRECTORY]

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "events/base/base64.h"
#include "events/base/system.h"
#include "services/http/server.h"
#include "services/http/tls.h"
#include "tests/bench/bench_fleet.h"

namespace shiplog::bench {
namespace {

const std::string kProxy = "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy";
const std::string kEvent = "{\"type\":\"ADDED\",\"object\":{}}\n";
const std::string kPath = "/api/v1/namespaces/default/configmaps/a";

/// A member that answers at once, and keeps watches open.
class Member {
 public:
  Member() {
    const UtcMillis now = SystemClock{}.now();
    authority_ = or_exit(make_authority("bench", valid_for_days(now, 1)));
    server_pair_ =
        or_exit(issue_server_certificate(authority_, "member", {{"localhost"}, {"127.0.0.1"}}, valid_for_days(now, 1)));
    HttpServer::Options options;
    options.certificate_pem = server_pair_.certificate_pem;
    options.key_pem = server_pair_.key_pem;
    server_ = or_exit(
        HttpServer::start(options, [this](const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer) {
          if (request.query_value("watch") == nullptr) {
            return writer->send({200, {{"Content-Type", "application/json"}}, body_});
          }
          writer->start(200, {{"Content-Type", "application/json"}});
          const std::lock_guard lock{mutex_};
          watches_.push_back(writer);
        }));
  }

  uint16_t port() const { return server_->bound_port(); }
  std::string url() const { return "https://127.0.0.1:" + std::to_string(port()); }
  const KeyPair& authority() const { return authority_; }
  const KeyPair& server_pair() const { return server_pair_; }
  size_t watches() {
    const std::lock_guard lock{mutex_};
    return watches_.size();
  }
  void send_event() {
    const std::lock_guard lock{mutex_};
    for (const auto& watch : watches_) watch->write(kEvent, {});
  }

 private:
  const std::string body_ = "{\"kind\":\"ConfigMap\",\"data\":{\"a\":\"" + std::string(2000, 'x') + "\"}}";
  KeyPair authority_, server_pair_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<ResponseWriter>> watches_;
  std::unique_ptr<HttpServer> server_;
};

struct Load {
  double per_second = 0, p50_ms = 0, p99_ms = 0;
};

/// `connections` requests under way at all times, for so many seconds.
Load measure(HttpClient& client, const std::string& target, int connections, int seconds) {
  using Clock = std::chrono::steady_clock;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<double> latencies;
  int open = connections;
  size_t failed = 0;
  const auto until = Clock::now() + std::chrono::seconds{seconds};
  std::function<void()> next = [&] {
    const auto begin = Clock::now();
    HttpRequest request;
    request.target = target;
    client.request(std::move(request), Millis{30'000}, [&, begin](const Result<HttpResponse>& answer) {
      const auto end = Clock::now();
      {
        const std::lock_guard lock{mutex};
        latencies.push_back(std::chrono::duration<double, std::milli>(end - begin).count());
        if (!answer || answer.value().status != 200) ++failed;
        if (end >= until) {
          --open;
          changed.notify_all();
          return;
        }
      }
      next();
    });
  };
  for (int i = 0; i < connections; ++i) next();
  std::unique_lock lock{mutex};
  changed.wait(lock, [&] { return open == 0; });
  if (failed > 0) give_up(std::to_string(failed) + " requests failed at " + target);
  return {static_cast<double>(latencies.size()) / seconds, percentile(latencies, 0.5), percentile(latencies, 0.99)};
}

Load report(Figures& figures, const std::string& what, HttpClient& client, const std::string& target, int connections,
            int seconds) {
  measure(client, target, connections, 1);
  const Load load = measure(client, target, connections, seconds);
  figures.value("proxy", what + ", " + std::to_string(connections) + " connections", load.per_second, "requests/s");
  figures.value("proxy", what + ", p50", load.p50_ms, "ms");
  figures.value("proxy", what + ", p99", load.p99_ms, "ms");
  return load;
}

void compare(Figures& figures, const std::string& with, const Load& proxy, const Load& other) {
  figures.value("proxy", "requests/s, proxy : " + with, proxy.per_second / other.per_second, "times");
  figures.value("proxy", "p50 added to " + with, proxy.p50_ms - other.p50_ms, "ms");
  figures.value("proxy", "p99 added to " + with, proxy.p99_ms - other.p99_ms, "ms");
}

std::unique_ptr<HttpClient> direct_client(const Member& member, const std::string& url) {
  ClientTarget target;
  target.url = url;
  target.ca_pem = member.authority().certificate_pem;
  HttpClient::Options options;
  options.max_connections = 256;
  return or_exit(HttpClient::create(std::make_shared<IoThreads>(1), target, options));
}

/// nginx in front of the member, with its certificate; nullptr: it is not installed.
std::unique_ptr<e2e::Process> start_nginx(const Member& member, const std::string& folder, uint16_t port) {
  std::string program;
  for (const char* candidate : {"/usr/sbin/nginx", "/usr/bin/nginx"}) {
    if (std::filesystem::exists(candidate)) program = candidate;
  }
  if (program.empty()) return nullptr;
  std::filesystem::create_directories(folder);
  e2e::write_file(folder + "/server.crt", member.server_pair().certificate_pem);
  e2e::write_file(folder + "/server.key", member.server_pair().key_pem);
  e2e::write_file(folder + "/ca.crt", member.authority().certificate_pem);
  e2e::write_file(
      folder + "/nginx.conf",
      "daemon off;\nworker_processes 2;\npid " + folder + "/pid;\nerror_log " + folder +
          "/error.log;\nevents { worker_connections 4096; }\nhttp {\n  access_log off;\n"
          "  client_body_temp_path " +
          folder + "/body;\n  proxy_temp_path " + folder + "/temp;\n  fastcgi_temp_path " + folder +
          "/fastcgi;\n  uwsgi_temp_path " + folder + "/uwsgi;\n  scgi_temp_path " + folder +
          "/scgi;\n  upstream member { server 127.0.0.1:" + std::to_string(member.port()) +
          "; keepalive 256; }\n  server {\n    listen 127.0.0.1:" + std::to_string(port) +
          " ssl;\n    keepalive_requests 1000000;\n    ssl_certificate " + folder +
          "/server.crt;\n    ssl_certificate_key " + folder +
          "/server.key;\n    location / {\n      proxy_pass https://member;\n      proxy_http_version 1.1;\n"
          "      proxy_set_header Connection \"\";\n      proxy_ssl_verify on;\n      proxy_ssl_name localhost;\n"
          "      proxy_ssl_trusted_certificate " +
          folder + "/ca.crt;\n    }\n  }\n}\n");
  return std::make_unique<e2e::Process>(std::vector<std::string>{program, "-c", folder + "/nginx.conf", "-p", folder},
                                        e2e::Environment{}, folder + "/nginx.log");
}

uint16_t free_port() {
  HttpServer::Options options;
  const auto server =
      or_exit(HttpServer::start(options, [](const HttpRequest&, const std::shared_ptr<ResponseWriter>&) {}));
  return server->bound_port();
}

void join(BenchClient& plane, const Member& member) {
  const std::string secrets = "/api/v1/namespaces/karmada-cluster/secrets";
  static_cast<void>(plane.call("POST", "/api/v1/namespaces", R"({"metadata":{"name":"karmada-cluster"}})"));
  plane.must("POST", secrets,
             R"({"metadata":{"name":"m1"},"data":{"token":"dA==","caBundle":")" +
                 base64_encode(member.authority().certificate_pem) + "\"}}");
  plane.must("POST", secrets, R"({"metadata":{"name":"m1-impersonator"},"data":{"token":"dA=="}})");
  plane.must("POST", "/apis/cluster.karmada.io/v1alpha1/clusters",
             R"({"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{"name":"m1"},"spec":{)"
             R"("syncMode":"Push","apiEndpoint":")" +
                 member.url() +
                 R"(","secretRef":{"namespace":"karmada-cluster","name":"m1"},)"
                 R"("impersonatorSecretRef":{"namespace":"karmada-cluster","name":"m1-impersonator"}}})");
}

template <class Condition>
void wait_for(const char* what, Condition condition) {
  for (int i = 0; i < 6'000; ++i) {
    if (condition()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  give_up(std::string{"waited a minute for "} + what);
}

void measure_watches(Figures& figures, Member& member, BenchClient& plane, pid_t pid, size_t count) {
  const double memory = peak_memory_mb(pid);
  const Time begin = Time::now();
  const size_t others = member.watches();  // those of the collector
  std::atomic<size_t> events{0};
  std::vector<std::shared_ptr<HttpClient::Stream>> streams;
  for (size_t i = 0; i < count; ++i) {
    HttpRequest request;
    request.target = kProxy + "/api/v1/configmaps?watch=true";
    streams.push_back(plane.http().stream(
        std::move(request), [](const HttpResponse&) {}, [&](std::string_view data) { events += data.size(); },
        [](const Result<void>&) {}));
  }
  wait_for("the watches", [&] { return member.watches() >= others + count; });
  figures.seconds("proxy", std::to_string(count) + " watches opened", Time::now().since(begin));
  const Time sent = Time::now();
  member.send_event();
  wait_for("the events", [&] { return events >= count * kEvent.size(); });
  figures.seconds("proxy", "one event for each of them received", Time::now().since(sent));
  figures.value("proxy", "memory for each", (peak_memory_mb(pid) - memory) * 1024 / static_cast<double>(count), "KB");
  for (const auto& stream : streams) stream->cancel();
}

int run(int argc, char** argv) {
  Figures figures{option(argc, argv, "json")};
  const int seconds = std::stoi(option(argc, argv, "seconds", "10"));
  const int connections = std::stoi(option(argc, argv, "connections", "8"));
  const auto watches = static_cast<size_t>(std::stoul(option(argc, argv, "watches", "1000")));
  char folder[] = "/tmp/proxy-bench-XXXXXX";
  const std::string directory = option(argc, argv, "directory", ::mkdtemp(folder));
  std::filesystem::create_directories(directory);
  const std::string programs = std::filesystem::canonical("/proc/self/exe").parent_path().string();

  Member member;
  BenchFleet fleet{directory, programs};
  const auto process = fleet.start("plane", {"serve"});
  BenchClient plane{fleet.kubeconfig("plane"), 256, watches + 16};
  join(plane, member);
  wait_for("the cluster", [&] { return plane.call("GET", kProxy + kPath).status == 200; });
  const uint16_t port = free_port();
  const auto nginx = start_nginx(member, directory + "/nginx", port);
  const auto direct = direct_client(member, member.url());
  const auto through_nginx = direct_client(member, "https://localhost:" + std::to_string(port));
  if (nginx) wait_for("nginx", [&] { return std::filesystem::exists(directory + "/nginx/pid"); });

  for (const int at_once : {1, connections}) {
    Figures::heading("cluster proxy, " + std::to_string(at_once) + " at once");
    const Load of_direct = report(figures, "direct", *direct, kPath, at_once, seconds);
    const Load of_proxy = report(figures, "cluster proxy", plane.http(), kProxy + kPath, at_once, seconds);
    compare(figures, "direct", of_proxy, of_direct);
    if (!nginx) continue;
    const Load of_nginx = report(figures, "nginx", *through_nginx, kPath, at_once, seconds);
    compare(figures, "nginx", of_proxy, of_nginx);
  }
  if (nginx) {
    nginx->terminate();  // a killed one would leave its workers behind
  } else {
    std::printf("\nnginx is not installed: compared with the direct connection only\n");
  }
  Figures::heading("watches through the cluster proxy");
  measure_watches(figures, member, plane, process->pid(), watches);
  return 0;
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) { return shiplog::bench::run(argc, argv); }
