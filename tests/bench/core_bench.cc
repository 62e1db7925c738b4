// What needs no network: reading entries, folding them, deciding, rebuilding the projection and starting from it,
// beside plain SQLite.
//   core_bench [--objects=100000] [--only=json|fold|placement|binding|interpreter|
//   projection|metrics] [--json=FILE]
//   [--directory=DIRECTORY]

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "events/base/json_sharing.h"
#include "events/base/random.h"
#include "events/codec/codec.h"
#include "events/fold/fold.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "events/sqlite/connection.h"
#include "projections/runner.h"
#include "projections/store/open.h"
#include "services/interpreter/interpreter.h"
#include "services/interpreter/lua/vm.h"
#include "services/roles/binder/decide.h"
#include "services/roles/scheduler/decide.h"
#include "services/runtime/metrics.h"
#include "tests/bench/figures.h"

namespace shiplog::bench {
namespace {

constexpr size_t kBatch = 512;  // as the tail hands them over
constexpr int kNamespaces = 50;

Value json(const std::string& text) { return or_exit(parse_json(text)); }

std::string namespace_of(size_t number) { return "team-" + std::to_string(number % kNamespaces); }

/// A Deployment as kubectl and the API's defaults make it: 1.5 KB.
Value deployment(size_t number, int64_t replicas) {
  const std::string name = "workload-" + std::to_string(number);
  Value object = json(
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{"deployment.kubernetes.io/revision":"1"},
      "generation":1,"labels":{"app":"a","team":"payments","tier":"backend"},"managedFields":[{"apiVersion":"apps/v1","fieldsType":
      "FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:app":{},"f:team":{}}},"f:spec":{"f:replicas":{},"f:selector":{}}},
      "manager":"kubectl-client-side-apply","operation":"Update","time":"2026-01-02T12:00:00Z"}]},"spec":{
      "progressDeadlineSeconds":600,"replicas":1,"revisionHistoryLimit":10,"selector":{"matchLabels":{"app":"a"}},
      "strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"},"template":{"metadata":{
      "labels":{"app":"a"}},"spec":{"containers":[{"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"REGION","value":"eu-west-1"}],
      "image":"registry.example.com/payments/web:1.27.3","imagePullPolicy":"IfNotPresent","name":"web","ports":[{"containerPort":8080,
      "protocol":"TCP"}],"resources":{"requests":{"cpu":"100m","memory":"128Mi"}},"terminationMessagePath":"/dev/termination-log",
      "terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler",
      "securityContext":{},"terminationGracePeriodSeconds":30}}}})");
  object.edit("metadata").set("name", name);
  object.edit("metadata").set("namespace", namespace_of(number));
  object.edit("spec").set("replicas", replicas);
  return object;
}

ObjectKey key_of(size_t number) {
  return {"deployments.apps", namespace_of(number), "workload-" + std::to_string(number)};
}

/// A state that grows by folding, and the entries it grew by.
class BenchHistory {
 public:
  Entry entry_of(Event event) {
    Entry entry;
    entry.id = new_entry_id(random_);
    entry.time = {1'700'000'000'000 + ++count_};
    entry.actor = {"kubernetes-admin", {"system:masters", "system:authenticated"}, "api", "10.0.0.1", "kubectl/v1.31"};
    entry.request = {"update", "/apis/apps/v1/namespaces/team-1/deployments/workload-1"};
    entry.events.push_back(std::move(event));
    return entry;
  }
  void accept(State& state, const Entry& entry) {
    const Folded folded = fold(state, entry);
    if (folded.refusal) {
      std::fprintf(stderr, "refused: %s\n", folded.refusal->reason.c_str());
      std::exit(1);
    }
  }
  void create(State& state, const ObjectKey& key, Value object) {
    object.edit("metadata").set("name", key.name);
    if (!key.ns.empty()) object.edit("metadata").set("namespace", key.ns);
    accept(state, entry_of(ObjectCreated{key, std::move(object)}));
  }
  void namespaces(State& state) {
    for (size_t i = 0; i < kNamespaces; ++i) create(state, {type::kNamespace, "", namespace_of(i)}, Value::object());
  }

 private:
  SeededRandom random_{1};
  int64_t count_ = 0;
};

/// Runs until a second is over, and returns how often it ran.
size_t repeat(const std::function<void()>& one, Time& took) {
  size_t times = 0;
  const Time start = Time::now();
  do {
    for (int i = 0; i < 16; ++i) one();
    times += 16;
    took = Time::now().since(start);
  } while (took.wall < 1);
  return times;
}

