#include "services/programs/shiplogctl/top.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <tuple>

#include "events/base/quantity.h"
#include "events/base/utf8.h"
#include "services/programs/shiplogctl/fan_out.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kMetrics = "/apis/metrics.k8s.io/v1beta1";
constexpr int64_t kMebi = 1024 * 1024;
constexpr const char* kUnknown = "<unknown>";

using Read = std::vector<ResourceUse>;

int64_t milli_of(const Value& quantity) {
  const auto parsed = parse_quantity(quantity.as_string("0"));
  return parsed ? parsed.value().milli() : 0;
}
int64_t units_of(const Value& quantity) {
  const auto parsed = parse_quantity(quantity.as_string("0"));
  return parsed ? parsed.value().units() : 0;
}

Value::Array items_or_itself(const Value& list) {
  if (!list.contains("items")) return {list};
  return {list["items"].items().begin(), list["items"].items().end()};
}

std::string cpu_text(const ResourceUse& use) { return use.known ? std::to_string(use.milli_cpu) + "m" : kUnknown; }
std::string memory_text(const ResourceUse& use) {
  return use.known ? std::to_string(use.memory_bytes / kMebi) + "Mi" : kUnknown;
}
std::string percent(bool known, int64_t used, int64_t of) {
  return known && of > 0
             ? std::to_string(static_cast<int64_t>(static_cast<double>(used) / static_cast<double>(of) * 100)) + "%"
             : kUnknown;
}

HttpRequest::Query query_of(const TopOptions& options) {
  HttpRequest::Query query;
  if (!options.selector.empty()) query.emplace_back("labelSelector", options.selector);
  if (!options.field_selector.empty()) query.emplace_back("fieldSelector", options.field_selector);
  return query;
}

/// 404 of the whole API, not of an object in it.
Result<Value> metrics_of(FleetServer& server, const std::string& path, const HttpRequest::Query& query,
                         const TopOptions& options) {
  auto read = server.connection.get(path, query);
  if (read || (read.error().code != ErrorCode::kNotFound && read.error().code != ErrorCode::kUnavailable)) return read;
  if (!server.connection.get(kMetrics)) {
    const auto connected = server.connection.get("/version");
    return connected ? Error{ErrorCode::kNotFound, "metrics API not available"} : connected.error();
  }
  if (options.name.empty()) return read;
  return Error{ErrorCode::kNotFound, "metrics not available yet for " + options.name + ": " + read.error().message};
}

/// Asks every member at the same time, and prints the rows of those that answered.
template <class Reader, class Printer>
Result<bool> top(ServerConnection& plane, const TopOptions& options, const Output& to, Reader read, Printer print) {
  if (!options.name.empty() && !options.selector.empty()) {
    return Error{ErrorCode::kBadRequest, "only one of NAME or selector can be provided"};
  }
  ClusterScope scope = options.scope;
  scope.scope = "members";
  SHIPLOG_TRY(auto servers, fleet_servers(plane, scope));
  const auto answers = collect_in_parallel<Result<Read>>(
      names_of(servers),
      [&](size_t index) -> Result<Read> {
        servers[index].connection.set_patience(Millis{scope.timeout_seconds * 1000});
        return read(servers[index]);
      },
      to);
  Read rows;
  bool complete = true;
  for (const auto& answer : answers) {
    if (answer) rows.insert(rows.end(), answer.value().begin(), answer.value().end());
    complete = complete && answer.has_value();
  }
  sort_use(rows, options.sort_by);
  if (!rows.empty()) {
    print(rows);
  } else if (complete) {
    to.err << "No resources found" << (options.ns.empty() ? "" : " in " + options.ns + " namespace.") << std::endl;
  }
  for (size_t i = 0; i < servers.size(); ++i) {
    if (!answers[i]) to.err << "error: " << cluster_error(servers[i].cluster, answers[i].error().message) << std::endl;
  }
  return complete;
}

void add_sum(Table& table, const Read& rows, size_t cells_before, bool with_percent) {
  ResourceUse sum;
  for (const ResourceUse& row : rows) {
    sum.milli_cpu += row.milli_cpu;
    sum.memory_bytes += row.memory_bytes;
    sum.milli_cpu_of += row.milli_cpu_of;
    sum.memory_bytes_of += row.memory_bytes_of;
  }
  std::vector<std::string> rule(cells_before);
  std::vector<std::string> total(cells_before);
  const auto add = [&](const std::string& text) {
    rule.emplace_back("________");
    total.push_back(text);
  };
  add(cpu_text(sum));
  if (with_percent) add(percent(true, sum.milli_cpu, sum.milli_cpu_of));
  add(memory_text(sum));
  if (with_percent) add(percent(true, sum.memory_bytes, sum.memory_bytes_of));
  table.add(std::move(rule));
  table.add(std::move(total));
}

}  // namespace

