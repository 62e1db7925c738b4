#include "projections/objects/object_query.h"

#include "projections/history/history_query.h"
#include "projections/store/checkpoint.h"
#include "projections/store/connection.h"

namespace shiplog {
namespace {

using Visit = std::function<bool(const ObjectRowView&)>;

constexpr int64_t kRemoved = static_cast<int64_t>(Operation::kRemoved);

Revision revision_in(const store::Statement& row, int column) {
  return Revision{static_cast<uint64_t>(row.integer(column))};
}

// Names are never empty, so every object is behind the position ("", ""). Behind a position in an earlier namespace,
// the namespace asked for begins at its start.
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
  return Error{ErrorCode::kGone, "revision " + std::to_string(at.value) + " is no longer held, the oldest is " +
                                     std::to_string(oldest.value)};
}

// True: there is a row (revision, json) of the object as of `at`. Leaves the statement on it.
Result<bool> seek_version(store::Statement& version, int64_t type, std::string_view ns, std::string_view name,
                          Revision at) {
  version.reset();
  version.bind_all(type, ns, name, static_cast<int64_t>(at.value));
  SHIPLOG_TRY(const bool found, version.next());
  return found && version.integer(2) != kRemoved;
}
constexpr const char* kVersionAsOf =
    "SELECT revision, json, operation FROM version INDEXED BY version_by_object "
    "WHERE type = ? AND ns = ? AND name = ? AND revision <= ? ORDER BY revision DESC LIMIT 1";

Result<void> visit_present(const View& view, int64_t type, const ObjectList& which, const Visit& visit) {
  const ObjectList::Position start = start_of(which);
  SHIPLOG_TRY(auto row,
              view.connection().prepare("SELECT o.ns, o.name, o.revision, v.json FROM object o "
                                        "CROSS JOIN version v ON v.revision = o.revision "
                                        "WHERE o.type = ? AND (o.ns, o.name) > (?, ?) ORDER BY o.ns, o.name"));
  row.bind_all(type, start.ns, start.name);
  for (size_t visited = 0; which.limit == 0 || visited < which.limit; ++visited) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found || (which.ns && row.text(0) != *which.ns)) break;
    if (!visit({row.text(0), row.text(1), revision_in(row, 2), row.text(3)})) break;
  }
  return ok();
}

// Two seeks for every object that ever was: from name to name in the index of versions, and to the version as of `at`.
Result<void> visit_past(const View& view, int64_t type, const ObjectList& which, Revision at, const Visit& visit) {
  ObjectList::Position position = start_of(which);
  SHIPLOG_TRY(auto key, view.connection().prepare("SELECT ns, name FROM version INDEXED BY version_by_object "
                                                  "WHERE type = ? AND (ns, name) > (?, ?) ORDER BY ns, name LIMIT 1"));
  SHIPLOG_TRY(auto version, view.connection().prepare(kVersionAsOf));
  for (size_t visited = 0; which.limit == 0 || visited < which.limit;) {
    key.reset();
    key.bind_all(type, position.ns, position.name);
    SHIPLOG_TRY(const bool more, key.next());
    if (!more || (which.ns && key.text(0) != *which.ns)) break;
    position = {std::string{key.text(0)}, std::string{key.text(1)}};
    SHIPLOG_TRY(const bool found, seek_version(version, type, position.ns, position.name, at));
    if (!found) continue;
    ++visited;
    if (!visit({position.ns, position.name, revision_in(version, 0), version.text(1)})) break;
  }
  return ok();
}

}  // namespace

Result<std::optional<ObjectRow>> ObjectQuery::get(const ObjectKey& key, std::optional<Revision> at) const {
  const Revision as_of = at.value_or(view_.revision());
  SHIPLOG_TRY(check_held(view_, as_of));
  SHIPLOG_TRY(const auto type, store::find_type(view_.connection(), key.type));
  if (!type) return std::nullopt;
  SHIPLOG_TRY(auto version, view_.connection().prepare(kVersionAsOf));
  SHIPLOG_TRY(const bool found, seek_version(version, *type, key.ns, key.name, as_of));
  if (!found) return std::nullopt;
  return ObjectRow{key, revision_in(version, 0), std::string{version.text(1)}};
}

Result<void> ObjectQuery::visit(const ObjectList& which, const Visit& visit) const {
  if (which.at) {
    SHIPLOG_TRY(check_held(view_, *which.at));
  }
  SHIPLOG_TRY(const auto type, store::find_type(view_.connection(), which.type));
  if (!type) return ok();
  if (which.at.value_or(view_.revision()) == view_.revision()) return visit_present(view_, *type, which, visit);
  return visit_past(view_, *type, which, *which.at, visit);
}

Result<std::vector<ObjectRow>> ObjectQuery::list(const ObjectList& which) const {
  std::vector<ObjectRow> rows;
  SHIPLOG_TRY(visit(which, [&](const ObjectRowView& row) {
    rows.push_back({{which.type, std::string{row.ns}, std::string{row.name}}, row.revision, std::string{row.json}});
    return true;
  }));
  return rows;
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
  SHIPLOG_TRY(auto row, view_.connection().prepare(
                            which.ns ? "SELECT count(*) FROM object WHERE type = ? AND ns = ? AND name > ?"
                                     : "SELECT count(*) FROM object WHERE type = ? AND (ns, name) > (?, ?)"));
  if (which.ns && start.ns > *which.ns) return counted;
  row.bind_all(*type, start.ns, start.name);
  SHIPLOG_TRY(const bool found, row.next());
  if (found) counted = static_cast<uint64_t>(row.integer(0));
  return counted;
}

Result<std::vector<std::string>> ObjectQuery::types() const {
  SHIPLOG_TRY(auto row, view_.connection().prepare("SELECT name FROM type t WHERE EXISTS "
                                                   "(SELECT 1 FROM object o WHERE o.type = t.id) ORDER BY name"));
  std::vector<std::string> names;
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return names;
    names.emplace_back(row.text(0));
  }
}

}  // namespace shiplog
