#include "services/requests/recall.h"

#include "events/base/json.h"
#include "events/request_source.h"
#include "projections/audit/audit_query.h"
#include "projections/history/history_query.h"

namespace shiplog::requests {
namespace {

std::string text_of(const RequestRecord& record) {
  if (record.offset < 0) return "";
  RequestSource source;
  source.topic = record.topic;
  source.partition = record.partition;
  source.offset = record.offset;
  return record_of(source);
}

}  // namespace

Result<ProducedResult> recalled(const View& view, const SettledRequest& settled, const RequestRecord& asked) {
  ProducedResult result;
  result.id = settled.id;
  result.record = asked;
  // The same record delivered again is no duplicate: its result was not committed.
  result.duplicate = asked.offset < 0 || settled.record != text_of(asked);
  result.revision = settled.entry.revision.value;
  result.entry_id = to_string(settled.entry.id);
  if (settled.status != 0) {
    result.outcome = settled.reason == "Expired" ? "expired" : "refused";
    result.code = settled.status;
    result.reason = settled.reason;
    result.message = settled.message;
    return result;
  }
  result.code = 200;
  result.outcome = settled.entry.events.empty() ? "unchanged" : "applied";
  if (settled.entry.events.empty()) return result;
  const AuditEvent& event = settled.entry.events.front();
  if (event.kind == "ObjectCreated") result.code = 201;
  SHIPLOG_TRY(const auto versions, HistoryQuery{view}.versions(event.subject, true, 1, settled.entry.revision));
  if (versions.empty()) return result;
  result.resource_version = std::to_string(versions.front().revision.value);
  SHIPLOG_TRY(const Value object, parse_stored_json(versions.front().json));
  result.uid = object["metadata"]["uid"].str();
  return result;
}

Result<std::optional<ProducedResult>> recall(const View& view, const std::string& user, const std::string& id,
                                             const RequestRecord& record) {
  const AuditQuery audit{view};
  std::optional<SettledRequest> found;
  if (record.offset >= 0) {
    SHIPLOG_TRY(found, audit.settled(text_of(record)));
    // Another request was at this offset: of a topic that has been created again. Nobody else's answer is given.
    if (found && found->id != id) return std::nullopt;
  }
  if (!found) {
    SHIPLOG_TRY(found, audit.carried_out(user, id));
  }
  if (!found) return std::nullopt;
  SHIPLOG_TRY(auto result, recalled(view, *found, record));
  return std::optional{std::move(result)};
}

}  // namespace shiplog::requests
