// What history costs: the bytes that the projection stores for each change and decision of a fleet whose roles really
// run, and how long reads of a past moment take among many changes. The baseline of a read is the same read of the
// present.
//   history_bench [--changes=200000] [--deployments=500] [--json=FILE] [--directory=DIRECTORY]

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "events/base/random.h"
#include "events/fold/fold.h"
#include "events/sqlite/connection.h"
#include "events/sqlite/free_space.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "projections/runner.h"
#include "projections/store/checked_table.h"
#include "projections/store/open.h"
#include "tests/bench/figures.h"
#include "tests/bench/recorded_fleet.h"

namespace shiplog::bench {
namespace {

constexpr size_t kBatch = 512;
constexpr size_t kNamespaces = 50;

/// Folds entries, and applies them to a projection in batches.
class Projecting {
 public:
  explicit Projecting(const std::string& path)
      : projections_{std::move(or_exit(Projections::open(path)).projections)} {}

  void add(Entry entry) {
    entries_.push_back(std::move(entry));
    if (entries_.size() == kBatch) flush();
  }
  void add(Event event) {
    Entry entry;
    entry.id = new_entry_id(random_);
    entry.time = {1'700'000'000'000 + next_ + static_cast<int64_t>(entries_.size())};
    entry.actor = {"kubernetes-admin", {"system:masters", "system:authenticated"}, "api", "10.0.0.1", "kubectl/v1.31"};
    entry.request = {"update", "/api/v1/namespaces/team-1/configmaps/settings-1"};
    entry.events.push_back(std::move(event));
    add(std::move(entry));
  }
  void flush() {
    std::vector<Folded> folded;
    std::vector<FoldedEntry> batch;
    folded.reserve(entries_.size());
    for (const Entry& entry : entries_) folded.push_back(fold(state_, entry));
    for (size_t at = 0; at < entries_.size(); ++at) {
      changes_ += folded[at].changes.size();
      batch.push_back({Offset{next_ + static_cast<int64_t>(at)}, entries_[at], folded[at]});
    }
    or_exit(projections_->apply(batch, state_.meta()));
    next_ += static_cast<int64_t>(entries_.size());
    entries_.clear();
  }
  size_t changes() const { return changes_; }

 private:
  State state_;
  std::unique_ptr<Projections> projections_;
  SeededRandom random_{1};
  std::vector<Entry> entries_;
  int64_t next_ = 0;
  size_t changes_ = 0;
};

double number(sqlite::Connection& connection, const std::string& query) {
  auto statement = or_exit(connection.prepare(query));
  if (!or_exit(statement.next())) return 0;
  return static_cast<double>(statement.integer(0));
}

/// A table with its indexes.
double bytes_of(sqlite::Connection& connection, const std::string& table) {
  return number(
      connection,
      "SELECT sum(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name = '" + table + "')");
}

void sizes(Figures& figures, const std::string& path, size_t deployments) {
  Figures::heading("What the projection stores");
  size_t journal_changes = 0;
  {
    RecordedFleet fleet;
    fleet.create(deployments);
    for (size_t round = 1; round <= 3; ++round) fleet.edit(deployments, round);
    Projecting projecting{path};
    for (Entry& entry : fleet.entries()) projecting.add(std::move(entry));
    projecting.flush();
    journal_changes = projecting.changes();
  }
  const auto connection = or_exit(store::open_writer(path));
  const double changes = number(*connection, "SELECT count(*) FROM version");
  if (changes != static_cast<double>(journal_changes)) std::exit(1);
  const double decisions = number(*connection, "SELECT count(*) FROM decision");
  const double entries = number(*connection, "SELECT count(*) FROM entry");
  const double json = number(*connection, "SELECT sum(length(" + store::version_json("v") + ")) FROM version v");
  const double explanations = number(*connection, "SELECT sum(length(unpacked(explanation))) FROM decision");
  figures.value("machine", "changes", changes, "");
  figures.value("machine", "  JSON of the object, on average", json / changes, "bytes");
  figures.value("history", "stored for each change, with indexes",
                (bytes_of(*connection, "version") + bytes_of(*connection, "version_base")) / changes, "bytes");
  figures.value("machine", "decisions", decisions, "");
  figures.value("machine", "  JSON of the explanation, on average", explanations / decisions, "bytes");
  figures.value("history", "stored for each decision with its explanation",
                bytes_of(*connection, "decision") / decisions, "bytes");
  figures.value("history", "stored for each entry of the audit trail", bytes_of(*connection, "entry") / entries,
                "bytes");
}

ObjectKey key_of(size_t number) {
  return {"configmaps", "team-" + std::to_string(number % kNamespaces), "settings-" + std::to_string(number)};
}

Value config_map(size_t number, size_t version) {
  const ObjectKey key = key_of(number);
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", Value::object({{"name", key.name}, {"namespace", key.ns}})},
                        {"data", Value::object({{"version", std::to_string(version)},
                                                {"text", std::string(200, static_cast<char>('a' + version % 26))}})}});
}

