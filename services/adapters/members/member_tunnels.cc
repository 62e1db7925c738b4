#include "services/adapters/members/member_tunnels.h"

#include <algorithm>
#include <utility>

namespace shiplog {
namespace {

using Then = std::function<void(Result<std::optional<int>>)>;

Error none_waiting(const std::string& cluster) {
  return {ErrorCode::kUnavailable, "cluster " + cluster +
                                       ": no tunnel of its agent is open to this API server now; the agent opens new "
                                       "ones within seconds, if it is running and reaches this server"};
}

}  // namespace

struct MemberTunnels::Shared : std::enable_shared_from_this<MemberTunnels::Shared> {
  struct Waiter {
    uint64_t number = 0;
    Then then;
  };
  struct Cluster {
    std::map<uint64_t, std::shared_ptr<WaitingTunnel>> tunnels;  // the newest last
    std::deque<Waiter> waiters;
    UtcMillis last_seen;
    /// Each stream that was offered holds a reference until it is dropped, whether it waits or is in use.
    std::shared_ptr<int> open = std::make_shared<int>(0);

    size_t in_use() const {
      const size_t streams = static_cast<size_t>(open.use_count()) - 1;
      return streams - std::min(streams, tunnels.size());
    }
  };

  explicit Shared(Options an_options) : options{std::move(an_options)} {}

  void dial(const std::string& cluster, Then then) {
    std::shared_ptr<WaitingTunnel> tunnel;
    {
      const std::lock_guard lock{mutex};
      const auto found = clusters.find(cluster);
      const bool known =
          found != clusters.end() &&
          (!found->second.tunnels.empty() || options.executor->now() - found->second.last_seen < options.remembered);
      if (known && found->second.tunnels.empty()) {
        const uint64_t number = ++numbers;
        found->second.waiters.push_back({number, std::move(then)});
        options.executor->post_after(options.wait_for_one, [weak = weak_from_this(), cluster, number] {
          if (const auto self = weak.lock()) self->give_up(cluster, number);
        });
        return;
      }
      if (known) {
        const auto newest = std::prev(found->second.tunnels.end());
        tunnel = std::move(newest->second);
        found->second.tunnels.erase(newest);
        found->second.last_seen = options.executor->now();
      }
    }
    if (tunnel == nullptr) return then(std::optional<int>{});
    use(cluster, *tunnel, std::move(then));
  }

  void use(const std::string& cluster, WaitingTunnel& tunnel, Then then) const {
    tunnel.take(options.take_timeout, [cluster, then = std::move(then)](Result<int> socket) {
      socket ? then(std::optional{socket.value()})
             : then(socket.error().context("cluster " + cluster + ", through the tunnel of its agent"));
    });
  }

  void give_up(const std::string& cluster, uint64_t number) {
    Then then;
    {
      const std::lock_guard lock{mutex};
      auto& waiters = clusters[cluster].waiters;
      const auto found = std::ranges::find(waiters, number, &Waiter::number);
      if (found == waiters.end()) return;
      then = std::move(found->then);
      waiters.erase(found);
    }
    then(none_waiting(cluster));
  }

  void offer(const std::string& cluster, std::shared_ptr<ByteStream> stream) {
    uint64_t number = 0;
    {
      const std::lock_guard lock{mutex};
      number = ++numbers;
      stream = counted(std::move(stream), clusters[cluster].open);
    }
    auto tunnel = WaitingTunnel::start(
        options.io, std::move(stream),
        [weak = weak_from_this(), cluster, number] {
          if (const auto self = weak.lock()) self->gone(cluster, number);
        },
        options.timing);
    Then waiter;
    bool waits = false;
    {
      const std::lock_guard lock{mutex};
      Cluster& own = clusters[cluster];
      own.last_seen = options.executor->now();
      if (!own.waiters.empty()) {
        waiter = std::move(own.waiters.front().then);
        own.waiters.pop_front();
      } else if (own.tunnels.size() < options.most_waiting) {
        own.tunnels.emplace(number, tunnel);
        waits = true;
      }
    }
    if (waiter) return use(cluster, *tunnel, std::move(waiter));
    if (!waits) tunnel->close();
  }

