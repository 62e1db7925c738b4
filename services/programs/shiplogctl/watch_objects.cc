#include <algorithm>
#include <chrono>
#include <mutex>
#include <ostream>
#include <thread>

#include "events/base/ascii.h"
#include "events/base/json.h"
#include "events/base/system.h"
#include "services/programs/shiplogctl/cluster_table.h"
#include "services/programs/shiplogctl/fan_out.h"
#include "services/programs/shiplogctl/get_objects.h"
#include "services/programs/shiplogctl/object_print.h"

namespace shiplog::ctl {
namespace {

constexpr std::chrono::seconds kFirstPause{1};
constexpr std::chrono::seconds kLongestPause{30};
constexpr size_t kBetween = 3;

/// One cluster's part of a watch.
struct WatchedCluster {
  FleetServer* server = nullptr;
  Resource resource = {};
  std::string revision = {};  ///< empty: it must be listed
  Value columns = {};
  bool resolved = false;
};

/// What was read of one cluster: its objects, or why there are none.
struct FirstList {
  Result<Value> list = Value{};
  bool final = false;  ///< it is of no use to try again
};

/// Prints the rows of all clusters, one at a time. Threads: any.
class WatchPrinter {
 public:
  /// `several`: objects come from more than one cluster.
  WatchPrinter(const GetObjectsOptions& options, bool several, const Output& to)
      : options_{options}, several_{several}, to_{to}, table_{TableForm{}} {}

  Result<void> prepare() {
    if (!ObjectPrinter::prints_objects(options_.output)) return ok();
    SHIPLOG_TRY(auto printer, ObjectPrinter::make(options_.output, options_.no_headers));
    printer_.emplace(std::move(printer));
    return ok();
  }

  /// All clusters have the same kind; its table is known once the first of them has answered.
  void print(WatchedCluster& from, const Value& table, const std::string& event) {
    const std::lock_guard lock{mutex_};
    if (printer_) {
      print_object(from, table, event);
      return;
    }
    if (!table["columnDefinitions"].is_empty()) from.columns = table["columnDefinitions"];
    begin(from.resource);
    table_.learn(Value::object({{"columnDefinitions", from.columns}}));
    const auto rows = table_.rows(from.server->cluster, from.server->is_plane, table, from.columns, event);
    widen(table_.header());
    for (const auto& row : rows) widen(row.cells);
    if (!headed_ && !rows.empty() && !options_.no_headers) line(table_.header());
    headed_ = headed_ || !rows.empty();
    for (const auto& row : rows) line(row.cells);
    to_.out << std::flush;
  }

  void problem(const std::string& cluster, const std::string& why) {
    const std::lock_guard lock{mutex_};
    to_.err << "error: " << cluster_error(cluster, why) << std::endl;
  }
  bool closed() {
    const std::lock_guard lock{mutex_};
    return !to_.out.good();
  }

 private:
  void begin(const Resource& resource) {
    if (begun_) return;
    begun_ = true;
    TableForm form{.wide = options_.output == "wide",
                   .namespaces = options_.all_namespaces && resource.namespaced,
                   .events = options_.event_types,
                   .labels = options_.show_labels,
                   .label_columns = options_.label_columns,
                   .adoption_wide_only = resource.plural == "pods" && resource.group.empty()};
    if (options_.show_kind) {
      form.name_prefix = lower_case(resource.kind) + (resource.group.empty() ? "" : "." + resource.group) + "/";
    }
    table_ = ClusterTable{std::move(form)};
  }

  void print_object(const WatchedCluster& from, const Value& object, const std::string& event) {
    const std::string cluster = from.server->is_plane || !several_ ? "" : from.server->cluster;
    Value shown = shown_object(object, from.resource, options_.managed_fields, cluster);
    if (options_.event_types) shown = Value::object({{"type", event}, {"object", std::move(shown)}});
    if (const auto printed = printer_->print_next(shown, to_.out); !printed) {
      to_.err << "error: " << cluster_error(from.server->cluster, printed.error().message) << std::endl;
    }
  }

