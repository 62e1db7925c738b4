#include "projections/history/history_query.h"

#include <limits>

#include "events/base/check.h"
#include "events/sqlite/connection.h"
#include "projections/store/checkpoint.h"

namespace shiplog {
namespace {

Revision revision_in(const sqlite::Statement& row, int column) {
  return Revision{static_cast<uint64_t>(row.integer(column))};
}

// Everything but the object's key. Columns: revision, operation, json, offset, event_index.
Result<VersionRow> version_from(const View& view, const sqlite::Statement& row) {
  VersionRow version;
  version.revision = revision_in(row, 0);
  version.operation = static_cast<Operation>(row.integer(1));
  version.json = row.text(2);
  version.event_index = static_cast<int>(row.integer(4));
  SHIPLOG_TRY(auto entry, AuditQuery{view}.at(Offset{row.integer(3)}));
  if (!entry) {
    return Error{ErrorCode::kCorrupt, "projection " + view.connection().path() + ": the entry at offset " +
                                          std::to_string(row.integer(3)) + " is missing"};
  }
  version.entry = std::move(*entry);
  return version;
}

Result<std::optional<int64_t>> find_object(sqlite::Connection& connection, const ObjectKey& key) {
  SHIPLOG_TRY(auto row, connection.prepare("SELECT o.id FROM type t CROSS JOIN object o ON o.type = t.id "
                                           "WHERE t.name = ? AND o.ns = ? AND o.name = ?"));
  row.bind_all(key.type, key.ns, key.name);
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  return std::optional{row.integer(0)};
}

}  // namespace

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::kCreated:
      return "created";
    case Operation::kUpdated:
      return "updated";
    case Operation::kRemoved:
      return "removed";
  }
  SHIPLOG_CHECK(false, "an operation is one of the three");
}

Result<std::vector<VersionRow>> HistoryQuery::versions(const ObjectKey& key, bool newest_first, size_t limit,
                                                       std::optional<Revision> from) const {
  std::vector<VersionRow> versions;
  SHIPLOG_TRY(const auto object, find_object(view_.connection(), key));
  if (!object) return versions;
  SHIPLOG_TRY(auto row, view_.connection().prepare(
                            newest_first ? "SELECT revision, operation, json, offset, event_index FROM version "
                                           "WHERE object = ? AND revision <= ? ORDER BY revision DESC"
                                         : "SELECT revision, operation, json, offset, event_index FROM version "
                                           "WHERE object = ? AND revision >= ? ORDER BY revision"));
  const int64_t end = newest_first ? std::numeric_limits<int64_t>::max() : 0;
  row.bind_all(*object, from ? static_cast<int64_t>(from->value) : end);
  while (limit == 0 || versions.size() < limit) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) break;
    SHIPLOG_TRY(auto version, version_from(view_, row));
    version.object = key;
    versions.push_back(std::move(version));
  }
  return versions;
}

Result<std::optional<VersionRow>> HistoryQuery::version(Revision revision) const {
  SHIPLOG_TRY(auto row, view_.connection().prepare(
                            "SELECT v.revision, v.operation, v.json, v.offset, v.event_index, t.name, v.ns, v.name "
                            "FROM version v JOIN type t ON t.id = v.type WHERE v.revision = ?"));
  row.bind(1, static_cast<int64_t>(revision.value));
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  SHIPLOG_TRY(auto version, version_from(view_, row));
  version.object = {std::string{row.text(5)}, std::string{row.text(6)}, std::string{row.text(7)}};
  return std::optional{std::move(version)};
}

Result<std::vector<ChangeRow>> HistoryQuery::changes(const ChangeList& which) const {
  SHIPLOG_TRY(const Revision oldest_held, oldest());
  if (which.after < oldest_held) {
    return Error{ErrorCode::kGone, "changes after revision " + std::to_string(which.after.value) +
                                       " are no longer held, the oldest revision is " +
                                       std::to_string(oldest_held.value)};
  }
  std::vector<ChangeRow> changes;
  std::string sql = "SELECT v.revision, t.name, v.ns, v.name, v.operation, v.json";
  sql += which.with_previous ? ", p.json" : ", ''";
  sql += " FROM version v";
  sql += which.type.empty() ? " NOT INDEXED" : " INDEXED BY version_by_type";
  sql += " CROSS JOIN type t ON t.id = v.type";
  if (which.with_previous) sql += " LEFT JOIN version p ON p.revision = v.previous";
  sql += " WHERE v.revision > ?1";
  if (!which.type.empty()) sql += " AND v.type = ?2";
  if (which.ns) sql += which.type.empty() ? " AND v.ns = ?2" : " AND v.ns = ?3";
  sql += " ORDER BY v.revision";
  SHIPLOG_TRY(auto row, view_.connection().prepare(sql));
  row.bind(1, static_cast<int64_t>(which.after.value));
  if (!which.type.empty()) {
    SHIPLOG_TRY(const auto type, store::find_type(view_.connection(), which.type));
    if (!type) return changes;
    row.bind(2, *type);
  }
  if (which.ns) row.bind(which.type.empty() ? 2 : 3, *which.ns);
  while (changes.size() < which.limit) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) break;
    changes.push_back({{std::string{row.text(1)}, std::string{row.text(2)}, std::string{row.text(3)}},
                       revision_in(row, 0),
                       static_cast<Operation>(row.integer(4)),
                       std::string{row.text(5)},
                       std::string{row.text(6)}});
  }
  return changes;
}

Result<Revision> HistoryQuery::oldest() const {
  SHIPLOG_TRY(auto row, view_.connection().prepare("SELECT oldest FROM retention"));
  SHIPLOG_TRY(const bool found, row.next());
  SHIPLOG_CHECK(found, "the schema inserts this row");
  return revision_in(row, 0);
}

Result<Revision> HistoryQuery::revision_at(UtcMillis at) const {
  SHIPLOG_TRY(auto row,
              view_.connection().prepare("SELECT revision FROM entry INDEXED BY entry_by_time WHERE time <= ? "
                                         "ORDER BY time DESC, offset DESC LIMIT 1"));
  row.bind(1, at.value);
  SHIPLOG_TRY(const bool found, row.next());
  return found ? revision_in(row, 0) : Revision{};
}

}  // namespace shiplog
