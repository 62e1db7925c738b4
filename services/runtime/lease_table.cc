#include "services/runtime/lease_table.h"

#include <algorithm>

#include "events/base/json.h"

namespace shiplog {
namespace {

// A process may be frozen for some seconds, and is then still one that would have to stop.
constexpr int kForgottenAfter = 100;

Value numbers(const std::map<std::string, int64_t>& from) {
  Value object = Value::object({});
  for (const auto& [name, number] : from) object.set(name, number);
  return object;
}

Value names(const std::set<std::string>& from) {
  Value array = Value::array();
  for (const std::string& name : from) array.push_back(name);
  return array;
}

std::set<std::string> names(const Value& from) {
  std::set<std::string> set;
  for (const Value& name : from.items()) set.insert(name.str());
  return set;
}

std::map<std::string, int64_t> numbers(const Value& from) {
  std::map<std::string, int64_t> map;
  for (const auto& member : from.members()) map[std::string{member.key()}] = member.value.as_int();
  return map;
}

}  // namespace

std::string to_text(const Heartbeat& heartbeat) {
  Value value = Value::object(
      {{"from", heartbeat.from}, {"holds", numbers(heartbeat.holds)}, {"claims", numbers(heartbeat.claims)}});
  if (!heartbeat.releases.empty()) value.set("releases", names(heartbeat.releases));
  if (!heartbeat.roles.empty()) value.set("roles", names(heartbeat.roles));
  if (heartbeat.leaving) value.set("leaving", true);
  if (heartbeat.early) value.set("early", true);
  if (heartbeat.fold_version > 0) value.set("foldVersion", heartbeat.fold_version);
  return to_json(value);
}

Result<Heartbeat> heartbeat_from(std::string_view text) {
  auto parsed = parse_json(text);
  if (!parsed || !parsed.value()["from"].is_string()) {
    return Error{ErrorCode::kCorrupt, "a record of the leases is not a heartbeat of a shiplogd process"};
  }
  const Value& value = parsed.value();
  Heartbeat heartbeat;
  heartbeat.from = value["from"].str();
  heartbeat.holds = numbers(value["holds"]);
  heartbeat.claims = numbers(value["claims"]);
  heartbeat.releases = names(value["releases"]);
  heartbeat.roles = names(value["roles"]);
  heartbeat.leaving = value["leaving"].as_bool();
  heartbeat.early = value["early"].as_bool();
  heartbeat.fold_version = static_cast<uint32_t>(std::max<int64_t>(value["foldVersion"].as_int(), 0));
  return heartbeat;
}

void LeaseTable::fold(Offset at, const Heartbeat& heartbeat) {
  read_to_ = at.value;
  if (heartbeat.from == self_ && !heartbeat.early) {
    for (auto& [service, lease] : leases_) ++lease.silence;
    for (auto& [name, process] : processes_) ++process.silence;
    std::erase_if(processes_, [](const auto& known) { return known.second.silence > kForgottenAfter; });
  }
  processes_[heartbeat.from] = {heartbeat.fold_version, 0, heartbeat.roles};
  // An offset that lies behind the heartbeat itself is one of a log that this log has replaced.
  for (const auto& [service, won_at] : heartbeat.holds) {
    if (won_at >= at.value) continue;
    Lease& lease = leases_[service];
    if (won_at < lease.won_at) continue;  // it has not read of its successor yet
    // A reader that began in the middle of the log learns of the win from the winner.
    lease = {heartbeat.from, won_at, 0};
  }
  for (const auto& [service, read_to] : heartbeat.claims) {
    if (read_to >= at.value) continue;
    Lease& lease = leases_[service];
    if (read_to >= lease.won_at) lease = {heartbeat.from, at.value, 0};
  }
  for (const std::string& service : heartbeat.releases) {
    if (const auto found = leases_.find(service); found != leases_.end() && found->second.holder == heartbeat.from) {
      found->second.holder.clear();
    }
  }
  if (!heartbeat.leaving) return;
  processes_.erase(heartbeat.from);
  for (auto& [service, lease] : leases_) {
    if (lease.holder == heartbeat.from) lease.holder.clear();
  }
}

void LeaseTable::forget() {
  leases_.clear();
  processes_.clear();
  read_to_ = -1;
}

Heartbeat LeaseTable::next_heartbeat() const {
  Heartbeat heartbeat;
  heartbeat.from = self_;
  heartbeat.fold_version = fold_version_;
  heartbeat.roles = roles_;
  for (const auto& [service, lease] : leases_) {
    if (lease.holder == self_ && !wanted_.contains(service)) heartbeat.releases.insert(service);
  }
  for (const std::string& service : wanted_) {
    const auto found = leases_.find(service);
    if (found == leases_.end()) {
      heartbeat.claims[service] = read_to_;
    } else if (found->second.holder == self_) {
      heartbeat.holds[service] = found->second.won_at;
    } else if (found->second.holder.empty() || found->second.silence >= patience_) {
      heartbeat.claims[service] = read_to_;
    }
  }
  return heartbeat;
}

bool LeaseTable::led(const std::string& service) const {
  const auto found = leases_.find(service);
  return found != leases_.end() && !found->second.holder.empty() && found->second.silence < patience_;
}

std::optional<uint32_t> LeaseTable::fold_version_of_all() const {
  if (!processes_.contains(self_)) return std::nullopt;
  uint32_t lowest = fold_version_;
  for (const auto& [name, process] : processes_) lowest = std::min(lowest, process.fold_version);
  return lowest;
}

std::vector<std::string> LeaseTable::candidates(const std::string& role) const {
  std::vector<std::string> names;
  for (const auto& [name, process] : processes_) {
    if (process.silence < patience_ && process.roles.contains(role)) names.push_back(name);
  }
  return names;
}

bool LeaseTable::is_urgent() const {
  const Heartbeat next = next_heartbeat();
  return !next.claims.empty() || !next.releases.empty();
}

bool LeaseTable::leads(const std::string& service) const {
  const auto found = leases_.find(service);
  return found != leases_.end() && found->second.holder == self_;
}

}  // namespace shiplog
