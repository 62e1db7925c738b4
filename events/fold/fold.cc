#include "events/fold/fold.h"

#include <algorithm>
#include <variant>

#include "events/base/check.h"
#include "events/fold/apply.h"
#include "events/slots.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"

namespace shiplog {
namespace {

std::string unknown_version(uint32_t version) {
  return "the journal uses fold version " + std::to_string(version) + ", this build knows up to " +
         std::to_string(kFoldVersion) + ": install a newer shiplogd";
}

}  // namespace

/// Folds one entry; a friend of State, so that control events can reach what is not an object.
class Folder {
 public:
  Folder(const State& state, const Entry& entry) : state_{state}, staged_{state, entry.id, entry.time}, entry_{entry} {}

  std::optional<Refusal> refusal() {
    std::optional<Refusal> refusal = duplicate() ? Refusal{ErrorCode::kAlreadyExists, "duplicate entry"} : check();
    if (!refusal && settles_request()) refusal = check_request();
    if (!refusal) refusal = apply_all();
    if (!refusal) refusal = staged_.settle_quotas();
    if (!refusal) refusal = staged_.check_services();
    if (!refusal) refusal = staged_.check_members();
    return refusal;
  }

  /// `state` is the one this was made of.
  Folded run(State& state) {
    Folded folded;
    if (entry_.fold_version > kFoldVersion) {
      folded.stop = unknown_version(entry_.fold_version);
      folded.revision = state_.revision();
      return folded;
    }
    folded.duplicate = duplicate();
    folded.refusal = refusal();
    state.seen_.insert(entry_.id);
    if (entry_.time > state.meta_.time) state.meta_.time = entry_.time;
    if (!folded.refusal) {
      for (const LeaseTaken* taken : leases_) take_lease(state, *taken);
      folded.changes = staged_.commit(state);
      if (settles_request()) settle(state);
      if (version_ != 0) state.meta_.fold_version = version_;  // from the next entry on
      folded.stop = std::move(stop_);
    }
    folded.revision = state.revision();
    SHIPLOG_CHECK(!folded.refusal || folded.changes.empty(), "a refused entry changes nothing");
    SHIPLOG_CHECK(folded.changes.empty() || folded.changes.back().revision == folded.revision,
                  "the revision of a state is that of its last change");
    if (!folded.changes.empty() && !state.hashes_deferred()) state.remember_hash();
    return folded;
  }

 private:
  std::optional<Refusal> check() const {
    if (!entry_.fence.service.empty() && entry_.fence.epoch != state_.lease(entry_.fence.service).epoch) {
      return Refusal{ErrorCode::kConflict, "a newer lease holder decides for " + entry_.fence.service + ": epoch " +
                                               std::to_string(state_.lease(entry_.fence.service).epoch) + ", not " +
                                               std::to_string(entry_.fence.epoch)};
    }
    for (const Expect& expected : entry_.expects) {
      const Revision now = state_.revision_of(expected.object);
      if (now == expected.revision) continue;
      if (expected.revision == Revision{}) {
        return refusal_about(expected.object, ErrorCode::kAlreadyExists, "already exists");
      }
      if (now == Revision{}) return refusal_about(expected.object, ErrorCode::kNotFound, "not found");
      return refusal_about(expected.object, ErrorCode::kConflict,
                           "has moved on: revision " + std::to_string(now.value) + ", expected " +
                               std::to_string(expected.revision.value));
    }
    return std::nullopt;
  }

  bool duplicate() const { return state_.seen(entry_.id); }

  bool settles_request() const { return state_.fold_version() >= 5 && !entry_.source.id.empty(); }

  EntryId request() const { return request_key(entry_.actor.user, entry_.source.id); }

  /// The entry's changes come with a request; a denial comes alone, and the user may send the request again.
  bool carries_out() const {
    return std::ranges::none_of(entry_.events,
                                [](const Event& event) { return std::holds_alternative<RequestDenied>(event); });
  }

  /// The first entry for a record settles it: what a consumer appends that has lost its partition, or was restarted
  /// before the record counted as consumed, changes nothing.
  std::optional<Refusal> check_request() const {
    const RequestSource& source = entry_.source;
    Refusal refusal{ErrorCode::kAlreadyExists, ""};
    refusal.settled = true;
    if (!source.topic.empty()) {
      const SettledOffsets& settled = state_.settled(source.topic, source.partition);
      if (settled.contains(source.offset)) {
        refusal.reason = "the request of record " + record_of(source) + " is settled";
        return refusal;
      }
      if (settled.full(source.offset)) {
        return Refusal{ErrorCode::kTooManyRequests, "too many records of " + source.topic + " partition " +
                                                        std::to_string(source.partition) +
                                                        " are settled behind one that is not"};
      }
    }
    if (!state_.carried_out(request())) return std::nullopt;
    refusal.reason = "the request \"" + source.id + "\" of this user was carried out before";
    return refusal;
  }

