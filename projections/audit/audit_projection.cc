#include "projections/audit/audit_projection.h"

#include <algorithm>

#include "events/base/json.h"
#include "projections/store/checked_table.h"

namespace shiplog {
namespace {

constexpr size_t kMostActorsRemembered = 10'000;

std::string_view bytes_of(const EntryId& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}

// Written directly as text: there is one per entry, and an intermediate Value would cost more than the row.
void append_items(std::initializer_list<std::string_view> items, std::string& out) {
  out += out.empty() ? "[[" : ",[";
  for (bool first = true; const std::string_view item : items) {
    if (!first) out += ',';
    first = false;
    append_json_string(item, out);
  }
  out += ']';
}
std::string closed(std::string list) { return list.empty() ? "[]" : list + "]"; }

std::string groups_json(const Actor& actor) {
  std::string out{"["};
  for (const std::string& group : actor.groups) {
    if (out.size() > 1) out += ',';
    append_json_string(group, out);
  }
  return out + "]";
}

int64_t families_of(const Entry& entry) {
  int64_t families = 0;
  for (const Event& event : entry.events) families |= int64_t{1} << static_cast<unsigned>(family_of(event));
  return families;
}

std::string events_json(const FoldedEntry& folded) {
  std::string events;
  for (size_t index = 0; index < folded.entry.events.size(); ++index) {
    const Event& event = folded.entry.events[index];
    const ObjectKey& subject = folded.subjects[index];
    const Family family = family_of(event);
    // A deletion that another one caused has the type, namespace and name of that object after its own.
    const auto* deletion = std::get_if<DeletionRequested>(&event);
    if (deletion != nullptr && !deletion->because.empty()) {
      const ObjectKey& because = deletion->because;
      append_items({name_of(event), name_of(family), subject.type, subject.ns, subject.name, summary_of(event),
                    because.type, because.ns, because.name},
                   events);
    } else {
      append_items({name_of(event), name_of(family), subject.type, subject.ns, subject.name, summary_of(event)},
                   events);
    }
  }
  return closed(std::move(events));
}

/// The changed objects that no event of the entry is about.
std::string also_changed_json(const FoldedEntry& folded) {
  std::string also;
  for (const Change& change : folded.folded.changes) {
    const ObjectKey& key = change.object;
    if (std::find(folded.subjects.begin(), folded.subjects.end(), key) != folded.subjects.end()) continue;
    append_items({key.type, key.ns, key.name}, also);
  }
  return closed(std::move(also));
}

/// What is stored of an entry that settles a produced request; all empty for another one.
struct SettledColumns {
  EntryId request;
  std::string record, answer;
};

SettledColumns settled_columns(const FoldedEntry& folded) {
  SettledColumns columns;
  const RequestSource& source = folded.entry.source;
  if (source.id.empty() || folded.folded.refusal) return columns;
  const RequestDenied* denied = nullptr;
  for (const Event& event : folded.entry.events) {
    if (const auto* found = std::get_if<RequestDenied>(&event)) denied = found;
  }
  if (denied == nullptr) columns.request = request_key(folded.entry.actor.user, source.id);
  if (!source.topic.empty()) columns.record = record_of(source);
  columns.answer =
      to_json(denied == nullptr ? Value::array({source.id, 0, "", ""})
                                : Value::array({source.id, int64_t{denied->status}, denied->reason, denied->message}));
  return columns;
}

}  // namespace

Result<AuditProjection> AuditProjection::create(sqlite::Connection& connection, store::TypeIds& types) {
  SHIPLOG_TRY(auto insert, store::CheckedInsert::create(connection, store::entry_table()));
  SHIPLOG_TRY(auto subject, connection.prepare("INSERT OR IGNORE INTO subject VALUES (?, ?, ?, ?)"));
  SHIPLOG_TRY(auto add_actor, connection.prepare(store::actor_table().insert()));
  // One that is damaged is passed over: it is repaired by the scrub, under its own number.
  SHIPLOG_TRY(auto find_actor,
              connection.prepare("SELECT a.id FROM actor a WHERE a.user = ? AND a.groups = ? AND a.service = ? AND "
                                 "a.source_ip = ? AND a.user_agent = ? AND a.crc = " +
                                 store::actor_table().checksum("a") + " ORDER BY a.id LIMIT 1"));
  SHIPLOG_TRY(auto newest_actor, connection.prepare("SELECT coalesce(max(id), 0) FROM actor"));
  return AuditProjection{types,
                         std::move(insert),
                         std::move(subject),
                         std::move(add_actor),
                         std::move(find_actor),
                         std::move(newest_actor)};
}

Result<int64_t> AuditProjection::actor_id(const Actor& actor) {
  const std::string groups = groups_json(actor);
  std::string key = actor.user;
  for (const std::string* part : {&groups, &actor.service, &actor.source_ip, &actor.user_agent}) {
    key += '\n';
    key += *part;
  }
  if (const auto known = actors_.find(key); known != actors_.end()) return known->second;
  find_actor_.bind_all(actor.user, groups, actor.service, actor.source_ip, actor.user_agent);
  SHIPLOG_TRY(const bool found, find_actor_.next());
  int64_t id = found ? find_actor_.integer(0) : 0;
  find_actor_.reset();
  if (!found) {
    SHIPLOG_TRY([[maybe_unused]] const bool row, newest_actor_.next());
    id = newest_actor_.integer(0) + 1;
    newest_actor_.reset();
    SHIPLOG_TRY(add_actor_.run(id, actor.user, groups, actor.service, actor.source_ip, actor.user_agent));
  }
  if (actors_.size() >= kMostActorsRemembered) actors_.clear();
  actors_.emplace(std::move(key), id);
  return id;
}

Result<void> AuditProjection::add_subjects_without_change(const FoldedEntry& folded) {
  const auto& changes = folded.folded.changes;
  for (const ObjectKey& subject : folded.subjects) {
    if (subject.empty() || std::ranges::find(changes, subject, &Change::object) != changes.end()) continue;
    SHIPLOG_TRY(const int64_t type, types_.id(subject.type));
    SHIPLOG_TRY(subject_.run(type, subject.ns, subject.name, folded.offset.value));
  }
  return ok();
}

Result<void> AuditProjection::apply(const FoldedEntry& folded) {
  SHIPLOG_TRY(add_subjects_without_change(folded));
  const Entry& entry = folded.entry;
  if (last_actor_id_ == 0 || last_actor_ != entry.actor) {
    SHIPLOG_TRY(const int64_t id, actor_id(entry.actor));
    last_actor_ = entry.actor;
    last_actor_id_ = id;
  }
  const std::string events = events_json(folded);
  const std::string also = also_changed_json(folded);
  const SettledColumns settled = settled_columns(folded);
  // What is added is not copied.
  insert_.begin().add(folded.offset.value).add_blob(bytes_of(entry.id)).add(entry.time.value).add(last_actor_id_);
  insert_.add(entry.request.verb).add(entry.request.path).add(static_cast<int64_t>(entry.cause.revision.value));
  insert_.add_blob(entry.cause.entry_id.empty() ? std::string_view{} : bytes_of(entry.cause.entry_id));
  insert_.add(entry.cause.trace_id).add(static_cast<int64_t>(entry.as_of.value));
  insert_.add(static_cast<int64_t>(folded.folded.revision.value)).add(families_of(entry)).add(events).add(also);
  const auto& refusal = folded.folded.refusal;
  refusal ? insert_.add(std::string_view{name_of(refusal->code)}).add(refusal->reason) : insert_.add_null().add_null();
  insert_.add(int64_t{folded.folded.duplicate});
  settled.request.empty() ? insert_.add_null() : insert_.add_blob(bytes_of(settled.request));
  settled.record.empty() ? insert_.add_null() : insert_.add(settled.record);
  settled.answer.empty() ? insert_.add_null() : insert_.add(settled.answer);
  return insert_.run();
}

Result<void> AuditProjection::name_subjects(const FoldedEntry& folded) {
  for (const ObjectKey& subject : folded.subjects) {
    if (subject.empty()) continue;
    SHIPLOG_TRY(const int64_t type, types_.id(subject.type));
    SHIPLOG_TRY(subject_.run(type, subject.ns, subject.name, folded.offset.value));
  }
  return ok();
}

Result<bool> AuditProjection::replace(sqlite::Connection& connection, const FoldedEntry& folded) {
  SHIPLOG_TRY(auto remove, connection.prepare("DELETE FROM entry WHERE offset = ?"));
  SHIPLOG_TRY(remove.run(folded.offset.value));
  if (connection.changed() == 0) return false;
  SHIPLOG_TRY(apply(folded));
  return true;
}

Result<bool> AuditProjection::replace_actor(sqlite::Connection& connection, int64_t id, const Actor& actor) {
  SHIPLOG_TRY(auto remove, connection.prepare("DELETE FROM actor WHERE id = ?"));
  SHIPLOG_TRY(remove.run(id));
  if (connection.changed() == 0) return false;
  SHIPLOG_TRY(auto insert, connection.prepare(store::actor_table().insert()));
  SHIPLOG_TRY(insert.run(id, actor.user, groups_json(actor), actor.service, actor.source_ip, actor.user_agent));
  return true;
}

Offset FamilyCut::end() const {
  Offset end = rest;
  for (const auto& [family, offset] : families) end = std::max(end, offset);
  return end;
}

std::string FamilyCut::condition(std::string_view alias) const {
  const std::string row{alias};
  std::string all;
  int64_t named = 0;
  for (const auto& [family, offset] : families) {
    const int64_t bit = int64_t{1} << static_cast<unsigned>(family);
    named |= bit;
    all += "(" + row + ".families & " + std::to_string(bit) + " = 0 OR " + row + ".offset < " +
           std::to_string(offset.value) + ") AND ";
  }
  const std::string others = std::to_string(~named);
  return all + "((" + row + ".families & " + others + " = 0 AND " + row + ".families != 0) OR " + row + ".offset < " +
         std::to_string(rest.value) + ")";
}

Result<bool> trim_entries(sqlite::Connection& connection, const FamilyCut& cut, const Holds& holds, Offset& from,
                          uint64_t& deleted, HeldByName& held) {
  constexpr int64_t kEntriesAtOnce = 2000;
  const Offset before = cut.end();
  SHIPLOG_TRY(auto mark,
              connection.prepare("CREATE TEMP TABLE IF NOT EXISTS doomed_entry (offset INTEGER PRIMARY KEY)"));
  SHIPLOG_TRY(mark.run());
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(connection));
  // Revisions never fall from one entry to the next, so that the versions of these entries are those in between.
  SHIPLOG_TRY(auto span,
              connection.prepare("SELECT max(offset), max(revision), (SELECT coalesce(max(revision), 0) FROM "
                                 "entry WHERE offset = (SELECT max(offset) FROM entry WHERE offset < ?1)) "
                                 "FROM (SELECT offset, revision FROM entry WHERE offset >= ?1 AND "
                                 "offset < ?2 ORDER BY offset LIMIT ?3)"));
  span.bind_all(from.value, before.value, kEntriesAtOnce);
  SHIPLOG_TRY([[maybe_unused]] const bool found, span.next());
  const bool more = !span.is_null(0);
  const int64_t last = span.integer(0), newest = span.integer(1), older = span.integer(2);
  span.reset();
  if (more) {
    SHIPLOG_TRY(auto choose,
                connection.prepare("INSERT INTO doomed_entry SELECT offset FROM entry WHERE offset >= ?1 AND offset <= "
                                   "?2 AND " +
                                   cut.condition("entry") +
                                   " AND offset NOT IN (SELECT offset FROM version WHERE revision > ?3 AND revision <= "
                                   "?4) AND NOT EXISTS (SELECT 1 FROM decision d WHERE d.id >= entry.offset << 20 AND "
                                   "d.id < (entry.offset + 1) << 20)"));
    SHIPLOG_TRY(choose.run(from.value, last, older, newest));
    SHIPLOG_TRY(spare_entries(connection, holds, held));
    SHIPLOG_TRY(auto forget, connection.prepare("DELETE FROM entry WHERE offset IN (SELECT offset FROM doomed_entry)"));
    SHIPLOG_TRY(forget.run());
    deleted += static_cast<uint64_t>(connection.changed());
    SHIPLOG_TRY(auto clear, connection.prepare("DELETE FROM doomed_entry"));
    SHIPLOG_TRY(clear.run());
  } else {
    // At the end what named them: without an index of its own, this reads the table.
    SHIPLOG_TRY(auto forget, connection.prepare("DELETE FROM subject WHERE offset < ?1 AND offset NOT IN "
                                                "(SELECT offset FROM entry WHERE offset < ?1)"));
    SHIPLOG_TRY(forget.run(before.value));
  }
  SHIPLOG_TRY(transaction.commit());
  if (more) from = Offset{last + 1};
  return more;
}

}  // namespace shiplog
