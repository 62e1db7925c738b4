#include "events/state/answers.h"

#include "events/state/state.h"

namespace shiplog {

ObjectKey answers_key(const ObjectKey& object, std::string_view operation) {
  // Kinds have no dot in their plural name, so this is found in one way only.
  return {kAnswersType, object.ns, std::string{operation} + ":" + object.type + ":" + object.name};
}

std::optional<Recorded> recorded_answer(const State& state, const ObjectKey& object, std::string_view operation,
                                        std::string_view basis, std::string_view qualifier) {
  const Value& kept = state.value_of(answers_key(object, operation));
  if (kept["basis"].as_string() != basis) return std::nullopt;
  const Value* entry = kept["answers"].find(qualifier);
  if (entry == nullptr) return std::nullopt;
  Recorded recorded;
  recorded.answer = (*entry)["answer"];
  recorded.failure = (*entry)["failure"].str();
  recorded.at = UtcMillis{(*entry)["at"].as_int()};
  return recorded;
}

bool answers_obsolete(const State& state, const Value& answers) {
  if (answers["metadata"]["ownerReferences"].size() == 0) return true;  // their subject was deleted without them
  const auto source = answers["asked"].as_string();
  const size_t slash = source.find('/');
  if (slash == std::string_view::npos) return false;
  const Value& configuration = state.value_of({kInterpreterWebhookType, "", std::string{source.substr(0, slash)}});
  for (const Value& webhook : configuration["webhooks"].items()) {
    if (webhook["name"].as_string() == source.substr(slash + 1)) return false;
  }
  return true;
}

}  // namespace shiplog
