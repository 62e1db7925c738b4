#include "services/runtime/metrics.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "events/base/check.h"

namespace shiplog::metrics {
namespace {

constexpr std::string_view kOther = "other";
/// Between label values in the key of a series; occurs in no UTF-8 text.
constexpr char kSeparator = '\xff';

/// Tells families apart in the caches of threads.
std::atomic<uint64_t> next_family_id{1};

struct Registry {
  std::mutex mutex;
  std::map<std::string, SeriesTable::Impl*> families;
  std::mutex hooks_mutex;
  std::vector<std::function<void()>*> hooks;
};

/// Never destroyed: static families deregister in an order that is not known.
Registry& registry() {
  static auto* const all = new Registry;
  return *all;
}

}  // namespace

Series::Series(const std::vector<double>& upper_bounds)
    : bounds{upper_bounds}, buckets{std::make_unique<std::atomic<uint64_t>[]>(upper_bounds.size() + 1)} {}

struct SeriesTable::Impl {
  struct Labeled {
    std::vector<std::string> values;
    std::shared_ptr<Series> series;
  };

  Type type;
  const uint64_t id = next_family_id++;
  std::string name, help;
  std::vector<std::string> labels;
  /// Handles may outlive the family.
  std::shared_ptr<const std::vector<double>> bounds;
  size_t most_series;
  mutable std::mutex mutex;
  std::unordered_map<std::string, Labeled> series;

  std::shared_ptr<Series> make_series() const {
    // The series refers to the bounds, so it holds them too.
    auto made = std::make_shared<std::pair<std::shared_ptr<const std::vector<double>>, Series>>(
        std::piecewise_construct, std::forward_as_tuple(bounds), std::forward_as_tuple(*bounds));
    return {made, &made->second};
  }

  void retain(std::string_view label, const std::function<bool(std::string_view)>& keep) {
    const auto found = std::ranges::find(labels, label);
    if (found == labels.end()) return;
    const auto index = static_cast<size_t>(found - labels.begin());
    const std::lock_guard lock{mutex};
    std::erase_if(series, [&](const auto& keyed) {
      const bool kept = keyed.second.values[index] == kOther || keep(keyed.second.values[index]);
      if (!kept) keyed.second.series->removed.store(true, std::memory_order_relaxed);
      return !kept;
    });
  }

  std::shared_ptr<Series> find_or_make(std::string key, std::initializer_list<std::string_view> values) {
    const std::lock_guard lock{mutex};
    if (const auto found = series.find(key); found != series.end()) return found->second.series;
    std::vector<std::string> texts;
    for (const std::string_view value : values) texts.emplace_back(value.substr(0, kMostLabelBytes));
    if (series.size() >= most_series) {
      texts.assign(texts.size(), std::string{kOther});
      key = kOther;
    }
    Labeled& labeled = series[key];
    if (labeled.series == nullptr) labeled = {std::move(texts), make_series()};
    return labeled.series;
  }

  prometheus::ClientMetric collect(const Labeled& labeled) const {
    prometheus::ClientMetric metric;
    for (size_t index = 0; index < labels.size(); ++index) {
      metric.label.push_back({labels[index], labeled.values[index]});
    }
    const Series& own = *labeled.series;
    const double value = own.value.load(std::memory_order_relaxed);
    if (type == Type::kCounter) {
      metric.counter.value = static_cast<double>(own.count.load(std::memory_order_relaxed)) + value;
    } else if (type == Type::kGauge) {
      metric.gauge.value = value;
    } else {
      uint64_t below = 0;
      for (size_t index = 0; index < own.bounds.size(); ++index) {
        below += own.buckets[index].load(std::memory_order_relaxed);
        metric.histogram.bucket.push_back({below, own.bounds[index]});
      }
      // The text serializer adds the bucket "+Inf", which is the count.
      metric.histogram.sample_count = below + own.buckets[own.bounds.size()].load(std::memory_order_relaxed);
      metric.histogram.sample_sum = value;
    }
    return metric;
  }

