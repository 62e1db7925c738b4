#include "projections/audit/audit_query.h"

#include <algorithm>

#include "events/base/json.h"
#include "events/sqlite/connection.h"
#include "projections/audit/outcome_query.h"
#include "projections/store/checked_table.h"
#include "projections/store/checkpoint.h"

namespace shiplog {
namespace {

// What the journal keeps of a trace: its id, and "-01" if it is sampled.
constexpr size_t kTraceIdDigits = 32;

const std::string kColumns =
    "SELECT e.offset, e.id, e.time, a.user, a.groups, a.service, a.source_ip, a.user_agent, e.verb, e.path, "
    "e.cause_revision, e.cause_id, e.trace_id, e.as_of, e.revision, e.events, e.also, e.refusal, e.reason, e.duplicate "
    "FROM entry e CROSS JOIN actor a ON a.id = e.actor WHERE " +
    store::entry_table().intact("e") + " AND " + store::actor_table().intact("a");

/// One entry at or after an offset, for a search that follows the order of the journal.
const std::string kNext = "SELECT e.offset, e.id, e.revision FROM entry e WHERE e.offset >= ? AND " +
                          store::entry_table().intact("e") + " ORDER BY e.offset";

/// What settled a produced request, by one of its columns.
std::string settled_by_sql(const char* column) {
  return std::string{"SELECT e.offset, ifnull(e.record, ''), e.answer FROM entry e WHERE e."} + column + " = ? AND " +
         store::entry_table().intact("e") + " ORDER BY e.offset LIMIT 1";
}

EntryId id_in(std::string_view bytes) {
  EntryId id;
  std::copy_n(bytes.begin(), std::min(bytes.size(), id.bytes.size()), id.bytes.begin());  // no bytes: an empty id
  return id;
}

ErrorCode code_named(std::string_view name) {
  for (int code = 0; code < static_cast<int>(ErrorCode::kInternal); ++code) {
    if (name == name_of(static_cast<ErrorCode>(code))) return static_cast<ErrorCode>(code);
  }
  return ErrorCode::kInternal;
}

Result<AuditRow> row_from(const sqlite::Statement& row) {
  AuditRow read;
  read.offset = Offset{row.integer(0)};
  read.id = id_in(row.blob(1));
  read.time = UtcMillis{row.integer(2)};
  SHIPLOG_TRY(const Value groups, parse_json(row.text(4)));
  for (const Value& group : groups.items()) read.actor.groups.push_back(group.str());
  read.actor.user = row.text(3);
  read.actor.service = row.text(5);
  read.actor.source_ip = row.text(6);
  read.actor.user_agent = row.text(7);
  read.request = {std::string{row.text(8)}, std::string{row.text(9)}};
  read.cause = {Revision{static_cast<uint64_t>(row.integer(10))}, id_in(row.blob(11)),
                std::string{row.text(12).substr(0, kTraceIdDigits)}};
  read.as_of = Revision{static_cast<uint64_t>(row.integer(13))};
  read.revision = Revision{static_cast<uint64_t>(row.integer(14))};
  SHIPLOG_TRY(const Value events, parse_json(row.text(15)));
  for (const Value& event : events.items()) {
    read.events.push_back({event[0].str(),
                           event[1].str(),
                           {event[2].str(), event[3].str(), event[4].str()},
                           event[5].str(),
                           {event[6].str(), event[7].str(), event[8].str()}});
  }
  SHIPLOG_TRY(const Value also, parse_json(row.text(16)));
  for (const Value& key : also.items()) read.also_changed.push_back({key[0].str(), key[1].str(), key[2].str()});
  if (!row.is_null(17)) read.refusal = Refusal{code_named(row.text(17)), std::string{row.text(18)}};
  read.duplicate = row.integer(19) != 0;
  return read;
}

Result<int64_t> family_bit(std::string_view name) {
  for (const Family family : {Family::kApi, Family::kScheduling, Family::kDispatch, Family::kTaint, Family::kQuota,
                              Family::kCluster, Family::kControl}) {
    if (name == name_of(family)) return int64_t{1} << static_cast<unsigned>(family);
  }
  return Error{ErrorCode::kBadRequest, "\"" + std::string{name} +
                                           "\" is not an event family: api, scheduling, "
                                           "dispatch, taint, quota, cluster, control"};
}

bool wants(const AuditFilter& filter, const ObjectKey& key) {
  return (filter.type.empty() || key.type == filter.type) && (!filter.ns || key.ns == *filter.ns) &&
         (filter.name.empty() || key.name == filter.name) && !key.empty();
}

// Conditions on the events, which SQL only sees as text.
bool wants(const AuditFilter& filter, const AuditRow& row) {
  const auto of_kind = [&](const AuditEvent& event) { return event.kind == filter.event_kind; };
  if (!filter.event_kind.empty() && std::none_of(row.events.begin(), row.events.end(), of_kind)) return false;
  if (filter.type.empty() && !filter.ns && filter.name.empty()) return true;
  return std::any_of(row.events.begin(), row.events.end(),
                     [&](const AuditEvent& event) { return wants(filter, event.subject); }) ||
         std::any_of(row.also_changed.begin(), row.also_changed.end(),
                     [&](const ObjectKey& key) { return wants(filter, key); });
}

// A name is selective, so the query starts from the two tables that relate objects to entries.
void append_objects(const AuditFilter& filter, std::string& sql) {
  std::string wanted = " WHERE k.type IN (SELECT id FROM type";
  if (!filter.type.empty()) wanted += " WHERE name = :type";
  wanted += ")";
  if (filter.ns) wanted += " AND k.ns = :ns";
  wanted += " AND k.name = :name";
  sql += " AND e.offset IN (SELECT v.offset FROM object k CROSS JOIN version v ON v.object = k.id" + wanted +
         " UNION SELECT k.offset FROM subject k" + wanted + ")";
}

}  // namespace

bool AuditRow::denied() const {
  return std::ranges::any_of(
      events, [](const AuditEvent& event) { return event.kind == "RequestDenied" || event.kind == "RequestsDenied"; });
}

Result<std::vector<AuditRow>> AuditQuery::find(const AuditFilter& filter) const {
  std::string sql = kColumns;
  // The plus signs keep SQLite from putting the value in the place of the column in intact(), too.
  if (!filter.user.empty()) sql += " AND +a.user = :user";
  if (!filter.service.empty()) sql += " AND +a.service = :service";
  if (!filter.verb.empty()) sql += " AND +e.verb = :verb";
  if (!filter.family.empty()) sql += " AND e.families & :family != 0";
  // Cheaper than parsing the JSON, and never too strict: quotes inside a JSON string are escaped.
  if (!filter.event_kind.empty()) sql += " AND instr(e.events, '[\"' || :kind || '\",') > 0";
  if (!filter.trace.empty()) sql += " AND e.trace_id IN (:trace, :trace || '-01')";
  if (!filter.name.empty()) append_objects(filter, sql);
  if (filter.since) sql += " AND e.time >= :since";
  if (filter.until) sql += " AND e.time < :until";
  if (filter.only_refused) {
    sql +=
        " AND (e.refusal IS NOT NULL OR instr(e.events, '[\"RequestDenied\",') > 0 "
        "OR instr(e.events, '[\"RequestsDenied\",') > 0)";
  }
  if (filter.after) sql += filter.newest_first ? " AND e.offset < :after" : " AND e.offset > :after";
  sql += filter.newest_first ? " ORDER BY e.offset DESC" : " ORDER BY e.offset";

  SHIPLOG_TRY(auto row, view_.connection().prepare(sql));
  row.bind(":user", filter.user);
  row.bind(":service", filter.service);
  row.bind(":verb", filter.verb);
  if (!filter.family.empty()) {
    SHIPLOG_TRY(const int64_t bit, family_bit(filter.family));
    row.bind(":family", bit);
  }
  row.bind(":kind", filter.event_kind);
  row.bind(":trace", filter.trace);
  row.bind(":type", filter.type);
  if (filter.ns) row.bind(":ns", *filter.ns);
  row.bind(":name", filter.name);
  if (filter.since) row.bind(":since", filter.since->value);
  if (filter.until) row.bind(":until", filter.until->value);
  if (filter.after) row.bind(":after", filter.after->value);

  std::vector<AuditRow> rows;
  while (filter.limit == 0 || rows.size() < filter.limit) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) break;
    SHIPLOG_TRY(auto read, row_from(row));
    if (wants(filter, read)) rows.push_back(std::move(read));
  }
  return rows;
}

