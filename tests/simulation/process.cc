#include "tests/simulation/process.h"

#include <algorithm>
#include <set>
#include <utility>

#include "events/base/check.h"
#include "events/codec/codec.h"
#include "events/kinds/kinds.h"
#include "services/roles/recorder/recorder.h"
#include "services/roles/registry.h"
#include "services/runtime/role.h"
#include "tests/simulation/world.h"

namespace shiplog::simulation {

const std::vector<std::string>& all_services() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const RoleEntry& role : all_roles()) {
      if (role.make != nullptr) names.emplace_back(role.name);
    }
    return names;
  }();
  return kNames;
}

namespace {

/// Entries become visible some time after they were folded, in their order, as they do where another thread writes the
/// projection. Dies with the process.
class SlowProjection {
 public:
  SlowProjection(Timeline& timeline, Chance& chance) : core_{std::make_shared<Core>(Core{timeline, chance, {}})} {}
  void post(std::function<void()> job) {
    core_->waiting.push_back(std::move(job));
    if (core_->waiting.size() == 1) take_next(core_);
  }

 private:
  struct Core {
    Timeline& timeline;
    Chance& chance;
    std::deque<std::function<void()>> waiting;
  };
  static void take_next(const std::shared_ptr<Core>& core) {
    core->timeline.after(Millis{core->chance.between(0, 5)}, [weak = std::weak_ptr{core}] {
      const auto alive = weak.lock();
      if (alive == nullptr) return;
      alive->waiting.front()();
      alive->waiting.pop_front();
      if (!alive->waiting.empty()) take_next(alive);
    });
  }

  std::shared_ptr<Core> core_;
};

}  // namespace

/// All that ends with the process, in reverse order of destruction.
struct SimulatedProcess::Life final : Observer {
  Life(World& world, const std::string& identity, Millis clock_error, std::unique_ptr<Projections> with_projections)
      : projections{std::move(with_projections)},
        reference{world.reference},
        chance{world.stream(identity)},
        executor{world.timeline, chance, clock_error},
        random{chance.random().next()},
        journal{world.timeline, chance, world.log, identity},
        members{world, chance, executor, identity},
        election{world.elections, executor, identity},
        projection{world.timeline, chance},
        replica{{.name = identity,
                 .journal = &journal,
                 .executor = &executor,
                 .random = &random,
                 .projections = projections.get(),
                 .projector = chance.permille(500)
                                  ? [this](std::function<void()> job) { projection.post(std::move(job)); }
                                  : std::function<void(std::function<void()>)>{}}},
        roles{{.replica = &replica,
               .executor = &executor,
               .random = &random,
               .election = &election,
               .user_agent = "simulation",
               .steps_under_way = 32}},
        ephemera_journal{world.timeline, chance, world.ephemera, identity},
        ephemera{{.name = identity + "/ephemera",
                  .journal = &ephemera_journal,
                  .executor = &executor,
                  .random = &random,
                  .projections = nullptr,
                  .projector = {}}},
        recorder{{.record = &replica, .ephemera = &ephemera, .executor = &executor, .user_agent = "simulation"}} {
    replica.add_observer(*this);
  }

  /// There is no authority: nothing is signed here, as users of the simulation request no certificates.
  RoleContext context() {
    RoleContext given;
    given.ephemera = &ephemera;
    given.members = &members;
    given.recorder = &recorder;
    given.kinds = &Kinds::compiled();
    given.authority = []() -> Result<KeyPair> { return Error{ErrorCode::kUnavailable, "no authority is simulated"}; };
    given.server = [] { return kubernetes_service::ServerAddress{"10.0.0.1", 6443}; };
    given.allocate_addresses = [](const ObjectKey&, const Value&) -> Result<Value> {
      return Error{ErrorCode::kUnavailable, "no addresses are simulated"};
    };
    given.find_time_zone = [](const std::string&) { return std::make_shared<const cron::TimeZone>(); };
    given.hash_every = 100;
    given.user_agent = "simulation";
    return given;
  }

  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override {
    reference.on_folded(election.identity(), state, record, folded);
    next = Offset{record.offset.value + 1};
  }

