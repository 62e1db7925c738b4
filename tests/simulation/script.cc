#include "tests/simulation/script.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <utility>

#include "tests/simulation/process.h"
#include "tests/simulation/timeline.h"

namespace shiplog::simulation {
namespace {

/// How many words follow each kind.
constexpr std::array<std::pair<const char*, size_t>, 30> kKinds = {{
    {"write", 2},       {"crash", 3},  {"stall", 2},       {"deaf", 2},         {"clock", 2},   {"elect", 3},
    {"depose", 2},      {"down", 2},   {"slow", 3},        {"refuse", 3},       {"unready", 2}, {"cut", 1},
    {"lose", 2},        {"meddle", 2}, {"snapshot", 2},    {"hash", 1},         {"tear", 2},    {"lost-ack", 2},
    {"lost-append", 2}, {"late", 2},   {"unavailable", 2}, {"stored-twice", 2}, {"network", 3}, {"activate", 1},
    {"upgrade", 2},     {"flap", 3},   {"apart", 3},       {"mute", 2},         {"switch", 2},  {"disk", 3},
}};

class Plan {
 public:
  /// Some worlds last as long as a cluster takes to be considered as failed.
  explicit Plan(uint64_t seed)
      : chance_{seed ^ 0x706c616eULL},
        shape_{shape_of(seed)},
        slow_{Chance{seed ^ 0x736c6f77ULL}.permille(120) ? 12 : 1} {
    script_.seed = seed;
  }

