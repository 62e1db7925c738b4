#include "services/roles/descheduler/decide.h"

#include <algorithm>
#include <optional>
#include <string>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/state/binding.h"
#include "events/state/placement.h"
#include "services/adapters/estimators/operations.h"

namespace shiplog::descheduler {
namespace {

constexpr Millis kDefaultInterval{2 * 60 * 1000};
constexpr Millis kDefaultThreshold{5 * 60 * 1000};
constexpr Millis kDefaultTimeout{3'000};
constexpr int64_t kNanosecondsOfAMillisecond = 1'000'000;

Millis option(const std::vector<std::string>& words, Millis fallback) {
  const auto parsed = parse_duration(words.empty() ? "" : words.front());
  return parsed ? parsed.value() : fallback;
}

/// A target, and how many of its replicas are ready. Without a report none is known to be.
struct Assigned {
  Target target;
  int64_t ready = 0;
  bool lacks() const { return ready < target.replicas; }
};

std::vector<Assigned> assigned_by(const Binding& binding, const Value& object) {
  std::vector<Assigned> all;
  for (const Target& target : binding.targets) {
    Assigned assigned{target, 0};
    for (const Value& item : object["status"]["aggregatedStatus"].items()) {
      if (item["clusterName"].as_string() == target.cluster) assigned.ready = item["status"]["readyReplicas"].as_int();
    }
    all.push_back(std::move(assigned));
  }
  return all;
}

std::string basis_of(const Binding& binding, Millis threshold) {
  return to_string(siphash128(to_json(Value::array({binding.generation, threshold.value}))));
}

/// The last answer, whatever it was about.
struct LastAnswer {
  UtcMillis at;
  bool current = false;  ///< it is about this generation
  Value answers;
};

std::optional<LastAnswer> last_answer(const State& state, const ObjectKey& key, const std::string& basis) {
  const Value& kept = state.value_of(answers_key(key, estimators::kGetUnschedulableReplicas));
  const Value* entry = kept["answers"].find(kNoQualifier);
  if (entry == nullptr) return std::nullopt;
  return LastAnswer{UtcMillis{(*entry)["at"].as_int()}, kept["basis"].as_string() == basis, (*entry)["answer"]};
}

QuestionPtr question_about(const Binding& binding, const std::vector<Assigned>& all, const std::string& basis,
                           Millis threshold, Millis timeout) {
  Value clusters = Value::array();
  for (const Assigned& assigned : all) {
    if (assigned.lacks()) clusters.push_back(assigned.target.cluster);
  }
  Question question;
  question.object = binding.key;
  question.operation = estimators::kGetUnschedulableReplicas;
  question.source = "estimators";
  question.basis = basis;
  question.qualifier = kNoQualifier;
  question.timeout = timeout;
  question.request = Value::object({{"clusters", std::move(clusters)},
                                    {"object", "kind=" + binding.kind + ", name=" + binding.ns + "/" + binding.name},
                                    {"resource", Value::object({{"apiVersion", binding.api_version},
                                                                {"kind", binding.kind},
                                                                {"namespace", binding.ns},
                                                                {"name", binding.name}})},
                                    {"unschedulableThreshold", threshold.value * kNanosecondsOfAMillisecond}});
  return std::make_shared<const Question>(std::move(question));
}

/// 5.4.3. A member that reports more than it was assigned is of another time, or lies: it keeps what it has.
int64_t taken_off(const Assigned& assigned, const Value& answer) {
  if (!assigned.lacks() || !answer["replicas"].is_int()) return 0;
  const int64_t unschedulable = answer["replicas"].as_int();
  if (unschedulable <= 0 || unschedulable > assigned.target.replicas) return 0;
  return std::min(unschedulable, assigned.target.replicas - assigned.ready);
}

/// nullopt: no cluster gives any up.
std::optional<ReplicasDescheduled> descheduled(const Binding& binding, const std::vector<Assigned>& all,
                                               const Value& answers) {
  ReplicasDescheduled event{binding.key, {}, ""};
  int64_t sum = 0;
  std::string clusters;
  for (const Assigned& assigned : all) {
    const int64_t count = taken_off(assigned, answers[assigned.target.cluster]);
    event.targets.push_back({assigned.target.cluster, assigned.target.replicas - count});
    if (count == 0) continue;
    sum += count;
    clusters += ", " + std::to_string(count) + " replica(s) in cluster(" + assigned.target.cluster + ")";
  }
  if (sum == 0) return std::nullopt;
  std::ranges::sort(event.targets);
  event.message = "Binding has been descheduled, " + std::to_string(sum) + " total descheduled replica(s)" + clusters;
  return event;
}

}  // namespace

bool is_on(const State& state) { return state.options().controller_on(kController); }

bool may_be_descheduled(const Value& object) {
  const Value& resource = object["spec"]["resource"];
  if (resource["apiVersion"].as_string() != "apps/v1" || resource["kind"].as_string() != "Deployment") return false;
  // A scheduler that may not place it again would leave it with fewer replicas.
  if (deleting(object) || object["spec"]["suspension"]["scheduling"].as_bool()) return false;
  const auto applied = annotation_of(object, kAppliedPlacementAnnotation);
  if (applied.empty()) return false;
  const auto value = parse_json(applied);
  const auto placement = value ? placement_from(value.value()) : Result<Placement>{value.error()};
  return placement && (placement.value().strategy == Strategy::kDynamicWeight ||
                       placement.value().strategy == Strategy::kAggregated);
}

Result<Decided> decide_within(const State& state, const ObjectKey& key, UtcMillis now, Millis timeout) {
  const Object* object = state.find(key);
  if (object == nullptr || !is_on(state) || !may_be_descheduled(object->value)) return Nothing{};
  const Millis interval = option(state.options().descheduling_interval, kDefaultInterval);
  // Replicas of an older build do not know the event yet.
  if (state.fold_version() < 7) return LookAgain{now + interval};
  const Millis threshold = option(state.options().unschedulable_threshold, kDefaultThreshold);
  const Binding binding = binding_from(key, object->value);
  const std::string basis = basis_of(binding, threshold);
  const auto answered = last_answer(state, key, basis);
  const std::vector<Assigned> all = assigned_by(binding, object->value);
  const bool recent = answered && now < answered->at + interval;
  if (recent && answered->current) {
    if (auto event = descheduled(binding, all, answered->answers)) {
      Decision decision{{std::move(*event)}, {{key, object->revision}}};
      decision.look_again = now + interval;
      return decision;
    }
  }
  if (recent) return LookAgain{answered->at + interval};
  const auto placed = parse_rfc3339(binding.last_scheduled_time);
  if (placed && now < placed.value() + interval) return LookAgain{placed.value() + interval};
  if (std::ranges::none_of(all, &Assigned::lacks)) {
    // Each binding has its own time within the interval: estimators are not asked about all at once.
    const auto phase = static_cast<int64_t>(siphash128(to_string(key)).lo % static_cast<uint64_t>(interval.value));
    return LookAgain{now + Millis{interval.value - (now.value + phase) % interval.value}};
  }
  return NeedsAnswers{{question_about(binding, all, basis, threshold, timeout)}, "waiting for estimators"};
}

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  return decide_within(state, key, now, kDefaultTimeout);
}

}  // namespace shiplog::descheduler
