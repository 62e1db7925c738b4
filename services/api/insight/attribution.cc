#include "services/api/insight/attribution.h"

#include <algorithm>
#include <array>

#include "events/base/json.h"
#include "events/state/work.h"
#include "projections/history/history_query.h"

namespace shiplog::api {
namespace {

template <size_t N>
bool all_events_are(const AuditRow& entry, const std::array<std::string_view, N>& kinds) {
  return !entry.events.empty() && std::ranges::all_of(entry.events, [&](const AuditEvent& event) {
    return std::ranges::find(kinds, event.kind) != kinds.end();
  });
}

}  // namespace

bool is_request(const AuditRow& entry) { return entry.actor.service.empty() || entry.actor.service == "api"; }

bool is_report(const AuditRow& entry) {
  constexpr std::array<std::string_view, 4> kReports = {"WorkStatusObserved", "WorkApplied", "WorkApplyFailed",
                                                        "WorkRemoved"};
  if (is_request(entry)) return false;
  if (all_events_are(entry, kReports)) return true;
  // What is wrong with the pods of a Work.
  return entry.actor.service == "collector" && entry.request.verb == "observe" &&
         all_events_are(entry, std::array<std::string_view, 1>{"StatusUpdated"});
}

bool is_probe(const AuditRow& entry) {
  constexpr std::array<std::string_view, 2> kProbes = {"ClusterObserved", "ClusterConditionChanged"};
  return !is_request(entry) && all_events_are(entry, kProbes);
}

bool is_scheduled_run(const AuditRow& entry) {
  return entry.actor.service == "cron-scaler" || entry.actor.service == "federated-hpa";
}

bool names_cause(const AuditRow& entry) {
  if (entry.cause.entry_id.empty() || is_probe(entry)) return false;
  return !is_report(entry) || entry.actor.service != "collector";
}

std::string kind_about(const AuditRow& entry, const ObjectKey& object) {
  std::string kind;
  for (const AuditEvent& event : entry.events) {
    if (event.subject == object) kind = event.kind;
  }
  return kind;
}

Result<ObjectKey> binding_of_work(const View& view, const ObjectKey& work, Revision upto) {
  SHIPLOG_TRY(const auto versions, HistoryQuery{view}.versions(work, true, 1, upto));
  if (versions.empty()) return ObjectKey{};
  SHIPLOG_TRY(const Value value, parse_stored_json(versions.front().json));
  if (const auto name = annotation_of(value, annotation::kBindingName); !name.empty()) {
    return ObjectKey{type::kResourceBinding, std::string{annotation_of(value, annotation::kBindingNamespace)},
                     std::string{name}};
  }
  const auto name = annotation_of(value, annotation::kClusterBindingName);
  return name.empty() ? ObjectKey{} : ObjectKey{type::kClusterResourceBinding, "", std::string{name}};
}

}  // namespace shiplog::api
