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

constexpr const char* kPodMetricsApi = "metrics.k8s.io";
constexpr const char* kCustomMetricsApi = "custom.metrics.k8s.io";
constexpr size_t kLongestFailure = 200;
constexpr size_t kLongestSelector = 4096;
constexpr const char* kNoAnswer = "it has not answered lately";
constexpr const char* kTooSlow = "it took longer than 10 seconds to read it";

/// A member may report any number.
int64_t count_of(const Value& value) {
  return std::clamp<int64_t>(value.as_int(), 0, std::numeric_limits<int32_t>::max());
}

ClusterFigures left_out(const std::string& cluster, const std::string& failure) {
  return {.cluster = cluster, .metrics = {}, .failure = printable(failure, kLongestFailure)};
}

/// All clusters of one measurement.
struct SharedMeasuring {
  Members& members;
  MemberReads& reads;
  MeasuringPlan plan;
  std::function<UtcMillis()> now;
  std::function<void(ReplicasMeasured)> then;
  std::vector<ClusterFigures> clusters;
  std::vector<std::string> selectors;  // by cluster
  size_t open = 0;

  void end_one() {
    if (--open > 0) return;
    const auto has_selector = [](const std::string& selector) { return !selector.empty(); };
    const auto first = std::ranges::find_if(selectors, has_selector);
    ReplicasMeasured measured;
    if (first != selectors.end()) {
      leave_out_without_pods();
      measured.selector = printable(plan.target.selector.empty() ? *first : plan.target.selector, kLongestSelector);
    }
    measured.clusters = std::move(clusters);
    then(std::move(measured));
  }

  /// Replicas without pods would count as pods that use nothing, and the other clusters would be scaled down by them.
  void leave_out_without_pods() {
    const bool any = std::ranges::any_of(clusters, [](const ClusterFigures& each) { return each.pods > 0; });
    for (size_t i = 0; i < clusters.size(); ++i) {
      ClusterFigures& each = clusters[i];
      if (!each.failure.empty()) continue;
      if (selectors[i].empty()) {
        each = left_out(each.cluster, "its scale has no selector");
      } else if (any && each.pods == 0 && each.replicas > 0) {
        each = left_out(each.cluster, "it has replicas, but none of their pods");
      }
    }
  }
};

/// One cluster: its scale, then its pods page by page, then each metric.
class ClusterReading : public std::enable_shared_from_this<ClusterReading> {
 public:
  ClusterReading(std::shared_ptr<SharedMeasuring> all, size_t index)
      : all_{std::move(all)}, index_{index}, figures_{all_->clusters[index]} {}

  void start() {
    if (silent("")) return fail(kNoAnswer);
    waits_since_ = all_->now();
    all_->reads.enter(figures_.cluster, [self = shared_from_this()] { self->begin(); });
  }

 private:
  using OnAnswer = std::function<void(ClusterReading&, const Value& body)>;
  using OnFailure = std::function<void(ClusterReading&, int status, const std::string& failure)>;

  /// A request to a member, of one of its APIs: "" is that of Kubernetes itself.
  struct MemberQuery {
    std::string api;
    std::string path;
    size_t most_bytes = kMostPageBytes;
  };

  const MeasuringPlan& plan() const { return all_->plan; }

  std::string mark_of(const std::string& api) const { return figures_.cluster + (api.empty() ? "" : "/" + api); }
  bool silent(const std::string& api) const { return all_->reads.silent(mark_of(api), all_->now()); }
  void silence(const std::string& api) { all_->reads.silence(mark_of(api), all_->now()); }

  void begin() {
    reading_ = true;
    if (silent("")) return fail(kNoAnswer);
    const UtcMillis now = all_->now();
    if (now - waits_since_ > kLongestWait) return fail("too many measurements wait for it");
    deadline_ = now + kReadingTimeout;
    const ScalableTarget& target = plan().target;
    get({"", target.served.path(target.key.ns.str(), target.key.name.str()) + "/scale", kMostStatusBytes},
        [](ClusterReading& self, const Value& scale) { self.on_scale(scale); });
  }

  void end() {
    if (reading_) all_->reads.leave(figures_.cluster);
    all_->end_one();
  }

  void fail(const std::string& failure) {
    figures_ = left_out(figures_.cluster, failure);
    all_->selectors[index_].clear();
    end();
  }

