#include "projections/objects/object_query.h"

#include "events/sqlite/connection.h"
#include "projections/history/history_query.h"
#include "projections/history/stored_version.h"
#include "projections/store/checked_table.h"
#include "projections/store/checkpoint.h"

namespace shiplog {
namespace {

constexpr int64_t kRemoved = static_cast<int64_t>(VersionOperation::kRemoved);

// Names are never empty, so every object follows the position ("", ""). After a position in an earlier namespace,
// the requested namespace is read from its start.
ObjectList::Position start_of(const ObjectList& which) {
  ObjectList::Position start = which.after.value_or(ObjectList::Position{});
  if (which.ns && start.ns < *which.ns) start = {*which.ns, ""};
  return start;
}

Result<void> check_held(const View& view, Revision at) {
  if (at > view.revision()) {
    return Error{ErrorCode::kBadRequest, "revision " + std::to_string(at.value) + " is newer than the newest, " +
                                             std::to_string(view.revision().value)};
  }
  SHIPLOG_TRY(const Revision oldest, HistoryQuery{view}.oldest());
  if (at >= oldest) return ok();
  return Error{ErrorCode::kGone, "The resourceVersion for the provided list is too old. (Revision " +
                                     std::to_string(at.value) + " is no longer held, the oldest is " +
                                     std::to_string(oldest.value) + ")"};
}

// The version of an object as of `at`, which belongs to the statement's row; nullopt: it has none, or a removal.
Result<std::optional<StoredVersion>> seek_version(const sqlite::Connection& connection, sqlite::Statement& version,
                                                  int64_t object, Revision at) {
  version.reset();
  version.bind_all(object, static_cast<int64_t>(at.value));
  SHIPLOG_TRY(const bool found, version.next());
  if (!found) return std::nullopt;
  SHIPLOG_TRY(const StoredVersion stored, stored_version(connection, version));
  return stored.operation == kRemoved ? std::nullopt : std::optional{stored};
}

Result<sqlite::Statement> version_as_of(sqlite::Connection& connection) {
  static const std::string kSql = "SELECT " + version_columns("v") +
                                  " FROM version v INDEXED BY version_by_object "
                                  "WHERE v.object = ? AND v.revision <= ? ORDER BY v.revision DESC LIMIT 1";
  return connection.prepare(kSql);
}

Revision revision_of(const StoredVersion& version) { return Revision{static_cast<uint64_t>(version.revision)}; }

}  // namespace

Result<std::optional<ObjectRow>> ObjectQuery::get(const ObjectKey& key, std::optional<Revision> at) const {
  const Revision as_of = at.value_or(view_.revision());
  SHIPLOG_TRY(check_held(view_, as_of));
  static const std::string kFind =
      "SELECT o.id FROM type t CROSS JOIN object o ON o.type = t.id WHERE t.name = ? AND o.ns = ? AND o.name = ? AND " +
      store::type_table().intact("t") + " AND " + store::object_table().intact("o");
  SHIPLOG_TRY(auto object, view_.connection().prepare(kFind));
  object.bind_all(key.type, key.ns, key.name);
  SHIPLOG_TRY(const bool known, object.next());
  if (!known) return std::nullopt;
  SHIPLOG_TRY(auto version, version_as_of(view_.connection()));
  SHIPLOG_TRY(const auto found, seek_version(view_.connection(), version, object.integer(0), as_of));
  if (!found) return std::nullopt;
  return ObjectRow{key, revision_of(*found), std::string{found->json}};
}

Result<void> ObjectQuery::visit(const ObjectList& which, const std::function<bool(const ObjectRowView&)>& visit) const {
  const Revision as_of = which.at.value_or(view_.revision());
  SHIPLOG_TRY(check_held(view_, as_of));
  SHIPLOG_TRY(const auto type, store::find_type(view_.connection(), which.type));
  if (!type) return ok();
  const ObjectList::Position start = start_of(which);
  // Objects that are removed now may have existed at an earlier revision. One statement for all of them: one for each
  // would take as long again to begin and to end.
  constexpr int kVersion = 3;
  static const std::string kAll =
      "SELECT o.id, o.ns, o.name, " + version_columns("v", "b") +
      " FROM object o LEFT JOIN version v ON v.revision = (SELECT max(x.revision) FROM version x INDEXED BY "
      "version_by_object WHERE x.object = o.id AND x.revision <= ?4) LEFT JOIN version_base b ON b.id = v.base "
      "WHERE o.type = ?1 AND (o.ns, o.name) > (?2, ?3) AND " +
      store::object_table().intact("o");
  static const std::string kOrder = " ORDER BY o.ns, o.name";
  static const std::string kPast = kAll + kOrder, kPresent = kAll + " AND o.live" + kOrder;
  SHIPLOG_TRY(auto object, view_.connection().prepare(as_of == view_.revision() ? kPresent : kPast));
  SHIPLOG_TRY(auto version, version_as_of(view_.connection()));
  object.bind_all(*type, start.ns, start.name, static_cast<int64_t>(as_of.value));
  for (size_t visited = 0; which.limit == 0 || visited < which.limit;) {
    SHIPLOG_TRY(const bool more, object.next());
    if (!more || (which.ns && object.text(1) != *which.ns)) break;
    std::optional<StoredVersion> found;
    if (!object.is_null(kVersion)) {
      SHIPLOG_TRY(found, stored_version(view_.connection(), object, kVersion));
      if (found->operation == kRemoved) continue;
    } else {
      // It has none, or an index names one that is not there, which is an error of a statement that follows the index.
      SHIPLOG_TRY(found, seek_version(view_.connection(), version, object.integer(0), as_of));
      if (!found) continue;
    }
    ++visited;
    if (!visit({object.text(1), object.text(2), revision_of(*found), found->json})) break;
  }
  return ok();
}

Result<std::vector<ObjectRow>> ObjectQuery::list(const ObjectList& which) const {
  std::vector<ObjectRow> rows;
  SHIPLOG_TRY(visit(which, [&](const ObjectRowView& row) {
    rows.push_back({{which.type, std::string{row.ns}, std::string{row.name}}, row.revision, std::string{row.json}});
    return true;
  }));
  return rows;
}

Result<std::vector<std::string>> ObjectQuery::types() const {
  static const std::string kTypes =
      "SELECT t.name FROM type t WHERE " + store::type_table().intact("t") + " ORDER BY t.name";
  SHIPLOG_TRY(auto row, view_.connection().prepare(kTypes));
  std::vector<std::string> names;
  while (true) {
    SHIPLOG_TRY(const bool more, row.next());
    if (!more) return names;
    names.emplace_back(row.text(0));
  }
}

Result<uint64_t> ObjectQuery::count(const ObjectList& which) const {
  ObjectList all = which;
  all.limit = 0;
  uint64_t counted = 0;
  if (which.at.value_or(view_.revision()) != view_.revision()) {
    SHIPLOG_TRY(visit(all, [&](const ObjectRowView&) {
      ++counted;
      return true;
    }));
    return counted;
  }
  SHIPLOG_TRY(const auto type, store::find_type(view_.connection(), which.type));
  if (!type) return counted;
  const ObjectList::Position start = start_of(which);
  static const std::string kLive = " AND " + store::object_table().intact("o") + " AND o.live";
  static const std::string kOfNamespace =
      "SELECT count(*) FROM object o WHERE o.type = ? AND o.ns = ? AND o.name > ?" + kLive;
  static const std::string kOfAll =
      "SELECT count(*) FROM object o WHERE o.type = ? AND (o.ns, o.name) > (?, ?)" + kLive;
  SHIPLOG_TRY(auto row, view_.connection().prepare(which.ns ? kOfNamespace : kOfAll));
  if (which.ns && start.ns > *which.ns) return counted;
  row.bind_all(*type, start.ns, start.name);
  SHIPLOG_TRY(const bool found, row.next());
  if (found) counted = static_cast<uint64_t>(row.integer(0));
  return counted;
}

}  // namespace shiplog
