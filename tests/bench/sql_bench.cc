// How long the predefined queries take on a projection of this machine, with as many entries as asked for.
//   sql_bench [ENTRIES [DIRECTORY]]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "events/base/json.h"
#include "events/base/random.h"
#include "events/fold/fold.h"
#include "projections/runner.h"
#include "projections/sql/run_sql.h"
#include "projections/sql/saved_queries.h"
#include "tests/bench/figures.h"

namespace shiplog {
namespace {

using bench::or_exit;

using Clock = std::chrono::steady_clock;

constexpr size_t kBatch = 1000;
constexpr size_t kWorkloads = 5000;
/// Entries begin a month before this, and are equally far apart.
constexpr UtcMillis kNow{1'764'000'000'000};
constexpr int64_t kMonthMillis = int64_t{30} * 24 * 3600 * 1000;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A fleet in which users update Deployments, the scheduler places them, clusters fail, and a few requests are refused.
class AuditTrailFiller {
 public:
  AuditTrailFiller(const std::string& path, size_t entries)
      : projections_{std::move(or_exit(Projections::open(path)).projections)}, entries_{entries} {
    for (const char* ns : {"default", "shop"}) {
      const ObjectKey key{type::kNamespace, "", ns};
      add("admin", "api", "create", ObjectCreated{key, named(key)});
    }
  }

  void fill() {
    for (size_t index = 0; count_ < entries_; ++index) {
      const std::string name = "workload-" + std::to_string(index % kWorkloads);
      const ObjectKey deployment{"deployments.apps", "shop", name};
      const ObjectKey binding{"resourcebindings.work.karmada.io", "shop", name + "-deployment"};
      const std::string user = "user-" + std::to_string(index % 97);
      if (state_.find(deployment) == nullptr) {
        add(user, "api", "create", ObjectCreated{deployment, manifest(deployment, index)});
        add("system:shiplog:binder", "binder", "decide", BindingPut{binding, manifest(binding, index), {}});
      } else {
        add(user, "api", "update", ObjectUpdated{deployment, manifest(deployment, index)});
      }
      PlacementDecided placed;
      placed.binding = binding;
      placed.targets = {{"m" + std::to_string(index % 20), 2}, {"m" + std::to_string(20 + index % 30), 1}};
      add("system:shiplog:scheduler", "scheduler", "decide", placed);
      if (index % 50 == 0) {
        EvictionStarted evicted;
        evicted.binding = binding;
        evicted.cluster = "m" + std::to_string(index % 20);
        evicted.reason = "TaintUntolerated";
        evicted.producer = "TaintManager";
        add("system:shiplog:taint", "taint", "decide", evicted);
        EvictionFinished finished;
        finished.binding = binding;
        finished.cluster = evicted.cluster;
        finished.reason = "Healthy";
        add("system:shiplog:taint", "taint", "decide", finished);
      }
      if (index % 100 == 0) add("eve", "api", "delete", RequestDenied{deployment, 403, "Forbidden", "eve may not"});
      if (index % 100 == 50) add("bob", "api", "create", ObjectCreated{deployment, manifest(deployment, index)});
    }
    flush();
  }

 private:
  static Value named(const ObjectKey& key) {
    Value metadata = Value::object({{"name", key.name}});
    if (!key.ns.empty()) metadata.set("namespace", key.ns);
    return Value::object({{"metadata", std::move(metadata)}});
  }
  static Value manifest(const ObjectKey& key, size_t version) {
    Value object = named(key);
    Value settings;
    for (int i = 0; i < 15; ++i) settings.set("SETTING_" + std::to_string(10 + i), "value-" + std::to_string(version));
    object.set("spec", Value::object({{"settings", std::move(settings)}}));
    return object;
  }

