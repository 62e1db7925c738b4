#include "projections/holds/holds.h"

#include <algorithm>
#include <limits>

#include "events/base/json.h"
#include "events/event.h"
#include "events/sqlite/connection.h"
#include "projections/store/checked_table.h"

namespace shiplog {
namespace {

constexpr std::string_view kType = kLegalHoldType;

/// What decides whether a hold covers a row.
struct RowFacts {
  UtcMillis begin, end;
  std::string user;
  int64_t families = 0;
  bool known = true;  ///< false: the row's entry cannot be read, so that only the objects are known
  std::vector<ObjectKey> objects;
};

bool has_family(const LegalHold& hold, int64_t families) {
  if (hold.families.empty()) return true;
  for (const Family family : {Family::kApi, Family::kScheduling, Family::kDispatch, Family::kTaint, Family::kQuota,
                              Family::kCluster, Family::kControl}) {
    const bool named = std::ranges::find(hold.families, name_of(family)) != hold.families.end();
    if (named && ((families >> static_cast<unsigned>(family)) & 1) != 0) return true;
  }
  return false;
}

bool keeps(const LegalHold& hold, const RowFacts& facts) {
  const bool about = hold.subjects.empty() ||
                     std::ranges::any_of(facts.objects, [&](const ObjectKey& object) { return hold.about(object); });
  if (!about) return false;
  return !facts.known ||
         (hold.covers(facts.begin, facts.end) && hold.by(facts.user) && has_family(hold, facts.families));
}

/// Whether some hold keeps it; each that does counts it.
bool count_held(const Holds& holds, const RowFacts& facts, uint64_t HeldRows::*rows, HeldByName& held) {
  bool kept = false;
  for (const LegalHold& hold : holds.all) {
    if (!keeps(hold, facts)) continue;
    kept = true;
    HeldRows& of_hold = held[hold.name];
    ++(of_hold.*rows);
    if (facts.known && (of_hold.oldest == UtcMillis{} || facts.begin < of_hold.oldest)) of_hold.oldest = facts.begin;
  }
  return kept;
}

/// The objects that an entry was about, or changed.
Result<std::vector<ObjectKey>> objects_of(std::string_view events, std::string_view also) {
  std::vector<ObjectKey> objects;
  SHIPLOG_TRY(const Value subjects, parse_json(events));
  for (const Value& event : subjects.items()) objects.push_back({event[2].str(), event[3].str(), event[4].str()});
  SHIPLOG_TRY(const Value changed, parse_json(also));
  for (const Value& key : changed.items()) objects.push_back({key[0].str(), key[1].str(), key[2].str()});
  return objects;
}

Result<void> spare(sqlite::Connection& connection, const char* from, const std::vector<int64_t>& rows) {
  SHIPLOG_TRY(auto forget, connection.prepare(from));
  for (const int64_t row : rows) {
    SHIPLOG_TRY(forget.run(row));
  }
  return ok();
}

/// The columns e.time, a.user, e.families, e.events, e.also from column `first` on.
Result<RowFacts> entry_facts(const sqlite::Statement& row, int first) {
  RowFacts facts;
  facts.known = !row.is_null(first) && !row.is_null(first + 1);
  if (!facts.known) return facts;
  facts.begin = facts.end = UtcMillis{row.integer(first)};
  facts.user = row.text(first + 1);
  facts.families = row.integer(first + 2);
  SHIPLOG_TRY(facts.objects, objects_of(row.text(first + 3), row.text(first + 4)));
  return facts;
}

}  // namespace

Result<Holds> read_holds(sqlite::Connection& connection) {
  Holds holds;
  SHIPLOG_TRY(auto removed, connection.prepare("SELECT coalesce(max(revision), 0) FROM version WHERE operation = 2 AND "
                                               "type = (SELECT id FROM type WHERE name = ?)"));
  removed.bind(1, kType);
  SHIPLOG_TRY([[maybe_unused]] const bool counted, removed.next());
  if (removed.integer(0) > 0) holds.which = std::to_string(removed.integer(0));
  SHIPLOG_TRY(auto row, connection.prepare("SELECT " + store::version_json("v") +
                                           " FROM object o CROSS JOIN version v ON v.revision = "
                                           "(SELECT max(revision) FROM version WHERE object = o.id) WHERE o.live AND "
                                           "o.type = (SELECT id FROM type WHERE name = ?)"));
  row.bind(1, kType);
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return holds;
    SHIPLOG_TRY(const Value object, parse_stored_json(row.text(0)));
    SHIPLOG_TRY(LegalHold hold, legal_hold_from(object));
    holds.which += "/" + object["metadata"]["uid"].str();
    holds.all.push_back(std::move(hold));
  }
}

