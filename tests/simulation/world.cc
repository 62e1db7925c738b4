#include "tests/simulation/world.h"

#include <algorithm>
#include <utility>

#include "events/base/check.h"
#include "events/base/hash.h"
#include "events/state/work.h"

namespace shiplog::simulation {

World::World(uint64_t with_seed, bool print, Sabotage how)
    : seed{with_seed},
      sabotage{how},
      shape{shape_of(seed)},
      chance{stream("world")},
      timeline{stream("timeline")},
      trace{timeline, print},
      log{timeline, stream("journal")},
      ephemera{timeline, stream("ephemera")},
      reference{trace},
      elections{timeline, stream("elections")},
      members{[this](Millis delay, std::function<void()> run) { timeline.after(delay, std::move(run)); }} {
  if (sabotage == Sabotage::kHalfQuota) reference.halve_limits();
  log.serve_unsynced = sabotage == Sabotage::kServeUnsynced;
  log.listen([this](const SimLog::Stored* stored) {
    if (stored != nullptr) {
      reference.on_stored(*stored, timeline.now());
      note_clusters();
    }
    for (const auto& process : processes) process->on_stored();
  });
  if (shape.stored) {
    storage = std::make_unique<Storage>(stream("disks").below(UINT64_MAX), shape.processes.size());
    log.keep_in(storage->journal_folder(),
                [this](const char* rule, std::string text) { trace.broken(rule, std::move(text)); });
  }
  ephemera.listen([this](const SimLog::Stored*) {
    for (const auto& process : processes) process->on_ephemera_stored();
  });
}

World::~World() = default;

Chance World::stream(const std::string& purpose) const {
  return Chance{siphash128(std::to_string(seed) + "/" + purpose).lo};
}

void World::write(SimulatedProcess& process, const std::string& verb, std::vector<Event> events,
                  std::vector<Expect> expects, std::function<void(const Outcome&)> done) {
  Entry entry;
  entry.id = new_entry_id(chance.random());
  entry.actor = {.user = "user", .groups = {}, .service = "api", .source_ip = "", .user_agent = "simulation"};
  entry.request = {verb, events.empty() ? "" : to_string(subject_of(events.front()))};
  entry.cause.trace_id = "write-" + std::to_string(++writes);
  entry.as_of = process.replica().state().revision();
  entry.fold_version = process.replica().state().fold_version();
  entry.expects = std::move(expects);
  entry.events = std::move(events);
  const std::string name = entry.cause.trace_id;
  reference.on_requested(name, entry.events);
  if (sabotage == Sabotage::kRetryWithNewId) {
    Entry again = entry;
    again.id = new_entry_id(chance.random());
    process.replica().append(std::move(again), [](const Result<Outcome>&) {});
  }
  const std::string who = process.identity();
  open[name] = who;
  process.replica().append(std::move(entry), [this, who, name, done = std::move(done)](Result<Outcome> outcome) {
    open.erase(name);
    if (!outcome) {
      SHIPLOG_CHECK(outcome.error().code != ErrorCode::kUnknownOutcome, "unknown outcomes end inside the replica");
      told_not_stored.insert(name);
      return trace.line(who, "tells " + name + " not stored: " + outcome.error().message);
    }
    told.push_back({name, outcome.value()});
    newest_told = std::max(newest_told, outcome.value().revision);
    trace.line(who, "tells " + name + (outcome.value().refusal ? " refused" : " accepted") + " at " +
                        std::to_string(outcome.value().offset.value));
    const Offset offset = outcome.value().offset;
    if (sabotage == Sabotage::kLoseAcknowledged && !outcome.value().refusal && told.size() == 40) log.lose(offset);
    if (done) done(outcome.value());
  });
}

void World::read(SimulatedProcess& process, std::function<void(const State&)> then) {
  ++reads;
  const Revision must = newest_told;
  const auto look = [this, &process, must, life = process.life(), then = std::move(then)] {
    if (!process.alive() || process.life() != life) return;
    const State& state = process.replica().state();
    if (state.revision() < must) {
      return trace.broken("stale", process.identity() + " reads at revision " + std::to_string(state.revision().value) +
                                       " after somebody was told of " + std::to_string(must.value));
    }
    then(state);
  };
  if (sabotage == Sabotage::kStaleReads) return look();
  process.when_current(look, [this] { count("read while the journal is away"); });
}

void World::note_created(const std::string& cluster, const Value& object) {
  const ObjectKey work{type::kWork, std::string{annotation_of(object, annotation::kWorkNamespace)},
                       std::string{annotation_of(object, annotation::kWorkName)}};
  const Value& now = reference.state().value_of(work);
  if (!now.is_null() && !deleting(now)) return;
  trace.line(cluster, "has made something too late: " + to_string(work) + " is gone");
  left_behind.insert(std::string{uid_of(object)});
}

/// What is still on a cluster that has left stays there, also when the cluster joins again (CL-14).
void World::note_clusters() {
  const auto& now = reference.state().clusters();
  for (auto at = joined_.begin(); at != joined_.end();) {
    if (now.contains(*at)) {
      ++at;
      continue;
    }
    for (const auto& [key, object] : members.member(*at).objects()) {
      if (label_of(object, label::kManaged) == "true") left_behind.insert(std::string{uid_of(object)});
    }
    at = joined_.erase(at);
  }
  for (const auto& [name, cluster] : now) joined_.insert(name);
}

SimulatedProcess* World::any_process(Chance& from) {
  std::vector<SimulatedProcess*> living;
  for (const auto& process : processes) {
    if (process->alive()) living.push_back(process.get());
  }
  return living.empty() ? nullptr : from.one_of(living);
}

Restored World::restore(Chance from) const {
  std::vector<const Restored*> fit;
  for (const Restored& one : snapshots) {
    if (one.next >= log.oldest()) fit.push_back(&one);
  }
  const bool must = log.oldest().value > 0;
  if (fit.empty() || (!must && from.permille(400))) return {};
  return *from.one_of(fit);
}

void World::run_for(Millis time) {
  const UtcMillis until = timeline.now() + time;
  while (!broken() && timeline.step(until)) {
  }
}

}  // namespace shiplog::simulation