void json_and_entries(Figures& figures, size_t objects) {
  Figures::heading("reading and writing");
  const std::string text = to_json(deployment(1, 1));
  Time took;
  size_t times = repeat([&] { or_exit(parse_stored_json(text)); }, took);
  figures.rate("json", "JSON read, " + std::to_string(text.size()) + " bytes", times, took);
  figures.value("json", "  that is", static_cast<double>(times * text.size()) / took.cpu / 1e6, "MB/s of CPU time");
  const Value value = or_exit(parse_json(text));
  std::string out;
  times = repeat([&] { out.clear(), append_json(value, out); }, took);
  figures.rate("json", "JSON written", times, took);

  BenchHistory history;
  std::vector<std::string> encoded;
  for (size_t i = 0; i < std::min<size_t>(objects, 20'000); ++i) {
    encoded.push_back(encode(history.entry_of(ObjectCreated{key_of(i), deployment(i, 1)})));
  }
  const Time start = Time::now();
  for (const std::string& bytes : encoded) or_exit(decode(bytes));
  figures.rate("codec", "entries decoded", encoded.size(), Time::now().since(start));
}

void folding(Figures& figures, size_t objects) {
  Figures::heading("fold, " + std::to_string(objects) + " objects");
  State state;
  BenchHistory history;
  history.namespaces(state);
  std::vector<Entry> entries;
  const auto run = [&](const char* what) {
    const Time start = Time::now();
    for (const Entry& entry : entries) history.accept(state, entry);
    figures.rate("fold", what, entries.size(), Time::now().since(start));
    entries.clear();
  };
  for (size_t i = 0; i < objects; ++i) entries.push_back(history.entry_of(ObjectCreated{key_of(i), deployment(i, 1)}));
  run("fold, creates");
  for (size_t i = 0; i < objects; ++i) {
    const ObjectKey key = key_of(i * 7919 % objects);
    Value changed = state.value_of(key);
    changed.edit("spec").set("replicas", 2);
    entries.push_back(history.entry_of(ObjectUpdated{key, std::move(changed)}));
  }
  run("fold, updates in another order");
}

/// What one of several threads has used of the processor.
class ThreadShare {
 public:
  /// As long as it is there, the thread that has made it counts.
  class Running {
   public:
    explicit Running(ThreadShare& share) : share_{share}, begin_{now()} {}
    ~Running() { share_.nanoseconds_ += now() - begin_; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    static int64_t now() {
      timespec time{};
      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }
    ThreadShare& share_;
    int64_t begin_;
  };
  double seconds() const { return static_cast<double>(nanoseconds_.load()) / 1e9; }

 private:
  std::atomic<int64_t> nanoseconds_{0};
};

void projecting(Figures& figures, size_t objects, const std::string& directory) {
  Figures::heading("projection, " + std::to_string(objects) + " objects");
  {
    const std::string text = to_json(deployment(1, 1));
    auto connection = or_exit(store::open_writer(directory + "/plain.db"));
    or_exit(connection->execute("CREATE TABLE plain (id INTEGER PRIMARY KEY, json TEXT NOT NULL)"));
    auto insert = or_exit(connection->prepare("INSERT INTO plain VALUES (?, ?)"));
    const Time start = Time::now();
    for (size_t row = 0; row < objects;) {
      auto transaction = or_exit(sqlite::Transaction::begin(*connection));
      for (const size_t end = std::min(objects, row + kBatch); row < end; ++row) {
        or_exit(insert.run(static_cast<int64_t>(row), text));
      }
      or_exit(transaction.commit());
    }
    figures.rate("machine", "machine: plain SQLite insert of the same JSON", objects, Time::now().since(start));
  }
  const std::string path = directory + "/projection.db";
  BenchHistory history;
  std::vector<std::string> journal;
  for (size_t i = 0; i < kNamespaces; ++i) {
    journal.push_back(encode(history.entry_of(
        ObjectCreated{{type::kNamespace, "", namespace_of(i)}, Value::object({{"metadata", Value::object()}})})));
  }
  for (size_t i = 0; i < objects; ++i) {
    journal.push_back(encode(history.entry_of(ObjectCreated{key_of(i), deployment(i, 1)})));
  }
  {
    auto projections = or_exit(Projections::open(path)).projections;
    State state;
    struct Batch {
      size_t first = 0;
      std::vector<Entry> entries;
      std::vector<Folded> folded;
      StateMeta after;
    };
    ThreadShare decoded, folded, stored;
    const auto store = [&](const std::shared_ptr<const Batch>& batch) {
      const ThreadShare::Running running{stored};
      std::vector<FoldedEntry> entries;
      for (size_t i = 0; i < batch->entries.size(); ++i) {
        entries.push_back({Offset{static_cast<int64_t>(batch->first + i)}, batch->entries[i], batch->folded[i]});
      }
      or_exit(projections->apply(entries, batch->after));
    };
    const Time start = Time::now();
    // As a replica does: while one batch is folded, the next one is decoded and the one before is stored.
    const auto decode_from = [&](size_t at) {
      return std::async(std::launch::async, [&journal, &decoded, at] {
        const ThreadShare::Running running{decoded};
        const JsonSharing sharing;
        std::vector<Entry> entries;
        for (size_t i = at; i < std::min(journal.size(), at + kBatch); ++i) {
          entries.push_back(or_exit(decode(journal[i])));
        }
        return entries;
      });
    };
    std::future<void> storing = std::async(std::launch::deferred, [] {});
    auto decoding = decode_from(0);
    for (size_t first = 0; first < journal.size();) {
      auto batch = std::make_shared<Batch>();
      batch->first = first;
      batch->entries = decoding.get();
      first += batch->entries.size();
      decoding = decode_from(first);
      {
        const ThreadShare::Running running{folded};
        for (const Entry& entry : batch->entries) batch->folded.push_back(fold(state, entry));
      }
      batch->after = state.meta();
      storing.get();
      storing = std::async(std::launch::async, store, std::move(batch));
    }
    storing.get();
    figures.rate("rebuild", "rebuild: decode, fold and store", journal.size(), Time::now().since(start));
    const auto each = [&](const ThreadShare& share) {
      return share.seconds() / static_cast<double>(journal.size()) * 1e6;
    };
    figures.value("rebuild", "  of that, the thread that decodes", each(decoded), "us of CPU each");
    figures.value("rebuild", "  of that, the thread that folds", each(folded), "us of CPU each");
    figures.value("rebuild", "  of that, the thread that stores", each(stored), "us of CPU each");
    const Time began = Time::now();
    or_exit(projections->snapshot(directory + "/snapshot.db"));
    figures.seconds("start", "snapshot taken", Time::now().since(began));
  }
  const std::string fresh = directory + "/fresh.db";
  const Time start = Time::now();
  or_exit(Projections::restore_snapshot(directory + "/snapshot.db", fresh));
  const Time copied = Time::now();
  auto opened = or_exit(Projections::open(fresh));
  const Time read = Time::now();
  State state;
  const bool same =
      State::restore(opened.restored.meta, std::move(opened.restored.objects), std::move(opened.restored.seen), state);
  if (!same) {
    std::fprintf(stderr, "the restored state has another hash\n");
    std::exit(1);
  }
  const Time done = Time::now();
  figures.seconds("start", "start from a snapshot", done.since(start));
  figures.seconds("start", "  of that, put it in place", copied.since(start));
  figures.seconds("start", "  of that, read the objects", read.since(copied));
  figures.seconds("start", "  of that, restore the state", done.since(read));
}

State fleet_of(BenchHistory& history, size_t clusters) {
  State state;
  history.namespaces(state);
  for (size_t i = 0; i < clusters; ++i) {
    const std::string number = std::to_string(i);
    history.create(
        state, {type::kCluster, "", "member-" + number},
        json(
            R"({"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{"labels":{"env":"prod","zone":"z)" +
            std::to_string(i % 3) + R"("}},"spec":{"provider":"p","region":"r)" + std::to_string(i % 5) +
            R"(","zones":["z)" + std::to_string(i % 3) + R"("]},"status":{"apiEnablements":[{"groupVersion":"apps/v1",
      "resources":[{"kind":"Deployment","name":"deployments"},{"kind":"StatefulSet","name":"statefulsets"}]},{"groupVersion":"v1",
      "resources":[{"kind":"ConfigMap","name":"configmaps"},{"kind":"Pod","name":"pods"}]}],"conditions":[{"type":"Ready",
      "status":"True"}],"resourceSummary":{"allocatable":{"cpu":")" +
            std::to_string(100 + i % 7) + R"(","memory":"400Gi","pods":"1000"},"allocated":{"cpu":"10","memory":"20Gi",
      "pods":"100"}}}})"));
  }
  return state;
}

/// Appends to a journal file as the roles do: many under way at a time.
class JournalAppender {
 public:
  explicit JournalAppender(const std::string& file) : journal_{or_exit(open_sqlite_journal(file))} {}

  void record(const std::string& bytes) {
    {
      std::unique_lock lock{mutex_};
      room_.wait(lock, [&] { return under_way_ < 1024; });
      ++under_way_;
    }
    journal_->append(bytes, [this](Result<Offset> stored) {
      or_exit(std::move(stored));
      const std::lock_guard lock{mutex_};
      --under_way_;
      room_.notify_one();
    });
  }
  /// Until all of it is on disk.
  void settle() {
    std::unique_lock lock{mutex_};
    room_.wait(lock, [&] { return under_way_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable room_;
  size_t under_way_ = 0;
  std::unique_ptr<Journal> journal_;  // last: its thread calls back
};

void placing(Figures& figures, const std::string& directory) {
  Figures::heading("one placement decision with its explanation");
  for (const size_t clusters : {2U, 100U, 1000U}) {
    for (const bool divided : {false, true}) {
      BenchHistory history;
      State state = fleet_of(history, clusters);
      const ObjectKey key{type::kResourceBinding, "team-1", "web-deployment"};
      history.create(
          state, key,
          json(
              R"({"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding","metadata":{"generation":1,"labels":{"propagationpolicy.karmada.io/permanent-id":"p"}},
          "spec":{"resource":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"team-1","name":"web"},"replicas":10,
          "replicaRequirements":{"resourceRequest":{"cpu":"100m","memory":"128Mi"}},"schedulerName":"default-scheduler","placement":{
          "clusterAffinity":{"labelSelector":{"matchLabels":{"env":"prod"}}},"clusterTolerations":[{"key":"x","operator":"Exists"}],
          "replicaScheduling":)" +
              std::string{divided ? R"({"replicaDivisionPreference":"Weighted","replicaSchedulingType":"Divided",
          "weightPreference":{"dynamicWeight":"AvailableReplicas"}})"
                                  : R"({"replicaSchedulingType":"Duplicated"})"} +
              "}}}"));
      Time took;
      const size_t times = repeat(
          [&] {
            const auto decided = or_exit(scheduler::decide(state, key, UtcMillis{1'700'000'000'000}));
            const auto* decision = std::get_if<Decision>(&decided);
            if (decision == nullptr || !std::holds_alternative<PlacementDecided>(decision->events[0])) {
              std::fprintf(stderr, "nothing was placed\n");
              std::exit(1);
            }
          },
          took);
      const std::string what = std::to_string(clusters) + " clusters, " + (divided ? "divided by room" : "duplicated");
      figures.rate("placement", what, times, took);

      JournalAppender recorder{directory + "/decisions-" + std::to_string(clusters) +
                               (divided ? "-divided.db" : ".db")};
      const Time start = Time::now();
      size_t recorded = 0;
      do {
        auto decision = std::get<Decision>(or_exit(scheduler::decide(state, key, UtcMillis{1'700'000'000'000})));
        Entry entry = history.entry_of(std::move(decision.events[0]));
        entry.expects = std::move(decision.expects);
        recorder.record(encode(entry));
        ++recorded;
      } while (Time::now().since(start).wall < 1);
      recorder.settle();
      figures.rate("placement", "  decided and stored in the journal file", recorded, Time::now().since(start));
    }
  }
}

void binding(Figures& figures) {
  Figures::heading("which policy claims a template, and its binding");
  for (const size_t policies : {10U, 5000U}) {
    BenchHistory history;
    State state;
    history.namespaces(state);
    for (size_t i = 0; i < policies; ++i) {
      const std::string name = "workload-" + std::to_string(i * kNamespaces + 1);
      history.create(
          state, {type::kPropagationPolicy, "team-1", name},
          json(R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{"generation":1,
          "labels":{"propagationpolicy.karmada.io/permanent-id":"id-)" +
               name + R"("}},"spec":{"resourceSelectors":[{
          "apiVersion":"apps/v1","kind":"Deployment","name":")" +
               name + R"("}],"placement":{"clusterAffinity":{
          "clusterNames":["member-0","member-1"]}}}})"));
    }
    const ObjectKey key = key_of(1);
    history.create(state, key, deployment(1, 1));
    Time took;
    const size_t times = repeat(
        [&] {
          if (!std::holds_alternative<Decision>(or_exit(binder::decide(state, key, UtcMillis{1'700'000'000'000})))) {
            std::fprintf(stderr, "nothing was bound\n");
            std::exit(1);
          }
        },
        took);
    figures.rate("binding", std::to_string(policies) + " policies in the namespace", times, took);
  }
}

/// The resource interpreter: native code, a compiled-in script, a customization's, and the worst a script can do.
void interpreting(Figures& figures) {
  Figures::heading("one operation of the resource interpreter");
  constexpr size_t kTimes = 20'000;
  const UtcMillis now{1'767'268'800'000};
  const auto measure = [&](const std::string& what, size_t times, const std::function<bool()>& run) {
    const Time start = Time::now();
    for (size_t i = 0; i < times; ++i) {
      if (!run()) std::abort();
    }
    figures.rate("interpreter", what, times, Time::now().since(start));
  };
  State state;
  Value web = deployment(1, 3);
  web.edit("metadata").edit("annotations").set("resourcetemplate.karmada.io/generation", "1");
  web.set("status",
          json(R"({"observedGeneration":1,"replicas":3,"readyReplicas":3,"updatedReplicas":3,"availableReplicas":3})"));
  Value clone = web;
  clone.set("apiVersion", "apps.kruise.io/v1alpha1");
  clone.set("kind", "CloneSet");
  const Value items = json(
      R"([{"clusterName":"m1","status":{"replicas":1,"readyReplicas":1}},{"clusterName":"m2","status":{"replicas":2}}])");
  for (const auto& [how, object] : {std::pair{"native", web}, std::pair{"Lua", clone}}) {
    const std::string by = std::string{", "} + how;
    measure("replicas" + by, kTimes, [&] { return bool{interpreter::replicas(state, object, now)}; });
    measure("revise" + by, kTimes, [&] { return bool{interpreter::revise_replica(state, object, 4, now)}; });
    measure("status" + by, kTimes, [&] { return bool{interpreter::reflect_status(state, object, now)}; });
    measure("health" + by, kTimes, [&] { return bool{interpreter::health(state, object, now)}; });
    measure("aggregate, 2 clusters" + by, kTimes,
            [&] { return bool{interpreter::aggregate_status(state, object, items, now)}; });
    measure("dependencies" + by, kTimes, [&] { return bool{interpreter::dependencies(state, object, now)}; });
  }
  measure("a script that loops for ever, until it is stopped", 20, [&] {
    return !interpreter::lua::run({"function F() while true do end end", "F", {}, 1, {}, now});
  });
}

/// What an observation costs the request path and the fold thread.
void measuring(Figures& figures) {
  Figures::heading("metrics");
  const metrics::CounterFamily counters{
      "bench_requests_total", "Bench.", {"verb", "group", "resource", "scope", "code"}};
  const metrics::HistogramFamily histograms{"bench_seconds", "Bench."};
  const metrics::Counter counter = counters.with({"get", "apps", "deployments", "namespace", "200"});
  const metrics::Histogram histogram = histograms.with({});
  const auto measure = [&](const char* what, const std::function<void()>& thousand) {
    Time took;
    const size_t times = repeat(thousand, took) * 1000;
    figures.value("metrics", what, took.cpu / static_cast<double>(times) * 1e9, "ns of CPU time");
  };
  const auto thousand = [](const auto& one) {
    for (int i = 0; i < 1000; ++i) one();
  };
  measure("counter", [&] { thousand([&] { counter.add(); }); });
  measure("histogram, 17 buckets", [&] { thousand([&] { histogram.observe(0.003); }); });
  measure("histogram with a stopwatch", [&] {
    thousand([&] {
      const metrics::Stopwatch watch;
      histogram.observe(watch.seconds());
    });
  });
  measure("counter looked up by 5 labels", [&] {
    thousand([&] { counters.with({"get", "apps", "deployments", "namespace", "200"}).add(); });
  });
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) {
  using namespace shiplog::bench;
  const size_t objects = std::strtoul(option(argc, argv, "objects", "100000").c_str(), nullptr, 10);
  const std::string parent = option(argc, argv, "directory", std::filesystem::temp_directory_path().string());
  std::string directory = (std::filesystem::path{parent} / "core-bench-XXXXXX").string();
  if (objects == 0 || ::mkdtemp(directory.data()) == nullptr) {
    std::fprintf(stderr, "usage: core_bench [--objects=N] [--only=PART] [--json=FILE] [--directory=DIRECTORY]\n");
    return 2;
  }
  Figures figures{option(argc, argv, "json")};
  const std::string only = option(argc, argv, "only");
  const auto asked_for = [&](const char* part) { return only.empty() || only == part; };
  if (asked_for("json")) json_and_entries(figures, objects);
  if (asked_for("fold")) folding(figures, objects);
  if (asked_for("placement")) placing(figures, directory);
  if (asked_for("binding")) binding(figures);
  if (asked_for("interpreter")) interpreting(figures);
  if (asked_for("metrics")) measuring(figures);
  if (asked_for("projection")) projecting(figures, objects, directory);
  std::filesystem::remove_all(directory);
  return 0;
}
