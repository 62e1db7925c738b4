#include "services/programs/shiplogctl/get_objects.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <ostream>
#include <set>

#include "events/base/ascii.h"
#include "events/base/system.h"
#include "services/programs/shiplogctl/cluster_table.h"
#include "services/programs/shiplogctl/commands.h"
#include "services/programs/shiplogctl/fan_out.h"
#include "services/programs/shiplogctl/object_print.h"
#include "services/programs/shiplogctl/suggest.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kPageSize = "500";
constexpr const char* kClusterAnnotation = "shiplog.io/cluster";
using SteadyClock = std::chrono::steady_clock;

/// "pods,services"
std::vector<std::string> split_types(const std::string& text) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    const size_t end = text.find(',', begin);
    if (const std::string part = text.substr(begin, end - begin); !part.empty()) parts.push_back(part);
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

/// One kind's answer of one cluster: tables, or objects.
struct FetchedKind {
  Resource resource;
  std::vector<Value> tables;
  std::vector<Value> objects;
  bool named = false;
};
struct Fetched {
  std::vector<FetchedKind> kinds;
  std::vector<std::string> errors;
};

/// All requests to one cluster, within its time.
class ClusterReader {
 public:
  ClusterReader(FleetServer& server, const GetObjectsOptions& options, HttpRequest::Query at)
      : server_{server},
        options_{options},
        at_{std::move(at)},
        deadline_{SteadyClock::now() + std::chrono::seconds{options.scope.timeout_seconds}} {}

  Fetched read(const std::vector<WantedObjects>& wanted) {
    Fetched fetched;
    (void)limit();
    const auto all = read_server_resources(server_);
    if (!all) {
      fetched.errors.push_back(all.error().message);
      return fetched;
    }
    for (const WantedObjects& want : wanted) {
      const auto resources = resources_named(all.value(), want.type);
      if (!resources) {
        fetched.errors.push_back(resources.error().message);
        continue;
      }
      for (const Resource& resource : resources.value()) {
        FetchedKind kind{.resource = resource, .tables = {}, .objects = {}, .named = !want.names.empty()};
        read_kind(want, kind, fetched.errors);
        fetched.kinds.push_back(std::move(kind));
      }
    }
    return fetched;
  }

 private:
  /// The rest of the cluster's time for the next request; false: none is left.
  bool limit() {
    if (server_.is_plane) return true;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - SteadyClock::now());
    if (left.count() <= 0) return false;
    server_.connection.set_patience(Millis{left.count()});
    return true;
  }

  Result<Value> get(const std::string& path, const HttpRequest::Query& query) {
    if (!limit()) {
      return Error{ErrorCode::kTimeout, "no answer within " + std::to_string(options_.scope.timeout_seconds) + " s"};
    }
    return server_.connection.get(path, query, ObjectPrinter::prints_objects(options_.output) ? "" : kTableOrObject);
  }

  void read_kind(const WantedObjects& want, FetchedKind& kind, std::vector<std::string>& errors) {
    if (const auto allowed = check_names(want, kind.resource, options_); !allowed) {
      errors.push_back(allowed.error().message);
      return;
    }
    const std::string path = kind.resource.path(options_.ns);
    if (want.names.empty()) {
      if (const auto read = read_list(path, kind); !read) errors.push_back(read.error().message);
      return;
    }
    HttpRequest::Query query = at_;
    if (!options_.sort_by.empty()) query.emplace_back("includeObject", "Object");
    for (const std::string& name : want.names) {
      auto answer = get(path + "/" + percent_encode(name), query);
      if (answer) {
        keep(std::move(answer).value(), kind);
      } else if (answer.error().code != ErrorCode::kNotFound) {
        errors.push_back(answer.error().message);
      } else if (!options_.ignore_not_found) {
        errors.push_back(missing_namespace(kind.resource).value_or(answer.error().message));
      }
    }
  }

  /// A 404 may be about the namespace.
  std::optional<std::string> missing_namespace(const Resource& resource) {
    if (!resource.namespaced || options_.ns.empty() || !limit()) return std::nullopt;
    const auto ns = server_.connection.get("/api/v1/namespaces/" + percent_encode(options_.ns));
    if (!ns && ns.error().code == ErrorCode::kNotFound) return ns.error().message;
    return std::nullopt;
  }

  Result<void> read_list(const std::string& path, FetchedKind& kind) {
    HttpRequest::Query query = list_query(options_);
    query.insert(query.end(), at_.begin(), at_.end());
    query.emplace_back("limit", kPageSize);
    std::string next;
    do {
      HttpRequest::Query page = query;
      if (!next.empty()) {
        std::erase_if(page, [](const auto& parameter) { return parameter.first.starts_with("resourceVersion"); });
        page.emplace_back("continue", next);
      }
      SHIPLOG_TRY(Value answer, get(path, page));
      next = answer["metadata"]["continue"].str();
      keep(std::move(answer), kind);
    } while (!next.empty());
    return ok();
  }

  void keep(Value answer, FetchedKind& kind) {
    const bool is_list = answer.contains("items");
    if (!ObjectPrinter::prints_objects(options_.output)) {
      if (answer["kind"].as_string() == "Table") {
        kind.tables.push_back(std::move(answer));
        return;
      }
      const Value list = is_list ? std::move(answer) : Value::object({{"items", Value::array({std::move(answer)})}});
      kind.tables.push_back(plain_table(list, rfc3339(SystemClock{}.now())));
      return;
    }
    if (is_list) {
      for (const Value& item : answer["items"].items()) kind.objects.push_back(item);
    } else {
      kind.objects.push_back(std::move(answer));
    }
  }

  FleetServer& server_;
  const GetObjectsOptions& options_;
  const HttpRequest::Query at_;
  const SteadyClock::time_point deadline_;
};

