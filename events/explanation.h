#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/base/shared_list.h"

namespace shiplog {

/// What one rule said of one cluster.
struct Verdict {
  std::string rule;  ///< plugin name as in Karmada: "ClusterAffinity", "TaintToleration", "APIEnablement", ...
  bool passed = true;
  std::string reason;  ///< empty when it passed without a remark
  bool operator==(const Verdict&) const = default;
};

struct Score {
  std::string rule;
  int64_t points = 0;
  bool operator==(const Score&) const = default;
};

/// Everything one decision considered about one cluster. In a large fleet most are judged alike, so they share the
/// lists.
struct ClusterExplanation {
  std::string cluster;
  SharedList<Verdict> verdicts;
  SharedList<Score> scores;
  int64_t available_replicas = -1;  ///< as estimated; -1: not asked
  int64_t replicas = -1;            ///< assigned; -1: not chosen
  bool operator==(const ClusterExplanation&) const = default;
};

/// Why a decision came out as it did: what `history` and `why` print, and what replay compares.
struct Explanation {
  std::string summary;                       ///< one sentence
  std::string inputs_digest;                 ///< siphash128 of what was read, in hexadecimal
  std::vector<ClusterExplanation> clusters;  ///< sorted by cluster
  std::vector<std::string> steps;            ///< the replica arithmetic, in words, in order
  bool operator==(const Explanation&) const = default;
};

}  // namespace shiplog
