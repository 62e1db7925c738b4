// Fixed workloads without threads, clocks or files, whose instructions are counted (instructions.py).
//   workloads NAME COUNT
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/json.h"
#include "events/codec/codec.h"
#include "events/fold/fold.h"
#include "tests/bench/figures.h"
#include "tests/bench/recorded_fleet.h"

namespace shiplog::bench {
namespace {

constexpr size_t kRecorded = 40;  // Deployments

std::vector<Entry> recorded() {
  RecordedFleet fleet;
  fleet.create(kRecorded);
  fleet.edit(kRecorded, 1);
  return fleet.entries();
}

/// Each Deployment from its creation to the status of two members, by all roles that take part.
void applications(size_t count) { RecordedFleet{}.create(count); }

void encoding(size_t count) {
  const std::vector<Entry> entries = recorded();
  for (size_t number = 0; number < count; ++number) {
    if (encode(entries[number % entries.size()]).empty()) std::exit(1);
  }
}

void decoding(size_t count) {
  std::vector<std::string> encoded;
  for (const Entry& entry : recorded()) encoded.push_back(encode(entry));
  for (size_t number = 0; number < count; ++number) or_exit(decode(encoded[number % encoded.size()]));
}

/// Passes over the whole recording.
void folding(size_t count) {
  const std::vector<Entry> entries = recorded();
  for (size_t pass = 0; pass < count; ++pass) {
    State state;
    for (const Entry& entry : entries) fold(state, entry);
  }
}

void json(size_t count) {
  const std::string text = to_json(testing::deployment("default", "web", 2));
  for (size_t number = 0; number < count; ++number) {
    if (to_json(or_exit(parse_json(text))).size() != text.size()) std::exit(1);
  }
}

int run(int argc, char** argv) {
  if (argc == 3) {
    const std::string_view name = argv[1];
    const size_t count = std::strtoul(argv[2], nullptr, 10);
    const std::pair<std::string_view, void (*)(size_t)> workloads[] = {
        {"application", applications}, {"encode", encoding}, {"decode", decoding}, {"fold", folding}, {"json", json}};
    for (const auto& [known, workload] : workloads) {
      if (name == known) return workload(count), 0;
    }
  }
  std::fprintf(stderr, "usage: workloads application|encode|decode|fold|json COUNT\n");
  return 2;
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) { return shiplog::bench::run(argc, argv); }