Result<void> spare_entries(sqlite::Connection& connection, const Holds& holds, HeldByName& held) {
  if (holds.all.empty()) return ok();
  SHIPLOG_TRY(auto row, connection.prepare("SELECT d.offset, e.time, a.user, e.families, e.events, e.also FROM "
                                           "doomed_entry d JOIN entry e ON e.offset = d.offset LEFT JOIN actor a ON "
                                           "a.id = e.actor"));
  std::vector<int64_t> kept;
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) break;
    SHIPLOG_TRY(RowFacts facts, entry_facts(row, 1));
    if (!facts.known) {
      SHIPLOG_TRY(facts.objects, objects_of(row.text(4), row.text(5)));
    }
    if (count_held(holds, facts, &HeldRows::entries, held)) kept.push_back(row.integer(0));
  }
  return spare(connection, "DELETE FROM doomed_entry WHERE offset = ?", kept);
}

Result<void> spare_decisions(sqlite::Connection& connection, const Holds& holds, HeldByName& held) {
  if (holds.all.empty()) return ok();
  SHIPLOG_TRY(auto row,
              connection.prepare("SELECT d.id, t.name, d.ns, d.name, e.time, a.user, e.families, e.events, e.also "
                                 "FROM doomed_decision g JOIN decision d ON d.id = g.id LEFT JOIN type t ON t.id = "
                                 "d.type LEFT JOIN entry e ON e.offset = d.id >> 20 LEFT JOIN actor a ON a.id = "
                                 "e.actor"));
  std::vector<int64_t> kept;
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) break;
    SHIPLOG_TRY(RowFacts facts, entry_facts(row, 4));
    facts.objects.push_back({std::string{row.text(1)}, std::string{row.text(2)}, std::string{row.text(3)}});
    if (count_held(holds, facts, &HeldRows::decisions, held)) kept.push_back(row.integer(0));
  }
  return spare(connection, "DELETE FROM doomed_decision WHERE id = ?", kept);
}

Result<void> spare_versions(sqlite::Connection& connection, const Holds& holds, HeldByName& held) {
  if (holds.all.empty()) return ok();
  SHIPLOG_TRY(auto row,
              connection.prepare("SELECT d.revision, t.name, v.ns, v.name, e.time, a.user, e.families, r.time FROM "
                                 "doomed d JOIN version v ON v.revision = d.revision LEFT JOIN type t ON t.id = v.type "
                                 "LEFT JOIN entry e ON e.offset = v.offset LEFT JOIN actor a ON a.id = e.actor "
                                 "LEFT JOIN entry r ON r.offset = d.replaced"));
  std::vector<int64_t> kept;
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) break;
    RowFacts facts;
    facts.objects = {{std::string{row.text(1)}, std::string{row.text(2)}, std::string{row.text(3)}}};
    facts.known = !row.is_null(4) && !row.is_null(5);
    facts.begin = UtcMillis{row.integer(4)};
    facts.end = row.is_null(7) ? UtcMillis{std::numeric_limits<int64_t>::max()} : UtcMillis{row.integer(7)};
    facts.user = row.text(5);
    facts.families = row.integer(6);
    if (count_held(holds, facts, &HeldRows::versions, held)) kept.push_back(row.integer(0));
  }
  return spare(connection, "DELETE FROM doomed WHERE revision = ?", kept);
}

}  // namespace shiplog
