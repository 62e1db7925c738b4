#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/fold/fold.h"
#include "events/state/state.h"

namespace shiplog {

/// The result of one event: nothing, when applied; else the refusal.
using Applied = std::optional<Refusal>;

/// A refusal about the object: "TYPE/NAMESPACE/NAME not found".
inline Refusal refusal_about(const ObjectKey& object, ErrorCode code, const std::string& what) {
  return {code, to_string(object) + " " + what, object};
}

/// The changes of one entry while it is being folded. Nothing reaches the state before commit(), so an entry applies
/// whole or not at all.
class Staged {
 public:
  Staged(const State& state, const EntryId& id, UtcMillis time) : state_{state}, id_{id}, time_{time} {}

  const State& state() const { return state_; }
  /// Whether objects are to share equal parts (0143). Not in a replay, which is over soon.
  bool shares_parts() const { return !state_.hashes_deferred(); }
  UtcMillis time() const { return time_; }

  /// The object as staged so far; nullptr when it does not exist.
  const Value* find(const ObjectKey& key) const;
  /// Refuses with kAlreadyExists, or when the namespace does not exist or is being deleted.
  Applied create(const ObjectKey& key, Value value);
  /// Replaces an existing object. Refuses with kNotFound.
  Applied update(const ObjectKey& key, Value value);
  /// The same for a write of the status alone: metadata in it does not count for the generation.
  Applied update_status(const ObjectKey& key, Value value);
  /// The same for the record of the object's deletion, which an update cannot change.
  Applied update_deletion(const ObjectKey& key, Value value);
  /// Refuses with kNotFound.
  Applied remove(const ObjectKey& key);

  /// Checks the FederatedResourceQuotas of the namespaces whose bindings were touched, and from fold version 7 on
  /// writes the new usage into their status. Refuses with kForbidden; the refusal is about the quota.
  Applied settle_quotas();
  /// Checks that addresses which Services request are free (fold version 4). Refuses with kConflict.
  Applied check_services() const;
  /// Checks that no other Cluster has the id that a Cluster takes (fold version 8). Refuses with kConflict; the refusal
  /// is about that other one.
  Applied check_members() const;

  /// Finishes metadata, gives revisions, writes the state and returns the changes.
  std::vector<Change> commit(State& state);

 private:
  struct Touched {
    ObjectKey key;
    Value value;                     // null: removed
    const Object* before = nullptr;  // in the state, where it stays until commit() writes this very object
    bool updated = false;            // by more than a write of the status
    bool deletion_moved = false;
  };
  Applied replace(const ObjectKey& key, Value value, bool Touched::*how = nullptr);
  Applied stage(Touched* staged, const ObjectKey& key, Value value, const Object* before, bool Touched::*how);
  bool counts(const Touched& staged) const;
  Touched* touched(const ObjectKey& key);
  const Touched* touched(const ObjectKey& key) const;

  const State& state_;
  EntryId id_;
  UtcMillis time_;
  std::vector<Touched> touched_;  // in the order of first touch; an entry touches few objects
};

}  // namespace shiplog
