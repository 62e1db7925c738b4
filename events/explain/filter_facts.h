#pragma once

#include <string>

#include "events/explain/fact_info.h"

// Why a filter of the scheduler rejects a cluster (S-19, M-11, M-12).
namespace shiplog {

struct AffinityMismatch {
  static constexpr FactInfo kInfo{60, "AffinityMismatch"};
  bool operator==(const AffinityMismatch&) const = default;
};

struct ApiNotEnabled {
  static constexpr FactInfo kInfo{61, "ApiNotEnabled"};
  bool operator==(const ApiNotEnabled&) const = default;
};

struct TaintNotTolerated {
  static constexpr FactInfo kInfo{62, "TaintNotTolerated", "key", "value", "effect"};
  std::string key;
  std::string value;
  std::string effect;
  bool operator==(const TaintNotTolerated&) const = default;
};

struct SpreadPropertyMissing {
  static constexpr FactInfo kInfo{63, "SpreadPropertyMissing", "property"};
  std::string property;  ///< "provider", "region", "zones"
  bool operator==(const SpreadPropertyMissing&) const = default;
};

struct EvictionInProgress {
  static constexpr FactInfo kInfo{64, "EvictionInProgress"};
  bool operator==(const EvictionInProgress&) const = default;
};

/// Another ResourceBinding of the affinity group is placed, and not on this cluster.
struct AffinityGroupElsewhere {
  static constexpr FactInfo kInfo{65, "AffinityGroupElsewhere"};
  bool operator==(const AffinityGroupElsewhere&) const = default;
};

/// Another ResourceBinding of the anti-affinity group is placed on this cluster.
struct AntiAffinityGroupPresent {
  static constexpr FactInfo kInfo{66, "AntiAffinityGroupPresent"};
  bool operator==(const AntiAffinityGroupPresent&) const = default;
};

}  // namespace shiplog
