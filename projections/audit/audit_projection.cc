#include "projections/audit/audit_projection.h"

#include <algorithm>

#include "events/base/json.h"

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

}  // namespace

Result<AuditProjection> AuditProjection::create(sqlite::Connection& connection, store::TypeIds& types) {
  SHIPLOG_TRY(auto insert,
              connection.prepare("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  SHIPLOG_TRY(auto subject, connection.prepare("INSERT OR IGNORE INTO subject VALUES (?, ?, ?, ?)"));
  SHIPLOG_TRY(auto add_actor, connection.prepare("INSERT OR IGNORE INTO actor (user, groups, service, source_ip, "
                                                 "user_agent) VALUES (?, ?, ?, ?, ?)"));
  SHIPLOG_TRY(auto find_actor, connection.prepare("SELECT id FROM actor WHERE user = ? AND groups = ? AND service = ? "
                                                  "AND source_ip = ? AND user_agent = ?"));
  return AuditProjection{types, std::move(insert), std::move(subject), std::move(add_actor), std::move(find_actor)};
}

Result<int64_t> AuditProjection::actor_id(const Actor& actor) {
  const std::string groups = groups_json(actor);
  std::string key = actor.user;
  for (const std::string* part : {&groups, &actor.service, &actor.source_ip, &actor.user_agent}) {
    key += '\n';
    key += *part;
  }
  if (const auto known = actors_.find(key); known != actors_.end()) return known->second;
  SHIPLOG_TRY(add_actor_.run(actor.user, groups, actor.service, actor.source_ip, actor.user_agent));
  find_actor_.bind_all(actor.user, groups, actor.service, actor.source_ip, actor.user_agent);
  SHIPLOG_TRY(find_actor_.next());
  const int64_t id = find_actor_.integer(0);
  find_actor_.reset();
  if (actors_.size() >= kMostActorsRemembered) actors_.clear();
  actors_.emplace(std::move(key), id);
  return id;
}

Result<void> AuditProjection::apply(const FoldedEntry& folded) {
  const Entry& entry = folded.entry;
  const auto& changes = folded.folded.changes;
  const auto changed = [&](const ObjectKey& key) {
    return std::any_of(changes.begin(), changes.end(), [&](const Change& change) { return change.object == key; });
  };
  std::string events, also;
  int64_t families = 0;
  for (size_t index = 0; index < entry.events.size(); ++index) {
    const Event& event = entry.events[index];
    const ObjectKey& subject = folded.subjects[index];
    const Family family = family_of(event);
    families |= int64_t{1} << static_cast<unsigned>(family);
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
    if (subject.empty() || changed(subject)) continue;
    SHIPLOG_TRY(const int64_t type, types_.id(subject.type));
    SHIPLOG_TRY(subject_.run(type, subject.ns, subject.name, folded.offset.value));
  }
  for (const Change& change : changes) {
    const ObjectKey& key = change.object;
    if (std::find(folded.subjects.begin(), folded.subjects.end(), key) != folded.subjects.end()) continue;
    append_items({key.type, key.ns, key.name}, also);
  }
  events = closed(std::move(events));
  also = closed(std::move(also));

  if (last_actor_id_ == 0 || last_actor_ != entry.actor) {
    SHIPLOG_TRY(const int64_t id, actor_id(entry.actor));
    last_actor_ = entry.actor;
    last_actor_id_ = id;
  }
  int column = 0;
  insert_.bind(++column, folded.offset.value);
  insert_.bind_blob(++column, bytes_of(entry.id));
  insert_.bind(++column, entry.time.value);
  insert_.bind(++column, last_actor_id_);
  insert_.bind(++column, entry.request.verb);
  insert_.bind(++column, entry.request.path);
  insert_.bind(++column, static_cast<int64_t>(entry.cause.revision.value));
  insert_.bind_blob(++column, entry.cause.entry_id.empty() ? std::string_view{} : bytes_of(entry.cause.entry_id));
  insert_.bind(++column, entry.cause.trace_id);
  insert_.bind(++column, static_cast<int64_t>(entry.as_of.value));
  insert_.bind(++column, static_cast<int64_t>(folded.folded.revision.value));
  insert_.bind(++column, families);
  insert_.bind(++column, events);
  insert_.bind(++column, also);
  const auto& refusal = folded.folded.refusal;
  insert_.bind_null(++column);
  insert_.bind_null(++column);
  if (refusal) {
    insert_.bind(column - 1, name_of(refusal->code));
    insert_.bind(column, refusal->reason);
  }
  insert_.bind(++column, int64_t{folded.folded.duplicate});
  return insert_.run();
}

}  // namespace shiplog
