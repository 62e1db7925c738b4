#include "services/programs/shiplogctl/commands.h"

#include <algorithm>
#include <cstdint>
#include <ostream>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "services/programs/shiplogctl/document.h"
#include "services/programs/shiplogctl/join.h"
#include "services/programs/shiplogctl/report.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {
namespace {

constexpr size_t kPage = 1000;  // entries of the audit trail per page
constexpr const char* kTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

std::string cell_text(const Value& cell) {
  if (cell.is_string()) return cell.str();
  return cell.is_null() ? "<none>" : to_json(cell);
}

// A metav1.Table as kubectl prints it: columns of a priority above 0 only with -o wide.
Result<Table> table_of(const std::vector<Value>& answers, bool wide) {
  std::vector<std::string> header;
  std::vector<size_t> shown;
  for (const Value& answer : answers) {
    if (answer["kind"].as_string() == "Table") continue;
    return Error{ErrorCode::kInternal, "the server does not print tables: use -o json"};
  }
  size_t index = 0;
  for (const Value& column : answers.front()["columnDefinitions"].items()) {
    if (wide || column["priority"].as_int() == 0) {
      std::string name = column["name"].str();
      for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      header.push_back(std::move(name));
      shown.push_back(index);
    }
    ++index;
  }
  Table table{header};
  for (const Value& answer : answers) {
    for (const Value& row : answer["rows"].items()) {
      std::vector<std::string> cells;
      for (const size_t at : shown) cells.push_back(cell_text(row["cells"][at]));
      table.add(std::move(cells));
    }
  }
  return table;
}

void set_if(HttpRequest::Query& query, const std::string& key, const std::string& value) {
  if (!value.empty()) query.emplace_back(key, value);
}

}  // namespace

Result<void> get_clusters(ServerConnection& plane, const GetClustersOptions& options, const Output& to) {
  const bool raw = !options.output.empty() && options.output != "wide";
  std::vector<Value> answers;
  SHIPLOG_TRY(const auto query, reads_at(plane, options.at));
  if (options.names.empty()) {
    SHIPLOG_TRY(auto list, plane.get(kClusters, query, raw ? "" : kTable));
    answers.push_back(std::move(list));
  }
  for (const std::string& name : options.names) {
    SHIPLOG_TRY(auto cluster, plane.get(std::string{kClusters} + "/" + name, query, raw ? "" : kTable));
    answers.push_back(std::move(cluster));
  }
  if (options.output == "name") {
    Value items = options.names.empty() ? answers.front()["items"] : Value::array(std::move(answers));
    for (Value& item : items.edit_items()) {  // lists omit both in their items
      item.set("apiVersion", "cluster.karmada.io/v1alpha1");
      item.set("kind", "Cluster");
    }
    print_names(items, to.out);
    return ok();
  }
  if (raw) {
    for (Value& answer : answers) {
      if (options.names.empty()) {
        for (Value& item : answer.edit("items").edit_items()) item.edit("metadata").erase("managedFields");
      } else {
        answer.edit("metadata").erase("managedFields");
      }
    }
    Value document = answers.front();
    if (answers.size() > 1) {
      document = Value::object({{"apiVersion", "v1"}, {"kind", "List"}, {"items", Value::array(std::move(answers))}});
    }
    print_document(document, options.output, to.out);
    return ok();
  }
  SHIPLOG_TRY(const Table table, table_of(answers, options.output == "wide"));
  if (table.size() == 0) {
    to.err << "No resources found" << std::endl;
  } else {
    to.out << table.text(!options.no_headers, to.terminal) << std::flush;
  }
  return ok();
}

Result<HttpRequest::Query> reads_at(ServerConnection& plane, const std::string& at) {
  if (at.empty()) return HttpRequest::Query{};
  SHIPLOG_TRY(const Value answer, plane.get("/shiplog/v1/revision", {{"at", at}}));
  return HttpRequest::Query{{"resourceVersion", std::to_string(answer["revision"].as_int())},
                            {"resourceVersionMatch", "Exact"}};
}

Result<ObjectArgument> parse_object_argument(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0].find('/') == std::string::npos) return ObjectArgument{words[0], words[1]};
  if (words.size() == 1) {
    const size_t slash = words[0].find('/');
    if (slash != std::string::npos && slash > 0 && slash + 1 < words[0].size() &&
        words[0].find('/', slash + 1) == std::string::npos) {
      return ObjectArgument{words[0].substr(0, slash), words[0].substr(slash + 1)};
    }
  }
  return Error{ErrorCode::kBadRequest, "name an object: KIND/NAME, for example deployment/nginx"};
}

