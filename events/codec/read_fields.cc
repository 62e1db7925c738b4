#include "events/codec/read_fields.h"

#include <algorithm>

#include "events/base/json.h"
#include "events/codec/explanation_codec.h"

namespace shiplog::codec {
namespace {

std::string text(std::string* from) { return std::move(*from); }

template <class Message>
Judgement read_judgement(Message& from) {
  Judgement to;
  to.verdicts.reserve(static_cast<size_t>(from.verdicts_size()));
  for (pb::Verdict& verdict : *from.mutable_verdicts()) {
    to.verdicts.push_back({text(verdict.mutable_rule()), verdict.passed(), Text{text(verdict.mutable_reason())}});
  }
  for (pb::Score& score : *from.mutable_scores()) to.scores.push_back({text(score.mutable_rule()), score.points()});
  return to;
}

}  // namespace

Value FieldReader::value(const std::string& json, const char* field) {
  if (json.empty()) return Value{};
  auto parsed = parse_stored_json(json);
  if (parsed) return std::move(parsed).value();
  wrong(std::string{field} + ": " + parsed.error().message);
  return Value{};
}

EntryId FieldReader::id(const std::string& from, const char* field) {
  EntryId made;
  if (from.empty()) return made;
  if (from.size() == made.bytes.size()) {
    std::copy(from.begin(), from.end(), made.bytes.begin());
  } else {
    wrong(std::string{field} + ": " + std::to_string(from.size()) + " bytes instead of 16");
  }
  return made;
}

ObjectKey FieldReader::read(pb::ObjectKey* from) {
  return {text(from->mutable_type()), text(from->mutable_namespace_()), text(from->mutable_name())};
}

Taint FieldReader::read(pb::Taint* from) {
  return {text(from->mutable_key()), text(from->mutable_value()), text(from->mutable_effect())};
}

Explanation FieldReader::read(pb::Explanation* from) {
  Explanation to;
  if (from->facts().empty()) {
    to = read_text(from);
  } else if (const auto problem = read_facts(from->facts(), to)) {
    wrong("why.facts: " + *problem);
  }
  to.inputs_digest = text(from->mutable_inputs_digest());
  return to;
}

// Of a build before typed facts.
Explanation FieldReader::read_text(pb::Explanation* from) {
  Explanation to;
  to.summary = Text{text(from->mutable_summary())};
  for (std::string& step : *from->mutable_steps()) to.steps.emplace_back(Text{text(&step)});
  for (pb::Judgement& judgement : *from->mutable_judgements()) to.judgements.push_back(read_judgement(judgement));
  const size_t shared = to.judgements.size();
  for (pb::ClusterExplanation& cluster : *from->mutable_clusters()) {
    if (cluster.judgement() > shared) {
      wrong("why.clusters: there is no judgement " + std::to_string(cluster.judgement()));
    }
    ClusterExplanation line{text(cluster.mutable_cluster()), cluster.judgement(), cluster.available_replicas(),
                            cluster.replicas()};
    const bool own = line.judgement == 0 && cluster.verdicts_size() + cluster.scores_size() > 0;
    own ? to.add(std::move(line), read_judgement(cluster)) : to.clusters.push_back(std::move(line));
  }
  return to;
}

}  // namespace shiplog::codec
