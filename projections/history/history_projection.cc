#include "projections/history/history_projection.h"

#include <algorithm>
#include <charconv>

#include "events/base/check.h"
#include "projections/history/history_query.h"

namespace shiplog {
namespace {

// The revision of an object as the fold stores it; 0 if it has none.
int64_t revision_in(const Value& object) {
  const std::string_view text = object["metadata"]["resourceVersion"].as_string();
  int64_t revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return revision;
}

// The last event about the object, as an object changes once in an entry, by all its events together.
int64_t event_index_of(const std::vector<ObjectKey>& subjects, const ObjectKey& object) {
  const auto at = std::find(subjects.rbegin(), subjects.rend(), object);
  return at == subjects.rend() ? -1 : subjects.rend() - at - 1;
}

Operation operation_of(const Change& change) {
  if (change.removed()) return Operation::kRemoved;
  return change.created() ? Operation::kCreated : Operation::kUpdated;
}

}  // namespace

Result<HistoryProjection> HistoryProjection::create(sqlite::Connection& connection, store::TypeIds& types) {
  SHIPLOG_TRY(auto insert, connection.prepare("INSERT INTO version VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  return HistoryProjection{types, std::move(insert)};
}

Result<void> HistoryProjection::apply(const FoldedEntry& folded) {
  for (size_t index = 0; index < folded.folded.changes.size(); ++index) {
    const Change& change = folded.folded.changes[index];
    SHIPLOG_CHECK(change.json, "a change carries its JSON");
    const ObjectKey& key = change.object;
    SHIPLOG_TRY(const int64_t type, types_.id(key.type));
    SHIPLOG_TRY(insert_.run(static_cast<int64_t>(change.revision.value), folded.object_ids[index], type, key.ns,
                            key.name, static_cast<int64_t>(operation_of(change)), folded.offset.value,
                            event_index_of(folded.subjects, key), revision_in(change.before), *change.json));
  }
  return ok();
}

Result<uint64_t> trim_versions(sqlite::Connection& connection, Revision oldest) {
  const auto limit = static_cast<int64_t>(oldest.value);
  {
    // The bound is raised before anything is deleted, so that a reader never finds a partly deleted revision.
    SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(connection));
    SHIPLOG_TRY(auto raise, connection.prepare("UPDATE retention SET oldest = max(oldest, ?)"));
    SHIPLOG_TRY(raise.run(limit));
    SHIPLOG_TRY(transaction.commit());
  }
  // A version is deleted if a newer version of the same object is old enough too, or if it is a removal. Its entry can
  // still be found by the object's name.
  SHIPLOG_TRY(auto next, connection.prepare("SELECT revision FROM version WHERE revision >= ? LIMIT 1"));
  SHIPLOG_TRY(auto mark, connection.prepare("CREATE TEMP TABLE IF NOT EXISTS doomed (revision INTEGER PRIMARY KEY)"));
  SHIPLOG_TRY(mark.run());
  SHIPLOG_TRY(auto choose,
              connection.prepare("INSERT INTO doomed SELECT revision FROM version v WHERE revision BETWEEN ?1 AND ?2 "
                                 "AND (operation = ?4 OR EXISTS (SELECT 1 FROM version n INDEXED BY version_by_object "
                                 "WHERE n.object = v.object "
                                 "AND n.revision > v.revision AND n.revision <= ?3))"));
  SHIPLOG_TRY(auto keep_name, connection.prepare("INSERT OR IGNORE INTO subject SELECT type, ns, name, offset "
                                                 "FROM version WHERE revision IN doomed"));
  // A removed object is deleted with its last version.
  SHIPLOG_TRY(auto forget_object,
              connection.prepare("DELETE FROM object WHERE NOT live AND (type, ns, name) IN "
                                 "(SELECT type, ns, name FROM version WHERE revision IN doomed) AND NOT EXISTS "
                                 "(SELECT 1 FROM version v WHERE v.object = id AND v.revision NOT IN doomed)"));
  SHIPLOG_TRY(auto forget, connection.prepare("DELETE FROM version WHERE revision IN doomed"));
  SHIPLOG_TRY(auto clear, connection.prepare("DELETE FROM doomed"));
  constexpr int64_t kAtOnce = 5000;
  uint64_t gone = 0;
  // In ascending order: the version that makes another one superfluous is newer, so it still exists at that point.
  for (int64_t from = 0; from <= limit; from += kAtOnce) {
    next.reset();
    next.bind(1, from);
    SHIPLOG_TRY(const bool more, next.next());
    if (!more) break;
    from = std::max(from, next.integer(0));
    next.reset();
    SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(connection));
    SHIPLOG_TRY(
        choose.run(from, std::min(from + kAtOnce - 1, limit), limit, static_cast<int64_t>(Operation::kRemoved)));
    SHIPLOG_TRY(keep_name.run());
    SHIPLOG_TRY(forget_object.run());
    SHIPLOG_TRY(forget.run());
    gone += static_cast<uint64_t>(connection.changed());
    SHIPLOG_TRY(clear.run());
    SHIPLOG_TRY(transaction.commit());
  }
  return gone;
}

}  // namespace shiplog