  prometheus::MetricFamily collect() const {
    prometheus::MetricFamily family;
    family.name = name;
    family.help = help;
    family.type = type == Type::kCounter ? prometheus::MetricType::Counter
                  : type == Type::kGauge ? prometheus::MetricType::Gauge
                                         : prometheus::MetricType::Histogram;
    std::vector<Labeled> all;
    {
      // Copied, so that nothing that makes a new series waits for the text.
      const std::lock_guard lock{mutex};
      all.reserve(series.size());
      for (const auto& [key, labeled] : series) all.push_back(labeled);
    }
    std::ranges::sort(all, {}, &Labeled::values);
    for (const Labeled& labeled : all) family.metric.push_back(collect(labeled));
    return family;
  }
};

SeriesTable::SeriesTable(Type type, std::string name, std::string help, std::vector<std::string> labels,
                         std::vector<double> bounds, size_t most_series)
    : impl_{std::make_unique<Impl>()} {
  SHIPLOG_CHECK(std::ranges::is_sorted(bounds), "upper bounds of buckets ascend");
  impl_->type = type;
  impl_->name = std::move(name);
  impl_->help = std::move(help);
  impl_->labels = std::move(labels);
  impl_->bounds = std::make_shared<const std::vector<double>>(std::move(bounds));
  impl_->most_series = most_series;
  // A family without labels has its one series from the start: a count of 0 is a fact, an absent one is not.
  if (impl_->labels.empty()) series({});
  const std::lock_guard lock{registry().mutex};
  const bool added = registry().families.emplace(impl_->name, impl_.get()).second;
  SHIPLOG_CHECK(added, "a metric is defined once");
}

SeriesTable::~SeriesTable() {
  const std::lock_guard lock{registry().mutex};
  registry().families.erase(impl_->name);
}

std::shared_ptr<Series> SeriesTable::series(std::initializer_list<std::string_view> values) const {
  SHIPLOG_CHECK(values.size() == impl_->labels.size(), "a series has one value for each label");
  // What this thread has looked up, of all families: no lock is needed for it.
  constexpr size_t kMostCached = 10'000;
  thread_local std::unordered_map<std::string, std::shared_ptr<Series>> cache;
  thread_local std::string key;
  key.assign(reinterpret_cast<const char*>(&impl_->id), sizeof impl_->id);
  for (const std::string_view value : values) {
    key.append(value.substr(0, kMostLabelBytes));
    key.push_back(kSeparator);
  }
  const auto cached = cache.find(key);
  if (cached != cache.end() && !cached->second->removed.load(std::memory_order_relaxed)) return cached->second;
  if (cache.size() >= kMostCached) cache.clear();
  return cache[key] = impl_->find_or_make(key, values);
}

struct ScrapeHook::Entry {
  std::function<void()> run;
};

ScrapeHook::ScrapeHook(std::function<void()> run) : entry_{std::make_shared<Entry>(Entry{std::move(run)})} {
  const std::lock_guard lock{registry().hooks_mutex};
  registry().hooks.push_back(&entry_->run);
}

ScrapeHook::~ScrapeHook() {
  const std::lock_guard lock{registry().hooks_mutex};
  std::erase(registry().hooks, &entry_->run);
}

std::vector<double> exponential_buckets(double first, double factor, size_t count) {
  std::vector<double> bounds;
  for (double bound = first; bounds.size() < count; bound *= factor) bounds.push_back(bound);
  return bounds;
}

std::vector<double> duration_buckets() {
  return {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

void retain_series(std::string_view label, const std::function<bool(std::string_view value)>& keep) {
  const std::lock_guard lock{registry().mutex};
  for (const auto& [name, family] : registry().families) family->retain(label, keep);
}

std::string text() {
  {
    const std::lock_guard lock{registry().hooks_mutex};
    for (const auto* run : registry().hooks) (*run)();
  }
  std::vector<prometheus::MetricFamily> families;
  {
    const std::lock_guard lock{registry().mutex};
    for (const auto& [name, family] : registry().families) {
      families.push_back(family->collect());
      if (families.back().metric.empty()) families.pop_back();
    }
  }
  return prometheus::TextSerializer{}.Serialize(families);
}

}  // namespace shiplog::metrics
