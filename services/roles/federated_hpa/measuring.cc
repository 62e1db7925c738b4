#include "services/roles/federated_hpa/measuring.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "events/base/percent_encoding.h"
#include "events/base/utf8.h"
#include "services/roles/federated_hpa/pod_sums.h"

namespace shiplog::federated_hpa {
namespace {

constexpr const char* kCustomMetrics = "/apis/custom.metrics.k8s.io/";
constexpr size_t kLongestFailure = 200;
constexpr size_t kLongestSelector = 4096;

/// A member may report any number.
int64_t count_of(const Value& value) {
  return std::clamp<int64_t>(value.as_int(), 0, std::numeric_limits<int32_t>::max());
}

/// All clusters of one measurement.
struct SharedMeasuring {
  Members& members;
  MeasuringPlan plan;
  std::function<UtcMillis()> now;
  std::function<void(ReplicasMeasured)> then;
  UtcMillis deadline;
  std::vector<ClusterFigures> clusters;
  std::vector<std::string> selectors;  // by cluster
  std::vector<std::string> timed_out;
  size_t open = 0;

  void end_one() {
    if (--open > 0) return;
    ReplicasMeasured measured{std::move(clusters), {}, std::move(timed_out)};
    for (const std::string& selector : selectors) {
      if (measured.selector.empty()) measured.selector = selector;
    }
    then(std::move(measured));
  }
};

/// One cluster: its scale, then its pods page by page, then each metric.
class ClusterReading : public std::enable_shared_from_this<ClusterReading> {
 public:
  ClusterReading(std::shared_ptr<SharedMeasuring> all, size_t index)
      : all_{std::move(all)}, index_{index}, figures_{all_->clusters[index]} {}

  void start() {
    const ScalableTarget& target = plan().target;
    get(target.served.path(target.key.ns.str(), target.key.name.str()) + "/scale", kMostStatusBytes,
        [](ClusterReading& self, const Value& scale) { self.on_scale(scale); });
  }

 private:
  using OnAnswer = std::function<void(ClusterReading&, const Value& body)>;
  using OnFailure = std::function<void(ClusterReading&, int status, const std::string& failure)>;

  const MeasuringPlan& plan() const { return all_->plan; }

  void fail(const std::string& failure) {
    figures_ =
        ClusterFigures{.cluster = figures_.cluster, .metrics = {}, .failure = printable(failure, kLongestFailure)};
    all_->end_one();
  }

  void get(const std::string& path, size_t most_bytes, OnAnswer then, OnFailure otherwise = {}) {
    const Millis left = all_->deadline - all_->now();
    if (left.value <= 0) return fail("it took longer than 10 seconds to read it");
    MemberRequest request;
    request.path = path;
    request.trace = plan().trace;
    request.timeout = std::min(left, kRequestTimeout);
    request.max_response_bytes = most_bytes;
    const auto self = shared_from_this();
    all_->members.request(figures_.cluster, std::move(request),
                          [self, then = std::move(then), otherwise = std::move(otherwise)](
                              const Result<MemberResponse>& response) { self->take(response, then, otherwise); });
  }

  void take(const Result<MemberResponse>& response, const OnAnswer& then, const OnFailure& otherwise) {
    if (response && response.value().status == 200 && response.value().body.is_object()) {
      return then(*this, response.value().body);
    }
    const int status = response ? response.value().status : 0;
    const std::string failure = response ? response.value().message() : response.error().message;
    if (otherwise) return otherwise(*this, status, failure);
    if (!response && response.error().code == ErrorCode::kTimeout) all_->timed_out.push_back(figures_.cluster);
    fail(failure);
  }

  void on_scale(const Value& scale) {
    figures_.replicas = count_of(scale["spec"]["replicas"]);
    figures_.status_replicas = count_of(scale["status"]["replicas"]);
    const std::string selector = scale["status"]["selector"].str();
    if (selector.size() > kLongestSelector) return fail("the selector of its scale is longer than 4096 bytes");
    all_->selectors[index_] = selector;
    if (selector.empty()) return all_->end_one();
    selector_ = percent_encoded(selector, "-._~");
    read_pods("");
  }

  std::string pods_path() const { return "/namespaces/" + path_segment(plan().target.key.ns.str()) + "/pods"; }

  void read_pods(const std::string& page) {
    std::string path = "/api/v1" + pods_path() + "?labelSelector=" + selector_ + "&limit=" + std::to_string(kPageLimit);
    if (!page.empty()) path += "&continue=" + percent_encoded(page, "-._~");
    get(path, kMostPageBytes, [](ClusterReading& self, const Value& list) { self.on_pods(list); });
  }

  void on_pods(const Value& list) {
    for (const Value& pod : list["items"].items()) pods_.push_back(measured_pod(pod, plan().metrics));
    if (pods_.size() > kMostPods) return fail("the target has more than 5000 pods there");
    const std::string next = list["metadata"]["continue"].str();
    if (!next.empty()) return read_pods(next);
    figures_.pods = static_cast<int64_t>(pods_.size());
    figures_.ready_pods = count_ready(pods_);
    figures_.metrics.resize(plan().sources.size());
    read_metric(0);
  }