Result<std::optional<AuditRow>> AuditQuery::at(Offset offset) const {
  SHIPLOG_TRY(auto row, view_.connection().prepare(kColumns + " AND e.offset = ?"));
  row.bind(1, offset.value);
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  SHIPLOG_TRY(auto read, row_from(row));
  return std::optional{std::move(read)};
}

Result<std::optional<SettledRequest>> AuditQuery::settled_by(sqlite::Statement row) const {
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  SHIPLOG_TRY(const auto entry, at(Offset{row.integer(0)}));
  if (!entry) return std::nullopt;
  SettledRequest request{*entry, "", std::string{row.text(1)}, 0, "", ""};
  SHIPLOG_TRY(const Value answer, parse_json(row.text(2)));
  request.id = answer[0].str();
  request.status = static_cast<int32_t>(answer[1].as_int());
  request.reason = answer[2].str();
  request.message = answer[3].str();
  return std::optional{std::move(request)};
}

Result<std::optional<SettledRequest>> AuditQuery::settled(const std::string& record) const {
  SHIPLOG_TRY(auto row, view_.connection().prepare(settled_by_sql("record")));
  row.bind(1, record);
  return settled_by(std::move(row));
}

Result<std::optional<SettledRequest>> AuditQuery::carried_out(const std::string& user, const std::string& id) const {
  const EntryId key = request_key(user, id);
  SHIPLOG_TRY(auto row, view_.connection().prepare(settled_by_sql("request")));
  row.bind_blob(1, {reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size()});
  SHIPLOG_TRY(auto found, settled_by(std::move(row)));
  // The key is a hash: the answer is given to no other user, and for no other id.
  if (found && (found->id != id || found->entry.actor.user != user)) return std::nullopt;
  return found;
}

