#include "services/api/search/search_cache.h"

#include <set>
#include <utility>

#include "events/base/thread_name.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

constexpr const char* kRegistry = "resourceregistries.search.karmada.io";

metrics::GaugeFamily& cached_objects() {
  static metrics::GaugeFamily family{
      "shiplog_search_cached_objects", "Objects in the search cache.", {"member_cluster", "resource"}};
  return family;
}

}  // namespace

SearchCache::SearchCache() = default;
SearchCache::~SearchCache() { stop(); }

void SearchCache::configure(const Options& options) {
  options_ = options;
  total_ = std::make_shared<CacheBudget>(options_.most_bytes);
  shared_.random = options_.random;
  shared_.client = [members = options_.members](const std::string& cluster) { return members->own_client(cluster); };
  hook_ = std::make_unique<metrics::ScrapeHook>([this] { copy_metrics(); });
}

void SearchCache::load(const State& state) {
  const std::lock_guard lock{mutex_};
  for (const auto& [name, object] : state.objects(kRegistry)) registries_[name.name.str()] = object.value;
  for (const auto& [name, object] : state.objects(type::kCluster)) clusters_[name.name.str()] = object.value;
  changed_ = true;
  if (!registries_.empty()) begin_loop();
}

void SearchCache::put(const Change& change) {
  const bool cluster = change.object.type == type::kCluster;
  auto& known = cluster ? clusters_ : registries_;
  const std::string name = change.object.name.str();
  if (change.removed()) {
    changed_ = known.erase(name) > 0 || changed_;
    return;
  }
  Value& own = known[name];
  changed_ = changed_ || !(cluster ? same_for_search(own, change.after) : own["spec"] == change.after["spec"]);
  own = change.after;
}

void SearchCache::on_folded(const State& /*state*/, const DecodedRecord& /*record*/, const Folded& folded) {
  for (const Change& change : folded.changes) {
    if (change.object.type != type::kCluster && change.object.type != kRegistry) continue;
    const std::lock_guard lock{mutex_};
    const bool before = changed_;
    put(change);
    if (!changed_) continue;
    if (!registries_.empty()) begin_loop();
    if (loop_ != nullptr && !before) loop_->post([this] { select_again(); });
  }
}

/// Under the lock.
void SearchCache::begin_loop() {
  if (loop_ != nullptr || stopped_ || off()) return;
  loop_ = std::make_unique<ThreadLoop>();
  shared_.loop = loop_.get();
  loop_->post([this] {
    name_thread("search");
    select_again();
  });
}

Executor* SearchCache::loop() {
  const std::lock_guard lock{mutex_};
  return loop_.get();
}

std::shared_ptr<CacheBudget> SearchCache::budget_of(const std::string& cluster) {
  auto& known = budgets_[cluster];
  auto budget = known.lock();
  if (budget == nullptr) {
    budget = std::make_shared<CacheBudget>(options_.most_bytes / kParts, total_);
    known = budget;
  }
  return budget;
}

/// Under the lock. Their threads begin later.
void SearchCache::start_or_stop(const SearchPlan& plan) {
  std::map<CachedScope, std::shared_ptr<MemberSource>> next;
  for (const auto& [resource, scopes] : plan.scopes) {
    for (const CachedScope& scope : scopes) {
      if (const auto known = sources_.find(scope); known != sources_.end()) {
        next.emplace(scope, std::move(known->second));
        sources_.erase(known);
        continue;
      }
      auto source = std::make_shared<MemberSource>(scope, shared_, budget_of(scope.cluster),
                                                   [this, id = resource] { notify(id); });
      loop_->post([source] { source->start(); });
      next.emplace(scope, std::move(source));
    }
  }
  // What is dropped frees its objects elsewhere than on the thread of a request.
  for (auto& [scope, source] : sources_) {
    source->stop();
    loop_->post([source = std::move(source)] { source->collection().drop(); });
  }
  sources_ = std::move(next);
  std::erase_if(budgets_, [](const auto& each) { return each.second.expired(); });
}