  Script draw() {
    const Millis first{chance_.between(100, 4000)};
    script_.until = later(first, slow_ * chance_.between(2000, 15'000));
    versions();
    weather();
    users(first);
    failures();
    const int64_t pause = slow_ * chance_.between(200, 2500);
    for (Millis at = first; at < script_.until; at = later(at, chance_.between(1, 2 * pause))) fault(at);
    std::ranges::stable_sort(script_.steps, {}, [](const ScriptStep& step) { return step.at; });
    return std::move(script_);
  }

 private:
  template <class... Args>
  void add(Millis at, std::string what, Args... args) {
    script_.steps.push_back({at, std::move(what), {text(args)...}});
  }
  static std::string text(const std::string& word) { return word; }
  static std::string text(const char* word) { return word; }
  static std::string text(int64_t number) { return std::to_string(number); }

  static Millis later(Millis at, int64_t by) { return {at.value + by}; }
  int64_t any() { return chance_.between(1, 999'999'999); }
  std::string process() { return "p" + std::to_string(chance_.below(shape_.processes.size())); }
  const std::string& cluster() { return chance_.one_of(shape_.clusters); }

  /// An older fleet comes to the newest fold version once all its processes support it; an operator changes gates.
  void versions() {
    Chance chance{script_.seed ^ 0x736c6f7473ULL};  // of its own: what else happens stays as it was
    for (size_t process = 0; process < shape_.builds.size(); ++process) {
      if (shape_.builds[process] == kFoldVersion) continue;
      add(Millis{chance.between(0, script_.until.value)}, "upgrade", "p" + std::to_string(process),
          chance.between(1, 2000));
    }
    const Millis at{chance.between(0, script_.until.value)};
    if (shape_.first_version < kFoldVersion) add(at, "activate", "p" + std::to_string(chance.below(processes())));
    if (!chance.permille(120)) return;
    for (int64_t count = chance.between(1, 3); count > 0; --count) {
      add(Millis{chance.between(0, script_.until.value)}, "switch", "p" + std::to_string(chance.below(processes())),
          chance.between(1, 999'999'999));
    }
  }

  /// Clusters that fail for long or again and again, partitions of a part, clocks that jump over every timeout.
  void failures() {
    Chance chance{script_.seed ^ 0x6661696cULL};
    const auto some = [&](uint64_t permille, int64_t most) {
      return chance.permille(permille) ? chance.between(1, most) : 0;
    };
    const auto when = [&] { return Millis{chance.between(0, script_.until.value)}; };
    const auto process = [&] { return "p" + std::to_string(chance.below(processes())); };
    for (int64_t count = some(300, 2); count > 0; --count) {
      add(when(), "flap", chance.one_of(shape_.clusters), chance.between(20, slow_ * 2000), chance.between(2, 12));
    }
    for (int64_t count = some(300, 3); count > 0; --count) {
      add(when(), "apart", process(), chance.one_of(shape_.clusters), chance.between(100, slow_ * 8000));
    }
    for (int64_t count = some(200, 2); count > 0; --count) {
      add(when(), "mute", process(), chance.between(100, slow_ * 3000));
    }
    for (int64_t count = some(slow_ > 1 ? 700 : 0, 3); count > 0; --count) {
      add(when(), "down", chance.one_of(shape_.clusters), chance.between(30'000, 120'000));
    }
    for (int64_t count = some(100, 2); count > 0; --count) {
      constexpr int64_t kMinute = 60'000;  // the longest timeout: a day
      const int64_t jump = chance.between(11 * kMinute, chance.permille(500) ? 60 * kMinute : 26 * 60 * kMinute);
      const Millis at = when();
      const std::string who = process();
      add(at, "clock", who, chance.permille(500) ? jump : -jump);
      // What is started believes the clock.
      if (chance.permille(700))
        add(later(at, chance.between(1, 2000)), "crash", who, chance.between(1, 800), any_of(chance));
    }
    if (shape_.stored) disks(chance);
    for (int64_t count = some(400, 4); count > 0; --count) add(when(), "write", "rush", chance.between(1, 999'999'999));
  }
  void disks(Chance& chance) {
    for (const char* what : {"sync", "write", "full"}) {
      if (!chance.permille(500)) continue;
      add(Millis{chance.between(0, script_.until.value)}, "disk", what, chance.between(1, 60),
          chance.between(100, 3000));
    }
    for (int64_t count = chance.between(1, 4); count > 0; --count) {
      add(Millis{chance.between(0, script_.until.value)}, "tear", chance.between(1, 1500), any_of(chance));
    }
  }
  static int64_t any_of(Chance& chance) { return chance.between(1, 999'999'999); }
  size_t processes() const { return shape_.processes.size(); }

  /// Some worlds are calm in some respect, so that what one fault hides another world shows.
  void weather() {
    constexpr std::array<std::pair<const char*, int64_t>, 5> kJournal = {
        {{"lost-ack", 80}, {"lost-append", 60}, {"late", 60}, {"unavailable", 20}, {"stored-twice", 60}}};
    for (const auto& [what, most] : kJournal) {
      if (chance_.permille(500)) window(what, chance_.between(1, most));
    }
    for (const char* what : {"lost-request", "lost-answer", "held-up"}) {
      if (!chance_.permille(500)) continue;
      const Millis at{chance_.between(0, script_.until.value)};
      add(at, "network", what, chance_.between(1, 40), script_.until.value - at.value);
    }
  }

  void window(const char* what, int64_t permille) {
    const Millis at{chance_.permille(500) ? 0 : chance_.between(0, script_.until.value)};
    add(at, what, permille, chance_.between(500, script_.until.value));
  }

  void users(Millis first) {
    for (Millis at = first; at < script_.until; at = later(at, pause_of_users())) {
      const uint64_t what = chance_.below(100);
      const char* group = what < 48   ? "template"
                          : what < 64 ? "policy"
                          : what < 70 ? "override"
                          : what < 80 ? "quota"
                          : what < 90 ? "cluster"
                          : what < 96 ? "work"
                                      : "namespace";
      add(at, "write", group, any());
    }
  }
  int64_t pause_of_users() { return slow_ * chance_.between(1, chance_.permille(50) ? 3000 : 250); }

  void fault(Millis at) {
    const uint64_t what = chance_.below(100);
    if (what < 16) return add(at, "crash", process(), away(), any());
    if (what < 26) return add(at, "elect", chance_.one_of(services_), process(), chance_.between(0, 4000));
    if (what < 36) return add(at, "clock", process(), chance_.between(-5000, 5000));
    if (what < 46) return hold_up(at);
    if (what < 52) return add(at, "tear", chance_.between(1, 1500), any());
    if (what < 70) return member(at);
    if (what < 87) return add(at, chance_.permille(400) ? "lose" : "meddle", cluster(), any());
    if (what < 95) return add(at, "snapshot", process(), chance_.permille(200) ? int64_t{1} : int64_t{0});
    add(at, "hash", process());
  }
  int64_t away() { return chance_.between(1, chance_.permille(700) ? 800 : 8000); }

  void hold_up(Millis at) {
    const std::string who = process();
    const bool deaf = chance_.permille(500);
    add(at, deaf ? "deaf" : "stall", who, chance_.between(10, 4000));
    // Who does not hear that it was replaced is what fences are for.
    if (chance_.permille(500)) add(at, "depose", who, chance_.between(0, 4000));
  }

  void member(Millis at) {
    const int64_t time = chance_.between(100, 12'000);
    switch (chance_.below(5)) {
      case 0:
        return add(at, "down", cluster(), time);
      case 1:
        return add(at, "slow", cluster(), chance_.between(20, 3000), time);
      case 2: {
        constexpr std::array<int64_t, 3> kStatus = {500, 429, 403};
        return add(at, "refuse", cluster(), chance_.one_of(kStatus), time);
      }
      case 3:
        return add(at, "unready", cluster(), time);
      default:
        return add(at, "cut", cluster());
    }
  }

  Chance chance_;
  FleetShape shape_;
  const int64_t slow_;
  Script script_;
  std::vector<std::string> services_ = all_services();
};

}  // namespace

int64_t ScriptStep::number(size_t index) const {
  int64_t value = 0;
  const std::string& word = args[index];
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

FleetShape shape_of(uint64_t seed) {
  Chance chance{seed ^ 0x7368617065ULL};
  FleetShape shape;
  // Everything in one process several times over, or the services apart; and API servers.
  if (chance.permille(700)) {
    shape.processes.resize(static_cast<size_t>(chance.between(2, 3)), all_services());
  } else {
    std::vector<std::string> front;
    std::vector<std::string> back;
    for (const std::string& service : all_services()) (chance.permille(500) ? front : back).push_back(service);
    shape.processes = {front, back, front, back};
  }
  shape.processes.resize(shape.processes.size() + chance.below(3));
  const int64_t members = chance.between(2, 4);
  for (int64_t number = 1; number <= members; ++number) shape.clusters.push_back("m" + std::to_string(number));
  shape.preserving = chance.permille(200);
  // Most fleets are new ones; some are older and come to the newest version, some of these process by process.
  Chance versions{seed ^ 0x76657273ULL};
  shape.switched_on = versions.permille(850);
  shape.stored = Chance{seed ^ 0x6469736bULL}.permille(100);
  shape.builds.resize(shape.processes.size(), kFoldVersion);
  if (versions.permille(700)) return shape;
  shape.first_version = static_cast<uint32_t>(versions.between(1, kFoldVersion - 1));
  if (versions.permille(600)) return shape;
  for (uint32_t& build : shape.builds) {
    if (versions.permille(600)) build = static_cast<uint32_t>(versions.between(shape.first_version, kFoldVersion - 1));
  }
  return shape;
}

Script draw_script(uint64_t seed) { return Plan{seed}.draw(); }

const std::vector<std::string>& step_kinds() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& [name, words] : kKinds) names.emplace_back(name);
    return names;
  }();
  return kNames;
}

std::string to_text(const Script& script) {
  std::string text = "seed " + std::to_string(script.seed) + " until " + std::to_string(script.until.value) + "\n";
  for (const ScriptStep& step : script.steps) {
    text += std::to_string(step.at.value) + " " + step.what;
    for (const std::string& word : step.args) text += " " + word;
    text += "\n";
  }
  return text;
}

Result<Script> parse_script(std::string_view text) {
  Script script;
  std::istringstream lines{std::string{text}};
  std::string line;
  bool begun = false;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words{line};
    const auto wrong = [&](const std::string& why) {
      return Error{ErrorCode::kInvalid, "line " + std::to_string(number) + ": " + why + ": " + line};
    };
    if (!begun) {
      std::string seed, until;
      if (!(words >> seed >> script.seed >> until >> script.until.value) || seed != "seed" || until != "until") {
        return wrong("a script begins with 'seed NUMBER until MILLISECONDS'");
      }
      begun = true;
      continue;
    }
    ScriptStep step;
    if (!(words >> step.at.value >> step.what)) return wrong("a step is 'MILLISECONDS WHAT ...'");
    for (std::string word; words >> word;) step.args.push_back(word);
    const auto kind = std::ranges::find(kKinds, step.what, [](const auto& one) { return std::string{one.first}; });
    if (kind == kKinds.end()) return wrong("nothing is called '" + step.what + "'");
    if (step.args.size() != kind->second) {
      return wrong("'" + step.what + "' takes " + std::to_string(kind->second) + " words");
    }
    script.steps.push_back(std::move(step));
  }
  if (!begun) return Error{ErrorCode::kInvalid, "the script is empty"};
  return script;
}

}  // namespace shiplog::simulation
