#include "tests/bench/reads.h"

#include <atomic>
#include <cstdio>
#include <future>
#include <mutex>
#include <thread>

#include "services/http/kubeconfig.h"

namespace shiplog::bench {
namespace {

using Steady = std::chrono::steady_clock;

constexpr size_t kObjects = 10'000;
constexpr size_t kBytes = 1400;
constexpr size_t kWatches = 1000;
constexpr int kWritesPerSecond = 1000;
constexpr int kSeconds = 5;
const std::string kWatched = "/api/v1/namespaces/watched/configmaps";

double ms_since(Steady::time_point began) {
  return std::chrono::duration<double, std::milli>(Steady::now() - began).count();
}

/// The limit of HTTP and TLS alone: 64 connections of wrk request /livez.
void baseline(Figures& figures, const std::string& server) {
  const auto ran = e2e::run({"wrk", "-t1", "-c64", "-d3s", server + "/livez"}, {}, "", std::chrono::seconds{60});
  const size_t position = ran.out.find("Requests/sec:");
  if (!ran.ok() || position == std::string::npos) {
    std::printf("machine: wrk is not installed or failed: %s\n", ran.err.c_str());
    return;
  }
  figures.value("machine", "machine: HTTPS with nothing to do (wrk, 64 connections)",
                std::strtod(ran.out.c_str() + position + 13, nullptr), "per_second");
}

void lists(Figures& figures, BenchClient& client) {
  std::vector<double> whole, paged;
  size_t bytes = 0;
  for (int times = 0; times < 5; ++times) {
    auto began = Steady::now();
    bytes = client.call("GET", kConfigMaps).body.size();
    whole.push_back(ms_since(began));
    began = Steady::now();
    for (std::string token = "first"; !token.empty();) {
      const std::string from = token == "first" ? "" : "&continue=" + token;
      const Value page = or_exit(parse_json(client.call("GET", kConfigMaps + "?limit=500" + from).body));
      token = page["metadata"]["continue"].str();
    }
    paged.push_back(ms_since(began));
  }
  figures.value("reads", "list of 10,000 objects", percentile(whole, 0.5), "ms");
  figures.value("reads", "  its size", static_cast<double>(bytes) / 1e6, "MB");
  figures.value("reads", "the same in pages of 500, and read by the client", percentile(paged, 0.5), "ms");
}

void gets(Figures& figures, BenchClient& client, const std::string& when) {
  std::vector<double> took;
  for (size_t i = 0; i < 2000; ++i) {
    const auto began = Steady::now();
    const HttpResponse answer = client.call("GET", kConfigMaps + "/c-" + std::to_string(i * 37 % kObjects));
    if (answer.status != 200) give_up("get: " + std::string{answer.body});
    took.push_back(ms_since(began));
  }
  figures.value("reads", "get, " + when + ", p50", percentile(took, 0.5), "ms");
  figures.value("reads", "get, " + when + ", p99", percentile(took, 0.99), "ms");
}

/// Number of events of all watches; each line of a stream is an event.
struct EventCounter {
  std::atomic<size_t> events{0}, bytes{0}, ended{0};
};

void watches(Figures& figures, BenchFleet& fleet, const std::string& selector, const std::string& which) {
  BenchClient client{fleet.kubeconfig("plane"), 64, kWatches + 8};
  const Value list = or_exit(parse_json(client.call("GET", kWatched + "?limit=1").body));
  const std::string from = list["metadata"]["resourceVersion"].str();
  auto counted = std::make_shared<EventCounter>();
  std::vector<std::shared_ptr<HttpClient::Stream>> streams;
  std::atomic<size_t> open{0};
  for (size_t i = 0; i < kWatches; ++i) {
    HttpRequest request;
    request.target = kWatched + "?watch=true&resourceVersion=" + from +
                     (selector.empty() ? "" : "&labelSelector=" + selector + "%3D" + std::to_string(i));
    streams.push_back(client.http().stream(
        std::move(request), [&open](const HttpResponse& head) { open += head.status == 200 ? 1 : 0; },
        [counted](std::string_view data) {
          counted->events += static_cast<size_t>(std::count(data.begin(), data.end(), '\n'));
          counted->bytes += data.size();
        },
        [counted](const Result<void>&) { ++counted->ended; }));
  }
  if (!e2e::eventually([&] { return open == kWatches; }, kPatience)) give_up("not all watches began");

  // Written at a constant rate, independently of the watches.
  std::atomic<size_t> stored{0};
  static std::atomic<size_t> named{0};
  const auto began = Steady::now();
  for (size_t i = 0; i < kWritesPerSecond * kSeconds; ++i) {
    std::this_thread::sleep_until(began + std::chrono::microseconds{1'000'000 / kWritesPerSecond} * i);
    const size_t number = named++;
    const std::string body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"w-)" +
                             std::to_string(number) + R"(","labels":{"to":")" + std::to_string(number % kWatches) +
                             R"("}},"data":{"a":"1"}})";
    client.send("POST", kWatched, body, [&](const Result<HttpResponse>& answer) {
      if (!answer || answer.value().status != 201) give_up("a watched object was not stored");
      ++stored;
    });
  }
  if (!e2e::eventually([&] { return stored == kWritesPerSecond * kSeconds; }, kPatience)) give_up("not all is stored");
  const double storing = ms_since(began) / 1000;
  const size_t wanted = stored * (selector.empty() ? kWatches : 1);
  if (!e2e::eventually([&] { return counted->events >= wanted || counted->ended > 0; }, kPatience) ||
      counted->ended > 0) {
    give_up("watches saw " + std::to_string(counted->events) + " of " + std::to_string(wanted) + " events, " +
            std::to_string(counted->ended) + " ended");
  }
  const double seconds = ms_since(began) / 1000;
  figures.value("watches", which + ": mutations", static_cast<double>(stored) / storing, "per_second");
  figures.value("watches", which + ": events", static_cast<double>(wanted) / seconds, "per_second");
  figures.value("watches", which + ": the last event after the last answer", seconds - storing, "seconds");
  for (const auto& stream : streams) stream->cancel();
}

}  // namespace

void reads(Figures& figures, BenchFleet& fleet) {
  const auto plane = fleet.start("plane", {"serve"});
  const auto config = or_exit(read_kubeconfig({fleet.kubeconfig("plane")}));
  Figures::heading("reads, 10,000 objects of 1.5 KB");
  baseline(figures, or_exit(context_of(config)).target.url);
  std::vector<std::pair<std::string, std::string>> objects;
  for (size_t i = 0; i < kObjects; ++i) objects.emplace_back(kConfigMaps, config_map("c-" + std::to_string(i), kBytes));
  store(fleet, objects);
  BenchClient client{fleet.kubeconfig("plane"), 4};
  lists(figures, client);
  gets(figures, client, "alone");
  auto load = std::async(std::launch::async, [&] { return fleet.api_bench(16, 4); });
  std::this_thread::sleep_for(std::chrono::milliseconds{500});  // until the load has started
  gets(figures, client, "while 16 clients write");
  if (const auto ran = load.get(); !ran.ok()) give_up(ran.out + ran.err);

  Figures::heading("1,000 watches while 1,000 objects a second are written");
  client.must("POST", "/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"watched"}})");
  watches(figures, fleet, "to", "each sees a thousandth");
  watches(figures, fleet, "", "each sees everything");
  figures.value("watches", "peak memory of the server", peak_memory_mb(plane->pid()), "MB");
}

}  // namespace shiplog::bench
