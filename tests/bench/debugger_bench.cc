// The debugger on a journal of 100,000 entries: reading it once, steps back from its end, jumps, and searches
// backwards. The machine's own figure beside it is the fold alone, of the same entries already decoded.
//   debugger_bench [ENTRIES] [OBJECTS] [FILE]     FILE: the journal, made if it is not there; else in memory

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "events/base/check.h"
#include "events/codec/codec.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "events/journal/memory_journal.h"
#include "services/debugger/session.h"

namespace shiplog::bench {
namespace {

using Steady = std::chrono::steady_clock;

double seconds_since(Steady::time_point start) { return std::chrono::duration<double>(Steady::now() - start).count(); }

Entry entry_of(size_t number, size_t objects) {
  Entry entry;
  for (size_t byte = 0; byte < 8; ++byte) entry.id.bytes[byte] = static_cast<uint8_t>((number + 1) >> (8 * byte));
  entry.time = UtcMillis{1'700'000'000'000 + static_cast<int64_t>(number)};
  entry.actor.user = "kubernetes-admin";
  entry.actor.service = "api";
  entry.request = {"update", "/apis/apps/v1/namespaces/default/deployments"};
  if (number == 0) {
    entry.events = {ObjectCreated{{type::kNamespace, "", "default"},
                                  Value::object({{"metadata", Value::object({{"name", "default"}})}})}};
    return entry;
  }
  const size_t which = (number - 1) % objects;
  const ObjectKey key{"deployments.apps", "default", "web-" + std::to_string(which)};
  Value value = Value::object({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}});
  value.set("metadata", Value::object({{"name", key.name}, {"namespace", "default"}}));
  value.set("spec", Value::object({{"replicas", number}, {"text", std::string(1'200, 'x')}}));
  if (number <= objects) {
    entry.events = {ObjectCreated{key, std::move(value)}};
  } else {
    entry.events = {ObjectUpdated{key, std::move(value)}};
  }
  return entry;
}

void print(const char* what, double figure, const char* unit) {
  std::printf("%-58s %12.1f %s\n", what, figure, unit);
  std::fflush(stdout);
}

std::shared_ptr<Journal> journal_of(const std::vector<Entry>& entries, const char* file) {
  std::shared_ptr<Journal> journal;
  if (file == nullptr) {
    journal = make_memory_journal({.acknowledge_inside_append = true});
  } else {
    journal = open_sqlite_journal(file).value();
    if (journal->head().value().value > 0) return journal;
  }
  std::atomic<size_t> stored{0};
  for (const Entry& entry : entries) {
    journal->append(encode(entry), [&stored](const Result<Offset>& offset) {
      SHIPLOG_CHECK(offset.has_value(), "the journal is written");
      stored.fetch_add(1);
      stored.notify_one();
    });
  }
  for (size_t now = stored; now < entries.size(); now = stored) stored.wait(now);
  return journal;
}

void run(size_t count, size_t objects, const char* file) {
  std::vector<Entry> entries;
  for (size_t number = 0; number < count; ++number) entries.push_back(entry_of(number, objects));
  {
    State state;
    const auto start = Steady::now();
    for (const Entry& entry : entries) fold(state, entry);
    print("the fold alone", static_cast<double>(count) / seconds_since(start), "entries/s");
  }
  auto reader = debugger::JournalReader::open(journal_of(entries, file), Offset{}).value();
  debugger::Session session{debugger::JournalTimeline{std::move(reader), State{}}};
  auto start = Steady::now();
  SHIPLOG_CHECK(session.go_to_end().has_value(), "the journal can be read");
  print("to the end, with states kept", static_cast<double>(count) / seconds_since(start), "entries/s");
  print("kept states", static_cast<double>(session.timeline().kept_states()), "");

  std::vector<double> steps;
  for (int step = 0; step < 200; ++step) {
    start = Steady::now();
    SHIPLOG_CHECK(session.step_back(1).has_value(), "a step back succeeds");
    steps.push_back(1000 * seconds_since(start));
  }
  std::ranges::sort(steps);
  print("a step back, median of 200", steps[steps.size() / 2], "ms");
  print("a step back, slowest of 200", steps.back(), "ms");

  std::vector<double> jumps;
  for (size_t jump = 1; jump <= 50; ++jump) {
    start = Steady::now();
    SHIPLOG_CHECK(session.go_to_position(count * ((jump * 37) % 50) / 50).has_value(), "a jump succeeds");
    jumps.push_back(1000 * seconds_since(start));
  }
  std::ranges::sort(jumps);
  print("a jump anywhere, median of 50", jumps[jumps.size() / 2], "ms");
  print("a jump anywhere, slowest of 50", jumps.back(), "ms");

  SHIPLOG_CHECK(session.go_to_end().has_value(), "the journal can be read");
  const auto search = [&](const char* what, const char* text) {
    const auto condition = debugger::BreakCondition::parse(text).value();
    start = Steady::now();
    SHIPLOG_CHECK(session.resume_until(condition, false).has_value(), "a search succeeds");
    print(what, seconds_since(start), "s");
  };
  search("back to the second entry, which creates an object", "creates Deployment default/web-0");
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) {
  const auto number = [&](int place, size_t otherwise) {
    return argc > place ? static_cast<size_t>(std::strtoull(argv[place], nullptr, 10)) : otherwise;
  };
  shiplog::bench::run(number(1, 100'000), number(2, 10'000), argc > 3 ? argv[3] : nullptr);
  return 0;
}