  void add(const std::string& user, const std::string& service, const std::string& verb, Event event) {
    Entry& entry = pending_.emplace_back();
    entry.id = new_entry_id(random_);
    entry.time = {kNow.value - kMonthMillis +
                  static_cast<int64_t>(count_) * (kMonthMillis / static_cast<int64_t>(entries_ + 1))};
    entry.actor = {user, {"system:authenticated"}, service, "10.0.0.1", "kubectl/v1.31"};
    entry.request = {verb, "/apis/apps/v1/namespaces/shop/deployments"};
    entry.cause.trace_id = "4bf92f3577b34da6a3ce929d0e0e" + std::to_string(1000 + count_ % 9000);
    entry.events.push_back(std::move(event));
    folded_.push_back(fold(state_, entry));
    ++count_;
    if (pending_.size() == kBatch) flush();
  }

  void flush() {
    std::vector<FoldedEntry> batch;
    const size_t first = count_ - pending_.size();
    for (size_t i = 0; i < pending_.size(); ++i) {
      batch.push_back({Offset{static_cast<int64_t>(first + i)}, pending_[i], folded_[i]});
    }
    or_exit(projections_->apply(batch, state_.meta()));
    pending_.clear();
    folded_.clear();
  }

  SeededRandom random_{1};
  State state_;
  std::unique_ptr<Projections> projections_;
  size_t entries_;
  size_t count_ = 0;
  std::deque<Entry> pending_;  // what was folded refers to its entry
  std::vector<Folded> folded_;
};

void measure(const std::string& path, const std::string& name, const std::string& statement,
             std::vector<std::pair<std::string, SqlValue>> parameters) {
  SqlRequest request;
  request.statement = statement;
  request.parameters = std::move(parameters);
  request.deadline = Clock::now() + std::chrono::seconds{30};
  request.now = kNow;
  request.secret = "0123456789abcdef0123456789abcdef";
  request.without_secrets = [](std::string_view, std::string_view json) -> Result<std::string> {
    return std::string{json};
  };
  const auto start = Clock::now();
  const auto answer = run_sql(path, request);
  std::printf("%-28s %8.0f ms  %s\n", name.c_str(), seconds_since(start) * 1000,
              answer ? (std::to_string(answer.value().count) + " rows " + answer.value().truncated).c_str()
                     : answer.error().message.c_str());
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  const size_t entries = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  const std::filesystem::path folder =
      argc > 2 ? argv[2] : std::filesystem::temp_directory_path() / "shiplog-sql-bench";
  std::filesystem::create_directories(folder);
  const std::string path = folder / ("projection-" + std::to_string(entries) + ".db");
  if (!std::filesystem::exists(path)) {
    const auto start = Clock::now();
    AuditTrailFiller{path, entries}.fill();
    std::printf("%zu entries written in %.0f s, ", entries, seconds_since(start));
  }
  std::printf("%ju MB\n", static_cast<uintmax_t>(std::filesystem::file_size(path) >> 20U));

  measure(path, "all entries, counted", "SELECT count(*) FROM entries", {});
  measure(path, "newest 100", "SELECT * FROM entries ORDER BY offset DESC LIMIT 100", {});
  measure(path, "one entry", "SELECT * FROM entries WHERE offset = 1234", {});
  const std::map<std::string, std::string> given = {{"type", "deployments.apps"},
                                                    {"namespace", "shop"},
                                                    {"name", "workload-17"},
                                                    {"cluster", "m7"},
                                                    {"trace", "4bf92f3577b34da6a3ce929d0e0e1234"}};
  for (const SavedQuery& query : saved_queries()) {
    for (const char* since : {"1h", "24h", "7d", "30d"}) {
      std::vector<std::pair<std::string, SqlValue>> parameters;
      bool has_since = false;
      for (const SavedParameter& parameter : query.parameters) {
        std::string value = parameter.fallback;
        const auto found = given.find(parameter.name);
        if (found != given.end() && (parameter.required || parameter.name == "namespace")) value = found->second;
        if (parameter.name == "since") {
          has_since = true;
          value = since;
        }
        if (parameter.number) {
          parameters.emplace_back(parameter.name, int64_t{100'000});
        } else {
          parameters.emplace_back(parameter.name, value);
        }
      }
      measure(path, query.name + (has_since ? std::string{" "} + since : ""), query.statement, std::move(parameters));
      if (!has_since) break;
    }
  }
  return 0;
}

}  // namespace
}  // namespace shiplog

int main(int argc, char** argv) { return shiplog::run(argc, argv); }
