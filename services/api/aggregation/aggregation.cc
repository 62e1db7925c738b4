#include "services/api/aggregation/aggregation.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "services/api/aggregation/probe.h"
#include "services/http/client.h"
#include "services/http/io_threads.h"
#include "services/runtime/log.h"
#include "services/runtime/workers.h"

namespace shiplog::api {
namespace {

using apiservice_availability::kApiServices;

constexpr Millis kProbeEvery{30'000};
constexpr Millis kSecondLookAfter{500};
constexpr size_t kMostStreams = 1000;  // watches of one server
constexpr int kMostDoublings = 5;      // of a second: 32 s, which kProbeEvery cuts

/// A server that has just answered is not given up for one failure.
Millis pause_after(int failures, bool still_available) {
  if (failures == 0) return kProbeEvery;
  if (still_available) return kSecondLookAfter;
  return std::min(kProbeEvery, Millis{int64_t{1000} << std::min(failures - 1, kMostDoublings)});
}

bool is_served_here(const Kinds& kinds, const AggregatedApi& api) {
  return std::ranges::any_of(
      kinds.all(), [&](const auto& kind) { return kind->group == api.group && kind->version == api.version; });
}

/// The same server, trusted in the same way.
bool same_server(const AggregatedApi& a, const AggregatedApi& b) {
  return a.service == b.service && a.port == b.port && a.ca_pem == b.ca_pem && a.insecure == b.insecure &&
         a.problem == b.problem;
}

}  // namespace

struct Aggregation::Impl : std::enable_shared_from_this<Aggregation::Impl> {
  explicit Impl(Options with) : options{std::move(with)} {}

  /// One APIService that names a Service.
  struct Entry {
    AggregatedApi api;
    ServerAddresses addresses;
    size_t address = 0;   // of `addresses`, the one in use
    uint64_t target = 0;  // another number when another server may answer
    std::shared_ptr<HttpClient> client;
    std::optional<Availability> observed;
    std::shared_ptr<const Value> resources;
    std::shared_ptr<const RemoteOpenApi> openapi;
    std::string openapi_path;  // that `openapi` was read from
    uint64_t probing = 0;      // the target of the probe under way; 0: none is
    int failures = 0;          // in a row
    uint64_t timer = 0;        // the number of the timer that counts
    bool served_here = false;
    std::shared_ptr<std::atomic<int>> in_flight = std::make_shared<std::atomic<int>>(0);
  };

  void take(const State& state, const std::string& name, const Value& api_service);
  void look_up(const State& state, Entry& entry);
  void connect(Entry& entry);
  void probe(Entry& entry);
  void probed(const std::string& name, uint64_t target, const ProbeResult& result);
  void probe_later(Entry& entry, bool still_available);
  bool follow_kinds();
  void publish();
  std::optional<Availability> availability_of(const Entry& entry) const;

  Options options;
  std::atomic<bool> stopped{false};
  uint64_t counter = 0;
  std::map<std::string, Entry> entries;                                     // by name
  std::map<std::string, std::pair<std::string, Value>, std::less<>> local;  // group and spec, by name
  std::shared_ptr<const Kinds> kinds;
  std::shared_ptr<IoThreads> io;     // made for the first server
  std::unique_ptr<Workers> readers;  // of answers; the same

