#include "events/explain/json.h"

#include <boost/pfr.hpp>

#include "events/explain/text.h"

namespace shiplog {
namespace {

const char* constant(PlacementTrigger trigger) {
  switch (trigger) {
    case PlacementTrigger::kPlacementChanged:
      return "PlacementChanged";
    case PlacementTrigger::kReplicasChanged:
      return "ReplicasChanged";
    case PlacementTrigger::kReschedulingRequested:
      return "ReschedulingRequested";
    case PlacementTrigger::kRefusedBefore:
      return "RefusedBefore";
    case PlacementTrigger::kFollowsClusters:
      return "FollowsClusters";
    case PlacementTrigger::kTargetLeaving:
      return "TargetLeaving";
  }
  return "";
}

const char* constant(Division division) {
  switch (division) {
    case Division::kStaticWeight:
      return "StaticWeight";
    case Division::kAvailableReplicas:
      return "AvailableReplicas";
    case Division::kAggregated:
      return "Aggregated";
  }
  return "";
}

const char* constant(Scaling scaling) {
  switch (scaling) {
    case Scaling::kNone:
      return "None";
    case Scaling::kUp:
      return "Up";
    case Scaling::kDown:
      return "Down";
    case Scaling::kFresh:
      return "Fresh";
  }
  return "";
}

const char* constant(SelectionFailure failure) {
  switch (failure) {
    case SelectionFailure::kTooFewClusters:
      return "TooFewClusters";
    case SelectionFailure::kTooFewRegions:
      return "TooFewRegions";
    case SelectionFailure::kTooFewClustersInRegions:
      return "TooFewClustersInRegions";
    case SelectionFailure::kTooFewReplicas:
      return "TooFewReplicas";
    case SelectionFailure::kUnsupported:
      return "Unsupported";
  }
  return "";
}

const char* constant(PolicyMatch match) {
  switch (match) {
    case PolicyMatch::kNone:
      return "None";
    case PolicyMatch::kKind:
      return "Kind";
    case PolicyMatch::kLabels:
      return "Labels";
    case PolicyMatch::kName:
      return "Name";
  }
  return "";
}

const char* constant(PolicyRank rank) {
  switch (rank) {
    case PolicyRank::kChosen:
      return "Chosen";
    case PolicyRank::kLowerPriority:
      return "LowerPriority";
    case PolicyRank::kLessSpecific:
      return "LessSpecific";
    case PolicyRank::kLaterByName:
      return "LaterByName";
  }
  return "";
}

template <class Member>
Value member_value(const Member& member, const Explanation& of) {
  if constexpr (std::is_enum_v<Member>) {
    return constant(member);
  } else if constexpr (std::is_same_v<Member, ClusterIndexes>) {
    Value::Array names;
    names.reserve(member.size());
    for (const uint32_t index : member) {
      if (index < of.clusters.size()) names.emplace_back(of.clusters[index].cluster);
    }
    return Value::array(std::move(names));
  } else if constexpr (std::is_same_v<Member, std::vector<Fact>>) {
    Value::Array facts;
    for (const Fact& fact : member) facts.push_back(to_value(fact, of));
    return Value::array(std::move(facts));
  } else if constexpr (requires { member.begin()->size(); } || std::is_same_v<Member, std::vector<int64_t>>) {
    return Value::array(Value::Array{member.begin(), member.end()});
  } else {
    return member;
  }
}

Value to_value(const Judgement& judgement, const Explanation& why) {
  Value::Array verdicts;
  for (const Verdict& verdict : judgement.verdicts) {
    Value value =
        Value::object({{"rule", verdict.rule}, {"passed", verdict.passed}, {"reason", text_of(verdict.reason, why)}});
    if (Value fact = to_value(verdict.reason, why); !fact.is_null()) value.set("fact", std::move(fact));
    verdicts.push_back(std::move(value));
  }
  Value::Array scores;
  for (const Score& score : judgement.scores) {
    scores.push_back(Value::object({{"rule", score.rule}, {"points", score.points}}));
  }
  return Value::object({{"verdicts", Value::array(std::move(verdicts))}, {"scores", Value::array(std::move(scores))}});
}

}  // namespace

Value to_value(const Fact& fact, const Explanation& of) {
  if (std::holds_alternative<Text>(fact)) return {};
  return std::visit(
      [&](const auto& kind) {
        const auto& info = std::decay_t<decltype(kind)>::kInfo;
        Value value = Value::object({{"type", info.name}});
        boost::pfr::for_each_field(
            kind, [&](const auto& member, size_t place) { value.set(info.members[place], member_value(member, of)); });
        return value;
      },
      static_cast<const FactVariant&>(fact));
}

Value to_value(const Explanation& why) {
  // Clusters that are judged alike share the values, too.
  std::vector<Value> judgements{to_value(Judgement{}, why)};
  for (const Judgement& judgement : why.judgements) judgements.push_back(to_value(judgement, why));
  Value::Array clusters;
  clusters.reserve(why.clusters.size());
  for (const ClusterExplanation& line : why.clusters) {
    Value value = judgements[line.judgement < judgements.size() ? line.judgement : 0];
    value.set("cluster", line.cluster);
    if (line.available_replicas >= 0) value.set("availableReplicas", line.available_replicas);
    if (line.replicas >= 0) value.set("replicas", line.replicas);
    clusters.push_back(std::move(value));
  }
  Value::Array steps;
  Value::Array facts;
  for (const Fact& step : why.steps) {
    steps.emplace_back(text_of(step, why));
    if (Value fact = to_value(step, why); !fact.is_null()) facts.push_back(std::move(fact));
  }
  Value value = Value::object({{"summary", text_of(why.summary, why)},
                               {"inputsDigest", why.inputs_digest},
                               {"clusters", Value::array(std::move(clusters))},
                               {"steps", Value::array(std::move(steps))}});
  if (Value fact = to_value(why.summary, why); !fact.is_null()) value.set("summaryFact", std::move(fact));
  if (!facts.empty()) value.set("facts", Value::array(std::move(facts)));
  return value;
}

}  // namespace shiplog
