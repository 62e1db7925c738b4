#include "projections/history/history_query.h"

#include <limits>

#include "events/base/check.h"
#include "events/sqlite/connection.h"
#include "projections/history/stored_version.h"
#include "projections/store/checked_table.h"
#include "projections/store/checkpoint.h"

namespace shiplog {
namespace {

Revision revision_in(const sqlite::Statement& row, int column) {
  return Revision{static_cast<uint64_t>(row.integer(column))};
}

// Everything but the object's key.
Result<VersionRow> version_of(const View& view, const StoredVersion& stored) {
  VersionRow version;
  version.revision = Revision{static_cast<uint64_t>(stored.revision)};
  version.operation = static_cast<VersionOperation>(stored.operation);
  version.json = stored.json;
  version.event_index = static_cast<int>(stored.event_index);
  SHIPLOG_TRY(auto entry, AuditQuery{view}.at(Offset{stored.offset}));
  if (!entry) {
    return Error{ErrorCode::kCorrupt, "projection " + view.connection().path() + ": the entry at offset " +
                                          std::to_string(stored.offset) + " is missing"};
  }
  version.entry = std::move(*entry);
  return version;
}

Result<std::optional<int64_t>> find_object(sqlite::Connection& connection, const ObjectKey& key) {
  static const std::string kFind =
      "SELECT o.id FROM type t CROSS JOIN object o ON o.type = t.id WHERE t.name = ? AND o.ns = ? AND o.name = ? AND " +
      store::type_table().intact("t") + " AND " + store::object_table().intact("o");
  SHIPLOG_TRY(auto row, connection.prepare(kFind));
  row.bind_all(key.type, key.ns, key.name);
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  return std::optional{row.integer(0)};
}

}  // namespace

const char* name_of(VersionOperation operation) {
  switch (operation) {
    case VersionOperation::kCreated:
      return "created";
    case VersionOperation::kUpdated:
      return "updated";
    case VersionOperation::kRemoved:
      return "removed";
  }
  SHIPLOG_CHECK(false, "an operation is one of the three");
}

Result<std::vector<VersionRow>> HistoryQuery::versions(const ObjectKey& key, bool newest_first, size_t limit,
                                                       std::optional<Revision> from) const {
  std::vector<VersionRow> versions;
  SHIPLOG_TRY(const auto object, find_object(view_.connection(), key));
  if (!object) return versions;
  SHIPLOG_TRY(auto row,
              view_.connection().prepare(
                  "SELECT " + version_columns("v") + " FROM version v WHERE v.object = ? AND " +
                  (newest_first ? "v.revision <= ? ORDER BY v.revision DESC" : "v.revision >= ? ORDER BY v.revision")));
  const int64_t end = newest_first ? std::numeric_limits<int64_t>::max() : 0;
  row.bind_all(*object, from ? static_cast<int64_t>(from->value) : end);
  while (limit == 0 || versions.size() < limit) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) break;
    SHIPLOG_TRY(const StoredVersion stored, stored_version(view_.connection(), row));
    SHIPLOG_TRY(auto version, version_of(view_, stored));
    version.object = key;
    versions.push_back(std::move(version));
  }
  return versions;
}

Result<std::vector<AuditRow>> HistoryQuery::entries_after(const ObjectKey& key, Revision after, size_t limit) const {
  std::vector<AuditRow> entries;
  SHIPLOG_TRY(const auto object, find_object(view_.connection(), key));
  if (!object) return entries;
  SHIPLOG_TRY(auto row,
              view_.connection().prepare("SELECT v.offset FROM version v WHERE v.object = ? AND v.revision > ? AND " +
                                         store::version_table().intact("v") + " ORDER BY v.revision"));
  row.bind_all(*object, static_cast<int64_t>(after.value));
  while (entries.size() < limit) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) break;
    const Offset offset{row.integer(0)};
    if (!entries.empty() && entries.back().offset == offset) continue;  // several versions by one entry
    SHIPLOG_TRY(auto entry, AuditQuery{view_}.at(offset));
    if (entry) entries.push_back(std::move(*entry));
  }
  return entries;
}

Result<std::optional<VersionRow>> HistoryQuery::version(Revision revision) const {
  SHIPLOG_TRY(auto row, view_.connection().prepare("SELECT " + version_columns("v") +
                                                   ", t.name FROM version v LEFT JOIN type t ON t.id = v.type AND " +
                                                   store::type_table().intact("t") + " WHERE v.revision = ?"));
  row.bind(1, static_cast<int64_t>(revision.value));
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  SHIPLOG_TRY(const StoredVersion stored, stored_version(view_.connection(), row));
  SHIPLOG_TRY(auto version, version_of(view_, stored));
  version.object = {std::string{row.text(kVersionColumns)}, std::string{stored.ns}, std::string{stored.name}};
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
  std::string sql = "SELECT " + version_columns("v") + ", t.name";
  if (which.with_previous) sql += ", " + version_columns("p");
  sql += " FROM version v";
  sql += which.type.empty() ? " NOT INDEXED" : " INDEXED BY version_by_type";
  sql += " LEFT JOIN type t ON t.id = v.type AND " + store::type_table().intact("t");
  if (which.with_previous) sql += " LEFT JOIN version p ON p.revision = v.previous";
  sql += " WHERE v.revision > ?1";
  if (!which.type.empty()) sql += " AND v.type = ?2";
  if (which.upto) sql += " AND v.revision <= ?3";
  sql += " ORDER BY v.revision";
  SHIPLOG_TRY(auto row, view_.connection().prepare(sql));
  if (which.upto) row.bind(3, static_cast<int64_t>(which.upto->value));
  row.bind(1, static_cast<int64_t>(which.after.value));
  if (!which.type.empty()) {
    SHIPLOG_TRY(const auto type, store::find_type(view_.connection(), which.type));
    if (!type) return changes;
    row.bind(2, *type);
  }
  while (changes.size() < which.limit) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) break;
    SHIPLOG_TRY(const StoredVersion stored, stored_version(view_.connection(), row));
    if (which.ns && stored.ns != *which.ns) continue;  // not in SQL, which would leave out a damaged row in silence
    std::string previous;
    if (constexpr int kPrevious = kVersionColumns + 1; which.with_previous && !row.is_null(kPrevious)) {
      SHIPLOG_TRY(const StoredVersion before, stored_version(view_.connection(), row, kPrevious));
      previous = before.json;
    }
    changes.push_back({{std::string{row.text(kVersionColumns)}, std::string{stored.ns}, std::string{stored.name}},
                       Revision{static_cast<uint64_t>(stored.revision)},
                       static_cast<VersionOperation>(stored.operation),
                       std::string{stored.json},
                       std::move(previous)});
  }
  return changes;
}

Result<Revision> HistoryQuery::oldest() const {
  SHIPLOG_TRY(auto row, view_.connection().prepare("SELECT r.oldest FROM retention r WHERE " +
                                                   store::retention_table().intact("r")));
  SHIPLOG_TRY(const bool found, row.next());
  SHIPLOG_CHECK(found, "the schema inserts this row");
  return revision_in(row, 0);
}

Result<Revision> HistoryQuery::revision_at(UtcMillis at) const {
  SHIPLOG_TRY(auto row, view_.connection().prepare(
                            "SELECT e.revision FROM entry e INDEXED BY entry_by_time WHERE e.time <= ? AND " +
                            store::entry_table().intact("e") + " ORDER BY e.time DESC, e.offset DESC LIMIT 1"));
  row.bind(1, at.value);
  SHIPLOG_TRY(const bool found, row.next());
  return found ? revision_in(row, 0) : Revision{};
}

}  // namespace shiplog
