#include "tests/bench/scale_load.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <set>
#include <thread>
#include <utility>

namespace shiplog::bench {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int kSamplesPerSecond = 40;
constexpr int64_t kReplicas = 2;

double ms_between(Steady::time_point begin, Steady::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

std::string template_body(const std::string& name, size_t group) {
  return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name + R"(","labels":{"group":"g)" +
         std::to_string(group) + R"("}},"spec":{"replicas":)" + std::to_string(kReplicas) +
         R"(,"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[
         {"name":"web","image":"registry.example.com/web:1.27.3","ports":[{"containerPort":8080}],
         "resources":{"requests":{"cpu":"100m","memory":"128Mi"}}}]}}}})";
}

/// The events of a watch, line by line.
class Lines {
 public:
  explicit Lines(std::function<void(const Value&)> take) : take_{std::move(take)} {}
  void feed(std::string_view data) {
    rest_ += data;
    size_t begin = 0;
    for (size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
      if (const auto event = parse_json(std::string_view{rest_}.substr(begin, end - begin))) take_(event.value());
      begin = end + 1;
    }
    rest_.erase(0, begin);
  }

 private:
  std::function<void(const Value&)> take_;
  std::string rest_;
};

/// When each template was sent, and arrived where.
class Arrivals {
 public:
  explicit Arrivals(std::string prefix) : prefix_{std::move(prefix)} {}

  void sent(const std::string& name) {
    const std::lock_guard lock{mutex_};
    templates_[name].sent = Steady::now();
  }
  void in_member(const std::string& name, size_t member) {
    if (!name.starts_with(prefix_)) return;
    const std::lock_guard lock{mutex_};
    templates_[name].arrived.try_emplace(member, Steady::now());
  }
  void has_status(const std::string& name) {
    if (!name.starts_with(prefix_)) return;
    const std::lock_guard lock{mutex_};
    Times& times = templates_[name];
    if (times.status == Steady::time_point{}) times.status = Steady::now();
  }
  size_t arrived() const {
    const std::lock_guard lock{mutex_};
    size_t count = 0;
    for (const auto& [name, times] : templates_) count += times.arrived.size();
    return count;
  }
  size_t with_status() const {
    const std::lock_guard lock{mutex_};
    return static_cast<size_t>(
        std::ranges::count_if(templates_, [](const auto& each) { return each.second.status != Steady::time_point{}; }));
  }
  void add_to(Latencies& latencies) const {
    const std::lock_guard lock{mutex_};
    for (const auto& [name, times] : templates_) {
      for (const auto& [member, at] : times.arrived) latencies.to_member.push_back(ms_between(times.sent, at));
      if (times.status != Steady::time_point{}) latencies.to_status.push_back(ms_between(times.sent, times.status));
    }
  }

 private:
  struct Times {
    Steady::time_point sent, status;
    std::map<size_t, Steady::time_point> arrived;  // by the number of the member
  };
  const std::string prefix_;
  mutable std::mutex mutex_;
  std::map<std::string, Times> templates_;
};

