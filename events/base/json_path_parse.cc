#include <array>
#include <charconv>

#include "events/base/json_path.h"

namespace shiplog {
namespace {

constexpr std::array<std::string_view, 6> kOperators = {"==", "!=", "<=", ">=", "<", ">"};  // longer ones first

bool space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

/// Reads a template from left to right. Recursion is bounded by kMostNesting.
class JsonPathParser {
 public:
  explicit JsonPathParser(std::string_view text) : text_{text} {}

  /// Parts up to the end of the text, or up to {end} inside of a range.
  Result<std::vector<JsonPathPart>> parts(bool in_range) {
    std::vector<JsonPathPart> parts;
    std::string plain;
    while (at_ < text_.size()) {
      if (text_[at_] != '{') {
        plain += text_[at_++];
        continue;
      }
      if (!plain.empty()) parts.push_back({.text = std::exchange(plain, {})});
      ++at_;
      skip_space();
      if (word("end")) {
        SHIPLOG_TRY(close());
        if (!in_range) return wrong("{end} without {range}");
        return parts;
      }
      SHIPLOG_TRY(JsonPathPart part, action());
      parts.push_back(std::move(part));
    }
    if (in_range) return wrong("{range} without {end}");
    if (!plain.empty()) parts.push_back({.text = std::move(plain)});
    return parts;
  }

 private:
  /// What stands between braces, behind the first one.
  Result<JsonPathPart> action() {
    JsonPathPart part;
    if (peek() == '"' || peek() == '\'') {
      SHIPLOG_TRY(part.text, quoted());
      SHIPLOG_TRY(close());
      return part;
    }
    part.path = true;
    part.range = word("range");
    skip_space();
    SHIPLOG_TRY(part.steps, path('}', part.from_root));
    SHIPLOG_TRY(close());
    if (!part.range) return part;
    if (++nesting_ > JsonPathTemplate::kMostNesting) return wrong("ranges are nested too deeply");
    SHIPLOG_TRY(part.repeated, parts(true));
    --nesting_;
    return part;
  }

  /// Steps up to `end` or, in a filter, up to an operator. Spaces between steps mean nothing.
  Result<std::vector<JsonPathStep>> path(char end, bool& from_root) {
    std::vector<JsonPathStep> steps;
    bool started = false;
    if (peek() == '$' || peek() == '@') {
      from_root = text_[at_++] == '$';
      started = true;
    }
    for (skip_space(); at_ < text_.size() && peek() != end && !at_operator(); skip_space()) {
      started = true;
      if (text_.substr(at_).starts_with("..")) {
        at_ += 2;
        steps.push_back({.kind = JsonPathStep::Kind::kDescendants});
        if (peek() == '.') return wrong("a name is expected after \"..\"");
        if (peek() != '[') {
          SHIPLOG_TRY(field(steps));
        }
      } else if (peek() == '.') {
        ++at_;
        if (peek() != '[') {
          SHIPLOG_TRY(field(steps));
        }
      } else if (peek() == '[') {
        SHIPLOG_TRY(JsonPathStep step, bracket());
        steps.push_back(std::move(step));
      } else {
        return wrong("a path begins with \".\", \"[\", \"$\" or \"@\"");
      }
    }
    if (!started) return wrong("a path is expected");
    return steps;
  }

  /// A name behind a dot; a dot within it is written "\.". A lone dot is the value itself.
  Result<void> field(std::vector<JsonPathStep>& steps) {
    std::string name;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\\' && at_ + 1 < text_.size()) {
        name += text_[++at_];
      } else if (space(c) || std::string_view{".,[]{}()$@=!<>\"'"}.find(c) != std::string_view::npos) {
        break;
      } else {
        name += c;
      }
    }
    if (name.empty()) return ok();
    if (name == "*") {
      steps.push_back({.kind = JsonPathStep::Kind::kAllChildren});
    } else {
      steps.push_back({.kind = JsonPathStep::Kind::kField, .name = std::move(name)});
    }
    return ok();
  }

  /// [ ... ]
  Result<JsonPathStep> bracket() {
    ++at_;
    skip_space();
    if (peek() == '?') return filter();
    JsonPathStep all{.kind = JsonPathStep::Kind::kUnion};
    while (true) {
      SHIPLOG_TRY(JsonPathStep choice, choice_in_bracket());
      all.choices.push_back(std::move(choice));
      skip_space();
      if (peek() == ']') break;
      if (peek() != ',') return wrong("\",\" or \"]\" is expected");
      ++at_;
      skip_space();
    }
    ++at_;
    return all.choices.size() == 1 ? std::move(all.choices.front()) : std::move(all);
  }