namespace {

Result<void> failovers(ServerConnection& plane, const HistoryOptions& options, const Output& to) {
  HttpRequest::Query query;
  if (!options.object.kind.empty()) {
    query = {{"kind", options.object.kind}, {"name", options.object.name}};
  }
  set_if(query, "namespace", options.ns);
  query.emplace_back("limit", std::to_string(options.limit == 0 ? 0 : options.limit + 1));
  SHIPLOG_TRY(Value answer, plane.get("/shiplog/v1/failovers", query));
  Value::Array& items = answer.edit("items").edit_items();
  const bool more = options.limit > 0 && items.size() > static_cast<size_t>(options.limit);
  if (more) items.resize(static_cast<size_t>(options.limit));
  if (!print_document(answer, options.output, to.out)) {
    if (items.empty()) {
      to.err << "No failovers found" << std::endl;
    } else {
      to.out << failovers_table(answer, to.terminal) << std::flush;
    }
  }
  if (more) {
    to.err << "notice: only the newest " << options.limit << " failovers are shown; --limit=0 shows more" << std::endl;
  }
  return ok();
}

}  // namespace

Result<void> history(ServerConnection& plane, const HistoryOptions& options, const Output& to) {
  if (options.failovers) return failovers(plane, options, to);
  HttpRequest::Query query{{"kind", options.object.kind}, {"name", options.object.name}, {"namespace", options.ns}};
  // Requests one more than is shown, to find out whether there are more.
  if (!options.chain) query.emplace_back("limit", std::to_string(options.limit == 0 ? 0 : options.limit + 1));
  set_if(query, "at", options.at);
  SHIPLOG_TRY(Value answer, plane.get(options.chain ? "/shiplog/v1/chain" : "/shiplog/v1/history", query));
  bool more = false;
  if (!options.chain) {
    // The newest versions up to the limit, in chronological order.
    Value::Array& items = answer.edit("items").edit_items();
    more = options.limit > 0 && items.size() > static_cast<size_t>(options.limit);
    if (more) items.resize(static_cast<size_t>(options.limit));
    items = Value::Array{items.rbegin(), items.rend()};
  }
  if (!print_document(answer, options.output, to.out)) {
    to.out << (options.chain ? chain_table(answer, to.terminal) : history_table(answer, to.terminal)) << std::flush;
  }
  if (more) {
    to.err << "notice: only the newest " << options.limit << " versions are shown; --limit=0 shows all" << std::endl;
  } else if (answer["more"].as_bool()) {
    to.err << "notice: the server shows " << answer["items"].size()
           << " versions at once; --at=" << answer["items"][0]["revision"].as_int() - 1 << " shows older ones"
           << std::endl;
  }
  return ok();
}

Result<void> diff(ServerConnection& plane, const DiffOptions& options, const Output& to) {
  HttpRequest::Query query{{"from", options.from}};
  set_if(query, "to", options.to);
  set_if(query, "kind", options.object.kind);
  set_if(query, "name", options.object.name);
  set_if(query, "namespace", options.ns);
  set_if(query, "user", options.user);
  query.emplace_back("limit", std::to_string(options.limit));
  SHIPLOG_TRY(const Value answer, plane.get("/shiplog/v1/diff", query));
  if (answer["items"].size() == 0 && !options.object.name.empty()) {
    // A mistyped name must not look like an object that did not change.
    const auto past = plane.get(
        "/shiplog/v1/history",
        {{"kind", options.object.kind}, {"name", options.object.name}, {"namespace", options.ns}, {"limit", "1"}});
    if (!past && past.error().code == ErrorCode::kNotFound) return past.error();
  }
  if (print_document(answer, options.output, to.out)) return ok();
  if (answer["items"].size() == 0) {
    to.err << "nothing differs between revision " << answer["from"].as_int() << " and revision "
           << answer["to"].as_int() << std::endl;
    return ok();
  }
  to.out << comparison_text(answer) << std::flush;
  if (answer["more"].as_bool()) {
    to.err << "notice: only the first " << options.limit << " objects are shown; --limit=0 shows all" << std::endl;
  }
  return ok();
}

Result<void> blame(ServerConnection& plane, const BlameOptions& options, const Output& to) {
  HttpRequest::Query query{{"kind", options.object.kind}, {"name", options.object.name}, {"namespace", options.ns}};
  set_if(query, "field", options.field);
  set_if(query, "at", options.at);
  if (options.with_status) query.emplace_back("status", "true");
  query.emplace_back("limit", std::to_string(options.limit));
  SHIPLOG_TRY(const Value answer, plane.get("/shiplog/v1/blame", query));
  if (print_document(answer, options.output, to.out)) return ok();
  if (answer["items"].size() == 0) {
    return Error{ErrorCode::kNotFound, "the object has no field " + options.field};
  }
  to.out << blame_table(answer, to.terminal) << std::flush;
  if (!answer["examinedFrom"].is_null() && !answer["olderDeleted"].as_bool()) {
    to.err << "notice: older versions were not examined; "
           << (options.limit == 0 ? "the server examines no more at once"
                                  : "--limit=0 examines as many as the server does")
           << std::endl;
  }
  return ok();
}

Result<void> why(ServerConnection& plane, const WhyOptions& options, const Output& to) {
  HttpRequest::Query query{{"kind", options.object.kind}, {"name", options.object.name}, {"namespace", options.ns}};
  set_if(query, "cluster", options.cluster);
  set_if(query, "at", options.at);
  SHIPLOG_TRY(const Value answer, plane.get("/shiplog/v1/why", query));
  if (!print_document(answer, options.output, to.out)) to.out << why_text(answer) << std::flush;
  return ok();
}