/// A user who reads and writes something that no policy selects, at a constant rate, whatever the answers take.
class Sampler {
 public:
  Sampler(ScaledFleet& fleet, std::string name) : client_{fleet.kubeconfig(), 16}, name_{std::move(name)} {
    client_.must("POST", kConfigMaps, config_map(name_, 1'000));
    thread_ = std::thread{[this] { run(); }};
  }
  Latencies stop() {
    stopping_ = true;
    thread_.join();
    if (!e2e::eventually([&] { return under_way_ == 0; }, kPatience)) give_up("requests are not answered");
    return std::move(latencies_);
  }

 private:
  void run() {
    const auto began = Steady::now();
    for (int number = 0; !stopping_; ++number) {
      std::this_thread::sleep_until(began + std::chrono::milliseconds{1'000} * number / kSamplesPerSecond);
      const bool reads = number % 2 == 0;
      const auto sent = Steady::now();
      ++under_way_;
      client_.send(reads ? "GET" : "PATCH", kConfigMaps + "/" + name_,
                   reads ? "" : R"({"data":{"number":")" + std::to_string(number) + "\"}}",
                   [this, reads, sent](const Result<HttpResponse>& answer) {
                     if (!answer || answer.value().status != 200) give_up("a sample was not answered with 200");
                     const std::lock_guard lock{mutex_};
                     (reads ? latencies_.reads : latencies_.writes).push_back(ms_between(sent, Steady::now()));
                     --under_way_;
                   });
    }
  }

  BenchClient client_;
  const std::string name_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> under_way_{0};
  std::mutex mutex_;
  Latencies latencies_;
  std::thread thread_;
};

std::shared_ptr<HttpClient::Stream> watch(HttpClient& client, const std::string& target, std::atomic<size_t>& open,
                                          std::function<void(const Value&)> take) {
  HttpRequest request;
  request.target = target;
  return client.stream(
      std::move(request),
      [&open, target](const HttpResponse& head) {
        if (head.status != 200) give_up("GET " + target + ": HTTP status " + std::to_string(head.status));
        ++open;
      },
      [lines = std::make_shared<Lines>(std::move(take))](std::string_view data) { lines->feed(data); },
      [](const Result<void>&) {});
}

}  // namespace

Targets::Targets(size_t members) {
  const size_t count = std::min(members, kMost) / kCopies * kCopies;
  if (count == 0) give_up("there must be 3 members at least");
  for (size_t index = 1; index <= count; ++index) numbers_.push_back(index * members / count);
}

std::vector<size_t> Targets::of(size_t group) const {
  const auto begin = numbers_.begin() + static_cast<std::ptrdiff_t>(group * kCopies);
  return {begin, begin + kCopies};
}

void Targets::create_policies(BenchClient& client) const {
  for (size_t group = 0; group < groups(); ++group) {
    Value names = Value::array();
    for (const size_t number : of(group)) names.push_back(ScaledFleet::name_of(number));
    const std::string name = "g" + std::to_string(group);
    client.must("POST", kPolicies,
                R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{"name":")" + name +
                    R"("},"spec":{"resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment","labelSelector":)" +
                    R"({"matchLabels":{"group":")" + name + R"("}}}],"placement":{"clusterAffinity":{"clusterNames":)" +
                    to_json(names) + "}}}}");
  }
}

Latencies run_load(ScaledFleet& fleet, const Targets& targets, const std::string& name, size_t templates, size_t rate,
                   size_t hanging) {
  const auto arrivals = std::make_shared<Arrivals>(name + "-");
  const std::string deployments = "/apis/apps/v1/deployments?watch=true";
  std::atomic<size_t> open{0};
  std::vector<std::shared_ptr<HttpClient::Stream>> streams;
  const auto answers = [&](size_t number) { return number + hanging <= fleet.members(); };
  size_t watched = 1;
  for (const size_t number : targets.all()) {
    if (!answers(number)) continue;
    ++watched;
    streams.push_back(watch(fleet.simulated(), "/" + ScaledFleet::name_of(number) + deployments, open,
                            [arrivals, number](const Value& event) {
                              arrivals->in_member(event["object"]["metadata"]["name"].str(), number);
                            }));
  }
  BenchClient plane{fleet.kubeconfig(), 16};
  streams.push_back(watch(plane.http(), deployments, open, [arrivals](const Value& event) {
    const Value& object = event["object"];
    const int64_t ready = kReplicas * static_cast<int64_t>(Targets::kCopies);
    if (object["status"]["readyReplicas"].as_int() == ready) arrivals->has_status(object["metadata"]["name"].str());
  }));
  if (!e2e::eventually([&] { return open == watched; }, kPatience)) give_up("not all watches have begun");

  Sampler sampler{fleet, "sample-" + name};
  std::atomic<size_t> stored{0};
  size_t expected = 0, complete = 0;
  const auto began = Steady::now();
  for (size_t number = 0; number < templates; ++number) {
    std::this_thread::sleep_until(began + std::chrono::microseconds{1'000'000} * number / rate);
    const size_t group = number % targets.groups();
    const auto members = targets.of(group);
    const auto answering = static_cast<size_t>(std::ranges::count_if(members, answers));
    expected += answering;
    if (answering == members.size()) ++complete;
    const std::string each = name + "-" + std::to_string(number);
    arrivals->sent(each);
    plane.send("POST", kDeployments, template_body(each, group), [&stored](const Result<HttpResponse>& answer) {
      if (!answer || answer.value().status != 201) give_up("a template was not stored");
      ++stored;
    });
  }
  if (!e2e::eventually([&] { return stored == templates; }, kPatience)) give_up("the templates are not stored");
  if (!e2e::eventually([&] { return arrivals->arrived() >= expected && arrivals->with_status() >= complete; },
                       kPatience)) {
    give_up(std::to_string(arrivals->arrived()) + " of " + std::to_string(expected) + " objects arrived, " +
            std::to_string(arrivals->with_status()) + " of " + std::to_string(complete) + " templates have a status");
  }
  Latencies latencies = sampler.stop();
  arrivals->add_to(latencies);
  for (const auto& stream : streams) stream->cancel();
  return latencies;
}

Latencies sample_api(ScaledFleet& fleet, const std::string& name, int seconds) {
  Sampler sampler{fleet, "sample-" + name};
  std::this_thread::sleep_for(std::chrono::seconds{seconds});
  return sampler.stop();
}

}  // namespace shiplog::bench
