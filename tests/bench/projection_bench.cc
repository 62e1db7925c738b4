// Measures the projections on this machine, with a plain SQLite insert of the same rows for comparison.
//   projection_bench [OBJECTS [DIRECTORY]]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "events/base/json.h"
#include "events/base/random.h"
#include "events/fold/fold.h"
#include "events/proof/tree.h"
#include "events/sqlite/connection.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "projections/runner.h"
#include "projections/store/open.h"

namespace shiplog {
namespace {

/// Wall-clock time and CPU time of this process. On a busy machine only the CPU time is comparable.
struct ElapsedTime {
  double wall = 0;
  double cpu = 0;
  static ElapsedTime now() {
    const auto wall = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::duration<double>(wall).count(), static_cast<double>(std::clock()) / CLOCKS_PER_SEC};
  }
  ElapsedTime since(const ElapsedTime& start) const { return {wall - start.wall, cpu - start.cpu}; }
};

constexpr size_t kObjectBytes = 1500;
constexpr size_t kBatch = 1000;
constexpr int kNamespaces = 50;

ElapsedTime since(const ElapsedTime& start) { return ElapsedTime::now().since(start); }

template <class T>
T or_exit(Result<T> result) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}
void or_exit(const Result<void>& result) {
  if (result) return;
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

void print_rate(const char* label, size_t count, const ElapsedTime& took) {
  std::printf("%-50s %10.0f /s %10.0f /s\n", label, static_cast<double>(count) / took.wall,
              static_cast<double>(count) / took.cpu);
}
void print_time(const char* label, const ElapsedTime& took) {
  std::printf("%-50s %10.0f ms %10.0f ms\n", label, took.wall * 1000, took.cpu * 1000);
}

std::string namespace_name(size_t number) { return "team-" + std::to_string(number % kNamespaces); }

ObjectKey key_of(size_t number) {
  return {"deployments.apps", namespace_name(number), "workload-" + std::to_string(number)};
}

Value object_of(size_t number, size_t version) {
  const ObjectKey key = key_of(number);
  Value object =
      Value::object({{"apiVersion", "apps/v1"},
                     {"kind", "Deployment"},
                     {"metadata", Value::object({{"name", key.name}, {"namespace", key.ns}, {"generation", 1}})},
                     {"spec", Value::object({{"replicas", static_cast<int64_t>(version)}})}});
  // Enough settings to reach the size; each object has its own copy of them, as real objects would.
  Value settings;
  for (size_t i = 0; i < kObjectBytes / 48 - 5; ++i) {
    settings.set("SETTING_" + std::to_string(10 + i), "value-" + std::to_string(number) + "-of-this-setting");
  }
  object.edit("spec").set("settings", std::move(settings));
  return object;
}

/// Folds entries with one event each and applies them in batches; only applying is timed.
class Bench {
 public:
  Bench(const std::string& path, bool with_fold) : with_fold_{with_fold} {
    projections_ = std::move(or_exit(Projections::open(path)).projections);
    for (int i = 0; i < kNamespaces; ++i) {
      const ObjectKey key{type::kNamespace, "", namespace_name(static_cast<size_t>(i))};
      add(ObjectCreated{key, Value::object({{"metadata", Value::object({{"name", key.name}})}})});
    }
    flush();
  }

  void add(Event event) {
    Entry& entry = entries_.emplace_back();
    entry.id = new_entry_id(random_);
    entry.time = {1'700'000'000'000 + offset_};
    entry.actor = {"kubernetes-admin", {"system:masters", "system:authenticated"}, "api", "10.0.0.1", "kubectl/v1.31"};
    entry.request = {"update", "/apis/apps/v1/namespaces/team-1/deployments/workload-1"};
    entry.events.push_back(std::move(event));
    // Every entry follows from the one before: the most that the index of causes can cost.
    entry.cause = {Revision{static_cast<uint64_t>(offset_)}, last_, to_string(entry.id)};
    last_ = entry.id;
    ++offset_;
    if (entries_.size() == kBatch) flush();
  }

  void flush() {
    std::vector<Folded> folded;
    std::vector<FoldedEntry> batch;
    folded.reserve(entries_.size());
    // Hashed by the thread that reads the journal.
    std::vector<proof::Digest> leaves;
    for (const Entry& entry : entries_) leaves.push_back(proof::leaf_hash(to_string(entry.id)));
    ElapsedTime start = ElapsedTime::now();
    for (const Entry& entry : entries_) folded.push_back(fold(state_, entry));
    if (!with_fold_) start = ElapsedTime::now();
    const int64_t first = offset_ - static_cast<int64_t>(entries_.size());
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (folded[i].refusal) {
        std::fprintf(stderr, "refused: %s\n", folded[i].refusal->reason.c_str());
        std::exit(1);
      }
      batch.push_back({Offset{first + static_cast<int64_t>(i)}, entries_[i], folded[i], leaves[i]});
    }
    or_exit(projections_->apply(batch, state_.meta()));
    const ElapsedTime took = since(start);
    took_.wall += took.wall;
    took_.cpu += took.cpu;
    applied_ += entries_.size();
    entries_.clear();
  }

  /// Prints the number of entries applied since the last report.
  void report(const char* label) {
    flush();
    print_rate(label, applied_, took_);
    forget();
  }
  void forget() {
    took_ = {};
    applied_ = 0;
  }
  Projections& projections() { return *projections_; }
  const State& state() const { return state_; }

 private:
  bool with_fold_;
  SeededRandom random_{1};
  State state_;
  std::unique_ptr<Projections> projections_;
  std::vector<Entry> entries_;
  EntryId last_;
  int64_t offset_ = 0;
  ElapsedTime took_;
  size_t applied_ = 0;
};

