#include <algorithm>
#include <charconv>
#include <optional>

#include "events/base/utf8.h"
#include "events/kinds/pattern.h"
#include "services/api/selector/selector.h"

// LIST-4. Source: the grammar of apimachinery's labels.Parse.

namespace shiplog::api {
namespace {

const std::string kSubdomain = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
const std::string kName = "^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$";

Error malformed(const std::string& why) { return {ErrorCode::kBadRequest, "unable to parse requirement: " + why}; }

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_symbol(char c) { return std::string_view{"=!(),><"}.find(c) != std::string_view::npos; }

/// A word, one of the operators, or "" at the end.
struct Token {
  std::string text;
  bool word = false;
};

class Tokens {
 public:
  explicit Tokens(std::string_view text) : rest_{text} { advance(); }

  const Token& peek() const { return token_; }
  Token take() {
    Token taken = std::move(token_);
    advance();
    return taken;
  }

 private:
  void advance() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
    token_ = {};
    if (rest_.empty()) return;
    size_t length = 0;
    if (is_symbol(rest_.front())) {
      length = rest_.starts_with("==") || rest_.starts_with("!=") ? 2 : 1;
    } else {
      token_.word = true;
      while (length < rest_.size() && !is_space(rest_[length]) && !is_symbol(rest_[length])) ++length;
    }
    token_.text = rest_.substr(0, length);
    rest_.remove_prefix(length);
  }

  std::string_view rest_;
  Token token_;
};

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<void> check_key(const std::string& key) {
  const size_t slash = key.find('/');
  const std::string prefix = slash == std::string::npos ? "" : key.substr(0, slash);
  const std::string name = slash == std::string::npos ? key : key.substr(slash + 1);
  const bool prefix_fits = slash == std::string::npos || (prefix.size() <= 253 && pattern_matches(kSubdomain, prefix));
  if (prefix_fits && name.size() <= 63 && pattern_matches(kName, name)) return ok();
  return malformed("<nil>: Invalid value: " + quoted(key) +
                   ": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with "
                   "an alphanumeric character");
}

Result<void> check_value(const std::string& key, const std::string& value) {
  if (value.empty()) return ok();
  if (value.size() <= 63 && pattern_matches(kName, value)) return ok();
  return malformed("values[0][" + printable(key, 253) + "]: Invalid value: " + quoted(value) +
                   ": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
                   "and must start and end with an alphanumeric character, and be no more than 63 characters");
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_{text} {}

  Result<ParsedLabelSelector> read() {
    ParsedLabelSelector selector;
    if (at_end()) return selector;
    while (true) {
      SHIPLOG_TRY(auto requirement, read_requirement());
      selector.requirements.push_back(std::move(requirement));
      if (at_end()) break;
      const Token comma = tokens_.take();
      if (comma.text != ",")
        return malformed("found '" + printable(comma.text) + "', expected: ',' or 'end of string'");
      if (at_end()) return malformed("found '', expected: identifier after ','");
    }
    // In the order of their keys, as the text form of a selector has them.
    std::stable_sort(selector.requirements.begin(), selector.requirements.end(),
                     [](const auto& a, const auto& b) { return a.key < b.key; });
    return selector;
  }

 private:
  bool at_end() const { return tokens_.peek().text.empty(); }

  Result<ParsedLabelSelector::Requirement> read_requirement() {
    const bool negated = tokens_.peek().text == "!";
    if (negated) tokens_.take();
    const Token key = tokens_.take();
    if (!key.word) return malformed("found '" + key.text + "', expected: !, identifier, or 'end of string'");
    SHIPLOG_TRY(check_key(key.text));
    if (negated) return Requirement{key.text, "!", {}};
    if (at_end() || tokens_.peek().text == ",") return Requirement{key.text, "exists", {}};
    return read_operator(key.text);
  }

  Result<ParsedLabelSelector::Requirement> read_operator(const std::string& key) {
    const std::string op = tokens_.take().text;
    if (op == "in" || op == "notin") {
      SHIPLOG_TRY(auto values, read_values(key));
      return Requirement{key, op, std::move(values)};
    }
    if (op == "=" || op == "==" || op == "!=") {
      SHIPLOG_TRY(auto value, read_value(key));
      return Requirement{key, op == "!=" ? "notin" : "in", {std::move(value)}};
    }
    if (op == ">" || op == "<") {
      SHIPLOG_TRY(auto value, read_value(key));
      if (!whole_number(value)) {
        return malformed("values[0][" + printable(key, 253) + "]: Invalid value: " + quoted(value) +
                         ": for 'Gt', 'Lt' operators, the value must be an integer");
      }
      return Requirement{key, op == ">" ? "gt" : "lt", {std::move(value)}};
    }
    return malformed("found '" + printable(op) + "', expected: in, notin, =, ==, !=, gt, lt");
  }

  Result<std::string> read_value(const std::string& key) {
    std::string value;
    if (tokens_.peek().word) {
      value = tokens_.take().text;
    } else if (!at_end() && tokens_.peek().text != ",") {
      return malformed("found '" + tokens_.peek().text + "', expected: identifier");
    }
    SHIPLOG_TRY(check_value(key, value));
    return value;
  }

  Result<std::vector<std::string>> read_values(const std::string& key) {
    if (tokens_.peek().text != "(") return malformed("found '" + printable(tokens_.peek().text) + "', expected: '('");
    tokens_.take();
    std::vector<std::string> values;
    while (true) {
      std::string value = tokens_.peek().word ? tokens_.take().text : "";
      SHIPLOG_TRY(check_value(key, value));
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(std::move(value));
      const Token next = tokens_.take();
      if (next.text == ")") break;
      if (next.text != ",") return malformed("found '" + printable(next.text) + "', expected: ',', or ')'");
    }
    std::sort(values.begin(), values.end());
    return values;
  }

  using Requirement = ParsedLabelSelector::Requirement;
  Tokens tokens_;
};

bool holds(const ParsedLabelSelector::Requirement& requirement, const Value* label) {
  const auto has = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), label->as_string()) !=
           requirement.values.end();
  };
  if (requirement.op == "in") return label != nullptr && has();
  if (requirement.op == "notin") return label == nullptr || !has();
  if (requirement.op == "exists") return label != nullptr;
  if (requirement.op == "!") return label == nullptr;
  if (label == nullptr || requirement.values.empty()) return false;
  const auto left = whole_number(label->as_string());
  const auto right = whole_number(requirement.values.front());
  if (!left || !right) return false;
  return requirement.op == "gt" ? *left > *right : *left < *right;
}

}  // namespace

bool ParsedLabelSelector::matches(const Value& labels) const {
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const Requirement& requirement) { return holds(requirement, labels.find(requirement.key)); });
}

Result<ParsedLabelSelector> parse_label_selector(std::string_view text) { return Parser{text}.read(); }

}  // namespace shiplog::api
