#include "events/kinds/status_metadata.h"

#include <algorithm>
#include <string>

namespace shiplog {

std::span<const std::string_view> status_metadata(const Kind& kind) {
  static constexpr std::string_view kAll[] = {"annotations", "finalizers", "labels", "ownerReferences"};
  static constexpr std::string_view kAllButLabels[] = {"annotations", "finalizers", "ownerReferences"};
  static constexpr std::string_view kAllButOwners[] = {"annotations", "finalizers", "labels"};
  static constexpr std::string_view kTypes[] = {"certificatesigningrequests.certificates.k8s.io",
                                                "cronjobs.batch",
                                                "customresourcedefinitions.apiextensions.k8s.io",
                                                "daemonsets.apps",
                                                "horizontalpodautoscalers.autoscaling",
                                                "ingresses.networking.k8s.io",
                                                "jobs.batch",
                                                "namespaces",
                                                "nodes",
                                                "persistentvolumeclaims",
                                                "persistentvolumes",
                                                "poddisruptionbudgets.policy",
                                                "replicasets.apps",
                                                "replicationcontrollers",
                                                "resourcequotas",
                                                "services",
                                                "statefulsets.apps"};
  if (!kind.builtin) return {};
  const std::string type = kind.type();
  if (type == "deployments.apps") return kAllButLabels;
  if (type == "pods") return kAllButOwners;
  if (std::ranges::find(kTypes, type) != std::end(kTypes)) return kAll;
  return {};
}

}  // namespace shiplog