void SearchCache::select_again() {
  bool other = false;
  {
    const std::lock_guard lock{mutex_};
    if (loop_ == nullptr || stopped_) return;
    auto kinds = options_.kinds->current();
    if (!changed_ && kinds == kinds_) return;
    std::vector<Value> registries;
    for (const auto& [name, registry] : registries_) registries.push_back(registry);
    std::vector<Cluster> clusters;
    if (!registries.empty()) {
      for (const auto& [name, cluster] : clusters_) clusters.push_back(cluster_from(cluster));
    }
    SearchPlan plan = search_plan(registries, clusters, *kinds);
    changed_ = false;
    kinds_ = std::move(kinds);
    other = plan != plan_;
    if (other) {
      start_or_stop(plan);
      plan_ = std::move(plan);
      generation_.fetch_add(1);
    }
  }
  if (other) notify("");
}

bool SearchCache::registered(const Kind& kind) {
  select_again();
  const std::lock_guard lock{mutex_};
  return plan_.registered.contains(resource_id(kind));
}

SearchCache::Selection SearchCache::selection(const Kind& kind) {
  select_again();
  Selection found;
  const std::lock_guard lock{mutex_};
  found.generation = generation_;
  const auto scopes = plan_.scopes.find(resource_id(kind));
  if (scopes == plan_.scopes.end()) return found;
  for (const CachedScope& scope : scopes->second) {
    if (const auto source = sources_.find(scope); source != sources_.end()) found.sources.push_back(source->second);
  }
  return found;
}

void SearchCache::set_listener(std::function<void(const std::string&)> listener) {
  const std::lock_guard lock{listener_mutex_};
  listener_ = std::move(listener);
}

void SearchCache::notify(const std::string& resource) {
  const std::lock_guard lock{listener_mutex_};
  if (listener_) listener_(resource);
}

void SearchCache::copy_metrics() {
  static const metrics::GaugeFamily bytes{"shiplog_search_cache_bytes", "Bytes that the search cache holds."};
  static const metrics::GaugeFamily most{"shiplog_search_cache_limit_bytes", "The value of --search-cache-bytes."};
  static const metrics::GaugeFamily failed{"shiplog_search_sources_failed",
                                           "Kinds of clusters that are selected and at present cannot be cached."};
  static const metrics::CounterFamily failures{"shiplog_search_source_failures_total",
                                               "Lists and watches for the search cache that failed.",
                                               {"member_cluster"}};
  Sources sources;
  {
    const std::lock_guard lock{mutex_};
    if (loop_ == nullptr) return;
    for (const auto& [scope, source] : sources_) sources.push_back(source);
  }
  bytes.with({}).set(static_cast<double>(total_->used()));
  most.with({}).set(static_cast<double>(options_.most_bytes));
  double broken = 0;
  std::map<std::pair<std::string, std::string>, double> objects;
  std::map<std::string, uint64_t> failed_of;
  for (const auto& source : sources) {
    const CachedScope& scope = source->scope();
    if (!source->problem().empty()) broken += 1;
    objects[{scope.cluster, resource_id(scope)}] += static_cast<double>(source->collection().size());
    failed_of[scope.cluster] += source->failures();
  }
  failed.with({}).set(broken);
  for (auto& [key, count] : counted_) count = 0;
  for (const auto& [key, count] : objects) counted_[key] = count;
  for (const auto& [key, count] : counted_) cached_objects().with({key.first, key.second}).set(count);
  std::erase_if(counted_, [](const auto& each) { return each.second == 0; });
  for (const auto& [cluster, count] : failed_of) failures.with({cluster}).set_total(count);
}

void SearchCache::stop() {
  hook_.reset();
  std::unique_ptr<ThreadLoop> loop;
  {
    const std::lock_guard lock{mutex_};
    if (std::exchange(stopped_, true)) return;
    for (const auto& [scope, source] : sources_) source->stop();
    loop = std::move(loop_);
  }
  // Callbacks of clients may still post to it: it is freed with this.
  if (loop != nullptr) loop->stop();
  const std::lock_guard lock{mutex_};
  ended_loop_ = std::move(loop);
}

}  // namespace shiplog::api
