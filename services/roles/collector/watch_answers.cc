// Objects in members whose status and health external services interpret: the questions and the results.
#include <algorithm>
#include <utility>

#include "events/state/work.h"
#include "services/interpreter/interpreter.h"
#include "services/roles/collector/watch.h"
#include "services/runtime/log.h"

namespace shiplog::collector {

using interpreter::InterpreterOperation;

namespace {

/// Between two calls of a webhook that fails.
constexpr Millis kLongestWebhookPause{30'000};

}  // namespace

/// T-4: a kind without a rule is healthy, one whose rule fails cannot be judged.
std::string MemberWatches::health_of(const interpreter::Interpreted<std::optional<bool>>& healthy) {
  if (!healthy) return "Unknown";
  return healthy.value().value_or(true) ? "Healthy" : "Unhealthy";
}

void MemberWatches::ask_due(const State& state, int slot, UtcMillis now) {
  for (auto& [place, asking] : asking_) {
    if (slot_of(cluster_of_space(place.first.ns)) != slot) continue;
    if (!asking.under_way && !asking.object.is_null() && asking.not_before <= now) ask(state, place, asking, now);
  }
}

/// L-19: both operations at once, as far as a webhook is for them; what is not is known here.
void MemberWatches::ask(const State& state, const ManifestRef& place, Asking& asking, UtcMillis now) {
  asking.under_way = true;
  asking.number = ++askings_;
  const Value object = std::exchange(asking.object, Value{});
  auto round = std::make_shared<Answered>(Answered{place, asking.number, object, asking.altered,
                                                   interpreter::reflect_status(state, object, now),
                                                   interpreter::health(state, object, now)});
  const auto open = std::make_shared<int>(1);
  const auto end = [round, open, alive = std::weak_ptr{slot_of_work(place.first).inbox}] {
    if (--*open > 0) return;
    if (const auto inbox = alive.lock()) inbox->put(std::move(*round));
  };
  const auto put = [&](const interpreter::Uninterpreted& missing, auto take) {
    if (missing.questions.empty() || resolver_ == nullptr) return;
    ++*open;
    resolver_->ask(state, missing.questions.front(), {}, [round, end, take](Result<Value> result) {
      take(*round, std::move(result));
      end();
    });
  };
  if (!round->status) {
    put(round->status.error(), [](Answered& into, Result<Value> result) {
      if (result) {
        into.status = std::move(result).value();
      } else {
        into.status = result.error();
      }
    });
  }
  if (!round->health) {
    put(round->health.error(), [](Answered& into, Result<Value> result) {
      if (result) {
        into.health = std::optional{result.value().as_bool()};
      } else {
        into.health = result.error();
      }
    });
  }
  end();
}

void MemberWatches::take_in_answer(const State& state, const Answered& answered, UtcMillis now) {
  const auto found = asking_.find(answered.place);
  if (found == asking_.end() || found->second.number != answered.number) return;
  Asking& asking = found->second;
  asking.under_way = false;
  const Value& manifest = manifests_of(state.value_of(answered.place.first))[answered.place.second];
  const bool present = manifest["kind"] == answered.object["kind"] &&
                       manifest["metadata"]["name"] == answered.object["metadata"]["name"];
  if (!present) {
    asking_.erase(found);
    return;
  }
  // T-3, T-4: the status stays as it was, the health is not known, and both are requested again (L-21).
  if (answered.status) {
    report(state, answered.place, answered.status.value(), answered.altered ? "Unknown" : health_of(answered.health));
  }
  const ObjectKey& work = answered.place.first;
  if (!answered.status)
    report_unread(work, InterpreterOperation::kStatus, answered.object, answered.status.error().error());
  if (!answered.health)
    report_unread(work, InterpreterOperation::kHealth, answered.object, answered.health.error().error());
  // A script that fails does so again with the same object.
  const auto final = [](const auto& result) { return result || result.error().code == ErrorCode::kInvalid; };
  if (final(answered.status) && final(answered.health)) {
    asking.failures = 0;
    if (asking.object.is_null()) asking_.erase(found);
    return;
  }
  const Error& error = (answered.status ? answered.health.error() : answered.status.error()).error();
  log::write(asking.failures == 0 ? log::Level::kWarn : log::Level::kDebug, "collector.webhook",
             {log::kv("work", to_string(answered.place.first)), log::kv("reason", error.message)});
  asking.not_before =
      now + Millis{std::min<int64_t>(kLongestWebhookPause.value, int64_t{100} << std::min(asking.failures, 10))};
  ++asking.failures;
  if (!asking.object.is_null()) return;
  asking.object = answered.object;
  asking.altered = answered.altered;
}

void MemberWatches::report_unread(const ObjectKey& work, InterpreterOperation operation, const Value& object,
                                  const Error& error) const {
  if (!unread_) return;
  const Value& metadata = object["metadata"];
  const char* what = operation == InterpreterOperation::kHealth ? "Interpret health of " : "Reflect status for ";
  unread_(work, operation,
          error.context(what + ("object(" + object["kind"].str()) + "/" + metadata["namespace"].str() + "/" +
                        metadata["name"].str() + ") failed, err"));
}

}  // namespace shiplog::collector
