#include "events/event.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "events/base/time.h"
#include "events/explain/text.h"

namespace shiplog {
namespace {

struct Facts {
  Family family;
  std::string_view name;
};

// One for each kind; a kind without one does not compile.
constexpr Facts facts(const ObjectCreated&) { return {Family::kApi, "ObjectCreated"}; }
constexpr Facts facts(const ObjectUpdated&) { return {Family::kApi, "ObjectUpdated"}; }
constexpr Facts facts(const StatusUpdated&) { return {Family::kApi, "StatusUpdated"}; }
constexpr Facts facts(const DeletionRequested&) { return {Family::kApi, "DeletionRequested"}; }
constexpr Facts facts(const ObjectRemoved&) { return {Family::kApi, "ObjectRemoved"}; }
constexpr Facts facts(const RequestDenied&) { return {Family::kApi, "RequestDenied"}; }
constexpr Facts facts(const RequestsDenied&) { return {Family::kApi, "RequestsDenied"}; }
constexpr Facts facts(const MemberRequested&) { return {Family::kApi, "MemberRequested"}; }
constexpr Facts facts(const BindingPut&) { return {Family::kScheduling, "BindingPut"}; }
constexpr Facts facts(const PlacementDecided&) { return {Family::kScheduling, "PlacementDecided"}; }
constexpr Facts facts(const PlacementRefused&) { return {Family::kScheduling, "PlacementRefused"}; }
constexpr Facts facts(const ReschedulingTriggered&) { return {Family::kScheduling, "ReschedulingTriggered"}; }
constexpr Facts facts(const DependenciesResolved&) { return {Family::kScheduling, "DependenciesResolved"}; }
constexpr Facts facts(const AttachedBindingPut&) { return {Family::kScheduling, "AttachedBindingPut"}; }
constexpr Facts facts(const QuestionAnswered&) { return {Family::kScheduling, "QuestionAnswered"}; }
constexpr Facts facts(const ReplicasDescheduled&) { return {Family::kScheduling, "ReplicasDescheduled"}; }
constexpr Facts facts(const WorkRendered&) { return {Family::kDispatch, "WorkRendered"}; }
constexpr Facts facts(const WorkRemoved&) { return {Family::kDispatch, "WorkRemoved"}; }
constexpr Facts facts(const WorkApplied&) { return {Family::kDispatch, "WorkApplied"}; }
constexpr Facts facts(const WorkApplyFailed&) { return {Family::kDispatch, "WorkApplyFailed"}; }
constexpr Facts facts(const WorkStatusObserved&) { return {Family::kDispatch, "WorkStatusObserved"}; }
constexpr Facts facts(const StatusAggregated&) { return {Family::kDispatch, "StatusAggregated"}; }
constexpr Facts facts(const WorksSynced&) { return {Family::kDispatch, "WorksSynced"}; }
constexpr Facts facts(const TaintAdded&) { return {Family::kTaint, "TaintAdded"}; }
constexpr Facts facts(const TaintRemoved&) { return {Family::kTaint, "TaintRemoved"}; }
constexpr Facts facts(const EvictionStarted&) { return {Family::kTaint, "EvictionStarted"}; }
constexpr Facts facts(const EvictionFinished&) { return {Family::kTaint, "EvictionFinished"}; }
constexpr Facts facts(const EvictionsPaused&) { return {Family::kTaint, "EvictionsPaused"}; }
constexpr Facts facts(const EvictionsResumed&) { return {Family::kTaint, "EvictionsResumed"}; }
constexpr Facts facts(const FailoverTimerStarted&) { return {Family::kTaint, "FailoverTimerStarted"}; }
constexpr Facts facts(const FailoverTimerStopped&) { return {Family::kTaint, "FailoverTimerStopped"}; }
constexpr Facts facts(const HandoverStepTaken&) { return {Family::kTaint, "HandoverStepTaken"}; }
constexpr Facts facts(const QuotaUsageChanged&) { return {Family::kQuota, "QuotaUsageChanged"}; }
constexpr Facts facts(const QuotaRefused&) { return {Family::kQuota, "QuotaRefused"}; }
constexpr Facts facts(const ClusterJoined&) { return {Family::kCluster, "ClusterJoined"}; }
constexpr Facts facts(const ClusterObserved&) { return {Family::kCluster, "ClusterObserved"}; }
constexpr Facts facts(const ClusterConditionChanged&) { return {Family::kCluster, "ClusterConditionChanged"}; }
constexpr Facts facts(const ClusterLeft&) { return {Family::kCluster, "ClusterLeft"}; }
constexpr Facts facts(const LeaseTaken&) { return {Family::kControl, "LeaseTaken"}; }
constexpr Facts facts(const FoldVersionActivated&) { return {Family::kControl, "FoldVersionActivated"}; }
constexpr Facts facts(const StateHashed&) { return {Family::kControl, "StateHashed"}; }
constexpr Facts facts(const SnapshotTaken&) { return {Family::kControl, "SnapshotTaken"}; }
constexpr Facts facts(const FeatureGatesSet&) { return {Family::kControl, "FeatureGatesSet"}; }
constexpr Facts facts(const OptionsSet&) { return {Family::kControl, "OptionsSet"}; }

Facts facts_of(const Event& event) {
  return std::visit([](const auto& alternative) { return facts(alternative); }, event);
}

// "a: b", without the colon when one of them is empty.
std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + ": " + second;
}

std::string in_brackets(const std::string& text) { return text.empty() ? text : " (" + text + ")"; }

// "default/web", or "web" where there is no namespace.
std::string place(std::string_view ns, std::string_view name) {
  return ns.empty() ? std::string{name} : std::string{ns} + "/" + std::string{name};
}

// Writes up to `kMost` of many items, then how many are left out.
template <class Items, class Write>
std::string listed(const Items& items, const char* separator, Write write) {
  constexpr size_t kMost = 10;
  std::string out;
  for (size_t index = 0; index < items.size() && index < kMost; ++index)
    out += (index == 0 ? "" : separator) + write(items[index]);
  if (items.size() > kMost) out += " and " + std::to_string(items.size() - kMost) + " more";
  return out;
}

// "Deployment default/nginx", of an object or of a reference to one.
std::string described(const Value& kind, const Value& reference) {
  return kind.str() + " " + place(reference["namespace"].as_string(), reference["name"].as_string());
}

std::string summary(const ObjectCreated&) { return {}; }
std::string summary(const ObjectUpdated&) { return {}; }
std::string summary(const StatusUpdated&) { return {}; }

std::string summary(const DeletionRequested& event) {
  return event.propagation +
         (event.grace_seconds > 0 ? ", grace " + std::to_string(event.grace_seconds) + "s" : std::string{}) +
         (event.because.empty() ? std::string{} : ", because " + to_string(event.because) + " is deleted");
}

std::string summary(const ObjectRemoved&) { return {}; }

std::string summary(const RequestDenied& event) {
  return joined(std::to_string(event.status) + " " + event.reason, event.message);
}

std::string summary(const MemberRequested& event) {
  return event.method + " " + event.path + " -> " + std::to_string(event.status);
}

std::string summary(const RequestsDenied& event) {
  const std::string what =
      joined(std::to_string(event.status) + (event.reason.empty() ? "" : " ") + event.reason, event.message);
  return std::to_string(event.count) + " requests" + (event.verb.empty() ? "" : " to " + event.verb) + " from " +
         rfc3339(event.first) + " to " + rfc3339(event.last) + ", the last: " + what;
}

std::string summary(const BindingPut& event) {
  const Value& resource = event.value["spec"]["resource"];
  if (!resource.is_object()) return text_of(event.why.summary, event.why);
  const Value& replicas = event.value["spec"]["replicas"];
  return described(resource["kind"], resource) +
         (replicas.is_int() ? ", replicas " + std::to_string(replicas.as_int()) : std::string{});
}

std::string summary(const PlacementDecided& event) {
  if (event.targets.empty()) return "no clusters";
  return listed(event.targets, " ", [](const Target& target) {
    return target.replicas == 0 ? target.cluster : target.cluster + ":" + std::to_string(target.replicas);
  });
}

std::string summary(const PlacementRefused& event) {
  return joined(event.reason, event.message) + (event.clear_targets ? " (targets cleared)" : "");
}

std::string summary(const ReschedulingTriggered& event) { return event.reason; }

std::string summary(const DependenciesResolved& event) {
  if (event.dependencies.size() == 0) return "none";
  return listed(event.dependencies.items(), ", ",
                [](const Value& dependency) { return described(dependency["kind"], dependency); });
}

std::string summary(const AttachedBindingPut& event) {
  if (event.referrers.empty()) return "follows nobody any more";
  return "follows " +
         listed(event.referrers, ", ", [](const ObjectKey& referrer) { return place(referrer.ns, referrer.name); });
}

std::string summary(const ReplicasDescheduled& event) { return event.message; }

// Not what was answered: it may be long, and stands in the event.
std::string summary(const QuestionAnswered& event) {
  std::string failure;
  for (const auto& answer : event.answers.members()) {
    if (failure.empty()) failure = answer.value["failure"].str();
  }
  return joined(event.operation + " by " + event.asked, failure);
}

std::string summary(const WorkRendered& event) {
  return listed(event.value["spec"]["workload"]["manifests"].items(), ", ",
                [](const Value& manifest) { return described(manifest["kind"], manifest["metadata"]); });
}

std::string summary(const WorkRemoved&) { return {}; }

std::string summary(const WorkApplied& event) {
  return joined("generation " + std::to_string(event.generation), event.message);
}

std::string summary(const WorkApplyFailed& event) {
  return joined("generation " + std::to_string(event.generation), joined(event.reason, event.message));
}

std::string summary(const WorkStatusObserved& event) {
  return listed(event.manifest_statuses.items(), ", ", [](const Value& status) {
    return joined(described(status["identifier"]["kind"], status["identifier"]), status["health"].str());
  });
}

std::string summary(const StatusAggregated& event) {
  std::string out = event.fully_applied ? "FullyApplied=True" : "FullyApplied=False";
  if (!event.reason.empty()) out += " " + event.reason;
  return joined(out, listed(event.aggregated_status.items(), " ", [](const Value& item) {
                  const std::string health = item["health"].str();
                  return item["clusterName"].str() + (health.empty() ? health : ":" + health);
                }));
}

std::string summary(const WorksSynced& event) { return joined(event.reason, event.message); }

std::string described(const Taint& taint) {
  return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" + taint.effect;
}

std::string summary(const TaintAdded& event) { return described(event.taint) + in_brackets(event.reason); }
std::string summary(const TaintRemoved& event) { return described(event.taint) + in_brackets(event.reason); }

std::string summary(const EvictionStarted& event) {
  return joined("from " + event.cluster, joined(event.reason, event.message)) +
         (event.grace_seconds > 0 ? " (grace " + std::to_string(event.grace_seconds) + "s)" : "");
}

std::string summary(const EvictionFinished& event) { return joined("from " + event.cluster, event.reason); }

std::string summary(const EvictionsPaused& event) { return joined(event.reason, event.message); }
std::string summary(const EvictionsResumed& event) { return joined(event.reason, event.message); }

std::string summary(const FailoverTimerStarted& event) { return joined("in " + event.cluster, event.message); }
std::string summary(const FailoverTimerStopped& event) { return joined("in " + event.cluster, event.reason); }

std::string summary(const HandoverStepTaken& event) {
  return joined(event.step + " in " + event.cluster, event.message);
}

std::string summary(const QuotaUsageChanged& event) {
  return listed(event.overall.members(), ", ", [&](const Value::Member& limit) {
    return std::string{limit.key()} + " " + std::string{event.used[limit.key()].as_string("0")} + "/" +
           limit.value.str();
  });
}

std::string summary(const QuotaRefused& event) {
  return joined("quota " + place(event.quota.ns, event.quota.name), event.message);
}

std::string summary(const ClusterJoined& event) {
  return event.cluster_id.empty() ? std::string{} : "id " + event.cluster_id;
}

std::string summary(const ClusterObserved& event) {
  std::string out = event.status["kubernetesVersion"].str();
  if (const Value& nodes = event.status["nodeSummary"]; nodes.is_object()) {
    out += (out.empty() ? "" : ", ") + std::to_string(nodes["readyNum"].as_int()) + " of " +
           std::to_string(nodes["totalNum"].as_int()) + " nodes ready";
  }
  return out;
}

std::string summary(const ClusterConditionChanged& event) {
  return joined(event.type + "=" + event.status + (event.reason.empty() ? "" : " " + event.reason), event.message);
}

std::string summary(const ClusterLeft& event) { return event.reason; }

std::string summary(const LeaseTaken& event) {
  return event.service + " by " + event.holder + ", epoch " + std::to_string(event.epoch);
}

std::string summary(const FoldVersionActivated& event) { return "version " + std::to_string(event.version); }

std::string summary(const StateHashed& event) {
  return "revision " + std::to_string(event.revision.value) + ", hash " + to_string(event.hash);
}

std::string summary(const SnapshotTaken& event) {
  return "revision " + std::to_string(event.revision.value) + ", hash " + to_string(event.hash) + ", in " +
         event.location;
}

std::string summary(const FeatureGatesSet& event) {
  std::string names;
  for (const std::string& name : event.on) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none is on" : "on: " + names;
}

std::string summary(const OptionsSet& event) {
  std::string words;
  for (const OptionSetting& setting : event.settings) {
    words += (words.empty() ? "--" : " --") + setting.name + "=";
    for (size_t index = 0; index < setting.values.size(); ++index)
      words += (index == 0 ? "" : ",") + setting.values[index];
  }
  return words.empty() ? "all are as by default" : words;
}

// Messages come from members and clients: no line breaks, no control characters, and a limited length.
std::string one_line(std::string text) {
  constexpr size_t kLongest = 300;
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  if (text.size() <= kLongest) return text;
  size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  text.resize(end);
  return text + "...";
}

}  // namespace