  std::unique_ptr<Projections> projections;
  Reference& reference;
  Chance chance;
  SimExecutor executor;
  SeededRandom random;
  SimJournal journal;
  SimMembers members;
  SimElection election;
  SlowProjection projection;
  Replica replica;
  Roles roles;
  SimJournal ephemera_journal;
  Replica ephemera;
  Recorder recorder;
  std::unique_ptr<Journal::Tail> tail, ephemera_tail;
  Offset next;
  bool pulling = false;
  bool pulling_ephemera = false;
  bool skipped = false;
};

SimulatedProcess::SimulatedProcess(World& world, std::string name, std::vector<std::string> services, uint32_t build)
    : world_{world}, name_{std::move(name)}, services_{std::move(services)}, build_{build} {}
SimulatedProcess::~SimulatedProcess() = default;

Replica& SimulatedProcess::replica() { return life_->replica; }
const Roles& SimulatedProcess::roles() const { return life_->roles; }
SimExecutor& SimulatedProcess::executor() { return life_->executor; }
const std::string& SimulatedProcess::identity() const { return life_->election.identity(); }
const Projections* SimulatedProcess::projections() const { return life_->projections.get(); }

void SimulatedProcess::start(Restored from) {
  if (world_.log.down() || world_.log.muted(name_)) {
    return world_.timeline.after(Millis{50}, [this] {
      if (!alive()) start(world_.restore(world_.stream("again")));
    });
  }
  std::unique_ptr<Projections> projections;
  if (world_.storage != nullptr) {
    auto opened = open_projection(from);
    if (!opened) {
      world_.count("start that failed: " + std::string{name_of(opened.error().code)});
      return world_.timeline.after(Millis{200}, [this] {
        if (!alive() && !world_.broken()) start({});
      });
    }
    projections = std::move(opened).value();
  }
  const std::string identity = name_ + "." + std::to_string(++lives_);
  life_ = std::make_unique<Life>(world_, identity, clock_error_, std::move(projections));
  const Revision revision = from.meta.revision;
  world_.trace.line(identity, "starts from revision " + std::to_string(revision.value));
  life_->journal.tamper = [this](std::string& bytes) {
    if (world_.sabotage == Sabotage::kIgnoreFence || world_.sabotage == Sabotage::kChangeDecision ||
        world_.sabotage == Sabotage::kChangeContent) {
      Entry entry = decode(bytes).value();
      auto* updated = entry.events.empty() ? nullptr : std::get_if<ObjectUpdated>(&entry.events.front());
      if (world_.sabotage == Sabotage::kChangeContent && updated != nullptr && entry.fence.service.empty()) {
        updated->value.edit("metadata").edit("labels").set("changed", "on-its-way");
      }
      auto* placed = entry.events.empty() ? nullptr : std::get_if<PlacementDecided>(&entry.events.front());
      if (world_.sabotage == Sabotage::kIgnoreFence && !entry.fence.service.empty()) {
        entry.fence.epoch = world_.reference.state().lease(entry.fence.service).epoch;
      } else if (world_.sabotage == Sabotage::kChangeDecision && placed != nullptr && placed->targets.size() > 1) {
        placed->targets.pop_back();
      }
      bytes = encode(entry);
    }
    world_.reference.on_sent(bytes);
  };
  const auto next = life_->replica.open(std::move(from));
  if (!next) return world_.trace.broken("start", identity + ": " + next.error().message);
  life_->next = next.value();
  world_.reference.check_start(identity, next.value(), life_->replica.state());
  auto tail = life_->journal.tail(next.value());
  if (!tail) return world_.trace.broken("start", identity + ": " + tail.error().message);
  life_->tail = std::move(tail).value();
  if (!start_ephemera()) return;
  const RoleContext context = life_->context();
  for (const std::string& service : services_) {
    const RoleEntry* role = find_role(service);
    life_->roles.add(role->make(context), role->divided);
  }
  life_->roles.start();
  on_stored();
  on_ephemera_stored();
}

