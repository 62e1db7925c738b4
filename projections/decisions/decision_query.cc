#include "projections/decisions/decision_query.h"

#include "events/base/check.h"
#include "events/sqlite/connection.h"
#include "projections/store/checkpoint.h"

namespace shiplog {

Result<std::vector<DecisionRow>> DecisionQuery::of(const ObjectKey& subject, size_t limit) const {
  std::vector<DecisionRow> decisions;
  SHIPLOG_TRY(const auto type, store::find_type(view_.connection(), subject.type));
  if (!type) return decisions;
  SHIPLOG_TRY(auto row, view_.connection().prepare(
                            "SELECT offset, event_index, kind, summary, explanation FROM decision "
                            "WHERE type = ? AND ns = ? AND name = ? ORDER BY offset DESC, event_index DESC"));
  row.bind_all(*type, subject.ns, subject.name);
  const AuditQuery audit{view_};
  while (limit == 0 || decisions.size() < limit) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) break;
    DecisionRow decision;
    decision.subject = subject;
    decision.offset = Offset{row.integer(0)};
    decision.event_index = static_cast<uint32_t>(row.integer(1));
    decision.kind = row.text(2);
    decision.summary = row.text(3);
    decision.explanation = row.text(4);
    SHIPLOG_TRY(const auto entry, audit.at(decision.offset));
    SHIPLOG_CHECK(entry, "a decision is written together with its entry");
    decision.entry_id = entry->id;
    decision.time = entry->time;
    decision.service = entry->actor.service;
    decision.revision = entry->revision;
    decision.as_of = entry->as_of;
    decision.cause = entry->cause;
    decision.refusal = entry->refusal;
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

}  // namespace shiplog
