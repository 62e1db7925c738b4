#include "services/programs/shiplogctl/control_plane_report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "events/state/condition.h"
#include "services/programs/shiplogctl/bindings.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {
namespace {

constexpr size_t kMostTypes = 8;
constexpr int64_t kMuch = 10;  // one part in so many

std::string bytes_text(int64_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {"B", "KiB", "MiB", "GiB"};
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", size, kUnits.at(unit));
  return text.data();
}

std::string milliseconds_text(int64_t milliseconds) {
  if (milliseconds < 1000) return std::to_string(milliseconds) + "ms";
  return std::to_string(milliseconds / 1000) + "s";
}

/// "3 clusters.cluster.karmada.io, 2 configmaps", the most frequent ones first.
std::string objects_text(const Value& counts) {
  std::vector<std::pair<int64_t, std::string>> types;
  for (const Value::Member& type : counts.members()) types.emplace_back(-type.value.as_int(), type.key());
  std::ranges::sort(types);
  std::string text;
  for (size_t index = 0; index < std::min(types.size(), kMostTypes); ++index) {
    text += (text.empty() ? "" : ", ") + std::to_string(-types[index].first) + " " + types[index].second;
  }
  if (types.size() > kMostTypes) text += ", and " + std::to_string(types.size() - kMostTypes) + " more kinds";
  return text.empty() ? "none" : text;
}

std::string leader_text(const Value& role) {
  const std::string holder = role["holder"].str();
  if (role["led"].as_bool(true)) return holder;
  return holder.empty() ? "none" : "none (" + holder + " does not answer)";
}

/// The slots of a divided role by their holder; under an empty name those that no living process has.
std::map<std::string, std::vector<int64_t>> slots_by_holder(const Value& role) {
  std::map<std::string, std::vector<int64_t>> by_holder;
  for (const Value& slot : role["slots"].items()) {
    by_holder[slot["led"].as_bool(true) ? slot["holder"].str() : ""].push_back(slot["slot"].as_int());
  }
  return by_holder;
}

/// One row for a role; of a divided one, one for each process that has slots of it. `unknown` is set when a queue is.
void add_rows(Table& table, const Value& role, const std::string& here, UtcMillis now, bool& unknown) {
  const auto add = [&](const std::string& leader, bool is_here) {
    std::vector<std::string> row = {role["role"].str(), leader,
                                    role["epoch"].is_null() ? "" : std::to_string(role["epoch"].as_int()),
                                    since(role["since"], now)};
    static const Value kNone;
    const Value& queue = is_here ? role["queue"] : kNone;
    unknown = unknown || queue.is_null();
    for (const char* figure : {"due", "busy", "retries"}) {
      row.push_back(queue.is_null() ? "-" : std::to_string(queue[figure].as_int()));
    }
    row.push_back(queue.is_null() ? "-" : milliseconds_text(queue["waitingMilliseconds"].as_int()));
    table.add(std::move(row));
  };
  if (role["slots"].is_null()) return add(leader_text(role), true);
  for (const auto& [holder, slots] : slots_by_holder(role)) {
    add((holder.empty() ? "none" : holder) + ", " + slots_text(slots), holder == here);
  }
}

}  // namespace

std::string slots_text(const std::vector<int64_t>& slots) {
  std::string text = slots.size() > 1 ? "slots " : "slot ";
  for (size_t index = 0; index < slots.size(); ++index) {
    size_t last = index;
    while (last + 1 < slots.size() && slots[last + 1] == slots[last] + 1) ++last;
    text += (index == 0 ? "" : ",") + std::to_string(slots[index]);
    if (last > index) text += (last > index + 1 ? "-" : ",") + std::to_string(slots[last]);
    index = last;
  }
  return text;
}

std::string control_plane_text(const Value& control_plane, UtcMillis now) {
  if (control_plane.is_null()) return "";
  const Value& journal = control_plane["journal"];
  const Value& projection = control_plane["projection"];
  const Value& state = control_plane["state"];
  const Value& server = control_plane["apiServer"];
  std::array<char, 32> rate{};
  std::snprintf(rate.data(), rate.size(), "%.1f", journal["entriesPerSecond"].as_double());
  std::string text = "journal:    " + journal["kind"].str() + ", next offset " +
                     std::to_string(journal["nextOffset"].as_int()) + ", " + rate.data() + " entries/s over " +
                     milliseconds_text(journal["overMilliseconds"].as_int());
  if (!journal["bytes"].is_null()) text += ", " + bytes_text(journal["bytes"].as_int());
  text += "\nprojection: " + std::to_string(projection["lagEntries"].as_int()) + " entries behind, " +
          bytes_text(projection["bytes"].as_int());
  const int64_t free = projection["freeBytes"].as_int();
  if (free > 0 && free * kMuch >= projection["bytes"].as_int()) text += ", of which " + bytes_text(free) + " are free";
  text += "\nstate:      revision " + std::to_string(state["revision"].as_int()) + ", fold version " +
          std::to_string(state["foldVersion"].as_int()) + ", hash " + state["hash"].str();
  text += "\nobjects:    " + objects_text(state["objects"]);
  text += "\nAPI server: " + server["identity"].str() + ", version " + server["version"].str();
  if (server["started"].is_string()) text += ", up " + since(server["started"], now);
  return text + "\n";
}

std::string roles_text(const Value& control_plane, UtcMillis now, const Terminal& terminal) {
  if (control_plane["roles"].size() == 0) return "";
  Table table{{"ROLE", "LEADER", "EPOCH", "SINCE", "DUE", "BUSY", "RETRIES", "WAITING"}};
  bool unknown = false;
  for (const Value& role : control_plane["roles"].items()) {
    add_rows(table, role, control_plane["apiServer"]["identity"].str(), now, unknown);
  }
  std::string text = "\n" + table.text(true, terminal);
  if (unknown) text += "-: known only to the process that leads the role; its /metrics have it\n";
  return text;
}

Value cluster_states(const Value& clusters) {
  Value states = Value::array();
  for (const Value& cluster : clusters.items()) {
    const Value& ready = condition_of(cluster, "Ready");
    Value state =
        Value::object({{"name", cluster["metadata"]["name"]}, {"ready", ready["status"].as_string() == "True"}});
    for (const auto& [name, member] :
         {std::pair{"reason", "reason"}, std::pair{"message", "message"}, std::pair{"since", "lastTransitionTime"}}) {
      if (ready[member].is_string()) state.set(name, ready[member]);
    }
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace shiplog::ctl