template <class Kind>
requires kIsAlternative<Kind, EventVariant> Event::Event(Kind kind) : EventVariant{std::move(kind)} {}

Event::Event(const Event& other) = default;
Event::Event(Event&& other) noexcept = default;
Event& Event::operator=(const Event& other) = default;
Event& Event::operator=(Event&& other) noexcept = default;
Event::~Event() = default;

bool Event::operator==(const Event& other) const {
  return static_cast<const EventVariant&>(*this) == static_cast<const EventVariant&>(other);
}

template Event::Event(ObjectCreated);
template Event::Event(ObjectUpdated);
template Event::Event(StatusUpdated);
template Event::Event(DeletionRequested);
template Event::Event(ObjectRemoved);
template Event::Event(RequestDenied);
template Event::Event(RequestsDenied);
template Event::Event(MemberRequested);
template Event::Event(BindingPut);
template Event::Event(PlacementDecided);
template Event::Event(PlacementRefused);
template Event::Event(ReschedulingTriggered);
template Event::Event(DependenciesResolved);
template Event::Event(AttachedBindingPut);
template Event::Event(QuestionAnswered);
template Event::Event(ReplicasDescheduled);
template Event::Event(WorkRendered);
template Event::Event(WorkRemoved);
template Event::Event(WorkApplied);
template Event::Event(WorkApplyFailed);
template Event::Event(WorkStatusObserved);
template Event::Event(StatusAggregated);
template Event::Event(WorksSynced);
template Event::Event(TaintAdded);
template Event::Event(TaintRemoved);
template Event::Event(EvictionStarted);
template Event::Event(EvictionFinished);
template Event::Event(EvictionsPaused);
template Event::Event(EvictionsResumed);
template Event::Event(FailoverTimerStarted);
template Event::Event(FailoverTimerStopped);
template Event::Event(HandoverStepTaken);
template Event::Event(QuotaUsageChanged);
template Event::Event(QuotaRefused);
template Event::Event(ClusterJoined);
template Event::Event(ClusterObserved);
template Event::Event(ClusterConditionChanged);
template Event::Event(ClusterLeft);
template Event::Event(LeaseTaken);
template Event::Event(FoldVersionActivated);
template Event::Event(StateHashed);
template Event::Event(SnapshotTaken);
template Event::Event(FeatureGatesSet);
template Event::Event(OptionsSet);

