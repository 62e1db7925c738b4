#include "events/explanation.h"

#include <utility>

namespace shiplog {

const Judgement& Explanation::judgement_of(const ClusterExplanation& cluster) const {
  static const Judgement kNone;
  const bool known = cluster.judgement > 0 && cluster.judgement <= judgements.size();
  return known ? judgements[cluster.judgement - 1] : kNone;
}

void Explanation::add(ClusterExplanation cluster, Judgement judgement) {
  judgements.push_back(std::move(judgement));
  cluster.judgement = static_cast<uint32_t>(judgements.size());
  clusters.push_back(std::move(cluster));
}

}  // namespace shiplog
