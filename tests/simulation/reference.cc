#include "tests/simulation/reference.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <variant>

#include "events/base/json.h"
#include "events/slots.h"
#include "events/state/work.h"
#include "services/roles/recorder/event_drafts.h"

namespace shiplog::simulation {
namespace {

/// Summed up here from the objects, on purpose not with the fold's own helpers: targets' replicas times what each
/// replica requests.
ResourceList usage_in(const State& state, const std::string& ns) {
  ResourceList sum;
  for (const auto& [name, binding] : state.objects(type::kResourceBinding, ns)) {
    const Value& spec = binding.value["spec"];
    int64_t replicas = 0;
    for (const Value& target : spec["clusters"].items()) replicas += target["replicas"].as_int();
    for (const auto& request : spec["replicaRequirements"]["resourceRequest"].members()) {
      const auto amount = parse_quantity(std::string{request.value.as_string()});
      if (!amount || replicas == 0) continue;
      Quantity& total = sum[std::string{request.key()}];
      total = total + amount.value() * replicas;
    }
  }
  return sum;
}

Quantity in(const ResourceList& list, const std::string& name) {
  const auto at = list.find(name);
  return at == list.end() ? Quantity{} : at->second;
}

}  // namespace

std::string described(const Entry& entry, const Folded& folded) {
  std::string text = entry.fence.service.empty() ? entry.actor.user : entry.fence.service;
  if (!entry.fence.service.empty()) text += "/" + std::to_string(entry.fence.epoch);
  if (!entry.request.verb.empty()) text += " " + entry.request.verb + " " + entry.request.path;
  if (entry.as_of.value > 0) text += " as of " + std::to_string(entry.as_of.value);
  for (const Event& event : entry.events) {
    text += "; " + std::string{name_of(event)} + " " + to_string(subject_of(event)) + " " + summary_of(event);
  }
  if (folded.refusal) return text + " -> " + (folded.duplicate ? "twin" : "refused: " + folded.refusal->reason);
  return text + " -> revision " + std::to_string(folded.revision.value);
}

void Reference::on_sent(const std::string& bytes) { sent_.insert(siphash128(bytes)); }

void Reference::on_stored(const SimLog::Stored& stored, UtcMillis now) {
  if (stored.entry == nullptr) {
    return trace_.broken("codec", "offset " + std::to_string(stored.offset.value) + " does not decode");
  }
  const Entry& entry = *stored.entry;
  const Lease lease = state_.lease(entry.fence.service);
  bool expected = true;
  for (const Expect& one : entry.expects) expected = expected && state_.revision_of(one.object) == one.revision;
  const Folded folded = fold(state_, entry);
  points_[stored.offset] = {entry.id, folded.revision, state_.hash(), folded.refusal.has_value(), folded.duplicate};
  events_ += entry.events.size();
  trace_.line(stored.author, "@" + std::to_string(stored.offset.value) + " " + described(entry, folded));
  if (folded.stop) trace_.broken("hash", "the fold stops: " + *folded.stop);
  check_origin(stored, entry);
  if (folded.refusal) {
    ++refused_;
    if (!folded.changes.empty()) trace_.broken("fold", "a refused entry has changed something");
    const std::string by = entry.fence.service.empty() ? "api" : entry.fence.service;
    ++refusals_[by + ": " + std::string{name_of(folded.refusal->code)} + (folded.duplicate ? " (twin)" : "")];
    return;
  }
  ++accepted_;
  if (entry.cause.trace_id.empty()) trace_.broken("trace", "entry " + to_string(entry.id) + " has no trace");
  changes_.insert(changes_.end(), folded.changes.begin(), folded.changes.end());
  if (!applied_.insert(entry.id).second) trace_.broken("twice", "entry " + to_string(entry.id) + " applied again");
  if (!entry.cause.trace_id.empty() && entry.fence.service.empty()) {
    if (++accepted_writes_[entry.cause.trace_id] > 1) trace_.broken("twice", entry.cause.trace_id + " applied again");
  }
  if (!expected) trace_.broken("expects", "an entry was accepted whose expectations do not hold");
  check_fence(stored, entry, lease);
  check_quota(folded);
  check_content(entry, folded);
  check_gates(entry);
  check_budget(entry, now);
  check_reports(entry, folded);
}

namespace {

/// Without what the server fills in.
Value as_requested(Value object) {
  for (const char* field : {"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields",
                            "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    object.edit("metadata").erase(field);
  }
  object.erase("status");
  return object;
}

}  // namespace

/// What is stored of a user's write is what the user sent, in the journal and in the object.
void Reference::check_content(const Entry& entry, const Folded& folded) {
  if (!entry.fence.service.empty()) return;
  const auto requested = requested_.find(entry.cause.trace_id);
  if (requested == requested_.end()) return;
  if (entry.events != requested->second) {
    return trace_.broken("content", entry.cause.trace_id + " is stored with another content than it was sent with");
  }
  for (const Event& event : entry.events) {
    const auto* created = std::get_if<ObjectCreated>(&event);
    const auto* updated = std::get_if<ObjectUpdated>(&event);
    if (created == nullptr && updated == nullptr) continue;
    const ObjectKey& key = created != nullptr ? created->object : updated->object;
    const Value sent = as_requested(created != nullptr ? created->value : updated->value);
    for (const Change& change : folded.changes) {
      if (change.object != key || change.after.is_null()) continue;
      const Value stored = as_requested(change.after);
      if (stored == sent) continue;
      trace_.broken("content", entry.cause.trace_id + " made " + to_json(stored) + " of " + to_json(sent));
    }
  }
}

/// A fleet in which evictions were never switched on evicts nothing.
void Reference::check_gates(const Entry& entry) {
  // From what is recorded, not as the roles ask for it.
  const bool on =
      state_.fold_version() < 7 ||
      (state_.recorded_gates().failover && state_.options().no_execute_eviction == std::vector<std::string>{"true"});
  evictions_were_on_ = evictions_were_on_ || on;
  for (const Event& event : entry.events) {
    const auto* started = std::get_if<EvictionStarted>(&event);
    if (started == nullptr || started->producer != "TaintManager" || evictions_were_on_) continue;
    trace_.broken("gate", to_string(started->binding) + " is evicted, and evictions are off");
  }
}

/// Within no window there are more evictions for taints than the budget allows. It is kept by the clocks of those that
/// decide: where one is far off, counting begins anew; small differences make the window shorter by as much.
void Reference::check_budget(const Entry& entry, UtcMillis now) {
  constexpr Millis kClocksDiffer{12'000};
  const std::vector<std::string>& words = state_.options().eviction_budget;
  if (state_.fold_version() < 7) {  // there is no budget
    without_budget_ = state_.revision();
    return;
  }
  if (budget_ != words) {
    budget_ = words;
    evictions_.clear();
  }
  const auto limit =
      std::ranges::find_if(budget_, [](const std::string& word) { return word.starts_with("evictions="); });
  if (limit == budget_.end()) return;
  const auto most = std::stoul(limit->substr(std::string{"evictions="}.size()));
  constexpr Millis kWindow{30'000 - kClocksDiffer.value};
  for (const Event& event : entry.events) {
    const auto* started = std::get_if<EvictionStarted>(&event);
    if (started == nullptr || started->producer != "TaintManager") continue;
    if (entry.as_of <= without_budget_) continue;  // decided before there was one
    if (std::abs((entry.time - now).value) > kClocksDiffer.value) return evictions_.clear();
    evictions_.push_back(entry.time);
    const auto within = std::ranges::count_if(evictions_, [&](UtcMillis at) { return entry.time - at < kWindow; });
    if (std::cmp_less_equal(within, most)) continue;
    trace_.broken("budget", to_string(started->binding) + " is evicted, as number " + std::to_string(within) +
                                " within a window, of " + std::to_string(most));
  }
}

/// The Kubernetes Events of it: about an object, with a message, and the same when computed again.
void Reference::check_reports(const Entry& entry, const Folded& folded) {
  const std::vector<recorder::EventDraft> reports = recorder::event_drafts_of(state_, entry, folded);
  for (const recorder::EventDraft& one : reports) {
    const Value& object = one.object;
    if (object["metadata"]["name"].is_empty() || object["metadata"]["uid"].is_empty() || object["kind"].is_empty()) {
      trace_.broken("tell", std::string{one.reason} + " is about nobody: " + to_json(object));
    }
    if (one.message.empty()) trace_.broken("tell", std::string{one.reason} + " says nothing");
  }
  if (reports != recorder::event_drafts_of(state_, entry, folded))
    trace_.broken("tell", "another thing when asked again");
}

/// Nothing is in the journal that no process wrote.
void Reference::check_origin(const SimLog::Stored& stored, const Entry& entry) {
  if (sent_.contains(siphash128(stored.bytes))) return;
  trace_.broken("twice", "entry " + to_string(entry.id) + " is in the journal, and nobody appended it like that");
}

/// Accepted only under the newest lease, and from the process that holds it.
void Reference::check_fence(const SimLog::Stored& stored, const Entry& entry, const Lease& lease) {
  for (const Event& event : entry.events) {
    const auto* taken = std::get_if<LeaseTaken>(&event);
    if (taken == nullptr) continue;
    uint64_t& newest = epochs_[taken->service];
    if (taken->epoch != newest + 1) trace_.broken("fence", "the lease of " + taken->service + " skips an epoch");
    newest = taken->epoch;
  }
  const std::string& service = entry.fence.service;
  if (service.empty()) {
    if (entry.request.verb == "decide") trace_.broken("fence", "a decision without a fence was accepted");
    return;
  }
  if (entry.fence.epoch != epochs_[service]) trace_.broken("fence", "an older epoch of " + service + " was accepted");
  if (lease.holder != stored.author) {
    trace_.broken("fence", stored.author + " decides for " + service + ", whose lease is held by " + lease.holder);
  }
  check_slot(entry);
}

/// What is decided and observed under the lease of a slot is of its members and keys, so that each has one owner; and
/// nothing is under the lease of a whole role once its slots have leases.
void Reference::check_slot(const Entry& entry) {
  const std::string& lease = entry.fence.service;
  const auto slot = slot_of_lease(lease);
  if (!slot) {
    const auto slots = epochs_.upper_bound(lease);
    if (slots != epochs_.end() && slot_of_lease(slots->first) && role_of_lease(slots->first) == lease)
      trace_.broken("fence", lease + " decides beside its slots");
    return;
  }
  ++under_slots_;
  if (entry.request.verb == "decide" && slot_of(entry.request.path) != *slot) {
    trace_.broken("fence", entry.request.path + " is decided under the lease of " + lease);
  }
  for (const Event& event : entry.events) {
    const ObjectKey key = subject_of(event);
    const std::string member = key.type == type::kWork      ? cluster_of_space(key.ns)
                               : key.type == type::kCluster ? key.name.str()
                                                            : "";
    if (entry.request.verb == "observe" && !member.empty() && slot_of(member) != *slot) {
      trace_.broken("fence", "what " + member + " did is reported under the lease of " + lease);
    }
  }
}

/// No accepted entry raises a namespace's use beyond a limit. A limit that was lowered below what is used stays
/// exceeded, but not by more.
void Reference::check_quota(const Folded& folded) {
  std::set<std::string> touched;
  for (const Change& change : folded.changes) {
    if (change.object.type == type::kResourceBinding || change.object.type == type::kFederatedResourceQuota) {
      touched.insert(change.object.ns.str());
    }
  }
  for (const std::string& ns : touched) {
    ResourceList now = usage_in(state_, ns);
    ResourceList& before = used_[ns];
    bool limited = false;
    for (auto at = state_.quotas().lower_bound({ns, ""}); at != state_.quotas().end() && at->first.ns == ns; ++at) {
      limited = true;
      for (const auto& [resource, limit] : at->second.overall) {
        if (!state_.gates().quota_enforcement) continue;
        if (in(now, resource) * limit_share_ <= limit || in(now, resource) <= in(before, resource)) continue;
        trace_.broken("quota", ns + "/" + at->first.name + ": " + resource + " is exceeded");
      }
    }
    if (limited) {
      for (const auto& [resource, amount] : now) {
        if (in(state_.quota_usage(ns), resource) != amount) {
          trace_.broken("quota", "the state's own sum for " + ns + " is wrong: " + resource);
        }
      }
    }
    before = std::move(now);
  }
}

void Reference::check_start(const std::string& who, Offset next, const State& state) {
  const auto after = points_.lower_bound(next);
  const Hash128 expected = after == points_.begin() ? State{}.hash() : std::prev(after)->second.hash;
  if (state.hash() != expected) trace_.broken("hash", who + " starts with another state than the journal has there");
}

void Reference::on_folded(const std::string& who, const State& state, const DecodedRecord& record,
                          const Folded& folded) {
  const auto at = points_.find(record.offset);
  if (at == points_.end()) return trace_.broken("hash", who + " folds a record that is not in the journal");
  const Point& point = at->second;
  if (folded.stop) trace_.broken("hash", who + " stops: " + *folded.stop);
  if (record.entry.id == point.id && state.revision() == point.revision && state.hash() == point.hash &&
      folded.refusal.has_value() == point.refused && folded.duplicate == point.duplicate) {
    return;
  }
  trace_.broken("hash", who + " at offset " + std::to_string(record.offset.value) + ": revision " +
                            std::to_string(state.revision().value) + ", hash " + to_string(state.hash()) +
                            "; the journal comes to revision " + std::to_string(point.revision.value) + ", hash " +
                            to_string(point.hash));
}

}  // namespace shiplog::simulation
