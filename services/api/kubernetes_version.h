#pragma once

namespace shiplog::api {

// The version of Kubernetes whose API is served: that of the kube-apiserver that Karmada 1.19 installs. Clients choose
// by it what they send, and kubectl warns if its own is more than one minor version away.
inline constexpr const char* kKubernetesMinor = "36";
inline constexpr const char* kKubernetesVersion = "v1.36.0+shiplog";

}  // namespace shiplog::api