  void widen(const std::vector<std::string>& cells) {
    widths_.resize(std::max(widths_.size(), cells.size()));
    for (size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], cells[i].size());
  }
  void line(const std::vector<std::string>& cells) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      text += cells[i];
      if (i + 1 < cells.size()) text.append(widths_[i] - cells[i].size() + kBetween, ' ');
    }
    to_.out << text << "\n";
  }

  const GetObjectsOptions& options_;
  const bool several_;
  const Output& to_;
  std::optional<ObjectPrinter> printer_;
  std::mutex mutex_;
  ClusterTable table_;
  std::vector<size_t> widths_;
  bool begun_ = false, headed_ = false;
};

/// Follows one cluster: lists, then watches from there; after an interruption it continues where it was, or lists
/// again.
class ClusterWatch {
 public:
  ClusterWatch(WatchedCluster& cluster, const WantedObjects& wanted, const GetObjectsOptions& options,
               WatchPrinter& printer)
      : cluster_{cluster}, wanted_{wanted}, options_{options}, printer_{printer} {}

  FirstList list() {
    FleetServer& server = *cluster_.server;
    server.connection.set_patience(Millis{options_.scope.timeout_seconds * 1000});
    if (!cluster_.resolved) {
      const auto resources = read_server_resources(server);
      if (!resources) return {resources.error(), false};
      const auto called = resources_named(resources.value(), wanted_.type);
      if (!called) return {called.error(), true};
      if (called.value().size() != 1) {
        return {Error{ErrorCode::kBadRequest, "a watch is of one type: \"" + wanted_.type + "\" means several"}, true};
      }
      if (const auto allowed = check_names(wanted_, called.value().front(), options_); !allowed) {
        return {allowed.error(), true};
      }
      cluster_.resource = called.value().front();
      cluster_.resolved = true;
    }
    auto listed = server.connection.get(path(), query(), accept());
    if (!listed) {
      const bool final = listed.error().code == ErrorCode::kForbidden || listed.error().code == ErrorCode::kBadRequest;
      return {listed.error(), final};
    }
    cluster_.revision = listed.value()["metadata"]["resourceVersion"].str();
    return {std::move(listed), false};
  }

  void show(const Value& list) {
    if (list["kind"].as_string() == "Table" || !ObjectPrinter::prints_objects(options_.output)) {
      const bool is_table = list["kind"].as_string() == "Table";
      printer_.print(cluster_, is_table ? list : plain_table(list, rfc3339(SystemClock{}.now())), "ADDED");
      return;
    }
    for (const Value& item : list["items"].items()) printer_.print(cluster_, item, "ADDED");
  }

