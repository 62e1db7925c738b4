#pragma once

#include <map>
#include <optional>
#include <string>

#include "events/state/state.h"
#include "services/adapters/members/members.h"
#include "services/runtime/role.h"

namespace shiplog::collector {

/// Condition of a Work that reports why pods of its unhealthy workloads do not run: False with the containers' reason
/// (ImagePullBackOff, CrashLoopBackOff, Unschedulable, ...). Absent when nothing is known to be wrong.
inline constexpr const char* kPodsReadyCondition = "PodsReady";

/// Why the pods of unhealthy workloads do not run, which the workloads' own status does not contain. A Deployment,
/// StatefulSet, DaemonSet, ReplicaSet or Job that has been Unhealthy for some seconds has its pods listed (one page),
/// and again from time to time while it stays so. What is found becomes the condition PodsReady of the Work.
/// Threads: the fold thread.
class PodProblems {
 public:
  explicit PodProblems(Members& members) : members_{members} {}

  static bool is_pods(const ObjectKey& key) { return key.ns.starts_with(kPrefix); }
  /// The key to trigger for a Work that has, or had, something unhealthy; nothing for others.
  static void want(const ObjectKey& work, const Value& value, std::vector<ObjectKey>& wake);
  void reconcile(const TaskPtr& task);
  /// The slot of the key's member; nullopt: it is none of these keys.
  static std::optional<int> slot_of_key(const ObjectKey& key);
  void forget_slot(int slot);

 private:
  static constexpr std::string_view kPrefix = "@pods/";

  struct Seen {
    UtcMillis since;   // first observed unhealthy
    UtcMillis listed;  // its pods, last
  };

  Members& members_;
  std::map<ObjectKey, Seen> seen_;  // by Work
};

/// Where to list the pods of a workload: "/api/v1/namespaces/NS/pods?labelSelector=..."; empty: it is none, or its
/// selector is unknown.
std::string pods_path(const Value& manifest);

/// What keeps these pods (items of a list) from running, as a condition's reason and message; both empty: nothing.
struct PodProblem {
  std::string reason, message;
  bool operator==(const PodProblem&) const = default;
};
PodProblem problem_of(const Value& pods);

}  // namespace shiplog::collector
