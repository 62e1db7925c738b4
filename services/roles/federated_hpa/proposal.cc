#include "services/roles/federated_hpa/proposal.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "events/kinds/canonical_quantity.h"
#include "services/roles/federated_hpa/pod_sums.h"

namespace shiplog::federated_hpa {
namespace {

using Int = Quantity::Int;

/// What is measured and wanted of one pod is cut there, so that no product below exceeds 128 bits.
constexpr Int kMostOfOne = 100'000'000'000'000'000;
constexpr int64_t kMostReplicas = std::numeric_limits<int32_t>::max();

/// Of all clusters together.
struct MetricTotals {
  Int ready = 0, usage = 0, requested = 0, unready = 0, unready_requested = 0, missing = 0, missing_requested = 0;
  Int replicas = 0, status_replicas = 0, pods = 0, ready_pods = 0;
  bool measured = false;
  std::string failure;  ///< the first one
};

MetricTotals totals_of(size_t index, const std::vector<ClusterFigures>& clusters) {
  MetricTotals all;
  for (const ClusterFigures& cluster : clusters) {
    if (!cluster.failure.empty()) continue;
    const bool listed = index < cluster.metrics.size();
    const std::string failure = listed ? cluster.metrics[index].failure : "";
    if (!failure.empty() && all.failure.empty()) all.failure = "cluster " + cluster.cluster + ": " + failure;
    // It is computed for the clusters that have told a value.
    if (listed && cluster.metrics[index].unknown) continue;
    all.replicas += cluster.replicas;
    all.status_replicas += cluster.status_replicas;
    all.pods += cluster.pods;
    all.ready_pods += cluster.ready_pods;
    if (!listed) continue;
    const MetricSums& sums = cluster.metrics[index];
    all.ready += sums.ready;
    all.usage += sums.usage;
    all.requested += sums.requested;
    all.unready += sums.unready;
    all.unready_requested += sums.unready_requested;
    all.missing += sums.missing;
    all.missing_requested += sums.missing_requested;
    all.measured = all.measured || failure.empty();
  }
  return all;
}

/// What is there for each that is wanted: of one pod, or percent.
struct UsageRatio {
  Int have = 0, want = 1;
  bool above() const { return have > want; }
  bool below() const { return have < want; }
  bool within(const ProposalBasis& basis) const {
    if (above()) return (have - want) * 1000 <= want * basis.tolerance_up;
    return (want - have) * 1000 <= want * basis.tolerance_down;
  }
};

/// That many pods at this ratio, in terms of the template, rounded up.
int64_t replicas_at(const UsageRatio& ratio, Int pods, const MetricTotals& all, const ProposalBasis& basis) {
  const Int divisor = ratio.want * all.replicas;
  const Int replicas = (ratio.have * pods * basis.template_replicas + divisor - 1) / divisor;
  return static_cast<int64_t>(std::min<Int>(replicas, kMostReplicas));
}

/// `target` in percent of what is requested, or in thousandths for each pod.
struct PodTarget {
  bool percentage = false;
  Int value = 1;
  UsageRatio ratio(Int usage, Int requested, Int pods) const {
    const Int have = percentage ? usage * 100 / requested : usage / pods;
    return {std::min(have, kMostOfOne), value};
  }
};

Result<int64_t> by_pods(const PodTarget& target, const MetricTotals& all, const ProposalBasis& basis) {
  if (all.pods == 0)
    return Error{ErrorCode::kUnavailable, "no pods returned by selector while calculating replica count"};
  if (all.ready == 0) return Error{ErrorCode::kUnavailable, "did not receive metrics for any ready pods"};
  if (target.percentage && all.requested == 0) {
    return Error{ErrorCode::kUnavailable, "no metrics returned matched known pods"};
  }
  const UsageRatio ratio = target.ratio(all.usage, all.requested, all.ready);
  const bool up_with_unready = all.unready > 0 && ratio.above();
  if (!up_with_unready && all.missing == 0) {
    return ratio.within(basis) ? basis.template_replicas : replicas_at(ratio, all.ready, all, basis);
  }
  // Pods that nothing is known of count as what speaks against a change: idle before more are added, busy before some
  // are removed.
  Int usage = all.usage, requested = all.requested, pods = all.ready;
  if (all.missing > 0 && (ratio.above() || ratio.below())) {
    pods += all.missing;
    requested += all.missing_requested;
    if (ratio.below() && target.percentage) usage += all.missing_requested * std::max<Int>(100, target.value) / 100;
    if (ratio.below() && !target.percentage) usage += all.missing * target.value;
  }
  if (up_with_unready) {
    pods += all.unready;
    requested += all.unready_requested;
  }
  const UsageRatio all_counted = target.ratio(usage, requested, pods);
  const bool turned = (ratio.below() && all_counted.above()) || (ratio.above() && all_counted.below());
  if (turned || all_counted.within(basis)) return basis.template_replicas;
  const int64_t replicas = replicas_at(all_counted, pods, all, basis);
  const bool other_way = (all_counted.below() && replicas > basis.template_replicas) ||
                         (all_counted.above() && replicas < basis.template_replicas);
  return other_way ? basis.template_replicas : replicas;
}

Result<Int> amount(const Value& quantity) {
  const auto parsed = quantity_in(quantity);
  if (!parsed || parsed.value().negative() || parsed.value().is_zero()) {
    return Error{ErrorCode::kInvalid, "the target is not a positive quantity"};
  }
  return std::min(parsed.value().whole_milli(), kMostOfOne);
}

std::string text_of(Int milli) { return to_string(Quantity::from_milli(std::min(milli, Int{kMostMilli}))); }

Value metric_identity(const Value& metric) {
  Value identity = Value::object({{"name", metric["name"]}});
  if (!metric["selector"].is_null()) identity.set("selector", metric["selector"]);
  return identity;
}

Result<MetricProposal> by_resource(const Value& metric, const MetricTotals& all, const ProposalBasis& basis) {
  const Value& source = source_of(metric);
  const bool of_container = metric["type"].as_string() == "ContainerResource";
  const std::string resource = source["name"].str();
  const Value& percent = source["target"]["averageUtilization"];
  PodTarget target{percent.is_int(), std::max<int64_t>(percent.as_int(), 1)};
  if (!target.percentage) {
    if (source["target"]["averageValue"].is_null()) {
      return Error{ErrorCode::kInvalid,
                   "invalid resource metric source: neither an average utilization target nor an average value target "
                   "was set"};
    }
    SHIPLOG_TRY(target.value, amount(source["target"]["averageValue"]));
  }
  const auto replicas = all.measured
                            ? by_pods(target, all, basis)
                            : Result<int64_t>{Error{ErrorCode::kUnavailable, "unable to get metrics for resource " +
                                                                                 resource + ": " + all.failure}};
  if (!replicas) {
    return Error{
        replicas.error().code,
        "failed to get " + resource + (target.percentage ? " utilization: " : " usage: ") + replicas.error().message};
  }
  Value current = Value::object({{"averageValue", text_of(all.usage / all.ready)}});
  if (target.percentage) {
    const Int used = target.ratio(all.usage, all.requested, all.ready).have;
    current.set("averageUtilization", static_cast<int64_t>(std::min<Int>(used, kMostReplicas)));
  }
  Value status = Value::object({{"name", resource}, {"current", std::move(current)}});
  if (of_container) status.set("container", source["container"]);
  std::string name = resource + (of_container && target.percentage ? " container resource" : " resource");
  if (target.percentage) name += " utilization (percentage of request)";
  return MetricProposal{
      replicas.value(), std::move(name),
      Value::object({{"type", metric["type"]}, {of_container ? "containerResource" : "resource", std::move(status)}})};
}

Result<MetricProposal> by_custom_pods(const Value& metric, const MetricTotals& all, const ProposalBasis& basis) {
  const Value& source = metric["pods"];
  PodTarget target;
  SHIPLOG_TRY(target.value, amount(source["target"]["averageValue"]));
  SHIPLOG_TRY(const int64_t replicas, by_pods(target, all, basis));
  const Value current = Value::object({{"averageValue", text_of(all.usage / all.ready)}});
  return MetricProposal{
      replicas, "pods metric " + source["metric"]["name"].str(),
      Value::object({{"type", "Pods"},
                     {"pods", Value::object({{"metric", metric_identity(source["metric"])}, {"current", current}})}})};
}

/// The values of the clusters are added up, as karmada-metrics-adapter does.
Result<MetricProposal> by_object(const Value& metric, const MetricTotals& all, const ProposalBasis& basis) {
  const Value& source = metric["object"];
  const Value& wanted = source["target"];
  const std::string metric_name = source["metric"]["name"].str();
  Value status =
      Value::object({{"describedObject", source["describedObject"]}, {"metric", metric_identity(source["metric"])}});
  MetricProposal proposal;
  proposal.name = source["describedObject"]["kind"].str() + " metric " + metric_name;
  if (wanted["type"].as_string() == "Value" && !wanted["value"].is_null()) {
    SHIPLOG_TRY(const Int target, amount(wanted["value"]));
    const UsageRatio ratio{std::min(all.usage, kMostOfOne), target};
    proposal.replicas = ratio.within(basis) ? basis.template_replicas : replicas_at(ratio, all.ready_pods, all, basis);
    status.set("current", Value::object({{"value", text_of(all.usage)}}));
  } else if (wanted["type"].as_string() == "AverageValue" && !wanted["averageValue"].is_null()) {
    SHIPLOG_TRY(const Int target, amount(wanted["averageValue"]));
    if (all.status_replicas == 0) return Error{ErrorCode::kUnavailable, "the members report no replicas yet"};
    const Int usage = std::min(all.usage, kMostOfOne);
    const UsageRatio ratio{usage, target * all.status_replicas};
    proposal.replicas = ratio.within(basis) ? basis.template_replicas : replicas_at({usage, target}, 1, all, basis);
    const Int average = (all.usage + all.status_replicas - 1) / all.status_replicas;
    status.set("current", Value::object({{"averageValue", text_of(average)}}));
  } else {
    return Error{ErrorCode::kInvalid,
                 "invalid object metric source: neither a value target nor an average value target was set"};
  }
  proposal.status = Value::object({{"type", "Object"}, {"object", std::move(status)}});
  return proposal;
}

}  // namespace

Result<MetricProposal> propose(const Value& metric, size_t index, const std::vector<ClusterFigures>& clusters,
                               const ProposalBasis& basis) {
  const std::string type = metric["type"].str();
  const Value& source = source_of(metric);
  if (source.is_null()) return Error{ErrorCode::kInvalid, "unknown metric source type \"" + type + "\""};
  const MetricTotals all = totals_of(index, clusters);
  const bool by_name = type == "Pods" || type == "Object";
  if (by_name && !all.measured) {
    return Error{ErrorCode::kUnavailable,
                 "unable to get metric " + source["metric"]["name"].str() + ": " + all.failure};
  }
  if (type == "Pods") return by_custom_pods(metric, all, basis);
  if (type == "Object") return by_object(metric, all, basis);
  return by_resource(metric, all, basis);
}

}  // namespace shiplog::federated_hpa