  void get(const MemberQuery& query, OnAnswer then, OnFailure otherwise = {}) {
    const Millis left = deadline_ - all_->now();
    if (left.value <= 0) return otherwise ? otherwise(*this, 0, kTooSlow) : fail(kTooSlow);
    MemberRequest request;
    request.path = query.path;
    request.trace = plan().trace;
    request.timeout = std::min(left, kRequestTimeout);
    request.max_response_bytes = query.most_bytes;
    const auto self = shared_from_this();
    all_->members.request(figures_.cluster, std::move(request),
                          [self, api = query.api, then = std::move(then), otherwise = std::move(otherwise)](
                              const Result<MemberResponse>& response) { self->take(response, api, then, otherwise); });
  }

  void take(const Result<MemberResponse>& response, const std::string& api, const OnAnswer& then,
            const OnFailure& otherwise) {
    if (response && response.value().status == 200 && response.value().body.is_object()) {
      return then(*this, response.value().body);
    }
    const int status = response ? response.value().status : 0;
    const std::string failure = response ? response.value().message() : response.error().message;
    if (!response && response.error().code == ErrorCode::kTimeout) silence(api);
    otherwise ? otherwise(*this, status, failure) : fail(failure);
  }

  void on_scale(const Value& scale) {
    figures_.replicas = count_of(scale["spec"]["replicas"]);
    figures_.status_replicas = count_of(scale["status"]["replicas"]);
    const auto most = plan().most_replicas.find(figures_.cluster);
    if (most != plan().most_replicas.end() && figures_.replicas > most->second) {
      return fail("it reports " + std::to_string(figures_.replicas) + " replicas, and was to have at most " +
                  std::to_string(most->second));
    }
    const std::string selector = scale["status"]["selector"].str();
    if (selector.size() > kLongestSelector) return fail("the selector of its scale is longer than 4096 bytes");
    if (selector.empty()) return end();
    all_->selectors[index_] = selector;
    selector_ = percent_encoded(selector, "-._~");
    read_pods("");
  }

  std::string pods_path() const { return "/namespaces/" + path_segment(plan().target.key.ns.str()) + "/pods"; }

  void read_pods(const std::string& page) {
    std::string path = "/api/v1" + pods_path() + "?labelSelector=" + selector_ + "&limit=" + std::to_string(kPageLimit);
    if (!page.empty()) path += "&continue=" + percent_encoded(page, "-._~");
    get({"", path}, [](ClusterReading& self, const Value& list) { self.on_pods(list); });
  }

  /// Sizes first: what a member sends is taken apart on the fold thread.
  void on_pods(const Value& list) {
    const Value& items = list["items"];
    if (items.size() > static_cast<size_t>(kPageLimit)) {
      silence("");
      return fail("it sent more pods at once than it was asked for");
    }
    if (containers_in(list) > kMostPageContainers) return fail("the pods have too many containers");
    if (pods_.size() + items.size() > kMostPods) return fail("the target has more than 5000 pods there");
    for (const Value& pod : items.items()) pods_.push_back(measured_pod(pod, plan().metrics));
    const std::string next = list["metadata"]["continue"].str();
    if (!next.empty()) return read_pods(next);
    figures_.pods = static_cast<int64_t>(pods_.size());
    figures_.ready_pods = count_ready(pods_);
    figures_.metrics.resize(plan().sources.size());
    read_metric(0);
  }

  void read_metric(size_t index) {
    if (index == plan().sources.size()) return end();
    const MetricSource& source = plan().sources[index];
    switch (source.place) {
      case MetricSource::MetricPlace::kNowhere:
        return metric_failed(index, 404, source.failure);
      case MetricSource::MetricPlace::kPodMetrics:
        return read_pod_metrics(index);
      case MetricSource::MetricPlace::kCustomPods:
      case MetricSource::MetricPlace::kCustomObject:
        return read_custom(index, "v1beta2");
    }
  }

  void metric_failed(size_t index, int status, const std::string& failure) {
    if (plan().sources[index].place == MetricSource::MetricPlace::kCustomObject) {
      figures_.metrics[index].unknown = status != 404;
    } else {
      // Its pods count as pods that nothing was measured of, as long as another cluster has metrics.
      figures_.metrics[index] = sums_of(pods_, index, source_of(plan().metrics[index]), {}, all_->now());
    }
    figures_.metrics[index].failure = printable(failure, kLongestFailure);
    read_metric(index + 1);
  }