/// Prints what all clusters answered.
class Printed {
 public:
  Printed(const std::vector<FleetServer>& servers, const std::vector<Fetched>& fetched,
          const GetObjectsOptions& options, const Output& to)
      : servers_{servers}, fetched_{fetched}, options_{options}, to_{to} {
    for (const Fetched& one : fetched_) {
      for (const FetchedKind& kind : one.kinds) {
        const std::string name = kind.resource.plural + "." + kind.resource.group;
        if (seen_.insert(name).second) kinds_.push_back(&kind.resource);
      }
    }
  }

  Result<void> objects() {
    SHIPLOG_TRY(const auto printer, ObjectPrinter::make(options_.output, options_.no_headers));
    std::vector<Value> all;
    bool single = true;
    for (size_t i = 0; i < servers_.size(); ++i) {
      const bool several = servers_.size() > 1 && !servers_[i].is_plane;
      for (const FetchedKind& kind : fetched_[i].kinds) {
        single = single && kind.named;
        for (const Value& object : kind.objects) {
          all.push_back(shown_object(object, kind.resource, options_.managed_fields,
                                     several ? servers_[i].cluster : std::string{}));
        }
      }
    }
    if (!options_.sort_by.empty()) {
      SHIPLOG_TRY(sort_objects(all, options_.sort_by));
    }
    count_ = all.size();
    if (all.empty() && (failed() || options_.output == "name" || options_.ignore_not_found)) return ok();
    return printer.print(all, single, to_.out);
  }

  Result<void> tables() {
    bool first = true;
    for (const Resource* resource : kinds_) {
      SHIPLOG_TRY(const auto printed, table_of(*resource, first));
      first = first && !printed;
    }
    return ok();
  }

  void nothing_found() const {
    if (count_ > 0 || failed() || options_.ignore_not_found || options_.output == "name") return;
    if (ObjectPrinter::prints_objects(options_.output)) return;
    const bool namespaced = std::ranges::any_of(kinds_, [](const Resource* kind) { return kind->namespaced; });
    const bool in_namespace = namespaced && !options_.ns.empty();
    to_.err << "No resources found" << (in_namespace ? " in " + options_.ns + " namespace." : "") << std::endl;
  }

