#include "services/roles/federated_hpa/decide.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "events/kinds/canonical_quantity.h"
#include "events/state/condition.h"
#include "events/state/object.h"
#include "services/roles/federated_hpa/limits.h"
#include "services/roles/federated_hpa/pod_sums.h"
#include "services/roles/federated_hpa/proposal.h"
#include "services/roles/federated_hpa/replicas_field.h"
#include "services/roles/federated_hpa/status_difference.h"
#include "services/roles/federated_hpa/target.h"

namespace shiplog::federated_hpa {
namespace {

constexpr const char* kAble = "AbleToScale";
constexpr const char* kActive = "ScalingActive";
constexpr const char* kLimited = "ScalingLimited";
constexpr const char* kNoReplicas =
    "failed to get replicas in any of clusters, possibly because all of clusters are not ready";
constexpr const char* kGotScale = "the HPA controller was able to get the target's current scale";

bool on(const State& state, const Object* object) {
  return object != nullptr && !deleting(object->value) && state.options().controller_on(kController);
}

int64_t min_of(const Value& spec) { return spec["minReplicas"].as_int(1); }

bool within_bounds(const Value& spec, int64_t replicas) {
  return replicas >= min_of(spec) && replicas <= spec["maxReplicas"].as_int();
}

const char* failure_reason(const Value& metric) {
  const std::string_view type = metric["type"].as_string();
  if (type == "Pods") return "FailedGetPodsMetric";
  if (type == "Object") return "FailedGetObjectMetric";
  if (type == "Resource") return "FailedGetResourceMetric";
  if (type == "ContainerResource") return "FailedGetContainerResourceMetric";
  return "InvalidMetricSourceType";
}

/// In thousandths; as --horizontal-pod-autoscaler-tolerance is unless the behavior of the direction has its own.
int64_t tolerance(const Value& rules) {
  const auto given = quantity_in(rules["tolerance"]);
  return given ? std::clamp<int64_t>(given.value().milli(), 0, 1'000'000) : 100;
}

/// One decision about one FederatedHPA.
class Evaluating {
 public:
  Evaluating(const State& state, const ObjectKey& key, const Object& object, UtcMillis now)
      : state_{state}, key_{key}, object_{object}, now_{now}, wanted_{object.value}, spec_{object.value["spec"]} {
    Value& status = wanted_.edit("status");
    if (!object.value["metadata"]["generation"].is_null()) {
      status.set("observedGeneration", object.value["metadata"]["generation"]);
    }
    if (status["desiredReplicas"].is_null()) status.set("desiredReplicas", 0);
  }

  ScalingStep take(const Measurement* measurement) {
    const auto found = find_target(state_, object_.value);
    if (const auto* unscalable = std::get_if<Unscalable>(&found)) {
      set(kAble, "False", unscalable->reason, unscalable->message);
      return written();
    }
    target_ = std::get<ScalableTarget>(found);
    if (target_.replicas == 0) {
      set(kAble, "True", "SucceededGetScale", kGotScale);
      set(kActive, "False", "ScalingDisabled", "scaling is disabled since the replica count of the target is zero");
      return reported(0, Value::array());
    }
    if (!within_bounds(spec_, target_.replicas)) {
      const int64_t most = spec_["maxReplicas"].as_int();
      return scaled(target_.replicas > most ? most : min_of(spec_), Value::array());
    }
    if (spec_["metrics"].size() > kMostMetrics) return too_many_metrics();
    if (measurement == nullptr || measurement->generation != object_.value["metadata"]["generation"].as_int()) {
      return as_it_is();
    }
    since_ = measurement->at - measurement->recorded;
    return by_measurement(*measurement);
  }

 private:
  void set(const char* type, const char* status, const std::string& reason, const std::string& message) {
    set_condition(wanted_, type, status, reason, message, now_);
  }