  mutable std::mutex mutex;
  std::shared_ptr<const AggregatedVersions> published = std::make_shared<const AggregatedVersions>();
};

void Aggregation::Impl::take(const State& state, const std::string& name, const Value& api_service) {
  auto api = aggregated_api(api_service);
  if (!api) {
    entries.erase(name);
    local[name] = {api_service["spec"]["group"].str(), api_service["spec"]};
    return;
  }
  local.erase(name);
  Entry& entry = entries[name];
  const bool same = entry.target != 0 && same_server(entry.api, *api);
  const bool renamed = entry.api.group != api->group || entry.api.version != api->version;
  entry.api = *std::move(api);
  if (renamed) {
    entry.resources = nullptr;
    entry.openapi = nullptr;
    entry.openapi_path.clear();
  }
  if (same && !renamed) return;
  entry.target = 0;
  look_up(state, entry);
}

/// Where the server is now. Another place is asked at once.
void Aggregation::Impl::look_up(const State& state, Entry& entry) {
  auto addresses = addresses_of(state, entry.api);
  if (entry.target != 0 && addresses == entry.addresses) return;
  entry.addresses = std::move(addresses);
  entry.address = 0;
  entry.target = ++counter;
  entry.observed = std::nullopt;
  entry.failures = 0;
  entry.served_here = is_served_here(*kinds, entry.api);
  connect(entry);
  probe(entry);
}

void Aggregation::Impl::connect(Entry& entry) {
  entry.client = nullptr;
  if (entry.addresses.hosts.empty() || !entry.api.problem.empty()) return;
  if (io == nullptr) io = std::make_shared<IoThreads>(1);
  if (readers == nullptr) readers = std::make_unique<Workers>(1, 1);
  const ClientTarget target{.url = "https://" + entry.addresses.hosts[entry.address],
                            .ca_pem = entry.api.ca_pem,
                            .certificate_pem = options.proxy_client.certificate_pem,
                            .key_pem = options.proxy_client.key_pem,
                            .insecure = entry.api.insecure,
                            .server_name = entry.api.service.name + "." + entry.api.service.ns + ".svc"};
  HttpClient::Options client;
  client.user_agent = options.user_agent;
  client.max_streams = kMostStreams;
  client.denied_networks = options.denied_networks;
  auto made = HttpClient::create(io, target, client);
  if (made) {
    entry.client = std::move(made).value();
  } else {
    entry.observed = Availability{false, "FailedDiscoveryCheck", made.error().message};
  }
}

void Aggregation::Impl::probe(Entry& entry) {
  if (stopped || entry.probing != 0 || entry.client == nullptr || entry.served_here) return;
  entry.probing = entry.target;
  entry.timer = ++counter;
  const std::weak_ptr<Impl> weak = weak_from_this();
  const ProbeQuestion question{entry.api, entry.client, entry.openapi_path};
  const auto read = [weak](std::function<void()> work) {
    const auto self = weak.lock();
    if (self != nullptr && !self->stopped) self->readers->post(std::move(work));
  };
  probe_server(question, read, [weak, name = entry.api.name, target = entry.target](ProbeResult result) {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->options.executor->post([weak, name, target, result = std::move(result)] {
      const auto still = weak.lock();
      if (still != nullptr && !still->stopped) still->probed(name, target, result);
    });
  });
}

void Aggregation::Impl::probed(const std::string& name, uint64_t target, const ProbeResult& result) {
  const auto found = entries.find(name);
  if (found == entries.end()) return;
  Entry& entry = found->second;
  if (result.last && entry.probing == target) entry.probing = 0;
  if (entry.target != target) return probe(entry);
  if (result.openapi) {
    entry.openapi = *result.openapi;
    entry.openapi_path = result.openapi_path;
  }
  bool still_available = false;
  if (result.resources) {
    const bool was_available = entry.observed && entry.observed->available;
    if (*result.resources) {
      entry.failures = 0;
      entry.observed = Availability{true, "Passed", "all checks passed"};
      const Value& resources = result.resources->value();
      if (entry.resources == nullptr || *entry.resources != resources) {
        entry.resources = std::make_shared<const Value>(resources);
      }
    } else {
      still_available = was_available && entry.failures == 0;
      ++entry.failures;
      if (!still_available) {
        entry.observed = Availability{false, "FailedDiscoveryCheck", result.resources->error().message};
        if (was_available || entry.failures == 1) {
          log::warn("apiservice.unavailable", {log::kv("name", name), log::kv("reason", entry.observed->message)});
        }
        if (entry.addresses.hosts.size() > 1) {  // another server of the Service may answer
          entry.address = (entry.address + 1) % entry.addresses.hosts.size();
          connect(entry);
        }
      }
    }
  }
  publish();
  if (result.last) probe_later(entry, still_available);
}

void Aggregation::Impl::probe_later(Entry& entry, bool still_available) {
  entry.timer = ++counter;
  options.executor->post_after(pause_after(entry.failures, still_available),
                               [weak = weak_from_this(), name = entry.api.name, timer = entry.timer] {
                                 const auto self = weak.lock();
                                 if (self == nullptr) return;
                                 const auto found = self->entries.find(name);
                                 if (found != self->entries.end() && found->second.timer == timer)
                                   self->probe(found->second);
                               });
}

/// A definition may have taken over a group and version, or given it up. True: it has.
bool Aggregation::Impl::follow_kinds() {
  auto now = options.kinds->current();
  if (now == kinds) return false;
  kinds = std::move(now);
  bool changed = false;
  for (auto& [name, entry] : entries) {
    const bool served_here = is_served_here(*kinds, entry.api);
    if (served_here == entry.served_here) continue;
    entry.served_here = served_here;
    changed = true;
    probe(entry);
  }
  return changed;
}

std::optional<Availability> Aggregation::Impl::availability_of(const Entry& entry) const {
  if (entry.served_here) {
    return Availability{true, "Local", "this server serves the group and version itself, and uses no Service for it"};
  }
  if (!entry.api.problem.empty()) return Availability{false, "FailedDiscoveryCheck", entry.api.problem};
  if (!entry.addresses.reason.empty()) return Availability{false, entry.addresses.reason, entry.addresses.message};
  return entry.observed;
}

void Aggregation::Impl::publish() {
  auto next = std::make_shared<AggregatedVersions>();
  for (const auto& [name, of] : local) {
    int64_t& priority = next->local_group_priorities[of.first];
    priority = std::max(priority, of.second["groupPriorityMinimum"].as_int());
    next->local_version_priorities[name] = of.second["versionPriority"].as_int();
  }
  for (const auto& [name, entry] : entries) {
    if (entry.served_here) continue;
    next->versions.push_back(
        {entry.api, entry.client, availability_of(entry), entry.resources, entry.openapi, entry.in_flight});
  }
  std::ranges::stable_sort(next->versions, [](const AggregatedVersion& a, const AggregatedVersion& b) {
    if (a.api.group_priority != b.api.group_priority) return a.api.group_priority > b.api.group_priority;
    if (a.api.group != b.api.group) return a.api.group < b.api.group;
    if (a.api.version_priority != b.api.version_priority) return a.api.version_priority > b.api.version_priority;
    return a.api.version > b.api.version;
  });
  const std::lock_guard lock{mutex};
  published = std::move(next);
}

Aggregation::Aggregation(Options options) : impl_{std::make_shared<Impl>(std::move(options))} {
  impl_->kinds = impl_->options.kinds->current();
}

Aggregation::~Aggregation() { stop(); }

void Aggregation::stop() {
  impl_->stopped = true;
  if (impl_->readers != nullptr) impl_->readers->stop();
  for (const auto& [name, entry] : impl_->entries) {
    if (entry.client != nullptr) entry.client->close();
  }
  if (impl_->io != nullptr) impl_->io->stop();  // probes under way hold their clients, and these the threads
}

void Aggregation::use_client(const KeyPair& proxy_client) {
  if (impl_->stopped || impl_->options.proxy_client.certificate_pem == proxy_client.certificate_pem) return;
  impl_->options.proxy_client = proxy_client;
  for (auto& [name, entry] : impl_->entries) impl_->connect(entry);
  impl_->publish();
}

void Aggregation::load(const State& state) {
  impl_->kinds = impl_->options.kinds->current();
  for (const auto& [name, object] : state.objects(kApiServices)) impl_->take(state, name.name.str(), object.value);
  impl_->publish();
}

void Aggregation::on_folded(const State& state, const DecodedRecord&, const Folded& folded) {
  bool changed = impl_->follow_kinds();
  for (const Change& change : folded.changes) {
    if (change.object.type == kApiServices) {
      if (!change.removed() && change.before["spec"] == change.after["spec"]) continue;  // its status
      changed = true;
      if (change.removed()) {
        impl_->entries.erase(change.object.name.str());
        impl_->local.erase(change.object.name.str());
      } else {
        impl_->take(state, change.object.name.str(), change.after);
      }
      continue;
    }
    for (auto& [name, entry] : impl_->entries) {
      if (!concerns(entry.api, change.object, change.latest())) continue;
      changed = true;
      impl_->look_up(state, entry);
    }
  }
  if (changed) impl_->publish();
}

std::shared_ptr<const AggregatedVersions> Aggregation::current() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->published;
}

std::optional<Availability> Aggregation::availability(const std::string& name) const {
  // Those that are served here are in no snapshot: this is called on the executor, which owns the entries.
  const auto found = impl_->entries.find(name);
  return found == impl_->entries.end() ? std::nullopt : impl_->availability_of(found->second);
}

}  // namespace shiplog::api
