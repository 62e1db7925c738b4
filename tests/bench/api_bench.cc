// Measures the durable mutations per second of a running API server: api_bench KUBECONFIG [CLIENTS] [SECONDS]
// [produced]. Every client has its own connection and creates 1.5 KB ConfigMaps, one after another: by POST, or as
// produced requests whose outcome it waits for.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "services/http/client.h"
#include "services/http/kubeconfig.h"

namespace {

using namespace shiplog;
using Steady = std::chrono::steady_clock;

struct MutationLoad {
  std::unique_ptr<HttpClient> client;
  std::string prefix;
  bool produced = false;
  Steady::time_point until;
  std::atomic<uint64_t> accepted{0}, refused{0};
  std::atomic<int> running{0};
  std::mutex mutex;
  std::vector<double> latencies_ms;

  void next(int worker, uint64_t number) {
    if (Steady::now() >= until) {
      --running;
      return;
    }
    HttpRequest request;
    request.method = "POST";
    request.headers.set("Content-Type", "application/json");
    const std::string name = prefix + "-" + std::to_string(worker) + "-" + std::to_string(number);
    const std::string manifest = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":")" +
                                 name + R"("},"data":{"text":")" + std::string(1400, 'x') + "\"}}";
    if (produced) {
      request.target = "/shiplog/v1/requests?wait=true";
      request.body = R"({"id":")" + name + R"(","verb":"create","manifest":)" + manifest + "}";
    } else {
      request.target = "/api/v1/namespaces/default/configmaps";
      request.body = manifest;
    }
    const auto began = Steady::now();
    client->request(std::move(request), Millis{30'000}, [=, this](Result<HttpResponse> answer) {
      const double ms = std::chrono::duration<double, std::milli>(Steady::now() - began).count();
      const bool applied = answer && (produced ? answer.value().body.find("\"applied\"") != std::string::npos
                                               : answer.value().status == 201);
      if (applied) {
        ++accepted;
      } else {
        if (refused++ == 0) {
          std::fprintf(stderr, "refused: %s\n", answer ? answer.value().body.c_str() : answer.error().message.c_str());
        }
      }
      {
        const std::lock_guard lock{mutex};
        latencies_ms.push_back(ms);
      }
      next(worker, number + 1);
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: api_bench KUBECONFIG [CLIENTS] [SECONDS] [produced]\n");
    return 2;
  }
  const int clients = argc > 2 ? std::atoi(argv[2]) : 64;
  const int seconds = argc > 3 ? std::atoi(argv[3]) : 5;
  const auto config = read_kubeconfig({argv[1]});
  if (!config) {
    std::fprintf(stderr, "api_bench: %s\n", config.error().message.c_str());
    return 1;
  }
  const auto context = context_of(config.value());
  if (!context) {
    std::fprintf(stderr, "api_bench: %s\n", context.error().message.c_str());
    return 1;
  }
  auto io = std::make_shared<IoThreads>(1);
  HttpClient::Options options;
  options.max_connections = static_cast<size_t>(clients);
  MutationLoad load;
  auto client = HttpClient::create(io, context.value().target, options);
  if (!client) {
    std::fprintf(stderr, "api_bench: %s\n", client.error().message.c_str());
    return 1;
  }
  load.client = std::move(client).value();
  load.produced = argc > 4 && std::string_view{argv[4]} == "produced";
  load.prefix = "bench-" + std::to_string(Steady::now().time_since_epoch().count() % 100'000'000);
  load.until = Steady::now() + std::chrono::seconds{seconds};
  load.running = clients;
  const auto began = Steady::now();
  for (int worker = 0; worker < clients; ++worker) load.next(worker, 0);
  while (load.running > 0) std::this_thread::sleep_for(std::chrono::milliseconds{10});
  const double took = std::chrono::duration<double>(Steady::now() - began).count();
  std::sort(load.latencies_ms.begin(), load.latencies_ms.end());
  const auto percentile = [&](double share) {
    return load.latencies_ms.empty()
               ? 0
               : load.latencies_ms[static_cast<size_t>(share * static_cast<double>(load.latencies_ms.size() - 1))];
  };
  // The clients' own work, mostly TLS, uses the same processors.
  const double cpu_us = static_cast<double>(std::clock()) / CLOCKS_PER_SEC / static_cast<double>(load.accepted) * 1e6;
  std::printf("%d clients: %.0f mutations/s, p50 %.1f ms, p99 %.1f ms, %.1f us of client CPU each, %llu refused\n",
              clients, static_cast<double>(load.accepted) / took, percentile(0.5), percentile(0.99), cpu_us,
              static_cast<unsigned long long>(load.refused));
  return load.refused == 0 ? 0 : 1;
}
