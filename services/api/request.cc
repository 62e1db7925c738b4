#include "services/api/request.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "events/base/ascii.h"
#include "events/base/hex.h"
#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/base/yaml.h"
#include "events/kinds/protobuf.h"
#include "events/kinds/whole_numbers.h"

namespace shiplog::api {
namespace {

constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Error invalid_field(const std::string& field, const std::string& reason, const std::string& message) {
  return Error{ErrorCode::kInvalid, field + ": " + message, {{field, reason, message}}};
}

struct Clause {
  std::string type;
  std::string as, g, v;
  double q = 1;
};

Clause parse_clause(std::string_view text) {
  Clause clause;
  bool first = true;
  for (const std::string_view raw : split(text, ';')) {
    const std::string_view part = trim(raw);
    if (first) {
      clause.type = lower_case(part);
      first = false;
      continue;
    }
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string key = lower_case(trim(part.substr(0, equals)));
    const std::string_view value = trim(part.substr(equals + 1));
    if (key == "as") clause.as = value;
    if (key == "g") clause.g = value;
    if (key == "v") clause.v = value;
    if (key == "q") {
      double q = 1;
      const auto parsed = std::from_chars(value.data(), value.data() + value.size(), q);
      if (parsed.ec == std::errc{}) clause.q = q;
    }
  }
  return clause;
}

}  // namespace

std::optional<VersionPath> parse_version_path(std::string_view path) {
  constexpr std::string_view kPrefix = "/apis/";
  if (!path.starts_with(kPrefix)) return std::nullopt;
  path.remove_prefix(kPrefix.size());
  const size_t slash = path.find('/');
  if (slash == 0 || slash == std::string_view::npos) return std::nullopt;
  const std::string_view rest = path.substr(slash + 1);
  const std::string_view version = rest.substr(0, rest.find('/'));
  if (version.empty()) return std::nullopt;
  return VersionPath{std::string{path.substr(0, slash)}, std::string{version}};
}

std::optional<ResourcePath> parse_resource_path(std::string_view path) {
  const auto parts = split(path, '/');
  ResourcePath found;
  size_t position = 0;
  if (parts.size() >= 3 && parts[0] == "api") {
    found.version = parts[1];
    position = 2;
  } else if (parts.size() >= 4 && parts[0] == "apis") {
    found.group = parts[1];
    found.version = parts[2];
    position = 3;
  } else {
    return std::nullopt;
  }
  // namespaces/NS/status and namespaces/NS/finalize are about the namespace itself.
  if (parts[position] == "namespaces" && parts.size() > position + 2 && parts[position + 2] != "status" &&
      parts[position + 2] != "finalize") {
    found.ns = parts[position + 1];
    position += 2;
  }
  found.resource = parts[position];
  if (parts.size() > position + 1) found.name = parts[position + 1];
  for (size_t rest = position + 2; rest < parts.size(); ++rest) {
    if (!found.subresource.empty()) found.subresource += '/';
    found.subresource += parts[rest];
  }
  return found;
}

Result<void> check_lengths(std::string_view path) {
  constexpr size_t kLongestPath = 2048;
  constexpr size_t kLongestName = 253;
  constexpr size_t kLongestLabel = 63;
  const auto check = [](std::string_view what, size_t size, size_t longest) -> Result<void> {
    if (size <= longest) return ok();
    return Error{ErrorCode::kBadRequest, "the " + std::string{what} + " in the path of the request has " +
                                             std::to_string(size) + " bytes, more than the " + std::to_string(longest) +
                                             " that are allowed"};
  };
  if (path.size() > kLongestPath) {
    return Error{ErrorCode::kBadRequest, "the path of the request has " + std::to_string(path.size()) +
                                             " bytes, more than the " + std::to_string(kLongestPath) +
                                             " that are allowed"};
  }
  const auto found = parse_resource_path(path);
  if (!found) return ok();
  SHIPLOG_TRY(check("API group", found->group.size(), kLongestName));
  SHIPLOG_TRY(check("version", found->version.size(), kLongestLabel));
  SHIPLOG_TRY(check("namespace", found->ns.size(), kLongestLabel));
  SHIPLOG_TRY(check("resource", found->resource.size(), kLongestLabel));
  SHIPLOG_TRY(check("name", found->name.size(), found->resource == "namespaces" ? kLongestLabel : kLongestName));
  if (found->subresource.starts_with("proxy/")) return ok();  // a path of another server, within the longest path
  return check("subresource", found->subresource.size(), kLongestName);
}

Result<Accept> negotiate(std::string_view accept_header, bool list, bool tables) {
  std::vector<Clause> clauses;
  for (const std::string_view part : split(accept_header, ',')) clauses.push_back(parse_clause(trim(part)));
  if (clauses.empty()) clauses.push_back({.type = "*/*", .as = "", .g = "", .v = ""});
  std::stable_sort(clauses.begin(), clauses.end(), [](const Clause& a, const Clause& b) { return a.q > b.q; });
  for (const Clause& clause : clauses) {
    Accept accept;
    if (clause.q <= 0) continue;
    if (clause.type == "application/yaml") {
      accept.yaml = true;
    } else if (clause.type != "application/json" && clause.type != "*/*" && clause.type != "application/*") {
      continue;
    }
    if (clause.as.empty()) return accept;
    if (clause.g != "meta.k8s.io" || (clause.v != "v1" && clause.v != "v1beta1")) continue;
    accept.meta_version = "meta.k8s.io/" + clause.v;
    if (clause.as == "Table" && tables) {
      accept.form = Accept::Form::kTable;
    } else if (clause.as == (list ? "PartialObjectMetadataList" : "PartialObjectMetadata")) {
      accept.form = Accept::Form::kPartialMetadata;
    } else {
      continue;
    }
    return accept;
  }
  return Error{ErrorCode::kNotAcceptable,
               "only the following media types are accepted: application/json, application/yaml, " +
                   std::string{tables ? "application/json;as=Table;v=v1;g=meta.k8s.io, " : ""} +
                   "application/json;as=" + (list ? "PartialObjectMetadataList" : "PartialObjectMetadata") +
                   ";v=v1;g=meta.k8s.io"};
}

bool is_duration(std::string_view text) { return duration_of(text).has_value(); }

std::optional<Millis> duration_of(std::string_view text) {
  constexpr double kMost = 24.0 * 3600 * 1000;
  if (text == "0") return Millis{0};
  if (text.empty()) return std::nullopt;
  double sum = 0;
  while (!text.empty()) {
    size_t digits = 0;
    size_t dots = 0;
    while (digits + dots < text.size()) {
      const char c = text[digits + dots];
      if (c >= '0' && c <= '9') {
        ++digits;
      } else if (c == '.' && dots == 0) {
        ++dots;
      } else {
        break;
      }
    }
    if (digits == 0) return std::nullopt;
    double number = 0;
    std::from_chars(text.data(), text.data() + digits + dots, number);
    text.remove_prefix(digits + dots);
    struct Unit {
      std::string_view name;
      double millis;
    };
    static constexpr Unit kUnits[] = {{"ns", 1e-6}, {"us", 1e-3}, {"\u00b5s", 1e-3}, {"ms", 1},
                                      {"s", 1e3},   {"m", 60e3},  {"h", 3600e3}};
    const Unit* unit = nullptr;
    for (const Unit& known : kUnits) {
      if (text.starts_with(known.name) && (unit == nullptr || known.name.size() > unit->name.size())) unit = &known;
    }
    if (unit == nullptr) return std::nullopt;
    text.remove_prefix(unit->name.size());
    sum += number * unit->millis;
  }
  return Millis{static_cast<int64_t>(std::min(sum, kMost))};
}

Result<void> check_request(const HttpRequest& request) {
  const std::string* timeout = request.query_value("timeout");
  const bool watch = flag(request, "watch");  // timeoutSeconds limits a watch, and `timeout` is ignored
  if (timeout != nullptr && !timeout->empty() && (watch ? timeout->starts_with('-') : !is_duration(*timeout))) {
    return Error{ErrorCode::kBadRequest, "invalid timeout specified in the request URL: " +
                                             quoted(printable(*timeout)) + " is no duration such as 1m30s"};
  }
  SHIPLOG_TRY(const auto seconds, number(request, "timeoutSeconds"));
  if (seconds && *seconds < 0) {
    return Error{ErrorCode::kBadRequest,
                 "query parameter timeoutSeconds must not be negative: " + std::to_string(*seconds)};
  }
  for (const auto& [name, value] : request.headers.all()) {
    if (!equal_ignoring_case(name, "Content-Encoding") || value.empty() || equal_ignoring_case(value, "identity")) {
      continue;
    }
    return Error{ErrorCode::kUnsupportedMediaType,
                 "the body of the request has the content encoding " + quoted(printable(value)) +
                     ", but bodies are accepted without an encoding only: leave out the Content-Encoding header"};
  }
  return ok();
}

bool wants_pretty(const HttpRequest& request) {
  if (request.query_value("pretty") != nullptr) return flag(request, "pretty");
  const std::string_view agent = request.headers.get("User-Agent");
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

bool flag(const HttpRequest& request, std::string_view key) {
  const std::string* value = request.query_value(key);
  return value != nullptr && *value != "0" && lower_case(*value) != "false";
}

Result<std::optional<int64_t>> number(const HttpRequest& request, std::string_view key) {
  const std::string* value = request.query_value(key);
  if (value == nullptr || value->empty()) return std::optional<int64_t>{};
  int64_t parsed = 0;
  const auto result = std::from_chars(value->data(), value->data() + value->size(), parsed);
  if (result.ec != std::errc{} || result.ptr != value->data() + value->size()) {
    return Error{ErrorCode::kBadRequest,
                 "query parameter " + std::string{key} + " is not a whole number: \"" + *value + "\""};
  }
  return std::optional<int64_t>{parsed};
}

std::string text(const HttpRequest& request, std::string_view key) {
  const std::string* value = request.query_value(key);
  return value == nullptr ? "" : *value;
}

Result<ReadOptions> read_options(const HttpRequest& request) {
  ReadOptions options;
  options.watch = flag(request, "watch");
  auto stated = number(request, "resourceVersion");
  if (!stated && options.watch) {  // W-10
    const std::string given = quoted(printable(text(request, "resourceVersion")));
    return invalid_field("resourceVersion", "FieldValueInvalid", "Invalid value: " + given + ": is no version");
  }
  SHIPLOG_TRY(const auto revision, std::move(stated));
  if (revision && *revision < 0) return Error{ErrorCode::kBadRequest, "resourceVersion must not be negative"};
  if (revision) options.revision = Revision{static_cast<uint64_t>(*revision)};
  options.match = text(request, "resourceVersionMatch");
  SHIPLOG_TRY(const auto limit, number(request, "limit"));
  if (limit && *limit > 0) options.limit = static_cast<size_t>(*limit);
  options.continue_token = text(request, "continue");
  options.label_selector = text(request, "labelSelector");
  options.field_selector = text(request, "fieldSelector");
  options.bookmarks = flag(request, "allowWatchBookmarks");
  options.send_initial_events = flag(request, "sendInitialEvents");
  SHIPLOG_TRY(options.timeout_seconds, number(request, "timeoutSeconds"));

  if (!options.match.empty() && options.match != "Exact" && options.match != "NotOlderThan") {
    return invalid_field("resourceVersionMatch", "FieldValueNotSupported",
                         "Unsupported value: \"" + options.match + "\": supported values: \"Exact\", \"NotOlderThan\"");
  }
  if (options.watch) {
    if (options.send_initial_events && options.match != "NotOlderThan") {
      return invalid_field("resourceVersionMatch", "FieldValueForbidden",
                           "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    if (!options.send_initial_events && !options.match.empty()) {
      return invalid_field("resourceVersionMatch", "FieldValueForbidden",
                           "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    }
    return options;
  }
  if (options.send_initial_events) {
    return invalid_field("sendInitialEvents", "FieldValueForbidden", "sendInitialEvents is forbidden for list");
  }
  if (!options.match.empty() && !options.revision) {
    return invalid_field("resourceVersionMatch", "FieldValueForbidden",
                         "resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  if (options.match == "Exact" && options.revision == Revision{}) {
    return invalid_field("resourceVersionMatch", "FieldValueForbidden",
                         "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  }
  if (!options.continue_token.empty()) {
    if (!options.match.empty()) {
      return invalid_field("resourceVersionMatch", "FieldValueForbidden",
                           "resourceVersionMatch is forbidden when continue is provided");
    }
    if (options.revision && *options.revision != Revision{}) {
      return Error{ErrorCode::kBadRequest, "specifying resource version is not allowed when using continue"};
    }
  }
  return options;
}

Result<WriteParameters> write_parameters(const HttpRequest& request) {
  WriteParameters options;
  options.force = flag(request, "force");
  for (const auto& [key, value] : request.query) {
    if (key == "dryRun") {
      if (value != "All") {
        return invalid_field("dryRun", "FieldValueNotSupported",
                             "Unsupported value: \"" + value + "\": supported values: \"All\"");
      }
      options.dry_run = true;
    } else if (key == "fieldValidation") {
      if (value == "Ignore") {
        options.field_validation = FieldValidation::kIgnore;
      } else if (value == "Strict") {
        options.field_validation = FieldValidation::kStrict;
      } else if (value != "Warn" && !value.empty()) {
        return invalid_field(
            "fieldValidation", "FieldValueNotSupported",
            "Unsupported value: \"" + value + "\": supported values: \"Ignore\", \"Strict\", \"Warn\"");
      }
    } else if (key == "fieldManager") {
      constexpr size_t kLongest = 128;
      if (value.size() > kLongest) {
        return invalid_field("fieldManager", "FieldValueTooLong", "Too long: may not be more than 128 bytes");
      }
      if (printable(value, kLongest) != value) {
        return invalid_field("fieldManager", "FieldValueInvalid",
                             "Invalid value: " + quoted(value) + ": should only contain printable characters");
      }
      options.field_manager = value;
    }
  }
  return options;
}

Result<Value> read_body(std::string_view content_type, const std::string& body, const Kinds& kinds, const Kind& kind,
                        std::vector<std::string>* duplicates) {
  const std::string type = media_type(content_type);
  std::vector<std::string> ignored;
  if (duplicates == nullptr) duplicates = &ignored;
  if (type.empty() || type == "application/json") return read_json(body, *duplicates);
  if (type == "application/yaml") {
    SHIPLOG_TRY(auto document, parse_yaml(body, duplicates));
    return with_whole_numbers(std::move(document));
  }
  if (type == kProtobuf && kind.builtin) return decode_protobuf(kinds, body);
  return Error{ErrorCode::kUnsupportedMediaType, "the body of the request was in an unknown format (" + type +
                                                     ") - accepted media types include: application/json, "
                                                     "application/yaml" +
                                                     (kind.builtin ? ", " + std::string{kProtobuf} : "")};
}

Result<Value> read_json(std::string_view body, std::vector<std::string>& duplicates) {
  constexpr size_t kMost = 100;  // more are not reported
  std::vector<std::string> fields;
  auto value = parse_json(body, &fields);
  if (fields.size() > kMost) fields.resize(kMost);
  for (const std::string& field : fields) duplicates.push_back("duplicate field \"" + printable(field, 512) + "\"");
  return value;
}

Error unrecognized(Error error, std::string_view kind, std::string_view body) {
  const bool json = error.message.starts_with("invalid JSON");
  if (!json && !error.message.starts_with("invalid YAML")) return error;
  constexpr size_t kMostShown = 30;
  std::string shown = body.empty() ? "<empty>" : std::string{body.substr(0, kMostShown)};
  shown = body.starts_with('{') || body.empty() ? printable(shown, kMostShown) : hex(shown);
  error.message = "the object provided is unrecognized (must be of type " + std::string{kind} +
                  "): " + (json ? "couldn't get version/kind; json parse error: " : "") + error.message + " (" + shown +
                  (body.size() > kMostShown ? " ..." : "") + ")";
  return error;
}

std::string media_type(std::string_view header) { return lower_case(trim(header.substr(0, header.find(';')))); }

}  // namespace shiplog::api
