#include "services/runtime/role_loop.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "events/state/object.h"
#include "services/runtime/queue.h"
#include "services/runtime/trace.h"

namespace shiplog {

struct RoleLoop::Running {
  std::unique_ptr<Role> role;
  ReconcileQueue queue;
  bool running = true;
  bool pumping = false;              // a pump is posted
  std::optional<UtcMillis> armed;    // a timer is set for then
  std::vector<ObjectKey> wake = {};  // used again for each change
};

/// One step of one key; void once its role has stopped: it sees an empty state then, and what it appends goes nowhere.
class RoleLoop::Step final : public Task, public std::enable_shared_from_this<RoleLoop::Step> {
 public:
  Step(RoleLoop& loop, std::shared_ptr<Running> running, ReconcileQueue::Taken taken)
      : loop_{loop},
        running_{std::move(running)},
        taken_{std::move(taken)},
        trace_{trace_from_journal(taken_.cause.trace_id)} {}

  const ObjectKey& key() const override { return taken_.key; }
  // An answer of a member may arrive when the loop is gone, and what it refers to.
  const State& state() const override {
    static const State kNothing;
    return running_->running ? *loop_.options_.state : kNothing;
  }
  UtcMillis now() const override { return running_->running ? loop_.options_.executor->now() : UtcMillis{}; }
  const TraceContext& trace() override {
    if (trace_.id.empty() && running_->running) trace_ = new_trace(loop_.random_);
    return trace_;
  }
  void begin_trace() override {
    trace_ = {};
    taken_.cause = {};
  }

  void append_decision(Decision decision, Appended then) override {
    append("decide", std::move(decision), std::move(then));
  }
  void append_observation(Decision seen, Appended then) override {
    append("observe", std::move(seen), std::move(then));
  }

  void done(Millis look_again) override {
    if (!running_->running) return;
    std::optional<UtcMillis> at;
    if (look_again.value > 0) {
      at = now() + look_again;
      if (const int64_t step = loop_.options_.timer_step.value; step > 0) {
        at = UtcMillis{(at->value + step - 1) / step * step};
      }
    }
    running_->queue.done(taken_.key, now(), at);
    loop_.arm(running_);
  }

  void retry(const Error& error) override {
    if (!running_->running) return;
    if (loop_.options_.on_retry) loop_.options_.on_retry(*running_->role, taken_.key, error);
    running_->queue.retry(taken_.key, now(), loop_.random_);
    loop_.arm(running_);
  }

  std::function<void()> waker(Millis delay) override {
    // Weakly: the role keeps it.
    return [&loop = loop_, weak = std::weak_ptr{running_}, key = taken_.key, delay] {
      const auto running = weak.lock();
      if (running == nullptr || !running->running) return;  // nor is there a loop, perhaps
      loop.options_.executor->post_after(delay, [&loop, running, key] {
        if (!running->running) return;
        running->queue.wake(key, loop.options_.executor->now(), {});
        loop.arm(running);
      });
    };
  }

 private:
  void append(const char* verb, Decision decision, Appended then) {
    if (!running_->running) return;
    auto entry = std::make_shared<Entry>();
    entry->actor.service = std::string{running_->role->name()};
    entry->request = {verb, to_string(taken_.key)};
    entry->cause = taken_.cause;
    entry->cause.trace_id = journaled(trace());
    entry->as_of = state().revision();
    entry->fold_version = state().fold_version();
    entry->expects = std::move(decision.expects);
    entry->events = std::move(decision.events);
    entry->time = now();
    loop_.options_.executor->post_after(loop_.options_.append_latency,
                                        [self = shared_from_this(), entry, then = std::move(then)] {
                                          if (!self->running_->running) return;
                                          const Folded folded = self->loop_.fold_now(*entry);
                                          if (!self->running_->running) return;
                                          if (folded.refusal) {
                                            return then(Error{folded.refusal->code, folded.refusal->reason});
                                          }
                                          then(folded.revision);
                                        });
  }

