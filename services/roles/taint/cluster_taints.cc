#include <algorithm>
#include <tuple>

#include "events/base/names.h"
#include "events/base/utf8.h"
#include "events/state/placement.h"
#include "events/state/work.h"
#include "services/roles/taint/decisions.h"

namespace shiplog::taint {
namespace {

const Taint kNotReady{"cluster.karmada.io/not-ready", "", "NoSchedule"};
const Taint kUnreachable{"cluster.karmada.io/unreachable", "", "NoSchedule"};
constexpr size_t kLongestQuote = 400;

bool same(const Taint& a, const Taint& b) { return a.key == b.key && a.effect == b.effect; }

bool carries(const std::vector<Taint>& taints, const Taint& wanted) {
  return std::ranges::any_of(taints, [&](const Taint& present) { return same(present, wanted); });
}

std::vector<Taint> taints_from(const Value& list) {
  std::vector<Taint> taints;
  for (const Value& item : list.items())
    taints.push_back({item["key"].str(), item["value"].str(), item["effect"].str()});
  return taints;
}

/// TN-8 to TN-10: all of them hold; an empty list never does, nor one about a condition that the cluster does not
/// have.
bool conditions_hold(const Value& list, const Value& cluster) {
  if (list.size() == 0) return false;
  return std::ranges::all_of(list.items(), [&](const Value& item) {
    const Value& condition = condition_of(cluster, item["conditionType"].as_string());
    if (condition.is_null()) return false;
    const auto values = item["statusValues"].items();
    const bool among = std::ranges::find(values, condition["status"]) != values.end();
    const auto op = item["operator"].as_string();
    return op == "In" ? among : op == "NotIn" && !among;
  });
}

/// TN-15: why a Cluster with this taint is invalid; nullopt: it is not. Upstream's Cluster refuses the write as a
/// whole, so that one policy stops all others; here the taint is left out. Written past the validation of the API, it
/// would have every later write of the Cluster refused.
Problem problem_of(const Taint& taint) {
  if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") {
    return "a Cluster has taints of the effects NoExecute and NoSchedule only";
  }
  if (const auto problem = qualified_name_problem(taint.key)) return "spec.taints.key: " + *problem;
  if (const auto problem = label_value_problem(taint.value)) return "spec.taints.value: " + *problem;
  return std::nullopt;
}

Error refusal_of(const std::string& cluster, const std::string& policy, const Taint& taint,
                 const std::string& problem) {
  return {ErrorCode::kInvalid, "Update Cluster(" + cluster + ") with taints failed: ClusterTaintPolicy " + policy +
                                   ": taint {" + printable(to_string(taint), kLongestQuote) + "}: " + problem};
}

bool selects(const Value& policy, const Cluster& cluster) {
  const Value& target = policy["spec"]["targetClusters"];
  return target.is_null() || cluster_affinity_from(target).matches(cluster);
}

}  // namespace

std::vector<Event> decide_health(const ObjectKey& key, const Value& cluster) {
  if (deleting(cluster)) return {};
  const std::string ready = condition_of(cluster, "Ready")["status"].str();
  const std::vector<Taint> present = taints_from(cluster["spec"]["taints"]);
  const std::string reason = "condition Ready is " + (ready.empty() ? "missing" : ready);
  const bool not_ready = ready.empty() || ready == "False";
  const bool unreachable = ready == "Unknown";
  std::vector<Event> events;
  if (not_ready && !carries(present, kNotReady)) events.push_back(TaintAdded{key, kNotReady, reason});
  if (unreachable && !carries(present, kUnreachable)) events.push_back(TaintAdded{key, kUnreachable, reason});
  // With no condition at all nothing is known, so no taint is removed (TN-1).
  if (!not_ready && carries(present, kNotReady)) events.push_back(TaintRemoved{key, kNotReady, reason});
  if (!unreachable && !ready.empty() && carries(present, kUnreachable)) {
    events.push_back(TaintRemoved{key, kUnreachable, reason});
  }
  return events;
}

std::vector<Event> decide_policies(const State& state, const ObjectKey& key, std::optional<Error>& refused) {
  const Cluster* cluster = state.cluster(key.name);
  const Value& object = state.value_of(key);
  if (cluster == nullptr || cluster->deleting || !state.gates().failover) return {};

  // TN-6: older policies first, so that of two that disagree the younger wins. Ties, which upstream leaves open, by
  // name.
  std::vector<std::tuple<std::string, std::string, Value>> policies;
  for (const auto& [name, policy] : state.objects(type::kClusterTaintPolicy)) {
    if (deleting(policy.value) || !selects(policy.value, *cluster)) continue;
    policies.emplace_back(policy.value["metadata"]["creationTimestamp"].str(), name.name, policy.value);
  }
  std::ranges::sort(policies, {},
                    [](const auto& policy) { return std::tie(std::get<0>(policy), std::get<1>(policy)); });

  struct Touched {
    Taint taint;
    std::string policy;
  };
  const std::vector<Taint> before = taints_from(object["spec"]["taints"]);
  std::vector<Taint> taints = before;
  std::vector<Touched> added;
  std::vector<Touched> removed;
  for (const auto& [created, name, policy] : policies) {
    const std::vector<Taint> about = taints_from(policy["spec"]["taints"]);
    if (conditions_hold(policy["spec"]["addOnConditions"], object)) {
      for (const Taint& taint : about) {
        if (carries(taints, taint)) continue;  // TN-11: another value is left as it is
        const Problem problem = problem_of(taint);
        if (state.fold_version() >= 7 && problem) {
          refused = refusal_of(key.name.str(), name, taint, *problem);
          continue;
        }
        taints.push_back(taint);
        added.push_back({taint, name});
      }
    }
    if (conditions_hold(policy["spec"]["removeOnConditions"], object)) {
      for (const Taint& taint : about) {
        if (std::erase_if(taints, [&](const Taint& present) { return same(present, taint); }) > 0)
          removed.push_back({taint, name});
      }
    }
  }
  // Only the difference between before and after: a taint that one policy takes off and the next puts on again keeps
  // its timeAdded. Upstream restarts it, and with it every tolerationSeconds (TN-7).
  std::vector<Event> events;
  for (const Taint& taint : before) {
    if (carries(taints, taint)) continue;
    const auto by = std::ranges::find_if(removed, [&](const Touched& touched) { return same(touched.taint, taint); });
    events.push_back(TaintRemoved{key, taint, "ClusterTaintPolicy " + by->policy, by->policy});
  }
  for (const Taint& taint : taints) {
    if (carries(before, taint)) continue;
    const auto by = std::ranges::find_if(added, [&](const Touched& touched) { return same(touched.taint, taint); });
    events.push_back(TaintAdded{key, taint, "ClusterTaintPolicy " + by->policy, by->policy});
  }
  return events;
}

}  // namespace shiplog::taint