  /// Until the output is closed, or it is of no use to try again.
  void follow() {
    auto pause = kFirstPause;
    bool reported = false;
    while (!printer_.closed()) {
      const auto watched = cluster_.revision.empty() ? list_again() : stream();
      if (finished_) return;
      if (watched) {
        pause = kFirstPause;
        reported = false;
        continue;
      }
      if (!reported) printer_.problem(cluster_.server->cluster, watched.error().message + "; trying again");
      reported = true;
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, kLongestPause);
    }
  }

 private:
  std::string path() const { return cluster_.resource.path(options_.ns); }
  std::string accept() const { return ObjectPrinter::prints_objects(options_.output) ? "" : kTableOrObject; }
  HttpRequest::Query query() const {
    HttpRequest::Query query = list_query(options_);
    if (wanted_.names.empty()) return query;
    query.emplace_back("fieldSelector", "metadata.name=" + wanted_.names.front());
    return query;
  }

  Result<void> list_again() {
    const FirstList listed = list();
    if (!listed.list) {
      finished_ = listed.final;
      if (finished_) printer_.problem(cluster_.server->cluster, listed.list.error().message);
      return listed.list.error();
    }
    show(listed.list.value());
    return ok();
  }

  Result<void> stream() {
    HttpRequest::Query from = query();
    from.emplace_back("watch", "true");
    from.emplace_back("allowWatchBookmarks", "true");
    from.emplace_back("resourceVersion", cluster_.revision);
    std::optional<Error> failed;
    auto ended = cluster_.server->connection.lines(
        path(), from,
        [&](std::string_view line) {
          failed = take(line);
          return !failed && !printer_.closed();
        },
        accept());
    if (failed) return *failed;
    if (!ended && ended.error().code == ErrorCode::kGone) cluster_.revision.clear();
    return ended;
  }

  std::optional<Error> take(std::string_view line) {
    const auto event = parse_json(line);
    if (!event) return Error{ErrorCode::kCorrupt, "the server sent a watch event that is not JSON"};
    const std::string type = event.value()["type"].str();
    const Value& object = event.value()["object"];
    if (type == "ERROR") {
      cluster_.revision.clear();  // too old: what is there now is listed
      return Error{ErrorCode::kGone, object["message"].str()};
    }
    const bool is_table = object["kind"].as_string() == "Table";
    const Value& at = is_table ? object["rows"][0]["object"]["metadata"] : object["metadata"];
    if (const auto revision = at["resourceVersion"].as_string(); !revision.empty()) cluster_.revision = revision;
    if (type == "BOOKMARK") return std::nullopt;
    if (is_table || ObjectPrinter::prints_objects(options_.output)) {
      printer_.print(cluster_, object, type);
    } else {
      const Value list = Value::object({{"items", Value::array({object})}});
      printer_.print(cluster_, plain_table(list, rfc3339(SystemClock{}.now())), type);
    }
    return std::nullopt;
  }

  WatchedCluster& cluster_;
  const WantedObjects& wanted_;
  const GetObjectsOptions& options_;
  WatchPrinter& printer_;
  bool finished_ = false;
};

}  // namespace

Result<void> check_watched(const WantedObjects& want, const Resource& resource, const std::vector<Value>& lists) {
  if (want.names.empty()) return ok();
  const auto has_objects = [](const Value& list) { return list["rows"].size() > 0 || list["items"].size() > 0; };
  if (std::ranges::any_of(lists, has_objects)) return ok();
  const std::string kind = resource.plural + (resource.group.empty() ? "" : "." + resource.group);
  return Error{ErrorCode::kNotFound, kind + " \"" + want.names.front() + "\" not found"};
}

Result<bool> watch_objects(std::vector<FleetServer>& servers, const WantedObjects& wanted,
                           const GetObjectsOptions& options, const Output& to) {
  WatchPrinter printer{options, servers.size() > 1, to};
  SHIPLOG_TRY(printer.prepare());
  std::vector<WatchedCluster> clusters(servers.size());
  std::vector<ClusterWatch> watches;
  for (size_t i = 0; i < servers.size(); ++i) {
    clusters[i].server = &servers[i];
    watches.emplace_back(clusters[i], wanted, options, printer);
  }
  const auto listed = collect_in_parallel<FirstList>(
      names_of(servers), [&](size_t index) { return watches[index].list(); }, to);
  std::vector<Value> lists;
  for (const FirstList& first : listed) {
    if (first.list) lists.push_back(first.list.value());
  }
  // A cluster that has not answered may have it.
  if (lists.size() == servers.size() && !options.ignore_not_found) {
    SHIPLOG_TRY(check_watched(wanted, clusters.front().resource, lists));
  }
  std::vector<std::thread> threads;
  for (size_t i = 0; i < servers.size(); ++i) {
    if (!listed[i].list) {
      printer.problem(servers[i].cluster, listed[i].list.error().message + (listed[i].final ? "" : "; trying again"));
      if (listed[i].final) continue;
    } else if (!options.watch_only) {
      watches[i].show(listed[i].list.value());
    }
    threads.emplace_back([&watch = watches[i]] { watch.follow(); });
  }
  for (std::thread& thread : threads) thread.join();
  return false;
}

}  // namespace shiplog::ctl