  RoleLoop& loop_;
  std::shared_ptr<Running> running_;
  ReconcileQueue::Taken taken_;
  TraceContext trace_;
};

RoleLoop::RoleLoop(Options options) : options_{std::move(options)}, random_{options_.seed} {}

RoleLoop::~RoleLoop() {
  for (const auto& running : roles_) running->running = false;
}

void RoleLoop::add(std::unique_ptr<Role> role) {
  auto running = std::make_shared<Running>();
  running->role = std::move(role);
  std::vector<ObjectKey> wake;
  running->role->on_start(*options_.state, wake);
  roles_.push_back(running);
  trigger(running, wake, nullptr, {});
}

void RoleLoop::stop(std::string_view role) {
  for (const auto& running : roles_) {
    if (running->role->name() != role) continue;
    running->running = false;
    running->role->on_stop();
  }
  std::erase_if(roles_, [](const auto& running) { return !running->running; });
}

void RoleLoop::wake(std::string_view role, const ObjectKey& key) {
  for (const auto& running : roles_) {
    if (running->role->name() != role) continue;
    running->queue.wake(key, options_.executor->now(), {}, running->role->priority(*options_.state, key));
    arm(running);
  }
}

Folded RoleLoop::write(Entry entry) {
  entry.time = options_.executor->now();
  entry.fold_version = options_.state->fold_version();
  return fold_now(entry);
}

Folded RoleLoop::fold_now(Entry& entry) {
  entry.id = new_entry_id(random_);
  Folded folded = fold(*options_.state, entry);
  if (options_.on_folded) options_.on_folded(entry, folded);
  const Cause cause{folded.revision, entry.id, entry.cause.trace_id};
  for (const Change& change : folded.changes) {
    if (options_.collect_clusters.value == 0 || change.object.type != type::kCluster) {
      hand_on(change, cause);
      continue;
    }
    if (clusters_.empty()) options_.executor->post_after(options_.collect_clusters, [this] { hand_on_clusters(); });
    const auto [at, first] = clusters_.try_emplace(change.object.name.str(), Collected{change, cause});
    if (first) continue;
    at->second.change.after = change.after;
    at->second.change.revision = change.revision;
    at->second.change.json = change.json;
  }
  return folded;
}

void RoleLoop::hand_on_clusters() {
  const auto collected = std::exchange(clusters_, {});
  for (const auto& [name, one] : collected) hand_on(one.change, one.cause);
}

void RoleLoop::hand_on(const Change& change, const Cause& cause) {
  const auto roles = roles_;  // a role may be stopped meanwhile
  for (const auto& running : roles) {
    std::vector<ObjectKey> wake = std::exchange(running->wake, {});
    wake.clear();
    running->role->on_change(*options_.state, change, wake);
    trigger(running, wake, &change, cause);
    running->wake = std::move(wake);
  }
}

void RoleLoop::trigger(const std::shared_ptr<Running>& running, const std::vector<ObjectKey>& keys,
                       const Change* change, const Cause& cause) {
  if (keys.empty()) return;
  const UtcMillis now = options_.executor->now();
  for (const ObjectKey& key : keys) {
    if (options_.admits && !options_.admits(*running->role, key, change)) continue;
    running->queue.wake(key, now, cause, running->role->priority(*options_.state, key));
  }
  arm(running);
}

void RoleLoop::arm(const std::shared_ptr<Running>& running) {
  if (!running->running || running->pumping) return;
  const auto due = running->queue.next_due();
  if (!due) return;
  const UtcMillis now = options_.executor->now();
  if (*due <= now) {
    running->pumping = true;
    options_.executor->post([this, running] {
      running->pumping = false;
      if (running->running) pump(running);
    });
  } else if (!running->armed || *running->armed <= now || *due < *running->armed) {
    running->armed = *due;
    options_.executor->post_after(*due - now, [this, running, at = *due] {
      if (!running->running) return;
      if (running->armed == at) running->armed.reset();
      arm(running);
    });
  }
}

void RoleLoop::pump(const std::shared_ptr<Running>& running) {
  // A bounded number at a time: other roles, and folding, get their turn in between.
  for (int steps = 0; steps < 64 && running->running; ++steps) {
    if (running->queue.busy() >= options_.steps_under_way) return;  // the end of a step pumps again
    auto taken = running->queue.take(options_.executor->now());
    if (!taken) break;
    running->role->reconcile(std::make_shared<Step>(*this, running, std::move(*taken)));
  }
  arm(running);
}

}  // namespace shiplog
