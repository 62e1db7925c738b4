#include "services/programs/shiplogctl/object_print.h"

#include <fstream>
#include <ostream>
#include <sstream>
#include <utility>

#include "events/base/json_path.h"
#include "events/base/utf8.h"
#include "services/programs/shiplogctl/document.h"
#include "services/programs/shiplogctl/printable_lines.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {
namespace {

constexpr size_t kMostVisits = 20'000'000;  // a list of a fleet has many values
constexpr size_t kLongestText = size_t{256} << 20;
constexpr JsonPathTemplate::Evaluation kGenerously{kMostVisits, kLongestText, true};
constexpr size_t kLongestCell = 4096;

Result<std::string> read_template(const std::string& name) {
  std::ifstream file{name};
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return Error{ErrorCode::kIo, "cannot read " + name};
  std::string read = text.str();
  while (!read.empty() && read.back() == '\n') read.pop_back();
  return read;
}

Value list_of(const std::vector<Value>& objects) {
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "List"},
                        {"metadata", Value::object({{"resourceVersion", ""}})},
                        {"items", Value::array(Value::Array{objects.begin(), objects.end()})}});
}

Error bad_template(const Error& error, const std::string& output) {
  return Error{ErrorCode::kInvalid, "-o " + output + ": " + error.message};
}

/// "a.b", ".a.b" and "{.a.b}" are the same path.
std::string whole_path(std::string path) {
  if (path.starts_with("{") && path.ends_with("}")) path = path.substr(1, path.size() - 2);
  if (!path.starts_with(".") && !path.starts_with("[")) path.insert(0, ".");
  return "{" + path + "}";
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> parse_custom_columns(const std::string& spec) {
  std::vector<std::pair<std::string, std::string>> columns;
  size_t begin = 0;
  int depth = 0;  // a filter may contain a comma
  for (size_t i = 0; i <= spec.size(); ++i) {
    if (i < spec.size() && (spec[i] == '[' || spec[i] == '(')) ++depth;
    if (i < spec.size() && (spec[i] == ']' || spec[i] == ')')) --depth;
    if (i < spec.size() && (spec[i] != ',' || depth > 0)) continue;
    const std::string column = spec.substr(begin, i - begin);
    begin = i + 1;
    const size_t colon = column.find(':');
    if (colon == std::string::npos || colon + 1 == column.size()) {
      return Error{ErrorCode::kInvalid,
                   "unexpected custom-columns spec: " + column + ", expected <header>:<json-path-expr>"};
    }
    columns.emplace_back(column.substr(0, colon), whole_path(column.substr(colon + 1)));
  }
  return columns;
}

Result<std::vector<std::pair<std::string, std::string>>> parse_custom_columns_file(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) {
    std::istringstream in_line{line};
    auto& words = lines.emplace_back();
    for (std::string word; in_line >> word;) words.push_back(word);
    if (words.empty()) lines.pop_back();
  }
  if (lines.size() != 2 || lines[0].size() != lines[1].size()) {
    return Error{ErrorCode::kInvalid,
                 "a file of custom columns has a line of headers, and a line with as many JSON paths: NAME READY, and "
                 ".metadata.name .status.readyReplicas"};
  }
  std::vector<std::pair<std::string, std::string>> columns;
  for (size_t i = 0; i < lines[0].size(); ++i) columns.emplace_back(lines[0][i], whole_path(lines[1][i]));
  return columns;
}

Result<ObjectPrinter> ObjectPrinter::make(const std::string& output, bool no_headers) {
  ObjectPrinter printer;
  const size_t equals = output.find('=');
  printer.form_ = output.substr(0, equals);
  printer.no_headers_ = no_headers;
  std::string argument = equals == std::string::npos ? "" : output.substr(equals + 1);
  const bool plain = printer.form_ == "json" || printer.form_ == "yaml" || printer.form_ == "name";
  if (plain && equals == std::string::npos) return printer;
  const bool from_file = printer.form_.ends_with("-file") && !argument.empty();
  if (from_file) {
    SHIPLOG_TRY(argument, read_template(argument));
    printer.form_.erase(printer.form_.size() - std::string_view{"-file"}.size());
  }
  if ((printer.form_ != "jsonpath" && printer.form_ != "custom-columns") || argument.empty()) {
    return Error{ErrorCode::kBadRequest,
                 "there is no output format \"" + output +
                     "\": json, yaml, name, wide, jsonpath=TEMPLATE, jsonpath-file=FILE, custom-columns=SPEC and "
                     "custom-columns-file=FILE are supported"};
  }
  if (printer.form_ == "jsonpath") {
    printer.template_ = argument.find('{') == std::string::npos ? "{" + argument + "}" : argument;
    if (const auto parsed = JsonPathTemplate::parse(printer.template_); !parsed) {
      return bad_template(parsed.error(), output);
    }
    return printer;
  }
  SHIPLOG_TRY(auto columns, from_file ? parse_custom_columns_file(argument) : parse_custom_columns(argument));
  for (auto& [heading, path] : columns) {
    if (const auto parsed = JsonPathTemplate::parse(path); !parsed) return bad_template(parsed.error(), output);
    printer.columns_.push_back({heading, path});
  }
  return printer;
}

Result<void> ObjectPrinter::print_columns(const std::vector<Value>& objects, bool headers, std::ostream& out) const {
  std::vector<std::string> header;
  std::vector<JsonPathTemplate> paths;
  for (const CustomColumn& column : columns_) {
    header.push_back(column.heading);
    SHIPLOG_TRY(auto path, JsonPathTemplate::parse(column.path));
    paths.push_back(std::move(path));
  }
  Table table{header};
  for (const Value& object : objects) {
    std::vector<std::string> cells;
    for (const JsonPathTemplate& path : paths) {
      SHIPLOG_TRY(const auto cell, path.evaluate(object, kGenerously));
      cells.push_back(cell.empty() ? "<none>" : printable(cell, kLongestCell));
    }
    table.add(std::move(cells));
  }
  out << table.text(headers) << std::flush;
  return ok();
}

Result<void> ObjectPrinter::print(const std::vector<Value>& objects, bool single, std::ostream& out) const {
  if (form_ == "custom-columns") return print_columns(objects, !no_headers_, out);
  if (form_ == "name") {
    // Not each once: several clusters have objects of the same name.
    for (const Value& object : objects) {
      out << printable_lines(
                 resource_name(object["apiVersion"].str(), object["kind"].str(), object["metadata"]["name"].str()))
          << "\n";
    }
    out << std::flush;
    return ok();
  }
  const Value document = single && objects.size() == 1 ? objects.front() : list_of(objects);
  if (form_ == "jsonpath") {
    SHIPLOG_TRY(const JsonPathTemplate path, JsonPathTemplate::parse(template_));
    SHIPLOG_TRY(const auto text, path.evaluate(document, kGenerously));
    out << text << std::flush;
    return ok();
  }
  print_document(document, form_, out);
  return ok();
}

Result<void> ObjectPrinter::print_next(const Value& object, std::ostream& out) {
  const bool first = !std::exchange(streamed_, true);
  if (form_ == "custom-columns") return print_columns({object}, first && !no_headers_, out);
  if (form_ == "yaml" && !first) out << "---\n";
  return print({object}, true, out);
}

}  // namespace shiplog::ctl
