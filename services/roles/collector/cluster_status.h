#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/error.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/state/cluster.h"

namespace shiplog::collector {

// A Cluster's status, computed from the responses of its API. Pure.

/// What a member may have.
inline constexpr size_t kMostGroupVersions = 1'000;
inline constexpr size_t kMostResources = 20'000;
/// Of a name in Kubernetes.
inline constexpr size_t kLongestName = 253;

/// The gitVersion of /version, fit to be shown; "": there is none, or it is no string. Typed clients read all Clusters
/// or none: a value of another type would keep them from all.
std::string git_version_from(const Value& version);

/// The uid of the namespace kube-system, which identifies a member; "": there is none that could be one.
std::string member_id_from(const Value& kube_system);

/// Whether a text may be a group version: it becomes the path of a request.
bool is_group_version(std::string_view text);

/// An APIResourceList with no more than what becomes apiEnablements, at most `most` resources.
Value slim_resources(const Value& list, size_t most);

/// What one document of discovery says.
struct DiscoveredApis {
  Value lists = Value::array();  ///< as slim_resources()
  bool complete = true;          ///< no group version was left out: its server does not answer, or there are too many
};
/// From an APIGroupDiscoveryList, of /api or /apis; nullopt: it is something else.
std::optional<DiscoveredApis> aggregated_apis(const Value& document);

/// CL-20: apiEnablements, at most kMostResources of them, from APIResourceLists, sorted, without subresources.
Value api_enablements(const Value& resource_lists);

/// The result of a probe, before damping.
struct Health {
  std::string status, reason, message;
  bool operator==(const Health&) const = default;
};

/// CL-19: the condition CompleteAPIEnablements, of so many group versions that could be read.
Health completeness_of(size_t found, bool complete);

/// CL-17: from the HTTP status of /readyz (or /healthz).
Health health_from(int http_status);
/// From the cause of a missing answer. kNotFound, kInvalid: no request can be sent at all.
Health health_from(const Error& error);

/// Holds back flips between Ready and not Ready until they have lasted (CL-26, CL-27). Memory of this process alone:
/// the first observation after a start counts at once.
///
///   ready ──observed not ready for a threshold──► not ready ──observed ready for a threshold──► ready
class Damping {
 public:
  static constexpr Millis kThreshold{30'000};

  explicit Damping(Millis until_ready = kThreshold, Millis until_not_ready = kThreshold)
      : until_ready_{until_ready}, until_not_ready_{until_not_ready} {}

  /// The Ready condition as it should be now; `stored` is the present one, nullptr when there is none.
  Health damped(const std::string& cluster, const Health& observed, const Cluster::Condition* stored, UtcMillis now);
  void forget(const std::string& cluster) { seen_.erase(cluster); }
  void clear() { seen_.clear(); }

 private:
  struct Seen {
    bool ready;
    UtcMillis since;
  };
  Millis until_ready_, until_not_ready_;
  std::map<std::string, Seen> seen_;
};

}  // namespace shiplog::collector