  ScalingStep by_measurement(const Measurement& measurement) {
    int64_t replicas = 0;
    std::string failure;
    for (const ClusterFigures& cluster : measurement.clusters) {
      if (cluster.failure.empty()) replicas += cluster.replicas;
      if (failure.empty() && !cluster.failure.empty())
        failure = "; cluster " + cluster.cluster + ": " + cluster.failure;
    }
    if (replicas == 0) {
      set(kAble, "False", "FailedGetScale", std::string{kNoScale} + kNoReplicas + failure);
      return written();
    }
    set(kAble, "True", "SucceededGetScale", kGotScale);
    if (measurement.selector.empty()) {
      return inactive("InvalidSelector", "the HPA target's scale is missing a selector");
    }
    if (!measurement.rivals.empty()) {
      std::string all = key_.ns.str() + "/" + key_.name.str();
      for (const std::string& rival : measurement.rivals) all += " " + key_.ns.str() + "/" + rival;
      return inactive("AmbiguousSelector",
                      "pods by selector " + measurement.selector + " are controlled by multiple HPAs: [" + all + "]");
    }
    return by_metrics(measurement);
  }

  ScalingStep inactive(const std::string& reason, const std::string& message) {
    set(kActive, "False", reason, message);
    wanted_.edit("status").set("currentReplicas", target_.replicas);
    return written();
  }

  /// Of an object that was stored before they were refused.
  ScalingStep too_many_metrics() {
    set(kAble, "True", "SucceededGetScale", kGotScale);
    return inactive("InvalidMetricSourceType", "spec.metrics has " + std::to_string(spec_["metrics"].size()) +
                                                   " items, and at most " + std::to_string(kMostMetrics) +
                                                   " are measured: leave some out");
  }

  ScalingStep by_metrics(const Measurement& measurement) {
    const Value& metrics = spec_["metrics"];
    const ProposalBasis basis{target_.replicas, tolerance(spec_["behavior"]["scaleUp"]),
                              tolerance(spec_["behavior"]["scaleDown"])};
    int64_t highest = 0;
    std::string name;
    Value current = Value::array();
    size_t invalid = 0;
    std::string reason, message;
    for (size_t i = 0; i < metrics.size(); ++i) {
      auto proposal = propose(metrics[i], i, measurement.clusters, basis);
      if (!proposal) {
        if (invalid++ == 0) {
          reason = failure_reason(metrics[i]);
          message = proposal.error().message;
        }
        continue;
      }
      if (highest == 0 || proposal.value().replicas > highest) {
        highest = proposal.value().replicas;
        name = proposal.value().name;
      }
      current.push_back(std::move(proposal.value().status));
      targets_.push_back(source_of(metrics[i])["target"]);
    }
    // With a metric unknown, the others are reason enough for more replicas, and not for fewer.
    if (invalid >= metrics.size() || (invalid > 0 && highest < target_.replicas)) {
      report_metrics(std::move(current));
      return inactive(reason, "the HPA was unable to compute the replica count: " + message);
    }
    set(kActive, "True", "ValidMetricFound", "the HPA was able to successfully calculate a replica count from " + name);
    return within_limits(highest, std::move(current), measurement);
  }

  ScalingStep within_limits(int64_t recommended, Value metrics, const Measurement& measurement) {
    const LimitedReplicas result = limited(spec_, target_.replicas, recommended, measurement.recent, measurement.at);
    set(kAble, "True", result.able_reason, result.able_message);
    set(kLimited, result.limited ? "True" : "False", result.limited_reason, result.limited_message);
    ScalingStep step = result.replicas == target_.replicas ? reported(result.replicas, std::move(metrics))
                                                           : scaled(result.replicas, std::move(metrics));
    step.recommended = recommended;
    return step;
  }

  void report_metrics(Value metrics) {
    Value& status = wanted_.edit("status");
    if (metrics.size() > 0) {
      status.set("currentMetrics", std::move(metrics));
    } else {
      status.erase("currentMetrics");
    }
  }

  void report(int64_t desired, Value metrics) {
    Value& status = wanted_.edit("status");
    status.set("currentReplicas", target_.replicas);
    status.set("desiredReplicas", desired);
    report_metrics(std::move(metrics));
  }