  void settle(State& state) const {
    const RequestSource& source = entry_.source;
    if (carries_out()) state.requests_.insert(request());
    if (source.topic.empty()) return;
    SettledOffsets& settled = state.meta_.settled[{source.topic, source.partition}];
    settled.insert(source.offset);
    settled.raise(source.done_before);
  }

  /// A holder of the whole role, which may be of an older build and frozen, does not decide beside those of its slots.
  static void take_lease(State& state, const LeaseTaken& taken) {
    Leases& leases = state.meta_.leases;
    leases.set(taken.service, {taken.holder, taken.epoch});
    if (state.fold_version() < kSlotsFoldVersion || !slot_of_lease(taken.service)) return;
    const std::string role{role_of_lease(taken.service)};
    const Lease& whole = state.lease(role);
    if (!whole.holder.empty()) leases.set(role, {"", whole.epoch + 1});
  }

  bool has_slots(const std::string& role) const {
    const Leases::Map& leases = state_.meta_.leases.all();
    const auto first = leases.lower_bound(role + ":");
    return first != leases.end() && role_of_lease(first->first) == role && first->first != role;
  }

  Applied apply_all() {
    for (const Event& event : entry_.events) {
      Applied refused = std::visit([&](const auto& alternative) { return this->apply_one(alternative); }, event);
      if (refused) return refused;
    }
    return std::nullopt;
  }

  template <class E>
  Applied apply_one(const E& event) {
    return apply(staged_, event);
  }
  Applied apply_one(const LeaseTaken& event) {
    const uint64_t current = state_.lease(event.service).epoch;
    if (event.epoch != current + 1) {
      return Refusal{ErrorCode::kConflict, "the lease of " + event.service + " is at epoch " + std::to_string(current)};
    }
    if (state_.fold_version() >= kSlotsFoldVersion && !slot_of_lease(event.service) && has_slots(event.service)) {
      return Refusal{ErrorCode::kConflict, "the role " + event.service + " is divided: its slots have the leases"};
    }
    leases_.push_back(&event);
    return std::nullopt;
  }
  Applied apply_one(const FoldVersionActivated& event) {
    if (event.version < state_.fold_version()) {
      return Refusal{ErrorCode::kConflict, "fold version " + std::to_string(state_.fold_version()) + " is active"};
    }
    if (event.version > kFoldVersion) {
      stop_ = unknown_version(event.version);
    } else {
      version_ = event.version;
    }
    return std::nullopt;
  }
  Applied apply_one(const StateHashed& event) {
    const auto mine = state_.hash_at(event.revision);
    if (mine && *mine != event.hash) {
      stop_ = "this replica has folded to another state: at revision " + std::to_string(event.revision.value) +
              " the journal records state hash " + to_string(event.hash) + ", this replica has " + to_string(*mine) +
              "; remove the projection so that it is rebuilt, and report this if it happens again";
    }
    return std::nullopt;
  }
  Applied apply_one(const SnapshotTaken&) { return std::nullopt; }
  Applied apply_one(const FeatureGatesSet& event) {
    for (const std::string& name : event.on) {
      if (!is_feature_gate(name)) {
        stop_ = "the journal turns on the feature gate " + name +
                ", which this build does not know: install a newer shiplogd";
      }
    }
    return apply(staged_, event);
  }
  Applied apply_one(const OptionsSet& event) {
    FleetOptions known;
    for (const OptionSetting& setting : event.settings) {
      if (!set_fleet_option(known, setting)) {
        stop_ = "the journal sets the option --" + setting.name +
                ", which this build does not know: install a newer shiplogd";
      }
    }
    return apply(staged_, event);
  }

  const State& state_;
  Staged staged_;
  const Entry& entry_;
  std::vector<const LeaseTaken*> leases_;
  uint32_t version_ = 0;
  std::optional<std::string> stop_;
};

Folded fold(State& state, const Entry& entry) { return Folder{state, entry}.run(state); }

std::optional<Refusal> would_refuse(const State& state, const Entry& entry) { return Folder{state, entry}.refusal(); }

}  // namespace shiplog
