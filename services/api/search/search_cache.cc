#include "services/api/search/search_cache.h"

#include <algorithm>
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
  shared_.biggest = [this](const std::string& cluster) { return biggest_of(cluster); };
  shared_.on_problem = [](const CachedScope& scope, const std::string& problem, bool full) {
    const auto fields = {log::kv("cluster", scope.cluster), log::kv("resource", resource_id(scope)),
                         log::kv("reason", problem)};
    full ? log::error("search.cache_full", fields) : log::warn("search.source_failed", fields);
  };
  options_.members->set_listener([this](const std::string& cluster) { use_other_client(cluster); });
  hook_ = std::make_unique<metrics::ScrapeHook>([this] { copy_metrics(); });
}

void SearchCache::load(const State& state) {
  const std::lock_guard lock{mutex_};
  for (const auto& [name, object] : state.objects(kRegistry)) registries_[name.name.str()] = object.value;
  for (const auto& [name, object] : state.objects(type::kCluster)) clusters_[name.name.str()].object = object.value;
  changed_ = true;
  if (!registries_.empty()) begin_loop();
}

void SearchCache::put(const Change& change) {
  const std::string name = change.object.name.str();
  const bool cluster = change.object.type == type::kCluster;
  if (change.removed()) {
    const size_t removed = cluster ? clusters_.erase(name) : registries_.erase(name);
    changed_ = changed_ || removed > 0;
  } else if (!cluster) {
    Value& own = registries_[name];
    changed_ = changed_ || own["spec"] != change.after["spec"];
    own = change.after;
  } else {
    KnownCluster& own = clusters_[name];
    if (!same_for_search(own.object, change.after)) {
      changed_ = true;
      own.view = nullptr;
      own.change = ++last_change_;
    }
    own.object = change.after;
  }
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

/// Under the planning lock. nullopt: the plan is that of what is there.
std::optional<SearchCache::PlanInputs> SearchCache::plan_inputs() {
  PlanInputs inputs;
  inputs.kinds = options_.kinds->current();
  const std::lock_guard lock{mutex_};
  if (loop_ == nullptr || stopped_ || (!changed_ && inputs.kinds == kinds_)) return std::nullopt;
  changed_ = false;
  kinds_ = inputs.kinds;
  for (const auto& [name, registry] : registries_) inputs.registries.push_back(registry);
  if (!registries_.empty()) inputs.clusters = clusters_;
  return inputs;
}

/// Those of clusters that have not changed are kept.
std::vector<std::shared_ptr<const Cluster>> SearchCache::cluster_views(PlanInputs& inputs) {
  std::vector<std::shared_ptr<const Cluster>> views;
  for (auto& [name, cluster] : inputs.clusters) {
    if (cluster.view == nullptr) cluster.view = std::make_shared<const Cluster>(cluster_from(cluster.object));
    views.push_back(cluster.view);
  }
  return views;
}

/// Under the lock.
void SearchCache::keep_views(const PlanInputs& inputs) {
  for (const auto& [name, cluster] : inputs.clusters) {
    const auto own = clusters_.find(name);
    if (own != clusters_.end() && own->second.change == cluster.change) own->second.view = cluster.view;
  }
}

/// Under the planning lock. Sources that are selected again are kept.
void SearchCache::install(SearchPlan plan) {
  SourcesByScope next, fresh;
  std::map<std::string, Sources> by_resource;
  for (const auto& [resource, scopes] : plan.scopes) {
    for (const CachedScope& scope : scopes) {
      const auto known = sources_.find(scope);
      auto source = known != sources_.end() ? known->second
                                            : std::make_shared<MemberSource>(scope, shared_, budget_of(scope.cluster),
                                                                             [this, id = resource] { notify(id); });
      if (known == sources_.end()) fresh.emplace(scope, source);
      by_resource[resource].push_back(source);
      next.emplace(scope, std::move(source));
    }
  }
  SourcesByScope ended = sources_;
  std::erase_if(ended, [&](const auto& each) { return next.contains(each.first); });
  Executor* loop = nullptr;
  {
    const std::lock_guard lock{mutex_};
    if (loop_ == nullptr) return;
    loop = loop_.get();
    sources_.swap(next);
    by_resource_.swap(by_resource);
    plan_ = std::move(plan);
    generation_.fetch_add(1);
  }
  for (const auto& [scope, source] : fresh) loop->post([source = source] { source->start(); });
  // What is dropped frees its objects elsewhere than on the thread of a request.
  for (const auto& [scope, source] : ended) {
    source->stop();
    loop->post([source = source] { source->collection().drop(); });
  }
}

void SearchCache::select_again() {
  const std::lock_guard planning{planning_mutex_};
  auto inputs = plan_inputs();
  if (!inputs) return;
  if (options_.on_plan) options_.on_plan();
  SearchPlan plan = search_plan(inputs->registries, cluster_views(*inputs), *inputs->kinds);
  {
    const std::lock_guard lock{mutex_};
    keep_views(*inputs);
  }
  if (plan == plan_) return;
  for (const auto& [resource, left_out] : plan.left_out) {
    log::error("search.namespaces_left_out",
               {log::kv("resource", resource), log::kv("namespaces", left_out), log::kv("most", kMostNamespaces)});
  }
  install(std::move(plan));
  std::erase_if(budgets_, [](const auto& each) { return each.second.expired(); });
  notify("");
}

std::vector<std::shared_ptr<MemberSource>> SearchCache::sources_of(const std::string& cluster) {
  std::vector<std::shared_ptr<MemberSource>> found;
  CachedScope first;
  first.cluster = cluster;
  first.namespaced = false;
  const std::lock_guard lock{mutex_};
  for (auto at = sources_.lower_bound(first); at != sources_.end() && at->first.cluster == cluster; ++at) {
    found.push_back(at->second);
  }
  return found;
}

std::shared_ptr<MemberSource> SearchCache::biggest_of(const std::string& cluster) {
  const auto sources = sources_of(cluster);
  const auto biggest = std::ranges::max_element(sources, {}, [](const auto& source) { return source->bytes(); });
  return biggest == sources.end() ? nullptr : *biggest;
}

void SearchCache::use_other_client(const std::string& cluster) {
  Executor* const executor = loop();
  if (executor == nullptr) return;
  for (const auto& source : sources_of(cluster)) executor->post([source] { source->use_other_client(); });
}

bool SearchCache::registered(const Kind& kind) {
  select_again();
  const std::lock_guard lock{mutex_};
  return plan_.registered.contains(resource_id(kind));
}

SearchCache::Selection SearchCache::selection(const Kind& kind) {
  select_again();
  const std::string resource = resource_id(kind);
  Selection found;
  const std::lock_guard lock{mutex_};
  found.generation = generation_;
  if (const auto sources = by_resource_.find(resource); sources != by_resource_.end()) found.sources = sources->second;
  if (const auto left_out = plan_.left_out.find(resource); left_out != plan_.left_out.end()) {
    found.left_out = left_out->second;
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
  if (options_.members != nullptr) options_.members->set_listener({});
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
