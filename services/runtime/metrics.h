#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// The metrics of this process, in Prometheus' model: a family has a name and label names, a series is one combination
/// of label values. Families are made once, as static objects beside the code that they measure; series are made on
/// first use and give handles. Handles cost an atomic add and are made for the request path and the fold thread;
/// looking a series up costs a hash and a shared lock. Threads: all of this from any.
namespace shiplog::metrics {

/// The value of one series. Only handles and the registry touch it.
struct Series {
  explicit Series(const std::vector<double>& upper_bounds);

  std::atomic<uint64_t> count{0};  ///< of a counter
  std::atomic<double> value{0};    ///< of a gauge; of a histogram, the sum; of a counter, what is counted elsewhere
  const std::vector<double>& bounds;
  std::unique_ptr<std::atomic<uint64_t>[]> buckets;  ///< one for each bound, and one for what is above all
  std::atomic<bool> removed{false};                  ///< not exported any more
};

/// A handle without a series discards its values. A handle whose series was removed still counts, but the series is no
/// longer exported.
class Counter {
 public:
  Counter() = default;
  explicit Counter(std::shared_ptr<Series> series) : series_{std::move(series)} {}
  void add(uint64_t by = 1) const {
    if (series_) series_->count.fetch_add(by, std::memory_order_relaxed);
  }
  /// For totals that are counted elsewhere and copied on each scrape.
  template <class Number>
  void set_total(Number total) const {
    if (series_) series_->value.store(static_cast<double>(total), std::memory_order_relaxed);
  }

 private:
  std::shared_ptr<Series> series_;
};

class Gauge {
 public:
  Gauge() = default;
  explicit Gauge(std::shared_ptr<Series> series) : series_{std::move(series)} {}
  void set(double value) const {
    if (series_) series_->value.store(value, std::memory_order_relaxed);
  }
  void add(double by) const {
    if (series_) series_->value.fetch_add(by, std::memory_order_relaxed);
  }

 private:
  std::shared_ptr<Series> series_;
};

class Histogram {
 public:
  Histogram() = default;
  explicit Histogram(std::shared_ptr<Series> series) : series_{std::move(series)} {}
  void observe(double value) const {
    if (!series_) return;
    size_t bucket = 0;
    while (bucket < series_->bounds.size() && value > series_->bounds[bucket]) ++bucket;
    series_->buckets[bucket].fetch_add(1, std::memory_order_relaxed);
    series_->value.fetch_add(value, std::memory_order_relaxed);
  }

 private:
  std::shared_ptr<Series> series_;
};

/// Seconds since it was made, for histograms.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Series of one family. Users and members may supply label values: of more than so many series, further ones are
/// counted together, with the value "other" in every label.
inline constexpr size_t kMostSeries = 2000;
/// Longer label values are cut.
inline constexpr size_t kMostLabelBytes = 256;

/// `count` upper bounds: `first`, `first * factor`, ...
std::vector<double> exponential_buckets(double first, double factor, size_t count);
/// 0.1 ms to 10 s: from one fsync to a client's patience.
std::vector<double> duration_buckets();

/// What the typed families share.
class SeriesTable {
 public:
  enum class Type { kCounter, kGauge, kHistogram };
  /// Registers the family. A second one of the same name is a bug and ends the process.
  SeriesTable(Type type, std::string name, std::string help, std::vector<std::string> labels,
              std::vector<double> bounds, size_t most_series);
  ~SeriesTable();
  SeriesTable(const SeriesTable&) = delete;
  SeriesTable& operator=(const SeriesTable&) = delete;

  struct Impl;

 protected:
  /// One value for each label, in the order of their names.
  std::shared_ptr<Series> series(std::initializer_list<std::string_view> values) const;

 private:
  std::unique_ptr<Impl> impl_;
};

class CounterFamily : public SeriesTable {
 public:
  CounterFamily(std::string name, std::string help, std::vector<std::string> labels = {},
                size_t most_series = kMostSeries)
      : SeriesTable{Type::kCounter, std::move(name), std::move(help), std::move(labels), {}, most_series} {}
  Counter with(std::initializer_list<std::string_view> values) const { return Counter{series(values)}; }
};

class GaugeFamily : public SeriesTable {
 public:
  GaugeFamily(std::string name, std::string help, std::vector<std::string> labels = {},
              size_t most_series = kMostSeries)
      : SeriesTable{Type::kGauge, std::move(name), std::move(help), std::move(labels), {}, most_series} {}
  Gauge with(std::initializer_list<std::string_view> values) const { return Gauge{series(values)}; }
};

class HistogramFamily : public SeriesTable {
 public:
  HistogramFamily(std::string name, std::string help, std::vector<std::string> labels = {},
                  std::vector<double> bounds = duration_buckets(), size_t most_series = kMostSeries)
      : SeriesTable{Type::kHistogram,  std::move(name),   std::move(help),
                    std::move(labels), std::move(bounds), most_series} {}
  Histogram with(std::initializer_list<std::string_view> values) const { return Histogram{series(values)}; }
};

/// Runs a function before each scrape, which copies values that are kept elsewhere into gauges and counters. It must
/// not wait for the fold thread. Once the destructor has returned it does not run.
class ScrapeHook {
 public:
  explicit ScrapeHook(std::function<void()> run);
  ~ScrapeHook();
  ScrapeHook(const ScrapeHook&) = delete;
  ScrapeHook& operator=(const ScrapeHook&) = delete;

 private:
  struct Entry;
  std::shared_ptr<Entry> entry_;
};

/// Removes from every family with this label the series whose value `keep` does not want: those of clusters that were
/// deleted, for example.
void retain_series(std::string_view label, const std::function<bool(std::string_view value)>& keep);

/// All series in Prometheus' text format. Takes some milliseconds when there are many: not on the fold thread.
std::string text();

}  // namespace shiplog::metrics