  bool failed() const {
    return std::ranges::any_of(fetched_, [](const Fetched& one) { return !one.errors.empty(); });
  }

 private:
  Result<bool> table_of(const Resource& resource, bool first) {
    TableForm form{.wide = options_.output == "wide",
                   .namespaces = options_.all_namespaces && resource.namespaced,
                   .labels = options_.show_labels,
                   .label_columns = options_.label_columns,
                   .adoption_wide_only = resource.plural == "pods" && resource.group.empty()};
    if (kinds_.size() > 1 || options_.show_kind) {
      form.name_prefix = lower_case(resource.kind) + (resource.group.empty() ? "" : "." + resource.group) + "/";
    }
    ClusterTable table{form};
    std::vector<ClusterTable::Row> rows;
    for_each(resource, [&](const FleetServer&, const Value& answer) { table.learn(answer); });
    for_each(resource, [&](const FleetServer& server, const Value& answer) {
      auto more = table.rows(server.cluster, server.is_plane, answer, answer["columnDefinitions"]);
      rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    });
    if (!options_.sort_by.empty()) {
      SHIPLOG_TRY(sort_rows(rows, options_.sort_by));
    }
    count_ += rows.size();
    if (rows.empty()) return false;
    Table printed{table.header()};
    for (ClusterTable::Row& row : rows) printed.add(std::move(row.cells));
    to_.out << (first ? "" : "\n") << printed.text(!options_.no_headers, to_.terminal) << std::flush;
    return true;
  }

  template <class Each>
  void for_each(const Resource& resource, Each each) const {
    for (size_t i = 0; i < servers_.size(); ++i) {
      for (const FetchedKind& kind : fetched_[i].kinds) {
        if (kind.resource.plural != resource.plural || kind.resource.group != resource.group) continue;
        // Pages after the first repeat its columns or omit them.
        const Value columns = kind.tables.empty() ? Value{} : kind.tables.front()["columnDefinitions"];
        for (Value answer : kind.tables) {
          if (answer["columnDefinitions"].is_empty()) answer.set("columnDefinitions", columns);
          each(servers_[i], answer);
        }
      }
    }
  }

  const std::vector<FleetServer>& servers_;
  const std::vector<Fetched>& fetched_;
  const GetObjectsOptions& options_;
  const Output& to_;
  std::vector<const Resource*> kinds_;
  std::set<std::string> seen_;
  size_t count_ = 0;
};

}  // namespace

Result<std::vector<WantedObjects>> wanted_objects(const std::vector<std::string>& words) {
  std::vector<WantedObjects> wanted;
  if (words.empty()) return Error{ErrorCode::kBadRequest, "name a type: get TYPE [NAME...], or get TYPE/NAME..."};
  const bool slashes = words.front().find('/') != std::string::npos;
  for (const std::string& word : words) {
    if ((word.find('/') != std::string::npos) == slashes) continue;
    return Error{ErrorCode::kBadRequest,
                 "there is no need to specify a resource type as a separate argument when passing arguments in "
                 "resource/name form (e.g. 'get resource/<resource_name>' instead of 'get resource resource/<name>')"};
  }
  if (slashes) {
    for (const std::string& word : words) {
      const size_t slash = word.find('/');
      const std::string name = word.substr(slash + 1);
      if (slash == 0 || name.empty() || name.find('/') != std::string::npos) {
        return Error{ErrorCode::kBadRequest, "arguments in resource/name form must have a single resource and name"};
      }
      wanted.push_back({word.substr(0, slash), {name}});
    }
    return wanted;
  }
  if (std::ranges::any_of(words.begin() + 1, words.end(), &std::string::empty)) {
    return Error{ErrorCode::kBadRequest, "resource name may not be empty"};
  }
  for (const std::string& type : split_types(words.front())) {
    wanted.push_back({type, {words.begin() + 1, words.end()}});
  }
  if (wanted.empty()) return Error{ErrorCode::kBadRequest, "name a type: \"" + words.front() + "\" has none"};
  return wanted;
}