  /// One answer, or failure, serves all metrics of resources.
  void read_pod_metrics(size_t index) {
    if (pod_metrics_) return on_pod_metrics(index);
    if (!pod_metrics_failure_.empty()) return metric_failed(index, 0, pod_metrics_failure_);
    if (silent(kPodMetricsApi)) return pod_metrics_failed(index, kNoAnswer);
    const std::string path = std::string{"/apis/"} + kPodMetricsApi + "/v1beta1" + pods_path();
    get(
        {kPodMetricsApi, path + "?labelSelector=" + selector_},
        [index](ClusterReading& self, const Value& list) {
          if (self.too_large(list, kPodMetricsApi)) return self.pod_metrics_failed(index, kTooLarge);
          self.pod_metrics_ = list;
          self.on_pod_metrics(index);
        },
        [index](ClusterReading& self, int, const std::string& failure) { self.pod_metrics_failed(index, failure); });
  }

  void pod_metrics_failed(size_t index, const std::string& failure) {
    pod_metrics_failure_ = failure;
    metric_failed(index, 0, failure);
  }

  void on_pod_metrics(size_t index) {
    const Value& source = source_of(plan().metrics[index]);
    add_up(index, resource_usage(*pod_metrics_, source["name"].str(), source["container"].str()));
  }

  /// Of one namespace: what is asked for there may be what takes so long.
  std::string custom_api() const { return std::string{kCustomMetricsApi} + "/" + plan().target.key.ns.str(); }

  void read_custom(size_t index, const std::string& version) {
    if (silent(custom_api())) return metric_failed(index, 0, kNoAnswer);
    const MetricSource& source = plan().sources[index];
    std::string path = std::string{"/apis/"} + kCustomMetricsApi + "/" + version + source.path;
    if (source.place == MetricSource::MetricPlace::kCustomPods) {
      path += (path.find('?') == std::string::npos ? "?labelSelector=" : "&labelSelector=") + selector_;
    }
    get(
        {custom_api(), path}, [index](ClusterReading& self, const Value& list) { self.on_custom(index, list); },
        [index, version](ClusterReading& self, int status, const std::string& failure) {
          if (status == 404 && version == "v1beta2") return self.read_custom(index, "v1beta1");
          self.metric_failed(index, status, failure);
        });
  }

  void on_custom(size_t index, const Value& list) {
    if (too_large(list, custom_api())) return metric_failed(index, 0, kTooLarge);
    const UsageByPod usage = custom_usage(list);
    if (plan().sources[index].place == MetricSource::MetricPlace::kCustomPods) return add_up(index, usage);
    if (usage.empty()) return metric_failed(index, 0, "the answer has no value");
    // It was asked for one object: names of others count for nothing.
    figures_.metrics[index].ready = 1;
    figures_.metrics[index].usage = usage.begin()->second.usage;
    read_metric(index + 1);
  }

  /// It was asked for metrics of the pods of one target.
  bool too_large(const Value& list, const std::string& api) {
    const bool is = list["items"].size() > kMostPods || containers_in(list) > kMostMeasuredContainers;
    if (is) silence(api);
    return is;
  }

  void add_up(size_t index, const UsageByPod& usage) {
    figures_.metrics[index] = sums_of(pods_, index, source_of(plan().metrics[index]), usage, all_->now());
    read_metric(index + 1);
  }

  static constexpr const char* kTooLarge = "the answer has too many items or containers";

  const std::shared_ptr<SharedMeasuring> all_;
  const size_t index_;
  ClusterFigures& figures_;
  bool reading_ = false;  // it has its place among the reads
  UtcMillis waits_since_, deadline_;
  std::string selector_;  // encoded
  std::vector<MeasuredPod> pods_;
  std::optional<Value> pod_metrics_;
  std::string pod_metrics_failure_;
};

}  // namespace

void measure(Members& members, MemberReads& reads, MeasuringPlan plan, std::function<UtcMillis()> now,
             std::function<void(ReplicasMeasured)> then) {
  auto all = std::make_shared<SharedMeasuring>(
      SharedMeasuring{members, reads, std::move(plan), std::move(now), std::move(then), {}, {}, 0});
  for (const std::string& cluster : all->plan.target.clusters) {
    all->clusters.push_back({.cluster = cluster, .metrics = {}, .failure = {}});
  }
  const size_t clusters = all->clusters.size();
  all->selectors.resize(clusters);
  // What ends it is counted in advance: a cluster may end while others have not begun.
  all->open = std::max<size_t>(1, clusters);
  if (clusters == 0) return all->end_one();
  for (size_t i = 0; i < clusters; ++i) std::make_shared<ClusterReading>(all, i)->start();
}

}  // namespace shiplog::federated_hpa
