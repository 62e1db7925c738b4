#pragma once

namespace shiplog::member {

// ObjectKey::type of the objects that the controllers use.
inline constexpr const char* kPods = "pods";
inline constexpr const char* kNodes = "nodes";
inline constexpr const char* kServices = "services";
inline constexpr const char* kClaims = "persistentvolumeclaims";
inline constexpr const char* kServiceAccounts = "serviceaccounts";
inline constexpr const char* kDeployments = "deployments.apps";
inline constexpr const char* kReplicaSets = "replicasets.apps";
inline constexpr const char* kStatefulSets = "statefulsets.apps";
inline constexpr const char* kDaemonSets = "daemonsets.apps";
inline constexpr const char* kJobs = "jobs.batch";
inline constexpr const char* kCronJobs = "cronjobs.batch";
inline constexpr const char* kIngresses = "ingresses.networking.k8s.io";

}  // namespace shiplog::member