  ScalingStep reported(int64_t desired, Value metrics) {
    report(desired, std::move(metrics));
    return written();
  }

  /// As upstream, where the API server refuses an update of the scale.
  ScalingStep refused(const std::string& why, Value metrics) {
    // It was set to True on the way here: its time is that of the last change that users see.
    const Value was = condition_of(object_.value, kAble);
    Value& conditions = wanted_.edit("status").edit("conditions");
    for (Value& each : conditions.edit_items()) {
      if (each["type"].as_string() == kAble && was.is_object()) each = was;
    }
    set(kAble, "False", "FailedUpdateScale", "the HPA controller was unable to update the target scale: " + why);
    wanted_.edit("status").set("currentReplicas", target_.replicas);
    report_metrics(std::move(metrics));
    return written();
  }

  ScalingStep scaled(int64_t replicas, Value metrics) {
    const std::string refusal = replicas_refusal(state_, target_.served, replicas);
    if (!refusal.empty()) {
      return refused(target_.served.type() + " \"" + target_.key.name.str() + "\" is invalid: " + refusal,
                     std::move(metrics));
    }
    set(kAble, "True", "SucceededRescale",
        "the HPA controller was able to update the target scale to " + std::to_string(replicas));
    report(replicas, std::move(metrics));
    wanted_.edit("status").set("lastScaleTime", rfc3339(now_));
    const Object* before = state_.find(target_.key);
    DecisionBuilder decision;
    decision.add(ObjectUpdated{target_.key, with_replicas(before->value, target_.served, replicas, now_)},
                 {target_.key, before->revision});
    decision.add(StatusUpdated{key_, std::move(wanted_)}, {key_, object_.revision});
    return {std::move(decision).build_and_look_again(now_ + kSyncEvery), {}, target_.key, target_.replicas, replicas};
  }

  ScalingStep as_it_is() const { return {LookAgain{now_ + kSyncEvery}, {}, {}, 0, 0}; }

  ScalingStep written() {
    if (!worth_writing(object_.value["status"], wanted_["status"], targets_, since_)) return as_it_is();
    DecisionBuilder decision;
    decision.add(StatusUpdated{key_, std::move(wanted_)}, {key_, object_.revision});
    return {std::move(decision).build_and_look_again(now_ + kSyncEvery), {}, {}, 0, 0};
  }

  const State& state_;
  const ObjectKey& key_;
  const Object& object_;
  const UtcMillis now_;
  Value wanted_;
  const Value& spec_;
  ScalableTarget target_;
  std::vector<Value> targets_;   // of the metrics in status.currentMetrics
  Millis since_{kDetailsEvery};  // the last measurement that was recorded
};

}  // namespace

std::optional<ScalableTarget> target_to_measure(const State& state, const ObjectKey& key) {
  const Object* object = state.find(key);
  if (!on(state, object)) return std::nullopt;
  auto found = find_target(state, object->value);
  auto* target = std::get_if<ScalableTarget>(&found);
  const Value& spec = object->value["spec"];
  if (target == nullptr || target->replicas == 0 || !within_bounds(spec, target->replicas)) return std::nullopt;
  if (spec["metrics"].size() > kMostMetrics) return std::nullopt;
  return std::move(*target);
}

ScalingStep evaluate(const State& state, const ObjectKey& key, UtcMillis now, const Measurement* measurement) {
  const Object* object = state.find(key);
  if (!on(state, object)) return {Nothing{}, {}, {}, 0, 0};
  return Evaluating{state, key, *object, now}.take(measurement);
}

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  const Value& kept = state.value_of(answers_key(key, kMeasureReplicas));
  const Value& recorded = kept["answers"][kNoQualifier]["answer"];
  if (recorded.is_null()) return evaluate(state, key, now, nullptr).decided;
  const Measurement measurement = measurement_from(recorded);
  return evaluate(state, key, now, &measurement).decided;
}

}  // namespace shiplog::federated_hpa