  Result<JsonPathStep> choice_in_bracket() {
    if (peek() == '*') {
      ++at_;
      return JsonPathStep{.kind = JsonPathStep::Kind::kAllChildren};
    }
    if (peek() == '"' || peek() == '\'') {
      JsonPathStep step{.kind = JsonPathStep::Kind::kField};
      SHIPLOG_TRY(step.name, quoted());
      return step;
    }
    JsonPathStep step{.kind = JsonPathStep::Kind::kSlice};
    SHIPLOG_TRY(step.from, index());
    skip_space();
    if (peek() != ':') {
      if (!step.from) return wrong("an index, a quoted name, \"*\" or \"?(\" is expected");
      step.single = true;
      return step;
    }
    ++at_;
    skip_space();
    SHIPLOG_TRY(step.to, index());
    skip_space();
    if (peek() != ':') return step;
    ++at_;
    skip_space();
    SHIPLOG_TRY(const auto by, index());
    step.by = by.value_or(1);
    if (step.by <= 0) return wrong("the step of a slice must be greater than 0");
    return step;
  }

  Result<std::optional<int64_t>> index() {
    if (!digit(peek()) && peek() != '-') return std::optional<int64_t>{};
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc{}) return wrong("a whole number is expected");
    at_ = static_cast<size_t>(end - text_.data());
    return std::optional{number};
  }

  /// ?( ... )]
  Result<JsonPathStep> filter() {
    if (!text_.substr(at_).starts_with("?(")) return wrong("\"?(\" is expected");
    at_ += 2;
    if (++nesting_ > JsonPathTemplate::kMostNesting) return wrong("filters are nested too deeply");
    JsonPathFilter made;
    SHIPLOG_TRY(made.left, operand());
    skip_space();
    for (const std::string_view op : kOperators) {
      if (!text_.substr(at_).starts_with(op)) continue;
      made.op = op;
      at_ += op.size();
      SHIPLOG_TRY(made.right, operand());
      break;
    }
    skip_space();
    if (peek() != ')') return wrong("an operator or \")\" is expected");
    ++at_;
    skip_space();
    if (peek() != ']') return wrong("\"]\" is expected");
    ++at_;
    --nesting_;
    JsonPathStep step{.kind = JsonPathStep::Kind::kFilter};
    step.filter = std::make_shared<const JsonPathFilter>(std::move(made));
    return step;
  }

  Result<JsonPathOperand> operand() {
    skip_space();
    JsonPathOperand made;
    made.literal = true;
    if (peek() == '"' || peek() == '\'') {
      SHIPLOG_TRY(std::string text, quoted());
      made.value = Value{text};
    } else if (digit(peek()) || peek() == '-') {
      SHIPLOG_TRY(const auto number, index());
      if (peek() == '.') return wrong("only whole numbers can be compared");
      made.value = Value{number.value_or(0)};
    } else if (word("true")) {
      made.value = Value{true};
    } else if (word("false")) {
      made.value = Value{false};
    } else {
      made.literal = false;
      SHIPLOG_TRY(made.path, path(')', made.from_root));
    }
    return made;
  }

  Result<std::string> quoted() {
    const char quote = text_[at_++];
    std::string plain;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        const char escaped = text_[++at_];
        plain += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
      } else {
        plain += text_[at_];
      }
    }
    if (at_ == text_.size()) return wrong("a quote is not closed");
    ++at_;
    return plain;
  }

  /// The keyword stands here, by itself; it is passed over.
  bool word(std::string_view keyword) {
    if (!text_.substr(at_).starts_with(keyword)) return false;
    const size_t end = at_ + keyword.size();
    if (end < text_.size() && !space(text_[end]) &&
        std::string_view{"})]"}.find(text_[end]) == std::string_view::npos) {
      return false;
    }
    at_ = end;
    return true;
  }

  Result<void> close() {
    skip_space();
    if (peek() != '}') return wrong("\"}\" is expected");
    ++at_;
    return ok();
  }

  bool at_operator() const { return nesting_ > 0 && std::string_view{"=!<>"}.find(peek()) != std::string_view::npos; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && space(text_[at_])) ++at_;
  }
  Error wrong(const std::string& expected) const {
    return {ErrorCode::kInvalid, "JSONPath, character " + std::to_string(at_ + 1) + ": " + expected};
  }

  const std::string_view text_;
  size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace

Result<JsonPathTemplate> JsonPathTemplate::parse(std::string_view text) {
  if (text.size() > kLongestTemplate) {
    return Error{ErrorCode::kInvalid, "the JSONPath has " + std::to_string(text.size()) + " bytes, the limit is " +
                                          std::to_string(kLongestTemplate)};
  }
  JsonPathTemplate made;
  SHIPLOG_TRY(made.parts_, JsonPathParser{text}.parts(false));
  return made;
}

}  // namespace shiplog
