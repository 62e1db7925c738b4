#include "events/state/answers.h"

#include "events/fold/apply.h"
#include "events/fold/record.h"

namespace shiplog {

Applied apply(Staged& staged, const QuestionAnswered& event) {
  const Value* object = staged.find(event.object);
  if (object == nullptr) return refusal_about(event.object, ErrorCode::kNotFound, "not found");
  if (deleting(*object)) return refusal_about(event.object, ErrorCode::kConflict, "is being deleted");
  const ObjectKey key = answers_key(event.object, event.operation);
  const Value* before = staged.find(key);
  const Value& about = *object;
  const auto of_it = [&](const Value& kept) {
    return kept["basis"].as_string() == event.basis &&
           kept["metadata"]["ownerReferences"][0]["uid"] == about["metadata"]["uid"];
  };
  Value answers = before != nullptr && of_it(*before) ? (*before)["answers"] : Value::object();
  if (answers.size() + event.answers.size() > kMostAnswersKept) answers = Value::object();
  for (const auto& member : event.answers.members()) {
    Value kept = member.value;
    kept.set("at", staged.time().value);
    answers.set(member.key(), std::move(kept));
  }

  Value after = owned_record(staged, key, kAnswersKind, event.object, about);
  after.set("asked", event.asked);
  after.set("operation", event.operation);
  after.set("basis", event.basis);
  after.set("answers", std::move(answers));
  return put_record(staged, key, std::move(after));
}

}  // namespace shiplog
