#include "services/ctl/commands.h"

#include <ostream>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "services/ctl/report.h"
#include "services/ctl/table.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
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

Result<void> get_clusters(Connection& plane, const GetClustersOptions& options, std::ostream& out) {
  const bool raw = options.output == "json" || options.output == "yaml";
  std::vector<Value> answers;
  SHIPLOG_TRY(const auto query, reads_at(plane, options.at));
  if (options.names.empty()) {
    SHIPLOG_TRY(auto list, plane.get(kClusters, query, raw ? "" : kTable));
    answers.push_back(std::move(list));
  }
  for (const std::string& name : options.names) {
    SHIPLOG_TRY(auto one, plane.get(std::string{kClusters} + "/" + name, query, raw ? "" : kTable));
    answers.push_back(std::move(one));
  }
  if (raw) {
    Value document = answers.front();
    if (answers.size() > 1) {
      document = Value::object({{"apiVersion", "v1"}, {"kind", "List"}, {"items", Value::array(std::move(answers))}});
    }
    out << (options.output == "json" ? to_pretty_json(document) + "\n" : to_yaml(document)) << std::flush;
    return ok();
  }
  SHIPLOG_TRY(const Table table, table_of(answers, options.output == "wide"));
  if (table.size() == 0) {
    out << "No resources found" << std::endl;
  } else {
    out << table.text(!options.no_headers) << std::flush;
  }
  return ok();
}

Result<HttpRequest::Query> reads_at(Connection& plane, const std::string& at) {
  if (at.empty()) return HttpRequest::Query{};
  SHIPLOG_TRY(const Value answer, plane.get("/shiplog/v1/revision", {{"at", at}}));
  return HttpRequest::Query{{"resourceVersion", std::to_string(answer["revision"].as_int())},
                            {"resourceVersionMatch", "Exact"}};
}

Result<ObjectWords> object_words_of(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0].find('/') == std::string::npos) return ObjectWords{words[0], words[1]};
  if (words.size() == 1) {
    const size_t slash = words[0].find('/');
    if (slash != std::string::npos && slash > 0 && slash + 1 < words[0].size() &&
        words[0].find('/', slash + 1) == std::string::npos) {
      return ObjectWords{words[0].substr(0, slash), words[0].substr(slash + 1)};
    }
  }
  return Error{ErrorCode::kBadRequest, "say which object: KIND/NAME, for example deployment/nginx"};
}

Result<void> history(Connection& plane, const HistoryOptions& options, std::ostream& out) {
  HttpRequest::Query query{{"kind", options.object.kind}, {"name", options.object.name}, {"namespace", options.ns}};
  if (!options.chain) query.emplace_back("limit", std::to_string(options.limit));
  set_if(query, "at", options.at);
  SHIPLOG_TRY(Value answer, plane.get(options.chain ? "/shiplog/v1/chain" : "/shiplog/v1/history", query));
  if (!options.chain) {
    // The newest so many, told from the oldest on, as a story is.
    Value::Array& items = answer.edit("items").edit_items();
    items = Value::Array{items.rbegin(), items.rend()};
  }
  if (options.output == "json") {
    out << to_pretty_json(answer) << std::endl;
  } else {
    out << (options.chain ? chain_table(answer) : history_table(answer)) << std::flush;
  }
  return ok();
}

Result<void> why(Connection& plane, const WhyOptions& options, std::ostream& out) {
  HttpRequest::Query query{{"kind", options.object.kind}, {"name", options.object.name}, {"namespace", options.ns}};
  set_if(query, "cluster", options.cluster);
  set_if(query, "at", options.at);
  SHIPLOG_TRY(const Value answer, plane.get("/shiplog/v1/why", query));
  if (options.output == "json") {
    out << to_pretty_json(answer) << std::endl;
  } else {
    out << why_text(answer) << std::flush;
  }
  return ok();
}

Result<void> audit(Connection& plane, const AuditOptions& options, std::ostream& out) {
  HttpRequest::Query query{{"limit", std::to_string(options.limit)}};
  set_if(query, "user", options.user);
  set_if(query, "service", options.service);
  set_if(query, "verb", options.verb);
  set_if(query, "kind", options.kind);
  set_if(query, "namespace", options.ns);
  set_if(query, "name", options.name);
  set_if(query, "family", options.family);
  set_if(query, "since", options.since);
  set_if(query, "until", options.until);
  if (options.refused) query.emplace_back("refused", "true");
  SHIPLOG_TRY(const Value answer, plane.get("/shiplog/v1/audit", query));
  if (options.output == "json") {
    out << to_pretty_json(answer) << std::endl;
  } else if (answer["items"].size() == 0) {
    out << "no entries match" << std::endl;
  } else {
    out << audit_table(answer) << std::flush;
  }
  return ok();
}

Result<void> tail_events(Connection& plane, const TailOptions& options, std::ostream& out) {
  HttpRequest::Query query;
  if (options.follow) query.emplace_back("follow", "true");
  set_if(query, "family", options.family);
  if (options.since_start || !options.follow) query.emplace_back("from", "0");
  std::optional<Error> broken;
  SHIPLOG_TRY(plane.lines("/shiplog/v1/events", query, [&](std::string_view line) {
    const auto entry = parse_json(line);
    if (!entry || entry.value()["kind"].as_string() == "Status") {
      broken = entry ? Error{ErrorCode::kInternal, "the stream of events broke off: " + entry.value()["message"].str()}
                     : entry.error().context("reading the stream of events");
      return false;
    }
    if (options.output == "json") {
      out << line << std::endl;
    } else {
      out << event_lines(entry.value(), options.family) << std::flush;
    }
    return out.good();  // a closed pipe ends it
  }));
  if (broken) return *broken;
  if (options.follow && out.good()) {
    return Error{ErrorCode::kUnavailable,
                 "the server has ended the stream: it is stopping; start again when it is back"};
  }
  return ok();
}

}  // namespace shiplog::ctl