/// Percentiles of a read that is repeated, each time of another moment and object.
void reads(Figures& figures, const std::string& what, size_t times, const std::function<void(size_t)>& read) {
  std::vector<double> took;
  double cpu = 0;
  for (size_t at = 0; at < times; ++at) {
    const Time start = Time::now();
    read(at);
    const Time spent = Time::now().since(start);
    took.push_back(spent.wall * 1000);
    cpu += spent.cpu * 1000;
  }
  std::ranges::sort(took);
  figures.value("history", what + ", p50", took[times / 2], "ms");
  figures.value("history", what + ", p99", took[times * 99 / 100], "ms");
  figures.value("history", what + ", CPU on average", cpu / static_cast<double>(times), "ms");
}

void past(Figures& figures, const std::string& path, size_t changes) {
  const size_t objects = std::max<size_t>(changes / 100, kNamespaces);
  Figures::heading(std::to_string(changes) + " changes of " + std::to_string(objects) + " objects");
  {
    const Time start = Time::now();
    Projecting projecting{path};
    for (size_t ns = 0; ns < kNamespaces; ++ns) {
      const std::string name = "team-" + std::to_string(ns);
      projecting.add(
          ObjectCreated{{type::kNamespace, "", name}, Value::object({{"metadata", Value::object({{"name", name}})}})});
    }
    for (size_t at = 0; at < changes; ++at) {
      const size_t which = at * 7919 % objects;
      Value value = config_map(which, at / objects);
      if (at < objects) {
        projecting.add(ObjectCreated{key_of(which), std::move(value)});
      } else {
        projecting.add(ObjectUpdated{key_of(which), std::move(value)});
      }
      if (at % 1'000'000 == 999'999) std::fprintf(stderr, "%zu changes\n", at + 1);
    }
    projecting.flush();
    figures.rate("history", "changes folded and projected", changes, Time::now().since(start));
  }
  {
    const auto connection = or_exit(store::open_reader(path));
    const sqlite::FileSpace space = or_exit(sqlite::space_of(*connection));
    figures.value("history", "size of the projection", static_cast<double>(space.bytes()) / 1e6, "MB");
  }
  auto reader = or_exit(Reader::open(path));
  const View view = or_exit(reader.view());
  const ObjectQuery query{view};
  SeededRandom random{2};
  const auto moment = [&] { return Revision{kNamespaces + objects + random_below(random, changes - objects)}; };
  const auto any = [&] { return static_cast<size_t>(random_below(random, objects)); };
  std::vector<std::pair<std::string, std::string>> names;
  for (size_t number = 0; number < objects; ++number) names.emplace_back(key_of(number).ns, key_of(number).name);
  std::ranges::sort(names);
  // Of all namespaces from some object on; without a limit, of one namespace.
  const auto list = [&](std::optional<Revision> at, size_t limit) {
    ObjectList which{.type = "configmaps", .limit = limit, .at = at};
    if (limit == 0) which.ns = "team-" + std::to_string(random_below(random, kNamespaces));
    if (limit > 0 && limit < objects) {
      const auto& [ns, name] = names[random_below(random, objects - limit)];
      which.after = {ns, name};
    }
    size_t rows = 0;
    or_exit(query.visit(which, [&](const ObjectRowView& row) {
      rows += row.json.empty() ? 0U : 1U;
      return true;
    }));
    if (rows == 0 || (limit > 0 && rows != std::min(limit, objects))) std::exit(1);
  };
  reads(figures, "get, now", 2'000, [&](size_t) { or_exit(query.get(key_of(any()))); });
  reads(figures, "get, at a past moment", 2'000, [&](size_t) { or_exit(query.get(key_of(any()), moment())); });
  reads(figures, "list of 500, now", 300, [&](size_t) { list({}, 500); });
  reads(figures, "list of 500, at a past moment", 300, [&](size_t) { list(moment(), 500); });
  reads(figures, "list of a namespace, at a past moment", 100, [&](size_t) { list(moment(), 0); });
  reads(figures, "revision of a time", 2'000, [&](size_t) {
    const UtcMillis time{1'700'000'000'000 + static_cast<int64_t>(random_below(random, changes))};
    or_exit(HistoryQuery{view}.revision_at(time));
  });
  reads(figures, "100 changes of a watch that replays", 300, [&](size_t) {
    ChangeList which{.type = "configmaps"};
    which.after = moment();
    which.limit = 100;
    which.with_previous = true;
    or_exit(HistoryQuery{view}.changes(which));
  });
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) {
  using namespace shiplog::bench;
  const size_t changes = std::strtoul(option(argc, argv, "changes", "200000").c_str(), nullptr, 10);
  const size_t deployments = std::strtoul(option(argc, argv, "deployments", "500").c_str(), nullptr, 10);
  const std::string parent = option(argc, argv, "directory", std::filesystem::temp_directory_path().string());
  std::string directory = (std::filesystem::path{parent} / "history-bench-XXXXXX").string();
  if (changes < 10'000 || deployments == 0 || ::mkdtemp(directory.data()) == nullptr) {
    std::fprintf(stderr,
                 "usage: history_bench [--changes=N, 10000 or more] [--deployments=N] [--json=FILE] "
                 "[--directory=DIRECTORY]\n");
    return 2;
  }
  {
    Figures figures{option(argc, argv, "json")};
    sizes(figures, directory + "/sizes.db", deployments);
    past(figures, directory + "/past.db", changes);
  }
  std::filesystem::remove_all(directory);
  return 0;
}
