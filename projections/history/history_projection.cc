#include "projections/history/history_projection.h"

#include <algorithm>
#include <charconv>

#include "events/base/check.h"
#include "projections/history/history_query.h"
#include "projections/store/checked_table.h"

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
  const auto found = std::find(subjects.rbegin(), subjects.rend(), object);
  return found == subjects.rend() ? -1 : subjects.rend() - found - 1;
}

VersionOperation operation_of(const Change& change) {
  if (change.removed()) return VersionOperation::kRemoved;
  return change.created() ? VersionOperation::kCreated : VersionOperation::kUpdated;
}

Result<void> run(store::CheckedInsert& insert, const StoredVersion& version, const PackedVersion& packed) {
  insert.begin();  // in the order of the columns
  for (const int64_t number : {version.revision, version.object, version.type}) insert.add(number);
  insert.add(version.ns).add(version.name);
  for (const int64_t number : {version.operation, version.offset, version.event_index, version.previous, packed.base}) {
    insert.add(number);
  }
  return insert.add(packed.json).run();
}

}  // namespace

StoredVersion version_of(const FoldedEntry& folded, size_t index, int64_t type, int64_t object) {
  const Change& change = folded.folded.changes[index];
  SHIPLOG_CHECK(change.json, "a change carries its JSON");
  return {.revision = static_cast<int64_t>(change.revision.value),
          .object = object,
          .type = type,
          .ns = change.object.ns,
          .name = change.object.name,
          .operation = static_cast<int64_t>(operation_of(change)),
          .offset = folded.offset.value,
          .event_index = event_index_of(folded.subjects, change.object),
          .previous = revision_in(change.before),
          .json = *change.json};
}

Result<HistoryProjection> HistoryProjection::create(sqlite::Connection& connection, store::TypeIds& types) {
  SHIPLOG_TRY(auto insert, store::CheckedInsert::create(connection, store::version_table()));
  SHIPLOG_TRY(auto packer, VersionPacker::create(connection));
  return HistoryProjection{types, std::move(insert), std::move(packer)};
}

Result<void> HistoryProjection::apply(const FoldedEntry& folded) {
  for (size_t index = 0; index < folded.folded.changes.size(); ++index) {
    SHIPLOG_TRY(const int64_t type, types_.id(folded.folded.changes[index].object.type));
    const StoredVersion version = version_of(folded, index, type, folded.object_ids[index]);
    const PreparedText* alone = nullptr;
    if (folded.prepared != nullptr && folded.prepared->bases[index]) alone = &*folded.prepared->bases[index];
    SHIPLOG_TRY(const PackedVersion packed,
                packer_.pack(version.revision, version.object, folded.folded.changes[index].json, alone));
    SHIPLOG_TRY(run(insert_, version, packed));
  }
  return ok();
}

Result<bool> replace_version(sqlite::Connection& connection, const StoredVersion& version) {
  SHIPLOG_TRY(auto remove, connection.prepare("DELETE FROM version WHERE revision = ?"));
  SHIPLOG_TRY(remove.run(version.revision));
  if (connection.changed() == 0) return false;
  SHIPLOG_TRY(auto insert, store::CheckedInsert::create(connection, store::version_table()));
  sqlite::TextPacker packer;
  SHIPLOG_TRY(const PackedVersion packed,
              pack_again(connection, packer, version.revision, version.object, version.json));
  SHIPLOG_TRY(run(insert, version, packed));
  return true;
}

namespace {

constexpr int64_t kRevisionsAtOnce = 2000;

Result<void> make_doomed(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto mark, connection.prepare("CREATE TEMP TABLE IF NOT EXISTS doomed "
                                            "(revision INTEGER PRIMARY KEY, replaced INTEGER NOT NULL)"));
  SHIPLOG_TRY(mark.run());
  SHIPLOG_TRY(auto mark_bases, connection.prepare("CREATE TEMP TABLE IF NOT EXISTS doomed_base "
                                                  "(base INTEGER PRIMARY KEY, object INTEGER NOT NULL)"));
  return mark_bases.run();
}

/// The bound, and the first revision behind it that has a version; 0: there is none.
Result<std::pair<int64_t, int64_t>> bound_of(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto held,
              connection.prepare("SELECT oldest, (SELECT min(revision) FROM version WHERE revision > oldest) "
                                 "FROM retention r WHERE " +
                                 store::retention_table().intact("r")));
  SHIPLOG_TRY([[maybe_unused]] const bool found, held.next());
  return std::pair{held.integer(0), held.is_null(1) ? 0 : held.integer(1)};
}

/// Deletes the bases among those of deleted versions to which no version refers any more. The versions of an object
/// refer to its bases in their order: if the oldest one behind a base refers to another, all do.
Result<void> delete_bases(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto forget, connection.prepare(
                               "DELETE FROM version_base WHERE id IN (SELECT d.base FROM doomed_base d WHERE d.base IS "
                               "NOT (SELECT v.base FROM version v INDEXED BY version_by_object WHERE v.object = "
                               "d.object AND v.revision >= d.base AND v.base > 0 ORDER BY v.revision LIMIT 1))"));
  SHIPLOG_TRY(forget.run());
  SHIPLOG_TRY(auto clear, connection.prepare("DELETE FROM doomed_base"));
  return clear.run();
}

