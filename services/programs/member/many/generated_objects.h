#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace shiplog::member {

/// A pod of a simulated member, made anew each time it is read: few bytes for each of very many.
struct GeneratedPod {
  uint32_t slot = 0;    ///< its place among the member's pods; decides its node and what it requests
  uint32_t serial = 0;  ///< how often the place's pod has been replaced
  int64_t version = 0;  ///< resourceVersion
};

/// As `kubectl get -o json` shows a node of a cloud provider, with images and managed fields; about 5 kB.
std::string generated_node(const std::string& member, uint32_t number, int64_t version);
std::string generated_node_name(const std::string& member, uint32_t number);

/// As `kubectl get -o json` shows a pod of a Deployment with one container; about 4 kB. `nodes`: of the member. One pod
/// of 200 has no node yet.
std::string generated_pod(const std::string& member, uint32_t nodes, const GeneratedPod& pod);
std::string generated_pod_name(const GeneratedPod& pod);

/// The namespace of all generated pods.
inline constexpr const char* kGeneratedNamespace = "generated";

}  // namespace shiplog::member