// One table, one row per version, the same bytes in the same transactions.
void plain_inserts(const std::string& path, size_t rows) {
  auto connection = or_exit(store::open_writer(path));
  or_exit(connection->execute("CREATE TABLE plain (id INTEGER PRIMARY KEY, json TEXT NOT NULL)"));
  auto insert = or_exit(connection->prepare("INSERT INTO plain VALUES (?, ?)"));
  const std::string json = to_json(object_of(1, 1));
  const ElapsedTime start = ElapsedTime::now();
  for (size_t row = 0; row < rows;) {
    auto transaction = or_exit(sqlite::Transaction::begin(*connection));
    for (const size_t end = std::min(rows, row + kBatch); row < end; ++row) {
      or_exit(insert.run(static_cast<int64_t>(row), json));
    }
    or_exit(transaction.commit());
  }
  print_rate("machine: plain SQLite insert of the same JSON", rows, since(start));
}

void read_rates(const std::string& path, size_t objects) {
  auto reader = or_exit(Reader::open(path));
  const View view = or_exit(reader.view());
  const ObjectQuery query{view};
  const auto list = [&](const char* label, const ObjectList& which) {
    size_t rows = 0;
    const ElapsedTime start = ElapsedTime::now();
    or_exit(query.visit(which, [&](const ObjectRowView& row) {
      rows += row.json.empty() ? 0 : 1;
      return true;
    }));
    print_rate(label, rows, since(start));
  };
  list("list, newest", {.type = "deployments.apps"});
  list("list, as of the middle of history", {.type = "deployments.apps", .at = Revision{view.revision().value / 2}});
  ElapsedTime start = ElapsedTime::now();
  for (size_t i = 0; i < objects; ++i) or_exit(query.get(key_of(i * 7919 % objects)));
  print_rate("get", objects, since(start));
  start = ElapsedTime::now();
  ChangeList changes{.type = "deployments.apps", .with_previous = true};
  size_t rows = 0;
  for (auto page = or_exit(HistoryQuery{view}.changes(changes)); !page.empty();
       page = or_exit(HistoryQuery{view}.changes(changes))) {
    rows += page.size();
    changes.after = page.back().revision;
  }
  print_rate("changes with the version before, pages of 1000", rows, since(start));
}

int run(size_t objects, const std::string& directory) {
  const std::string path = directory + "/projection.db";
  std::printf("%zu objects of %zu bytes, then an update of each in another order; batches of %zu\n\n%-50s %13s %13s\n",
              objects, kObjectBytes, kBatch, "", "by the clock", "by CPU time");
  plain_inserts(directory + "/plain.db", objects);
  for (const bool with_fold : {false, true}) {
    const std::string file = with_fold ? directory + "/folded.db" : path;
    Bench bench{file, with_fold};
    bench.flush();
    bench.forget();
    for (size_t i = 0; i < objects; ++i) bench.add(ObjectCreated{key_of(i), object_of(i, 1)});
    bench.report(with_fold ? "fold and apply, creates" : "apply, creates");
    for (size_t i = 0; i < objects; ++i) {
      const size_t number = i * 7919 % objects;
      bench.add(ObjectUpdated{key_of(number), object_of(number, 2)});
    }
    bench.report(with_fold ? "fold and apply, updates" : "apply, updates");
    if (!with_fold) {
      const ElapsedTime start = ElapsedTime::now();
      or_exit(bench.projections().snapshot(directory + "/snapshot.db"));
      print_time("snapshot", since(start));
    }
  }
  std::printf("%-50s %10.1f MB\n", "size of the projection",
              static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  {
    ElapsedTime start = ElapsedTime::now();
    auto opened = or_exit(Projections::open(path));
    print_time("open with all objects", since(start));
    start = ElapsedTime::now();
    State state;
    const bool same = State::restore(opened.restored.meta, std::move(opened.restored.objects),
                                     std::move(opened.restored.seen), state);
    print_time(same ? "restore the state" : "restore the state: WRONG HASH", since(start));
  }
  read_rates(path, objects);
  return 0;
}

}  // namespace
}  // namespace shiplog

int main(int argc, char** argv) {
  const size_t objects = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 50'000;
  std::string directory = (std::filesystem::path{argc > 2 ? argv[2] : std::filesystem::temp_directory_path().string()} /
                           "projection-bench-XXXXXX")
                              .string();
  if (objects == 0 || ::mkdtemp(directory.data()) == nullptr) {
    std::fprintf(stderr, "usage: projection_bench [OBJECTS [DIRECTORY]]; the directory must be writable\n");
    return 2;
  }
  const int code = shiplog::run(objects, directory);
  std::filesystem::remove_all(directory);
  return code;
}