  void read_metric(size_t index) {
    if (index == plan().sources.size()) return all_->end_one();
    const MetricSource& source = plan().sources[index];
    switch (source.place) {
      case MetricSource::MetricPlace::kNowhere:
        return metric_failed(index, source.failure);
      case MetricSource::MetricPlace::kPodMetrics:
        return read_pod_metrics(index);
      case MetricSource::MetricPlace::kCustomPods:
      case MetricSource::MetricPlace::kCustomObject:
        return read_custom(index, "v1beta2");
    }
  }

  void metric_failed(size_t index, const std::string& failure) {
    const bool of_pods = plan().sources[index].place != MetricSource::MetricPlace::kCustomObject;
    // Its pods count as pods that nothing was measured of, as long as another cluster has metrics.
    if (of_pods) figures_.metrics[index] = sums_of(pods_, index, source_of(plan().metrics[index]), {}, all_->now());
    figures_.metrics[index].failure = printable(failure, kLongestFailure);
    read_metric(index + 1);
  }

  static OnFailure failed_at(size_t index) {
    return [index](ClusterReading& self, int, const std::string& failure) { self.metric_failed(index, failure); };
  }

  /// One answer serves all metrics of resources.
  void read_pod_metrics(size_t index) {
    if (pod_metrics_) return on_pod_metrics(index);
    get(
        "/apis/metrics.k8s.io/v1beta1" + pods_path() + "?labelSelector=" + selector_, kMostPageBytes,
        [index](ClusterReading& self, const Value& list) {
          self.pod_metrics_ = list;
          self.on_pod_metrics(index);
        },
        failed_at(index));
  }

  void on_pod_metrics(size_t index) {
    const Value& source = source_of(plan().metrics[index]);
    add_up(index, resource_usage(*pod_metrics_, source["name"].str(), source["container"].str()));
  }

  void read_custom(size_t index, const std::string& version) {
    const MetricSource& source = plan().sources[index];
    std::string path = kCustomMetrics + version + source.path;
    if (source.place == MetricSource::MetricPlace::kCustomPods) {
      path += (path.find('?') == std::string::npos ? "?labelSelector=" : "&labelSelector=") + selector_;
    }
    get(
        path, kMostPageBytes, [index](ClusterReading& self, const Value& list) { self.on_custom(index, list); },
        [index, version](ClusterReading& self, int status, const std::string& failure) {
          if (status == 404 && version == "v1beta2") return self.read_custom(index, "v1beta1");
          self.metric_failed(index, failure);
        });
  }

  void on_custom(size_t index, const Value& list) {
    const UsageByPod usage = custom_usage(list);
    if (plan().sources[index].place == MetricSource::MetricPlace::kCustomPods) return add_up(index, usage);
    if (usage.empty()) return metric_failed(index, "the answer has no value");
    // It was asked for one object: names of others count for nothing.
    figures_.metrics[index].ready = 1;
    figures_.metrics[index].usage = usage.begin()->second.usage;
    read_metric(index + 1);
  }

  void add_up(size_t index, const UsageByPod& usage) {
    figures_.metrics[index] = sums_of(pods_, index, source_of(plan().metrics[index]), usage, all_->now());
    read_metric(index + 1);
  }

  const std::shared_ptr<SharedMeasuring> all_;
  const size_t index_;
  ClusterFigures& figures_;
  std::string selector_;  // encoded
  std::vector<MeasuredPod> pods_;
  std::optional<Value> pod_metrics_;
};

}  // namespace

void measure(Members& members, MeasuringPlan plan, std::function<UtcMillis()> now,
             std::function<void(ReplicasMeasured)> then) {
  const UtcMillis deadline = now() + kReadingTimeout;
  auto all = std::make_shared<SharedMeasuring>(
      SharedMeasuring{members, std::move(plan), std::move(now), std::move(then), deadline, {}, {}, {}, 0});
  for (const std::string& cluster : all->plan.target.clusters) {
    all->clusters.push_back({.cluster = cluster, .metrics = {}, .failure = {}});
    if (all->plan.silent.contains(cluster)) all->clusters.back().failure = "it has not answered lately";
  }
  all->selectors.resize(all->clusters.size());
  // What ends it is counted in advance: a cluster may end while others have not begun.
  for (const ClusterFigures& each : all->clusters) all->open += each.failure.empty() ? 1 : 0;
  if (all->open == 0) {
    all->open = 1;
    return all->end_one();
  }
  for (size_t i = 0; i < all->clusters.size(); ++i) {
    if (all->clusters[i].failure.empty()) std::make_shared<ClusterReading>(all, i)->start();
  }
}

}  // namespace shiplog::federated_hpa