/// What the process has on its disk, which precedes what the script would start it from. Damage is a failure of the
/// product: no sector is lost that was synced, and SQLite knows what it may lose.
Result<std::unique_ptr<Projections>> SimulatedProcess::open_projection(Restored& from) {
  auto opened = world_.storage->open(name_, world_.log.oldest());
  if (!opened) {
    const Error error = world_.storage->without_path(opened.error());
    world_.trace.line(name_, "cannot open its projection: " + error.message);
    if (error.code != ErrorCode::kIo) world_.trace.broken("projection", name_ + ": " + error.message);
    return error;
  }
  from = std::move(opened.value().restored);
  // The power failed while the file was made.
  const bool unfinished = from.rebuilt.ends_with("it has no checkpoint");
  if (!from.rebuilt.empty()) world_.count(unfinished ? "projection that was not finished" : "projection rebuilt");
  if (!from.rebuilt.empty() && !unfinished) {
    world_.trace.broken("projection",
                        name_ + ": " + world_.storage->without_path({ErrorCode::kCorrupt, from.rebuilt}).message);
  }
  return std::move(opened.value().projections);
}

/// Its projection cannot be written: the process ends, and its supervisor starts it again.
void SimulatedProcess::stop_and_start_again(const std::string& why) {
  world_.trace.line(identity(), "stops: " + why);
  world_.count("stop as the projection cannot be written");
  world_.timeline.after(Millis{0}, [this, life = lives_] {
    if (life_ == nullptr || life != lives_) return;
    crash();
    world_.timeline.after(Millis{300}, [this] {
      if (!alive() && !world_.broken()) start({});
    });
  });
}

/// From the beginning: that journal has no snapshots here.
bool SimulatedProcess::start_ephemera() {
  const auto next = life_->ephemera.open({});
  if (!next) {
    world_.trace.broken("start", identity() + ": ephemera: " + next.error().message);
    return false;
  }
  auto tail = life_->ephemera_journal.tail(next.value());
  if (!tail) {
    world_.trace.broken("start", identity() + ": ephemera: " + tail.error().message);
    return false;
  }
  life_->ephemera_tail = std::move(tail).value();
  return true;
}

void SimulatedProcess::crash(bool power_fails) {
  world_.trace.line(identity(), "crashes");
  if (world_.storage != nullptr) world_.storage->kill(name_);
  life_.reset();
  if (world_.storage != nullptr)
    world_.storage->died(name_, power_fails, world_.stream("power " + name_ + std::to_string(lives_)));
}

void SimulatedProcess::set_clock_error(Millis error) {
  clock_error_ = error;
  if (alive()) life_->executor.set_clock_error(error);
}

void SimulatedProcess::upgrade(Millis after) {
  if (build_ == kFoldVersion) return;
  build_ = kFoldVersion;
  world_.trace.line(name_, "is replaced by one of a newer build");
  life_.reset();
  world_.timeline.after(after, [this] {
    if (!alive()) start(world_.restore(world_.stream("upgrade " + name_)));
  });
}

/// What a build does that does not know the fold version of an entry: it stops, and an operator installs a newer one.
bool SimulatedProcess::needs_newer_build(const std::vector<DecodedRecord>& records) const {
  return std::ranges::any_of(records, [&](const DecodedRecord& record) {
    return record.entry.fold_version > build_ || std::ranges::any_of(record.entry.events, [&](const Event& event) {
             const auto* activated = std::get_if<FoldVersionActivated>(&event);
             return activated != nullptr && activated->version > build_;
           });
  });
}