  /// The stream, which holds a reference of `open` as long as it exists.
  static std::shared_ptr<ByteStream> counted(std::shared_ptr<ByteStream> stream, std::shared_ptr<int> open) {
    auto both = std::make_shared<std::pair<std::shared_ptr<int>, std::shared_ptr<ByteStream>>>(std::move(open),
                                                                                               std::move(stream));
    return {both, both->second.get()};
  }

  /// The series of clusters that were deleted are removed later in the same scrape (roles/cluster_metrics.cc).
  void copy_metrics() const {
    static const metrics::GaugeFamily family{"shiplog_member_tunnels",
                                             "Open tunnels of the agents of pull members to this process.",
                                             {"member_cluster", "state"}};
    const std::lock_guard lock{mutex};
    for (const auto& [name, cluster] : clusters) {
      family.with({name, "waiting"}).set(static_cast<double>(cluster.tunnels.size()));
      family.with({name, "in_use"}).set(static_cast<double>(cluster.in_use()));
    }
  }

  void gone(const std::string& cluster, uint64_t number) {
    const std::lock_guard lock{mutex};
    clusters[cluster].tunnels.erase(number);
  }

  const Options options;
  mutable std::mutex mutex;
  std::map<std::string, Cluster> clusters;
  uint64_t numbers = 0;
};

MemberTunnels::MemberTunnels(Options options)
    : shared_{std::make_shared<Shared>(std::move(options))},
      hook_{std::make_unique<metrics::ScrapeHook>([shared = shared_.get()] { shared->copy_metrics(); })} {}

MemberTunnels::~MemberTunnels() {
  hook_.reset();
  std::map<std::string, Shared::Cluster> clusters;
  {
    const std::lock_guard lock{shared_->mutex};
    clusters = std::exchange(shared_->clusters, {});
  }
  for (const auto& [name, cluster] : clusters) {
    for (const auto& [number, tunnel] : cluster.tunnels) tunnel->close();
    for (const auto& waiter : cluster.waiters) waiter.then(none_waiting(name));
  }
}

Result<void> MemberTunnels::check(const std::string& cluster) const {
  if (waiting(cluster) < shared_->options.most_waiting) return ok();
  return Error{ErrorCode::kTooManyRequests, "cluster " + cluster + " has " +
                                                std::to_string(shared_->options.most_waiting) +
                                                " unused tunnels to this API server already"};
}

void MemberTunnels::offer(const std::string& cluster, std::shared_ptr<ByteStream> stream) {
  shared_->offer(cluster, std::move(stream));
}

HttpClient::Dial MemberTunnels::dialer(const std::string& cluster) {
  return [weak = std::weak_ptr{shared_}, cluster](Then then) {
    const auto shared = weak.lock();
    shared == nullptr ? then(std::optional<int>{}) : shared->dial(cluster, std::move(then));
  };
}

size_t MemberTunnels::waiting(const std::string& cluster) const {
  const std::lock_guard lock{shared_->mutex};
  const auto found = shared_->clusters.find(cluster);
  return found == shared_->clusters.end() ? 0 : found->second.tunnels.size();
}

size_t MemberTunnels::in_use(const std::string& cluster) const {
  const std::lock_guard lock{shared_->mutex};
  const auto found = shared_->clusters.find(cluster);
  return found == shared_->clusters.end() ? 0 : found->second.in_use();
}

size_t MemberTunnels::waiting() const {
  const std::lock_guard lock{shared_->mutex};
  size_t count = 0;
  for (const auto& [name, cluster] : shared_->clusters) count += cluster.tunnels.size();
  return count;
}

}  // namespace shiplog
