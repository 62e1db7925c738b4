#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/explain/fact.h"

namespace shiplog {

/// What one rule found of one cluster.
struct Verdict {
  std::string rule;  ///< plugin name as in Karmada: "ClusterAffinity", "TaintToleration", "APIEnablement", ...
  bool passed = false;
  Fact reason;  ///< why not
  bool operator==(const Verdict&) const = default;
};

struct Score {
  std::string rule;
  int64_t points = 0;
  bool operator==(const Score&) const = default;
};

/// What the rules found of one cluster, and of each other that they judge alike: in a large fleet few differ.
struct Judgement {
  std::vector<Verdict> verdicts;  ///< up to the first that did not pass
  std::vector<Score> scores;
  bool operator==(const Judgement&) const = default;
};

/// Everything that one decision considered about one cluster.
struct ClusterExplanation {
  std::string cluster;
  uint32_t judgement = 0;           ///< its place in Explanation::judgements, counted from 1; 0: there is none
  int64_t available_replicas = -1;  ///< as estimated; -1: not requested
  int64_t replicas = -1;            ///< assigned; -1: not chosen
  bool operator==(const ClusterExplanation&) const = default;
};

/// The facts behind a decision: what `history` and `why` print, and what replay compares. Text is made from it by
/// events/explain/text.h alone, and never read back.
struct Explanation {
  Fact summary;
  std::string inputs_digest;                 ///< siphash128 of what was read, in hexadecimal
  std::vector<ClusterExplanation> clusters;  ///< sorted by cluster
  std::vector<Fact> steps;                   ///< in order
  std::vector<Judgement> judgements;         ///< all different, unless there are very many
  bool operator==(const Explanation&) const = default;

  /// Of one of its clusters; without verdicts and scores when there is none.
  const Judgement& judgement_of(const ClusterExplanation& cluster) const;
  /// Adds a cluster and its judgement, which is not looked for among those that are there.
  void add(ClusterExplanation cluster, Judgement judgement);
};

/// The first step of this type; nullptr: there is none.
template <class Kind>
const Kind* step_of(const Explanation& why) {
  for (const Fact& step : why.steps) {
    if (const auto* found = std::get_if<Kind>(&step)) return found;
  }
  return nullptr;
}

}  // namespace shiplog