Result<void> audit(ServerConnection& plane, const AuditOptions& options, const Output& to) {
  HttpRequest::Query query;
  set_if(query, "user", options.user);
  set_if(query, "service", options.service);
  set_if(query, "verb", options.verb);
  set_if(query, "kind", options.kind);
  set_if(query, "namespace", options.ns);
  set_if(query, "name", options.name);
  set_if(query, "family", options.family);
  set_if(query, "trace", options.trace);
  set_if(query, "since", options.since);
  set_if(query, "until", options.until);
  if (options.refused) query.emplace_back("refused", "true");
  const bool kubernetes = options.output == "k8s";
  if (kubernetes) query.emplace_back("format", "k8s");
  const auto offset_of = [&](const Value& item) {
    return kubernetes ? item["annotations"]["shiplog.io/offset"].str() : std::to_string(item["offset"].as_int());
  };

  // Page by page. Requests one more than is shown, to find out whether there are more.
  const size_t wanted = options.limit == 0 ? SIZE_MAX - 1 : static_cast<size_t>(options.limit);
  Value answer;
  Value::Array items;
  while (items.size() <= wanted) {
    HttpRequest::Query page = query;
    const size_t limit = std::min(wanted + 1 - items.size(), kPage);
    page.emplace_back("limit", std::to_string(limit));
    if (!items.empty()) page.emplace_back("after", offset_of(items.back()));
    SHIPLOG_TRY(answer, plane.get("/shiplog/v1/audit", page));
    const size_t got = answer["items"].size();
    for (const Value& item : answer["items"].items()) items.push_back(item);
    if (got < limit) break;
  }
  const bool more = items.size() > wanted;
  if (more) items.resize(wanted);
  answer.set("items", Value::array(std::move(items)));

  const bool printed = print_document(answer, kubernetes ? "json" : options.output, to.out);
  if (!printed && answer["items"].size() == 0) to.err << "no entries match" << std::endl;
  if (!printed && answer["items"].size() > 0) to.out << audit_table(answer, to.terminal) << std::flush;
  if (more) {
    to.err << "notice: only the newest " << wanted
           << " entries are shown; --limit=0 shows all, --since and --until bound it" << std::endl;
  }
  return ok();
}

Result<void> tail_events(ServerConnection& plane, const TailOptions& options, const Output& to) {
  HttpRequest::Query query;
  if (options.follow) query.emplace_back("follow", "true");
  set_if(query, "family", options.family);
  set_if(query, "user", options.user);
  set_if(query, "service", options.service);
  set_if(query, "namespace", options.ns);
  set_if(query, "since", options.since);
  if (options.object) {
    query.emplace_back("kind", options.object->kind);
    query.emplace_back("name", options.object->name);
  }
  if (options.refused) query.emplace_back("refused", "true");
  // A start time in the past refers to existing entries.
  if (options.since_start || !options.follow || !options.since.empty()) query.emplace_back("from", "0");
  const EventFilter shown{options.family, options.ns, options.object ? options.object->name : std::string{}};
  std::optional<Error> broken;
  SHIPLOG_TRY(plane.lines("/shiplog/v1/events", query, [&](std::string_view line) {
    const auto entry = parse_json(line);
    if (!entry || entry.value()["kind"].as_string() == "Status") {
      broken =
          entry ? Error{ErrorCode::kInternal, "the stream of events was interrupted: " + entry.value()["message"].str()}
                : entry.error().context("reading the stream of events");
      return false;
    }
    if (options.output == "json") {
      to.out << line << std::endl;
    } else if (options.output == "yaml") {
      to.out << "---\n";
      print_document(entry.value(), "yaml", to.out);
    } else {
      to.out << event_lines(entry.value(), shown, to.terminal) << std::flush;
    }
    return to.out.good();  // ends when the pipe is closed
  }));
  if (broken) return *broken;
  if (options.follow && to.out.good()) {
    return Error{ErrorCode::kUnavailable,
                 "the server has ended the stream: it is stopping; start again when it is available"};
  }
  return ok();
}

Result<void> print_version(const std::string& version, const std::function<Result<ServerConnection>()>& connect,
                           const VersionOptions& options, const Output& to) {
  const std::string number = version.substr(version.rfind(' ') + 1);
  Value document = Value::object({{"clientVersion", Value::object({{"version", number}})}});
  const bool text = options.output.empty();
  if (text) to.out << "Client Version: " << number << std::endl;
  Result<Value> server = Value{};
  if (!options.client_only) {
    auto plane = connect();
    server = plane ? plane.value().get("/version") : Result<Value>{plane.error()};
  }
  if (server && !options.client_only) {
    document.set("serverVersion", server.value());
    if (text) to.out << "Server Version: " << server.value()["gitVersion"].str() << std::endl;
  }
  if (!text) print_document(document, options.output, to.out);
  SHIPLOG_TRY(std::move(server));
  return ok();
}

}  // namespace shiplog::ctl
