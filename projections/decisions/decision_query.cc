#include "projections/decisions/decision_query.h"

#include "events/base/check.h"
#include "events/sqlite/connection.h"
#include "projections/decisions/decision_projection.h"
#include "projections/store/checked_table.h"
#include "projections/store/checkpoint.h"

namespace shiplog {

Result<std::vector<DecisionRow>> DecisionQuery::of(const ObjectKey& subject, size_t limit) const {
  std::vector<DecisionRow> decisions;
  SHIPLOG_TRY(const auto type, store::find_type(view_.connection(), subject.type));
  if (!type) return decisions;
  static const std::string kSql =
      "SELECT d.id, d.kind, d.summary, unpacked(d.explanation) FROM decision d WHERE d.type = ? AND "
      "d.ns = ? AND d.name = ? AND " +
      store::decision_table().intact("d") + " ORDER BY d.id DESC";
  SHIPLOG_TRY(auto row, view_.connection().prepare(kSql));
  row.bind_all(*type, subject.ns, subject.name);
  const AuditQuery audit{view_};
  while (limit == 0 || decisions.size() < limit) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) break;
    DecisionRow decision;
    decision.subject = subject;
    decision.offset = Offset{row.integer(0) >> kDecisionIndexBits};
    decision.event_index = static_cast<uint32_t>(row.integer(0) & ((1 << kDecisionIndexBits) - 1));
    decision.kind = row.text(1);
    decision.summary = row.text(2);
    decision.explanation = row.text(3);
    SHIPLOG_TRY(const auto entry, audit.at(decision.offset));
    SHIPLOG_CHECK(entry, "a decision is written together with its entry, and not deleted after it");
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
