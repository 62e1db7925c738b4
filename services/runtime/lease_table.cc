#include "services/runtime/lease_table.h"

#include "events/base/json.h"

namespace shiplog {
namespace {

Value numbers(const std::map<std::string, int64_t>& from) {
  Value object = Value::object({});
  for (const auto& [name, number] : from) object.set(name, number);
  return object;
}

std::map<std::string, int64_t> numbers(const Value& from) {
  std::map<std::string, int64_t> map;
  for (const auto& member : from.members()) map[std::string{member.key()}] = member.value.as_int();
  return map;
}

}  // namespace

std::string to_text(const Beat& beat) {
  Value value = Value::object({{"from", beat.from}, {"holds", numbers(beat.holds)}, {"claims", numbers(beat.claims)}});
  if (beat.leaving) value.set("leaving", true);
  return to_json(value);
}

Result<Beat> beat_from(std::string_view text) {
  auto parsed = parse_json(text);
  if (!parsed || !parsed.value()["from"].is_string()) {
    return Error{ErrorCode::kCorrupt, "a record of the leases is no beat of a shiplogd"};
  }
  const Value& value = parsed.value();
  Beat beat;
  beat.from = value["from"].str();
  beat.holds = numbers(value["holds"]);
  beat.claims = numbers(value["claims"]);
  beat.leaving = value["leaving"].as_bool();
  return beat;
}

void LeaseTable::fold(Offset at, const Beat& beat) {
  read_to_ = at.value;
  if (beat.from == self_) {
    for (auto& [service, lease] : leases_) ++lease.silence;
  }
  for (const auto& [service, won_at] : beat.holds) {
    Lease& lease = leases_[service];
    if (won_at < lease.won_at) continue;  // it has not read of its successor yet
    // A reader that began in the middle of the log learns of the win from the winner.
    lease = {beat.from, won_at, 0};
  }
  for (const auto& [service, read_to] : beat.claims) {
    Lease& lease = leases_[service];
    if (read_to >= lease.won_at) lease = {beat.from, at.value, 0};
  }
  if (!beat.leaving) return;
  for (auto& [service, lease] : leases_) {
    if (lease.holder == beat.from) lease.holder.clear();
  }
}

Beat LeaseTable::next_beat() const {
  Beat beat;
  beat.from = self_;
  for (const std::string& service : wanted_) {
    const auto at = leases_.find(service);
    if (at == leases_.end()) {
      beat.claims[service] = read_to_;
    } else if (at->second.holder == self_) {
      beat.holds[service] = at->second.won_at;
    } else if (at->second.holder.empty() || at->second.silence >= patience_) {
      beat.claims[service] = read_to_;
    }
  }
  return beat;
}

bool LeaseTable::led(const std::string& service) const {
  const auto at = leases_.find(service);
  return at != leases_.end() && !at->second.holder.empty() && at->second.silence < patience_;
}

bool LeaseTable::leads(const std::string& service) const {
  const auto at = leases_.find(service);
  return at != leases_.end() && at->second.holder == self_;
}

}  // namespace shiplog