Family family_of(const Event& event) { return facts_of(event).family; }

std::string_view name_of(Family family) {
  switch (family) {
    case Family::kApi:
      return "api";
    case Family::kScheduling:
      return "scheduling";
    case Family::kDispatch:
      return "dispatch";
    case Family::kTaint:
      return "taint";
    case Family::kQuota:
      return "quota";
    case Family::kCluster:
      return "cluster";
    case Family::kControl:
      return "control";
  }
  return "";
}

std::string_view name_of(const Event& event) { return facts_of(event).name; }

ObjectKey subject_of(const Event& event) {
  return std::visit(
      [](const auto& alternative) -> ObjectKey {
        // In this order: an eviction names a binding and a cluster, a refused quota a binding and a quota.
        if constexpr (requires { alternative.object; }) {
          return alternative.object;
        } else if constexpr (requires { alternative.binding; }) {
          return alternative.binding;
        } else if constexpr (requires { alternative.work; }) {
          return alternative.work;
        } else if constexpr (requires { alternative.cluster; }) {
          return alternative.cluster;
        } else if constexpr (requires { alternative.quota; }) {
          return alternative.quota;
        } else {
          using E = std::decay_t<decltype(alternative)>;
          static_assert(std::is_same_v<E, LeaseTaken> || std::is_same_v<E, FoldVersionActivated> ||
                            std::is_same_v<E, StateHashed> || std::is_same_v<E, SnapshotTaken> ||
                            std::is_same_v<E, FeatureGatesSet> || std::is_same_v<E, OptionsSet>,
                        "only control has no subject");
          return {};
        }
      },
      event);
}

std::string summary_of(const Event& event) {
  return one_line(std::visit([](const auto& alternative) { return summary(alternative); }, event));
}

}  // namespace shiplog
