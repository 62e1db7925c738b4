#pragma once

#include <cstdint>

// The parts of Protobuf's wire format that facts use.
namespace shiplog::codec {

enum class FactWireType : uint32_t { kVarint = 0, kLengthFirst = 2 };
inline constexpr unsigned kWireTypeBits = 3;

constexpr uint64_t zigzag(int64_t number) {
  return (static_cast<uint64_t>(number) << 1U) ^ static_cast<uint64_t>(number >> 63U);
}
constexpr int64_t unzigzag(uint64_t number) {
  return static_cast<int64_t>(number >> 1U) ^ -static_cast<int64_t>(number & 1U);
}

/// The fields of ExplanationFacts.
namespace facts_field {
inline constexpr uint32_t kSummary = 1;
inline constexpr uint32_t kSteps = 2;
inline constexpr uint32_t kJudgements = 3;
inline constexpr uint32_t kClusters = 4;
inline constexpr uint32_t kClusterJudgements = 5;
inline constexpr uint32_t kClusterAvailable = 6;
inline constexpr uint32_t kClusterReplicas = 7;
}  // namespace facts_field

}  // namespace shiplog::codec