/// Deletes what versions with a revision in (from, to] have replaced or removed. In a transaction.
Result<uint64_t> delete_replaced(sqlite::Connection& connection, int64_t from, int64_t to, const Holds& holds,
                                 HeldByName& held) {
  // A version goes when a newer one of its object is old enough too, or if it is a removal. What came before was
  // looked at when the bound was raised to `from`.
  // A damaged row says nothing reliable of another one: rather than a version too many, one remains that could go.
  const std::string of_intact =
      " FROM version v WHERE v.revision > ?1 AND v.revision <= ?2 AND v.crc = " + store::version_table().checksum("v");
  SHIPLOG_TRY(auto choose, connection.prepare("INSERT OR IGNORE INTO doomed SELECT v.previous, v.offset" + of_intact +
                                              " AND v.previous > 0 UNION SELECT v.revision, v.offset" + of_intact +
                                              " AND v.operation = ?3"));
  SHIPLOG_TRY(choose.run(from, to, static_cast<int64_t>(VersionOperation::kRemoved)));
  SHIPLOG_TRY(spare_versions(connection, holds, held));
  const std::string doomed = " IN (SELECT revision FROM doomed)";
  // Its entry can still be found by the object's name.
  SHIPLOG_TRY(auto keep_name, connection.prepare("INSERT OR IGNORE INTO subject SELECT type, ns, name, offset "
                                                 "FROM version WHERE revision" +
                                                 doomed));
  SHIPLOG_TRY(keep_name.run());
  // A removed object is deleted with its last version.
  SHIPLOG_TRY(auto forget_object, connection.prepare("DELETE FROM object WHERE NOT live AND (type, ns, name) IN "
                                                     "(SELECT type, ns, name FROM version WHERE revision" +
                                                     doomed +
                                                     ") AND NOT EXISTS "
                                                     "(SELECT 1 FROM version v WHERE v.object = id AND v.revision NOT" +
                                                     doomed + ")"));
  SHIPLOG_TRY(forget_object.run());
  SHIPLOG_TRY(auto note_bases, connection.prepare("INSERT OR IGNORE INTO doomed_base SELECT base, object FROM version "
                                                  "WHERE base > 0 AND revision" +
                                                  doomed));
  SHIPLOG_TRY(note_bases.run());
  SHIPLOG_TRY(auto forget, connection.prepare("DELETE FROM version WHERE revision" + doomed));
  SHIPLOG_TRY(forget.run());
  const auto deleted = static_cast<uint64_t>(connection.changed());
  SHIPLOG_TRY(delete_bases(connection));
  SHIPLOG_TRY(auto clear, connection.prepare("DELETE FROM doomed"));
  SHIPLOG_TRY(clear.run());
  return deleted;
}

}  // namespace

Result<TrimStep> trim_versions(sqlite::Connection& connection, Revision oldest, const Holds& holds, HeldByName& held) {
  const auto limit = static_cast<int64_t>(oldest.value);
  SHIPLOG_TRY(make_doomed(connection));
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(connection));
  SHIPLOG_TRY(const auto bound, bound_of(connection));
  const int64_t from = bound.first;
  const int64_t first = bound.second == 0 ? limit : bound.second;
  if (from >= limit) return TrimStep{};
  // The bound rises with what is deleted, so that a reader never finds a partly deleted revision.
  const int64_t to = std::min(std::max(from, first) + kRevisionsAtOnce, limit);
  SHIPLOG_TRY(auto raise, connection.prepare("UPDATE retention SET oldest = ?1, crc = checksum(?1)"));
  SHIPLOG_TRY(raise.run(to));
  SHIPLOG_TRY(const uint64_t deleted, delete_replaced(connection, from, to, holds, held));
  SHIPLOG_TRY(transaction.commit());
  return TrimStep{deleted, to < limit};
}

Result<TrimStep> trim_versions_again(sqlite::Connection& connection, Revision& from, const Holds& holds,
                                     HeldByName& held) {
  SHIPLOG_TRY(make_doomed(connection));
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(connection));
  SHIPLOG_TRY(const auto bound, bound_of(connection));
  const auto begin = static_cast<int64_t>(from.value);
  if (begin >= bound.first) return TrimStep{};
  SHIPLOG_TRY(auto first, connection.prepare("SELECT coalesce(min(revision), 0) FROM version WHERE revision > ?"));
  first.bind(1, begin);
  SHIPLOG_TRY([[maybe_unused]] const bool found, first.next());
  const int64_t to = std::min(std::max(begin, first.integer(0)) + kRevisionsAtOnce, bound.first);
  first.reset();
  SHIPLOG_TRY(const uint64_t deleted, delete_replaced(connection, begin, to, holds, held));
  SHIPLOG_TRY(transaction.commit());
  from = Revision{static_cast<uint64_t>(to)};
  return TrimStep{deleted, to < bound.first};
}

}  // namespace shiplog
