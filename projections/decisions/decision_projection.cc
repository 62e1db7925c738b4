#include "projections/decisions/decision_projection.h"

#include <optional>
#include <type_traits>
#include <variant>

#include "events/base/json.h"
#include "events/explain/json.h"
#include "projections/store/checked_table.h"

namespace shiplog {
namespace {

// nullopt: this kind is not a decision. A new kind of event does not compile until it is listed as one or the other.
template <class E>
std::optional<Value> explanation_of(const E& event) {
  if constexpr (requires { event.why; }) {
    Value value = to_value(event.why);
    if constexpr (requires { event.reason; }) value.set("reason", event.reason);
    if constexpr (requires { event.message; }) value.set("message", event.message);
    return value;
  } else if constexpr (std::is_same_v<E, ReschedulingTriggered> || std::is_same_v<E, TaintAdded> ||
                       std::is_same_v<E, TaintRemoved> || std::is_same_v<E, EvictionFinished> ||
                       std::is_same_v<E, FailoverTimerStopped>) {
    return Value::object({{"reason", event.reason}});
  } else if constexpr (std::is_same_v<E, StatusAggregated> || std::is_same_v<E, EvictionStarted> ||
                       std::is_same_v<E, EvictionsPaused> || std::is_same_v<E, EvictionsResumed>) {
    return Value::object({{"reason", event.reason}, {"message", event.message}});
  } else if constexpr (std::is_same_v<E, FailoverTimerStarted> || std::is_same_v<E, HandoverStepTaken> ||
                       std::is_same_v<E, ReplicasDescheduled>) {
    return Value::object({{"message", event.message}});
  } else if constexpr (std::is_same_v<E, WorkRemoved>) {
    return Value::object();
  } else {
    using Facts = std::variant<ObjectCreated, ObjectUpdated, StatusUpdated, DeletionRequested, ObjectRemoved,
                               RequestDenied, RequestsDenied, MemberRequested, QuestionAnswered, WorkApplied,
                               WorkApplyFailed, WorkStatusObserved, QuotaUsageChanged, ClusterJoined, ClusterObserved,
                               ClusterConditionChanged, ClusterLeft, LeaseTaken, FoldVersionActivated, StateHashed,
                               SnapshotTaken, FeatureGatesSet, OptionsSet>;
    static_assert(std::is_constructible_v<Facts, std::in_place_type_t<E>>, "is this event a decision or not?");
    return std::nullopt;
  }
}

}  // namespace

std::optional<std::string> explanation_json(const Event& event) {
  const auto explanation = std::visit([](const auto& decision) { return explanation_of(decision); }, event);
  if (!explanation) return std::nullopt;
  return to_json(*explanation);
}

Result<DecisionProjection> DecisionProjection::create(sqlite::Connection& connection, store::TypeIds& types) {
  SHIPLOG_TRY(auto insert, store::CheckedInsert::create(connection, store::decision_table()));
  return DecisionProjection{types, std::move(insert)};
}

Result<void> DecisionProjection::apply(const FoldedEntry& folded) {
  for (size_t index = 0; index < folded.entry.events.size(); ++index) {
    SHIPLOG_TRY(insert(folded, index));
  }
  return ok();
}

Result<void> DecisionProjection::insert(const FoldedEntry& folded, size_t index) {
  const Event& event = folded.entry.events[index];
  std::optional<std::string> json;
  if (folded.prepared == nullptr) {
    json = explanation_json(event);
    if (!json) return ok();
  } else if (!folded.prepared->explanations[index]) {
    return ok();
  }
  const sqlite::PackedText packed = json ? packer_.pack(*json) : folded.prepared->explanations[index]->view();
  const ObjectKey& subject = folded.subjects[index];
  SHIPLOG_TRY(const int64_t type, types_.id(subject.type));
  const std::string summary = summary_of(event);
  insert_.begin().add(decision_id(folded.offset, index)).add(type).add(subject.ns).add(subject.name);
  return insert_.add(std::string_view{name_of(event)}).add(summary).add(packed).run();
}

Result<bool> DecisionProjection::replace(sqlite::Connection& connection, const FoldedEntry& folded, size_t index) {
  SHIPLOG_TRY(auto remove, connection.prepare("DELETE FROM decision WHERE id = ?"));
  SHIPLOG_TRY(remove.run(decision_id(folded.offset, index)));
  if (connection.changed() == 0) return false;
  SHIPLOG_TRY(insert(folded, index));
  return true;
}

Result<bool> trim_decisions(sqlite::Connection& connection, const FamilyCut& cut, const Holds& holds, int64_t& from,
                            uint64_t& deleted, HeldByName& held) {
  constexpr int64_t kAtOnce = 2000;
  const int64_t before = decision_id(cut.end(), 0);
  SHIPLOG_TRY(auto mark,
              connection.prepare("CREATE TEMP TABLE IF NOT EXISTS doomed_decision (id INTEGER PRIMARY KEY)"));
  SHIPLOG_TRY(mark.run());
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(connection));
  SHIPLOG_TRY(auto span, connection.prepare("SELECT max(id), count(*) FROM (SELECT id FROM decision WHERE id >= ? AND "
                                            "id < ? ORDER BY id LIMIT ?)"));
  span.bind_all(from, before, kAtOnce);
  SHIPLOG_TRY([[maybe_unused]] const bool found, span.next());
  if (span.is_null(0)) return false;
  const int64_t last = span.integer(0);
  const bool more = span.integer(1) == kAtOnce;
  span.reset();
  // Without its entry, which is damaged then, the family of a decision is not known.
  SHIPLOG_TRY(auto choose,
              connection.prepare("INSERT INTO doomed_decision SELECT d.id FROM decision d LEFT JOIN entry e "
                                 "ON e.offset = d.id >> 20 WHERE d.id >= ?1 AND d.id <= ?2 AND ((e.offset "
                                 "IS NULL AND d.id < ?3) OR (" +
                                 cut.condition("e") + "))"));
  SHIPLOG_TRY(choose.run(from, last, decision_id(cut.rest, 0)));
  SHIPLOG_TRY(spare_decisions(connection, holds, held));
  SHIPLOG_TRY(auto forget, connection.prepare("DELETE FROM decision WHERE id IN (SELECT id FROM doomed_decision)"));
  SHIPLOG_TRY(forget.run());
  deleted += static_cast<uint64_t>(connection.changed());
  SHIPLOG_TRY(auto clear, connection.prepare("DELETE FROM doomed_decision"));
  SHIPLOG_TRY(clear.run());
  SHIPLOG_TRY(transaction.commit());
  from = last + 1;
  return more;
}

}  // namespace shiplog