void SimulatedProcess::when_current(std::function<void()> then, const std::function<void()>& away) {
  const auto head = life_->journal.head();
  if (head) return life_->replica.when_folded(head.value(), std::move(then));
  if (away) away();
}

void SimulatedProcess::on_stored() {
  if (life_ == nullptr || std::exchange(life_->pulling, true)) return;
  Chance& chance = life_->chance;
  Millis delay{chance.permille(30) ? chance.between(1, 300) : chance.between(0, 3)};
  if (lags_until_ > world_.timeline.now()) delay = lags_until_ - world_.timeline.now();
  world_.timeline.after(delay, [this, life = lives_] {
    if (life_ == nullptr || life != lives_) return;
    life_->executor.post([this] { pull(); });
  });
}

void SimulatedProcess::pull() {
  life_->pulling = false;
  auto records = life_->tail->next(1 + life_->chance.below(64), Millis{0});
  if (!records) return world_.trace.broken("start", identity() + " cannot read on: " + records.error().message);
  if (records.value().empty()) return;
  std::vector<DecodedRecord> decoded;
  for (const JournalRecord& record : records.value()) {
    if (world_.sabotage == Sabotage::kSkipEntry && name_ == "p1" && record.offset.value > 200 &&
        !std::exchange(life_->skipped, true)) {
      continue;
    }
    auto own = life_->replica.take_own(record.bytes);
    decoded.push_back({record.offset, own ? *std::move(own) : *world_.log.records().at(record.offset).entry});
  }
  if (needs_newer_build(decoded)) {
    world_.count("stop of an older build");
    return upgrade(Millis{1000});
  }
  life_->replica.deliver(std::move(decoded), [this](const Result<void>& delivered) {
    if (delivered) return;
    const bool unwritten = world_.storage != nullptr && (delivered.error().code == ErrorCode::kIo ||
                                                         delivered.error().code == ErrorCode::kUnavailable);
    if (unwritten) return stop_and_start_again(world_.storage->without_path(delivered.error()).message);
    world_.trace.broken("hash", identity() + " stops: " + delivered.error().message);
  });
  on_stored();
}

void SimulatedProcess::on_ephemera_stored() {
  if (life_ == nullptr || std::exchange(life_->pulling_ephemera, true)) return;
  Millis delay{2};
  if (lags_until_ > world_.timeline.now()) delay = lags_until_ - world_.timeline.now();
  world_.timeline.after(delay, [this, life = lives_] {
    if (life_ == nullptr || life != lives_) return;
    life_->executor.post([this] { pull_ephemera(); });
  });
}

void SimulatedProcess::pull_ephemera() {
  life_->pulling_ephemera = false;
  auto records = life_->ephemera_tail->next(64, Millis{0});
  if (!records) return world_.trace.broken("start", identity() + " cannot read on: " + records.error().message);
  if (records.value().empty()) return;
  std::vector<DecodedRecord> decoded;
  for (const JournalRecord& record : records.value()) {
    auto own = life_->ephemera.take_own(record.bytes);
    decoded.push_back({record.offset, own ? *std::move(own) : *world_.ephemera.records().at(record.offset).entry});
  }
  life_->ephemera.deliver(std::move(decoded), [this](const Result<void>& delivered) {
    if (!delivered) world_.trace.broken("hash", identity() + " stops: " + delivered.error().message);
  });
  on_ephemera_stored();
}

Restored SimulatedProcess::snapshot() const {
  Restored restored;
  restored.next = life_->next;
  const State& state = life_->replica.state();
  restored.meta = state.meta();
  for (const std::string& type : state.types()) {
    for (const auto& [name, object] : state.objects(type)) {
      restored.objects.emplace_back(ObjectKey{type, name.ns, name.name}, object);
    }
  }
  std::set<EntryId> seen;
  for (const auto& [offset, point] : world_.reference.points()) {
    if (offset < restored.next && seen.insert(point.id).second) restored.seen.push_back(point.id);
  }
  return restored;
}

}  // namespace shiplog::simulation