std::vector<ResourceUse> pod_use(const Value& metrics, const std::string& cluster, bool containers) {
  Read rows;
  for (const Value& pod : items_or_itself(metrics)) {
    ResourceUse use{.cluster = cluster,
                    .ns = printable(pod["metadata"]["namespace"].as_string(), 300),
                    .pod = printable(pod["metadata"]["name"].as_string(), 300),
                    .name = {}};
    if (!containers) {
      use.name = use.pod;
      rows.push_back(use);
    }
    for (const Value& container : pod["containers"].items()) {
      if (containers) {
        use.name = printable(container["name"].as_string(), 300);
        rows.push_back(use);
      }
      rows.back().milli_cpu += milli_of(container["usage"]["cpu"]);
      rows.back().memory_bytes += units_of(container["usage"]["memory"]);
    }
  }
  return rows;
}

std::vector<ResourceUse> node_use(const Value& nodes, const Value& metrics, const std::string& cluster, bool capacity) {
  std::map<std::string, Value> usage;
  for (const Value& one : items_or_itself(metrics)) usage[one["metadata"]["name"].str()] = one["usage"];
  Read rows;
  for (const Value& node : items_or_itself(nodes)) {
    const std::string name = node["metadata"]["name"].str();
    const Value& of = node["status"][capacity ? "capacity" : "allocatable"];
    const auto used = usage.find(name);
    ResourceUse use{.cluster = cluster, .ns = {}, .pod = {}, .name = printable(name, 300)};
    use.milli_cpu_of = milli_of(of["cpu"]);
    use.memory_bytes_of = units_of(of["memory"]);
    use.known = used != usage.end();
    if (use.known) {
      use.milli_cpu = milli_of(used->second["cpu"]);
      use.memory_bytes = units_of(used->second["memory"]);
    }
    rows.push_back(std::move(use));
  }
  return rows;
}

void sort_use(std::vector<ResourceUse>& rows, const std::string& sort_by) {
  std::ranges::stable_sort(rows, [&](const ResourceUse& a, const ResourceUse& b) {
    if (sort_by == "cpu" && a.milli_cpu != b.milli_cpu) return a.milli_cpu > b.milli_cpu;
    if (sort_by == "memory" && a.memory_bytes != b.memory_bytes) return a.memory_bytes > b.memory_bytes;
    return std::tie(a.ns, a.pod, a.name, a.cluster) < std::tie(b.ns, b.pod, b.name, b.cluster);
  });
}

Result<bool> top_pods(ServerConnection& plane, const TopOptions& options, const Output& to) {
  const std::string path = std::string{kMetrics} + (options.ns.empty() ? "" : "/namespaces/" + options.ns) + "/pods" +
                           (options.name.empty() ? "" : "/" + percent_encode(options.name));
  const auto read = [&](FleetServer& server) -> Result<Read> {
    SHIPLOG_TRY(const Value metrics, metrics_of(server, path, query_of(options), options));
    return pod_use(metrics, server.cluster, options.containers);
  };
  const auto print = [&](const Read& rows) {
    std::vector<std::string> header;
    if (options.all_namespaces) header.emplace_back("NAMESPACE");
    if (options.containers) header.emplace_back("POD");
    for (const char* name : {"NAME", "CLUSTER", "CPU(cores)", "MEMORY(bytes)"}) header.emplace_back(name);
    Table table{header};
    for (const ResourceUse& row : rows) {
      std::vector<std::string> cells;
      if (options.all_namespaces) cells.push_back(row.ns);
      if (options.containers) cells.push_back(row.pod);
      for (const auto& cell : {row.name, row.cluster, cpu_text(row), memory_text(row)}) cells.push_back(cell);
      table.add(std::move(cells));
    }
    if (options.sum) add_sum(table, rows, header.size() - 2, false);
    to.out << table.text(!options.no_headers, to.terminal) << std::flush;
  };
  return top(plane, options, to, read, print);
}

Result<bool> top_nodes(ServerConnection& plane, const TopOptions& options, const Output& to) {
  const std::string name = options.name.empty() ? "" : "/" + percent_encode(options.name);
  const auto read = [&](FleetServer& server) -> Result<Read> {
    SHIPLOG_TRY(const Value metrics,
                metrics_of(server, std::string{kMetrics} + "/nodes" + name, query_of(options), options));
    SHIPLOG_TRY(const Value nodes, server.connection.get("/api/v1/nodes" + name, query_of(options)));
    return node_use(nodes, metrics, server.cluster, options.capacity);
  };
  const auto print = [&](const Read& rows) {
    Table table{{"NAME", "CLUSTER", "CPU(cores)", "CPU%", "MEMORY(bytes)", "MEMORY%"}};
    for (const ResourceUse& row : rows) {
      table.add({row.name, row.cluster, cpu_text(row), percent(row.known, row.milli_cpu, row.milli_cpu_of),
                 memory_text(row), percent(row.known, row.memory_bytes, row.memory_bytes_of)});
    }
    if (options.sum) add_sum(table, rows, 2, true);
    to.out << table.text(!options.no_headers, to.terminal) << std::flush;
  };
  return top(plane, options, to, read, print);
}

}  // namespace shiplog::ctl
