#include "services/runtime/role_step.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "events/base/check.h"
#include "services/runtime/log.h"

namespace shiplog {

std::string event_names(const std::vector<Event>& events) {
  std::vector<std::pair<std::string_view, size_t>> counts;
  for (const Event& event : events) {
    const std::string_view name = name_of(event);
    const auto known = std::ranges::find(counts, name, &std::pair<std::string_view, size_t>::first);
    if (known == counts.end()) {
      counts.emplace_back(name, 1);
    } else {
      ++known->second;
    }
  }
  std::string names;
  for (const auto& [name, count] : counts) {
    if (!names.empty()) names += ',';
    names += name;
    if (count > 1) names.append("(").append(std::to_string(count)).append(")");
  }
  return names;
}

const TraceContext& Roles::Step::trace() {
  if (trace_.id.empty()) trace_ = new_trace(*roles_.options_.random);
  return trace_;
}

void Roles::Step::done(Millis look_again) {
  if (finish()) return;
  measure(look_again.value > 0 ? RoleMeters::StepResult::kRequeueAfter : RoleMeters::StepResult::kSuccess, nullptr);
  std::optional<UtcMillis> at;
  if (look_again.value > 0) at = now() + look_again;
  part_.queue.done(taken_.key, now(), at);
  make_room();
}

void Roles::Step::retry(const Error& error) {
  if (finish()) return;
  measure(RoleMeters::StepResult::kError, &error);
  const bool routine = error.code == ErrorCode::kConflict || part_.queue.failures(taken_.key) > 0;
  log::write(routine ? log::Level::kDebug : log::Level::kWarn, role_.name() + ".retry",
             {log::kv("key", to_string(taken_.key)), log::kv("code", shiplog::name_of(error.code)),
              log::kv("reason", error.message), log::kv("trace_id", trace().id)});
  if (roles_.options_.on_retry && error.code != ErrorCode::kConflict) {
    roles_.options_.on_retry(role_.service->name(), taken_.key, error);
  }
  part_.queue.retry(taken_.key, now(), *roles_.options_.random);
  make_room();
}

std::function<void()> Roles::Step::waker(Millis delay) {
  return [&roles = roles_, &part = part_, key = taken_.key, delay, tenure = tenure_, alive = alive_] {
    if (!*alive || tenure != part.tenure) return;
    roles.options_.executor->post_after(delay, [&roles, &part, key, tenure, alive] {
      if (!*alive || tenure != part.tenure) return;
      const UtcMillis now = roles.options_.executor->now();
      if (part.queue.wake(key, now, {})) part.role.meters.added();
      part.role.publish_depth(part, now);
      roles.arm(part);
    });
  };
}

bool Roles::Step::finish() {
  if (is_void()) return true;
  SHIPLOG_CHECK(!finished_, "a step ends once");
  finished_ = true;
  return false;
}

void Roles::Step::make_room() {
  roles_.arm(part_);
  if (std::exchange(role_.crowded, false)) roles_.arm_all(role_);
}

void Roles::Step::measure(RoleMeters::StepResult result, const Error* error) {
  part_.steps.erase(number_);
  const double seconds = role_.meters.end_step(number_, result);
  if (roles_.options_.on_step) roles_.options_.on_step(role_.service->name(), taken_.key, seconds, error);
}

void Roles::Step::append(const char* verb, Decision decision, Appended then) {
  if (is_void()) return;
  Entry entry;
  entry.time = asked_now_ == UtcMillis{} ? now() : asked_now_;
  entry.actor = {.user = "system:shiplog:" + role_.name(),
                 .groups = {"system:shiplog"},
                 .service = role_.name(),
                 .source_ip = "",
                 .user_agent = roles_.options_.user_agent};
  entry.request = {verb, to_string(taken_.key)};
  // What was observed of many objects at once has no single cause.
  const bool decided = std::string_view{verb} == "decide";
  if (decided || decision.events.size() == 1) entry.cause = taken_.cause;
  entry.cause.trace_id = journaled(trace());
  entry.as_of = state().revision();
  entry.fence = {part_.lease, part_.epoch};
  entry.fold_version = state().fold_version();
  entry.expects = std::move(decision.expects);
  entry.events = std::move(decision.events);
  std::string names = event_names(entry.events);
  roles_.options_.replica->append(std::move(entry), [self = shared_from_this(), names = std::move(names), decided,
                                                     then = std::move(then)](Result<Outcome> outcome) {
    if (self->is_void()) return;
    if (!outcome) return then(outcome.error());
    if (outcome.value().refusal) {
      return then(Error{outcome.value().refusal->code, outcome.value().refusal->reason});
    }
    log::info(self->role_.name() + (decided ? ".decided" : ".observed"),
              {log::kv("key", to_string(self->taken_.key)), log::kv("events", names),
               log::kv("revision", outcome.value().revision.value), log::kv("trace_id", self->trace().id)});
    then(outcome.value().revision);
  });
}

}  // namespace shiplog
