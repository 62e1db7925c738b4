#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/base/random.h"
#include "services/adapters/members/member_clients.h"
#include "services/api/kind_registry.h"
#include "services/api/search/member_source.h"
#include "services/api/search/search_plan.h"
#include "services/runtime/metrics.h"
#include "services/runtime/replica.h"
#include "services/runtime/thread_loop.h"

namespace shiplog::api {

/// The objects of members that ResourceRegistries select, in memory: an observation, of which nothing is in the
/// journal. One thread reads what members send; it is there once there is a ResourceRegistry. Threads: on_folded() and
/// load() on the executor of the record, all else from any.
class SearchCache final : public Observer {
 public:
  struct Options {
    MemberClients* members = nullptr;
    const KindRegistry* kinds = nullptr;
    Random* random = nullptr;  ///< thread-safe
    size_t most_bytes = size_t{1} << 30U;
    std::function<void()> on_plan = {};  ///< for tests: called while a plan is made; may be empty
  };
  /// Of all clusters, one may use at most this part of the bytes.
  static constexpr size_t kParts = 4;

  SearchCache();
  ~SearchCache() override;

  /// Before the record starts.
  void configure(const Options& options);
  /// Takes in what a restored state holds.
  void load(const State& state);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;
  /// What is under way in members is of no effect from here on.
  void stop();

  /// The size limit is 0: nothing is cached.
  bool off() const { return options_.most_bytes == 0; }
  /// A registry names the kind, in this version.
  bool registered(const Kind& kind);
  using Sources = std::vector<std::shared_ptr<MemberSource>>;
  struct Selection {
    uint64_t generation = 0;  ///< another one: other clusters or namespaces may be selected
    Sources sources;          ///< sorted by cluster and namespace
    size_t left_out = 0;      ///< namespaces of the kind that are selected, but too many: see kMostNamespaces
  };
  /// Where the objects of a kind are cached.
  Selection selection(const Kind& kind);
  uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }
  /// Called when something of the resource (resource_id()) has changed, or with "" when a selection has; must not
  /// block.
  void set_listener(std::function<void(const std::string& resource)> listener);
  /// Its thread and timers; only while there is a registry, or was.
  Executor* loop();

 private:
  struct KnownCluster {
    Value object;
    std::shared_ptr<const Cluster> view;  ///< nullptr: not made of this object yet
    uint64_t change = 0;                  ///< the number of the last change that matters
  };
  struct PlanInputs {
    std::vector<Value> registries;
    std::map<std::string, KnownCluster> clusters;
    std::shared_ptr<const Kinds> kinds;
  };
  using SourcesByScope = std::map<CachedScope, std::shared_ptr<MemberSource>>;

  void select_again();
  std::optional<PlanInputs> plan_inputs();
  std::vector<std::shared_ptr<const Cluster>> cluster_views(PlanInputs& inputs);
  void keep_views(const PlanInputs& inputs);
  void install(SearchPlan plan);
  void begin_loop();
  void use_other_client(const std::string& cluster);
  std::shared_ptr<MemberSource> biggest_of(const std::string& cluster);
  std::vector<std::shared_ptr<MemberSource>> sources_of(const std::string& cluster);
  std::shared_ptr<CacheBudget> budget_of(const std::string& cluster);
  void notify(const std::string& resource);
  void put(const Change& change);
  void copy_metrics();

  Options options_;
  std::atomic<uint64_t> generation_{0};
  /// One plan is made at a time, without mutex_, which the fold thread takes. Locked before it.
  std::mutex planning_mutex_;
  std::mutex mutex_;  // of what follows
  std::map<std::string, Value> registries_;
  std::map<std::string, KnownCluster> clusters_;
  uint64_t last_change_ = 0;            // of clusters_
  bool changed_ = false;                // registries_ or clusters_, since the plan was made
  std::shared_ptr<const Kinds> kinds_;  // of the plan
  SearchPlan plan_;                     // written with both locks, as the next three
  SourcesByScope sources_;
  std::map<std::string, Sources> by_resource_;
  std::shared_ptr<CacheBudget> total_;
  std::map<std::string, std::weak_ptr<CacheBudget>> budgets_;
  MemberSource::Shared shared_;
  std::unique_ptr<ThreadLoop> loop_, ended_loop_;
  bool stopped_ = false;
  std::mutex listener_mutex_;
  std::function<void(const std::string&)> listener_;
  std::map<std::pair<std::string, std::string>, double> counted_;  // in the metrics at the last scrape
  std::unique_ptr<metrics::ScrapeHook> hook_;
};

}  // namespace shiplog::api