Result<void> check_selection(const std::vector<WantedObjects>& wanted, const GetObjectsOptions& options) {
  const bool selects = !options.selector.empty() || !options.field_selector.empty();
  if (!selects || wanted.front().names.empty()) return ok();
  const bool slash = options.words.front().find('/') != std::string::npos;
  return Error{ErrorCode::kBadRequest,
               slash ? "selectors and the all flag cannot be used when passing resource/name arguments"
                     : "name cannot be provided when a selector is specified"};
}

Result<void> check_names(const WantedObjects& want, const Resource& resource, const GetObjectsOptions& options) {
  if (want.names.empty() || !resource.namespaced || !options.ns.empty()) return ok();
  return Error{ErrorCode::kBadRequest, "a resource cannot be retrieved by name across all namespaces"};
}

HttpRequest::Query list_query(const GetObjectsOptions& options) {
  HttpRequest::Query query;
  if (!options.selector.empty()) query.emplace_back("labelSelector", options.selector);
  if (!options.field_selector.empty()) query.emplace_back("fieldSelector", options.field_selector);
  if (!options.sort_by.empty()) query.emplace_back("includeObject", "Object");
  return query;
}

Result<std::vector<Resource>> read_server_resources(FleetServer& server) {
  auto resources = read_resources(server.connection);
  if (resources || server.is_plane) return resources;
  return resources.error().context("basic connection test to cluster(" + server.cluster +
                                   ") failed, please check authorization or network");
}

Result<std::vector<Resource>> resources_named(const std::vector<Resource>& resources, const std::string& word) {
  auto called = resources_called(resources, word);
  if (!called.empty()) return called;
  std::vector<std::string> names;
  for (const Resource& resource : resources) names.push_back(resource.plural);
  return Error{ErrorCode::kNotFound,
               "the server doesn't have a resource type \"" + word + "\"" + did_you_mean(word, names)};
}

Value shown_object(Value object, const Resource& resource, bool managed_fields, const std::string& cluster) {
  object.set("apiVersion", resource.api_version());
  object.set("kind", resource.kind);
  if (!managed_fields) object.edit("metadata").erase("managedFields");
  if (!cluster.empty()) object.edit("metadata").edit("annotations").set(kClusterAnnotation, cluster);
  return object;
}

Result<bool> get_objects(ServerConnection& plane, const GetObjectsOptions& options, const Output& to) {
  SHIPLOG_TRY(const auto wanted, wanted_objects(options.words));
  SHIPLOG_TRY(check_selection(wanted, options));
  const bool objects = ObjectPrinter::prints_objects(options.output);
  if (objects) {
    SHIPLOG_TRY(ObjectPrinter::make(options.output, options.no_headers));
    if (options.show_labels) {
      return Error{ErrorCode::kBadRequest, "--show-labels option cannot be used with " + options.output + " printer"};
    }
  }
  if (!options.at.empty() && options.scope.with_members()) {
    return Error{ErrorCode::kBadRequest, "--at reads the past of the control plane: members have none"};
  }
  SHIPLOG_TRY(const auto at, reads_at(plane, options.at));
  SHIPLOG_TRY(auto servers, fleet_servers(plane, options.scope));
  if (options.watch || options.watch_only) {
    if (wanted.size() != 1 || wanted.front().names.size() > 1 || !options.at.empty()) {
      return Error{ErrorCode::kBadRequest, "a watch is of one type, with at most one name, from now on"};
    }
    return watch_objects(servers, wanted.front(), options, to);
  }
  const auto fetched = collect_in_parallel<Fetched>(
      names_of(servers),
      [&](size_t index) {
        return ClusterReader{servers[index], options, at}.read(wanted);
      },
      to);

  Printed printed{servers, fetched, options, to};
  SHIPLOG_TRY(objects ? printed.objects() : printed.tables());
  printed.nothing_found();
  for (size_t i = 0; i < servers.size(); ++i) {
    for (const std::string& error : fetched[i].errors) {
      to.err << "error: " << cluster_error(servers[i].cluster, error) << std::endl;
    }
  }
  return !printed.failed();
}

}  // namespace shiplog::ctl
