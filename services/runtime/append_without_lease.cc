#include "services/runtime/append_without_lease.h"

#include <memory>
#include <utility>

#include "services/runtime/log.h"

namespace shiplog {
namespace {

constexpr int kMostAppendRefusals = 100;

/// Steps under way: outlives the call, in the callbacks of its appends.
struct StepsInTurn {
  Replica& replica;
  EntryOrigin origin;
  std::vector<DecisionStep> steps;
  std::function<void()> done;
  size_t next = 0;
  int refusals = 0;
};

void run_next(const std::shared_ptr<StepsInTurn>& turn);

void on_appended(const std::shared_ptr<StepsInTurn>& turn, const Result<Outcome>& outcome) {
  const bool refused = outcome && outcome.value().refusal;
  if (refused && ++turn->refusals < kMostAppendRefusals) return run_next(turn);
  if (!outcome || refused) {
    log::error("bootstrap.failed",
               {log::kv("what", turn->steps[turn->next].name),
                log::kv("reason", refused ? outcome.value().refusal->reason : outcome.error().message)});
  }
  ++turn->next;
  turn->refusals = 0;
  run_next(turn);
}

void run_next(const std::shared_ptr<StepsInTurn>& turn) {
  while (turn->next < turn->steps.size()) {
    Decided decided = turn->steps[turn->next].decide(turn->replica.state());
    if (auto* decision = std::get_if<Decision>(&decided)) {
      return append_without_lease(turn->replica, turn->origin, std::move(*decision),
                                  [turn](const Result<Outcome>& outcome) { on_appended(turn, outcome); });
    }
    ++turn->next;
  }
  turn->done();
}

}  // namespace

void append_without_lease(Replica& replica, EntryOrigin origin, Decision decision,
                          std::function<void(const Result<Outcome>&)> done) {
  Entry entry;
  entry.id = origin.id;
  entry.time = origin.time;
  entry.actor = {.user = std::move(origin.user),
                 .groups = {"system:shiplog"},
                 .service = std::move(origin.service),
                 .source_ip = "",
                 .user_agent = std::move(origin.user_agent)};
  entry.expects = std::move(decision.expects);
  entry.events = std::move(decision.events);
  replica.append(std::move(entry), std::move(done));
}

void append_in_turn(Replica& replica, EntryOrigin origin, std::vector<DecisionStep> steps, std::function<void()> done) {
  run_next(std::make_shared<StepsInTurn>(StepsInTurn{replica, std::move(origin), std::move(steps), std::move(done)}));
}

}  // namespace shiplog
