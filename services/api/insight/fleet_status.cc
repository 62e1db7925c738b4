#include "services/api/insight/fleet_status.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "events/slots.h"
#include "events/sqlite/connection.h"
#include "events/sqlite/free_space.h"
#include "projections/store/checkpoint.h"
#include "services/api/insight/render.h"

namespace shiplog::api {
namespace {

double rounded(double rate) { return std::round(rate * 10) / 10; }

Result<Value> object_counts(const View& view) {
  SHIPLOG_TRY(auto row, view.connection().prepare("SELECT t.name, count(*) FROM object o CROSS JOIN type t "
                                                  "ON t.id = o.type WHERE o.live GROUP BY o.type ORDER BY t.name"));
  Value counts = Value::object();
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return counts;
    counts.set(std::string{row.text(0)}, row.integer(1));
  }
}

/// The slots of a divided role: who has each.
Value slots_of(const std::string& role, const Leases::Map& leases, const RoleLeadership* led) {
  Value slots = Value::array();
  for (int slot = 0; slot < kSlots; ++slot) {
    Value value = Value::object({{"slot", slot}});
    if (const auto lease = leases.find(slot_lease(role, slot)); lease != leases.end()) {
      value.set("holder", lease->second.holder);
      value.set("epoch", lease->second.epoch);
    }
    if (led != nullptr) value.set("led", !std::ranges::binary_search(led->unled_slots, slot));
    slots.push_back(std::move(value));
  }
  return slots;
}

/// One role: its leader, and its queue if that is this process.
Value role_status(const std::string& role, const Leases::Map& leases, const std::vector<RoleLeadership>& led,
                  const ProcessFigures& process) {
  Value value = Value::object({{"role", role}});
  const auto found_led = std::ranges::find(led, role, &RoleLeadership::role);
  if (leases.contains(slot_lease(role, 0)) || (found_led != led.end() && !found_led->unled_slots.empty())) {
    value.set("slots", slots_of(role, leases, found_led == led.end() ? nullptr : &*found_led));
  } else if (const auto lease = leases.find(role); lease != leases.end()) {
    value.set("holder", lease->second.holder);
    value.set("epoch", lease->second.epoch);
  }
  if (found_led != led.end()) {
    value.set("led", found_led->led);
    value.set("since", rfc3339_millis(found_led->since));
  }
  const auto own = std::ranges::find(process.roles, role, &RoleFigures::role);
  const bool here = own != process.roles.end() && own->acting;
  value.set("here", here);
  if (!here) return value;
  value.set("queue", Value::object({{"due", static_cast<int64_t>(own->queued)},
                                    {"busy", static_cast<int64_t>(own->busy)},
                                    {"retries", own->retries},
                                    {"waitingMilliseconds", own->waiting.value}}));
  return value;
}

}  // namespace

Result<Value> fleet_status(Store& store, const Sources& sources, UtcMillis now) {
  SHIPLOG_TRY(const Offset head, store.head());
  const ProcessFigures process = sources.process ? sources.process() : ProcessFigures{};
  const auto led = sources.roles ? sources.roles() : std::vector<RoleLeadership>{};
  return store.read([&](const View& view) -> Result<Value> {
    SHIPLOG_TRY(const auto checkpoint, store::read_checkpoint(view.connection()));
    if (!checkpoint) return Error{ErrorCode::kUnavailable, "nothing has been folded yet"};
    const StateMeta& meta = checkpoint->meta;

    Value journal = Value::object({{"kind", process.journal},
                                   {"nextOffset", head.value},
                                   {"entriesPerSecond", rounded(process.entries_per_second)},
                                   {"overMilliseconds", process.interval.value}});
    if (process.journal_bytes) journal.set("bytes", *process.journal_bytes);
    const int64_t lag = std::max<int64_t>(0, head.value - checkpoint->next.value);
    SHIPLOG_TRY(const sqlite::FileSpace space, sqlite::space_of(view.connection()));
    Value projection = Value::object({{"nextOffset", checkpoint->next.value},
                                      {"lagEntries", lag},
                                      {"bytes", store.projection_bytes()},
                                      {"freeBytes", space.free_bytes()}});
    SHIPLOG_TRY(Value objects, object_counts(view));
    Value state = Value::object({{"revision", meta.revision.value},
                                 {"time", rfc3339_millis(meta.time)},
                                 {"foldVersion", meta.fold_version},
                                 {"hash", to_string(hash_of(meta))},
                                 {"objects", std::move(objects)}});

    std::set<std::string> names;
    for (const auto& [lease, holder] : meta.leases.all()) names.emplace(role_of_lease(lease));
    for (const RoleLeadership& role : led) names.insert(role.role);
    Value roles = Value::array();
    for (const std::string& role : names) roles.push_back(role_status(role, meta.leases.all(), led, process));

    Value server = Value::object({{"identity", process.identity}, {"version", process.version}});
    if (process.started != UtcMillis{}) server.set("started", rfc3339_millis(process.started));
    return Value::object({{"kind", "ControlPlaneStatus"},
                          {"time", rfc3339_millis(now)},
                          {"apiServer", std::move(server)},
                          {"journal", std::move(journal)},
                          {"projection", std::move(projection)},
                          {"state", std::move(state)},
                          {"roles", std::move(roles)}});
  });
}

}  // namespace shiplog::api
