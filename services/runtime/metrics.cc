#include "services/runtime/metrics.h"

#include <mutex>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace shiplog {
namespace {

/// 0.1 ms to 10 s: from one fsync to a client's patience.
const prometheus::Histogram::BucketBoundaries kBuckets = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                          0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};

}  // namespace

struct Metrics::Impl {
  prometheus::Registry registry;
  std::mutex mutex;
  std::map<std::string, prometheus::Family<prometheus::Counter>*> counters;
  std::map<std::string, prometheus::Family<prometheus::Histogram>*> histograms;
  std::vector<std::pair<prometheus::Gauge*, std::function<double()>>> gauges;
};

Metrics::Metrics() : impl_{new Impl} {}
Metrics::~Metrics() { delete impl_; }

void Metrics::count(const std::string& name, const std::string& help, const Labels& labels, double by) {
  const std::lock_guard lock{impl_->mutex};
  auto& family = impl_->counters[name];
  if (family == nullptr) family = &prometheus::BuildCounter().Name(name).Help(help).Register(impl_->registry);
  family->Add(labels).Increment(by);
}

void Metrics::observe(const std::string& name, const std::string& help, const Labels& labels, double seconds) {
  const std::lock_guard lock{impl_->mutex};
  auto& family = impl_->histograms[name];
  if (family == nullptr) family = &prometheus::BuildHistogram().Name(name).Help(help).Register(impl_->registry);
  family->Add(labels, kBuckets).Observe(seconds);
}

void Metrics::gauge(const std::string& name, const std::string& help, std::function<double()> read) {
  const std::lock_guard lock{impl_->mutex};
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(impl_->registry);
  impl_->gauges.emplace_back(&family.Add({}), std::move(read));
}

std::string Metrics::text() {
  {
    const std::lock_guard lock{impl_->mutex};
    for (const auto& [gauge, read] : impl_->gauges) gauge->Set(read());
  }
  return prometheus::TextSerializer{}.Serialize(impl_->registry.Collect());
}

}  // namespace shiplog