Result<std::vector<AuditRow>> AuditQuery::caused_by(const AuditRow& cause, size_t limit) const {
  // A cause names the revision that its entry reached. One that was written by an earlier build may name any that the
  // entry made.
  SHIPLOG_TRY(const Revision before, OutcomeQuery{view_}.revision_before(cause.offset));
  const auto first = static_cast<int64_t>(std::min(before.value + 1, cause.revision.value));
  SHIPLOG_TRY(auto row,
              view_.connection().prepare("SELECT e.offset, e.cause_id FROM entry e INDEXED BY entry_by_cause WHERE "
                                         "e.cause_revision BETWEEN ? AND ? AND +e.offset > ? AND " +
                                         store::entry_table().intact("e") + " ORDER BY e.cause_revision, e.offset"));
  row.bind_all(first, static_cast<int64_t>(cause.revision.value), cause.offset.value);
  std::vector<Offset> offsets;
  while (offsets.size() < limit) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) break;
    if (id_in(row.blob(1)) == cause.id) offsets.push_back(Offset{row.integer(0)});
  }
  std::ranges::sort(offsets);
  std::vector<AuditRow> rows;
  for (const Offset offset : offsets) {
    SHIPLOG_TRY(auto effect, at(offset));
    if (effect) rows.push_back(std::move(*effect));
  }
  return rows;
}

Result<std::optional<AuditRow>> AuditQuery::with_id(const EntryId& id, Offset from, Offset before) const {
  SHIPLOG_TRY(auto row,
              view_.connection().prepare("SELECT e.offset FROM entry e WHERE e.offset >= ? AND e.offset < ? AND " +
                                         store::entry_table().intact("e") +
                                         " AND +e.id = ? AND NOT +e.duplicate "
                                         "ORDER BY e.offset DESC LIMIT 1"));
  row.bind(1, from.value);
  row.bind(2, before.value);
  row.bind_blob(3, {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  return at(Offset{row.integer(0)});
}

Result<std::optional<AuditRow>> AuditQuery::cause(const Cause& cause) const {
  if (cause.entry_id.empty()) return std::nullopt;
  // No index of entry ids: random keys would make every insert modify a separate page. The entry is the first that
  // reached the cause's revision or, if it changed nothing, one of the following at the same revision.
  SHIPLOG_TRY(const Offset first, OutcomeQuery{view_}.reaching(cause.revision));
  SHIPLOG_TRY(auto row, view_.connection().prepare(kNext));
  row.bind(1, first.value);
  const auto wanted = static_cast<int64_t>(cause.revision.value);
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return std::nullopt;
    if (id_in(row.blob(1)) == cause.entry_id) return at(Offset{row.integer(0)});
    // An entry with several changes enqueues keys at revisions before its last, so one further step is allowed.
    if (row.integer(2) > wanted) return std::nullopt;
  }
}

}  // namespace shiplog
