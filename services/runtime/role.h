#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/decision.h"
#include "events/slots.h"
#include "events/state/state.h"

namespace shiplog {

struct TraceContext;

/// One step of one key towards what should be. The key stays busy, and is not reconciled a second time, until done() or
/// retry() is called, once. Copies of the pointer may be kept across asynchronous work.
/// Threads: everything on the fold thread.
class Task {
 public:
  virtual ~Task() = default;
  virtual const ObjectKey& key() const = 0;
  /// As of now: it moves on between callbacks.
  virtual const State& state() const = 0;
  virtual UtcMillis now() const = 0;
  /// The trace that the entries of this step and its calls to other systems belong to: that of its cause or, if that
  /// one has none, a new one.
  virtual const TraceContext& trace() = 0;
  /// This step observes what its cause did not bring about: a new trace begins, and its entries have no cause. The key
  /// may have been queued long ago, for something else.
  virtual void begin_trace() = 0;

  /// The result of an append: the revision after it; or why the fold refused it (kConflict: decide again), or
  /// kUnavailable when the lease is lost. Unknown outcomes are retried below this interface.
  using Appended = std::function<void(Result<Revision>)>;
  /// Appends a decision: recomputable from (state, key, now) alone, so `replay --verify` runs it again.
  virtual void append_decision(Decision decision, Appended then) = 0;
  /// Appends what was observed outside: not recomputable.
  virtual void append_observation(Decision observation, Appended then) = 0;

  /// Nothing to do until a change triggers the key; or, when given, until `look_again` has passed.
  virtual void done(Millis look_again = Millis{0}) = 0;
  /// Something failed: again after an exponential backoff with jitter. Logged once.
  virtual void retry(const Error& error) = 0;

  /// Triggers this key, also when the step has ended: `delay` after it was called. For what arrives by itself, so that
  /// no key has to look for it. Without effect once this replica no longer acts for the key. Called on the fold thread.
  virtual std::function<void()> waker(Millis delay) = 0;
};
using TaskPtr = std::shared_ptr<Task>;

/// A role of shiplogd. Level-triggered: a change only triggers keys; reconcile compares desired with actual.
/// Keeps no durable state of its own. Threads: everything on the fold thread.
class Role {
 public:
  virtual ~Role() = default;
  /// Role and lease: "binder", "scheduler", ...
  virtual std::string_view name() const = 0;
  /// The keys a change triggers. Called for every change, also while another replica holds the lease.
  virtual void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) = 0;
  /// Of keys that are due, those of higher priority are reconciled first. Called whenever a key is triggered.
  virtual int64_t priority(const State& /*state*/, const ObjectKey& /*key*/) const { return 0; }
  /// Of a key whose step waits for a party outside, as a member: the name of that party. See ReconcileQueue. Empty: its
  /// step is over soon.
  virtual std::string lane_of_key(const ObjectKey& /*key*/) const { return {}; }
  /// The keys to reconcile when this replica begins to act (start, or lease taken over). Of a divided role it is called
  /// whenever slots are gained; keys of other slots are then left out.
  virtual void on_start(const State& state, std::vector<ObjectKey>& wake) = 0;
  /// This replica no longer acts: drop connections and what was observed.
  virtual void on_stop() {}
  /// Of a divided role: the slot that a key belongs to. By default what its name is hashed to.
  virtual int slot_of_key(const ObjectKey& key) const { return slot_of(to_string(key)); }
  /// Of a divided role: this replica no longer acts for the slot's keys, but may for others.
  virtual void on_slot_lost(int /*slot*/) {}
  /// One step of a key: follow() in services/runtime/follow.h for what is decided, and effects.
  virtual void reconcile(TaskPtr task) = 0;
};

}  // namespace shiplog
