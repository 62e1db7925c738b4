#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/runtime/role.h"
#include "services/runtime/trace.h"
#include "tests/support/given.h"

namespace shiplog::given {

/// A reconcile step on a History: appends fold at once. `before_append` may change the state first, as another replica
/// or service would.
class FakeTask final : public Task {
 public:
  FakeTask(History& history, ObjectKey key) : history_{history}, key_{std::move(key)} {}

  const ObjectKey& key() const override { return key_; }
  const State& state() const override { return history_.state(); }
  UtcMillis now() const override { return history_.now(); }
  const TraceContext& trace() override { return trace_context; }
  void begin_trace() override { trace_context = {}; }
  void append_decision(Decision decision, Appended then) override { append(std::move(decision), then); }
  void append_observation(Decision observation, Appended then) override {
    ++observed;
    append(std::move(observation), then);
  }
  void done(Millis later) override {
    ++finished;
    looks_again = later.value > 0;
    look_again = later;
  }
  void retry(const Error& error) override {
    ++finished;
    failure = error;
  }
  std::function<void()> waker(Millis) override {
    return [count = woken] { ++*count; };
  }

  std::function<void()> before_append;
  TraceContext trace_context;  ///< of the step's cause
  std::vector<Folded> folded;  ///< of each append
  int observed = 0;            ///< how many of them are observations
  int finished = 0;            ///< done() and retry() together: must end at 1
  bool looks_again = false;    ///< done() requested another step, without a trigger
  Millis look_again;           ///< after so long
  std::optional<Error> failure;
  std::shared_ptr<int> woken = std::make_shared<int>(0);  ///< how often a waker was called

 private:
  void append(Decision decision, const Appended& then) {
    if (before_append) std::exchange(before_append, nullptr)();
    folded.push_back(history_.fold(std::move(decision.events), std::move(decision.expects)));
    const auto& refusal = folded.back().refusal;
    if (refusal) return then(Error{refusal->code, refusal->reason});
    then(folded.back().revision);
  }

  History& history_;
  ObjectKey key_;
};

/// The keys that a role reconciles after a change that folding this entry makes.
inline std::vector<ObjectKey> woken(Role& service, History& history, std::vector<Event> events) {
  std::vector<ObjectKey> keys;
  const Folded folded = history.fold(std::move(events));
  if (folded.refusal) ADD_FAILURE() << "refused: " << folded.refusal->reason;
  for (const Change& change : folded.changes) service.on_change(history.state(), change, keys);
  return keys;
}

}  // namespace shiplog::given
