#include "services/programs/member/shell/syntax.h"

#include <algorithm>
#include <array>
#include <optional>

namespace shiplog::member {
namespace {

constexpr size_t kMostCommands = 1000;

Error syntax_error(const std::string& what) { return Error{ErrorCode::kInvalid, "syntax error: " + what}; }

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool ends_word(char c) {
  return is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '<' || c == '>' || c == '(' || c == ')';
}

class ScriptParser {
 public:
  explicit ScriptParser(std::string_view script) : text_{script} {}

  Result<std::vector<CommandPipeline>> list() {
    std::vector<CommandPipeline> found;
    auto when = CommandPipeline::When::kAlways;
    while (true) {
      skip_separators(when == CommandPipeline::When::kAlways);
      if (at_end()) break;
      SHIPLOG_TRY(CommandPipeline next, pipeline());
      next.when = when;
      found.push_back(std::move(next));
      if (found.size() > kMostCommands) return syntax_error("more commands than the trial member's shell runs at once");
      SHIPLOG_TRY(when, connector());
    }
    if (when != CommandPipeline::When::kAlways) return syntax_error("unexpected end of file");
    return found;
  }

 private:
  bool at_end() const { return position_ == text_.size(); }
  char peek(size_t ahead = 0) const { return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0'; }
  bool take(std::string_view word) {
    if (!text_.substr(position_).starts_with(word)) return false;
    position_ += word.size();
    return true;
  }
  void skip_blanks() {
    while (is_blank(peek()) || (peek() == '\\' && peek(1) == '\n')) position_ += peek() == '\\' ? 2 : 1;
    if (peek() == '#') position_ = std::min(text_.find('\n', position_), text_.size());
  }
  void skip_separators(bool semicolons) {
    while (!at_end()) {
      skip_blanks();
      if (peek() != '\n' && !(semicolons && peek() == ';')) return;
      ++position_;
    }
  }

  Result<CommandPipeline::When> connector() {
    skip_blanks();
    if (take("&&")) return CommandPipeline::When::kAfterSuccess;
    if (take("||")) return CommandPipeline::When::kAfterFailure;
    if (peek() == '&') return syntax_error("\"&\": jobs in the background are not supported in a trial member");
    if (!at_end() && peek() != ';' && peek() != '\n') return syntax_error(unexpected());
    return CommandPipeline::When::kAlways;
  }

  std::string unexpected() const { return std::string{"unexpected \""} + peek() + "\""; }

  Result<CommandPipeline> pipeline() {
    CommandPipeline found;
    if (peek() == '!' && is_blank(peek(1))) {
      found.negated = true;
      ++position_;
    }
    do {
      skip_blanks();
      SHIPLOG_TRY(SimpleCommand command, simple_command());
      found.commands.push_back(std::move(command));
      if (found.commands.size() > kMostCommands) return syntax_error("the pipeline is too long");
      skip_blanks();
    } while (peek() == '|' && peek(1) != '|' && take("|"));
    return found;
  }

  Result<SimpleCommand> simple_command() {
    SimpleCommand command;
    while (true) {
      skip_blanks();
      SHIPLOG_TRY(const bool redirected, redirection(command));
      if (redirected) continue;
      if (at_end() || peek() == '\n' || peek() == ';' || peek() == '&' || peek() == '|') break;
      if (peek() == '(' || peek() == ')') {
        return syntax_error(unexpected() + ": subshells and functions are not supported in a trial member");
      }
      if (command.words.empty()) {
        SHIPLOG_TRY(const bool assigned, assignment(command));
        if (assigned) continue;
      }
      SHIPLOG_TRY(Word next, word());
      command.words.push_back(std::move(next));
    }
    if (command.words.empty() && command.assignments.empty() && command.redirections.empty()) {
      return syntax_error(at_end() ? "unexpected end of file" : unexpected());
    }
    SHIPLOG_TRY(check_keyword(command));
    return command;
  }

  static Result<void> check_keyword(const SimpleCommand& command) {
    static constexpr std::array<const char*, 10> kKeywords = {"if",   "then", "for",  "while",    "until",
                                                              "case", "do",   "done", "function", "{"};
    if (command.words.empty() || command.words.front().size() != 1) return ok();
    const WordPart& first = command.words.front().front();
    if (first.kind != WordPart::Kind::kText || first.quoted) return ok();
    if (std::ranges::find(kKeywords, first.text) == kKeywords.end()) return ok();
    return syntax_error("\"" + first.text + "\" is not supported in the shell of a trial member");
  }

  Result<bool> redirection(SimpleCommand& command) {
    Redirection found;
    if (take("2>&1")) {
      command.redirections.push_back({Redirection::Kind::kErrorToOutput, {}});
      return true;
    }
    if (take(">&2") || take("1>&2")) {
      command.redirections.push_back({Redirection::Kind::kOutputToError, {}});
      return true;
    }
    if (take("2>>")) {
      found.kind = Redirection::Kind::kErrorAppend;
    } else if (take("2>")) {
      found.kind = Redirection::Kind::kErrorOutput;
    } else if (take(">>") || take("1>>")) {
      found.kind = Redirection::Kind::kAppend;
    } else if (take(">") || take("1>")) {
      found.kind = Redirection::Kind::kOutput;
    } else if (text_.substr(position_).starts_with("<<")) {
      return syntax_error("\"<<\": here-documents are not supported in a trial member");
    } else if (take("<")) {
      found.kind = Redirection::Kind::kInput;
    } else {
      return false;
    }
    skip_blanks();
    if (at_end() || ends_word(peek())) return syntax_error("a redirection without a file");
    SHIPLOG_TRY(found.file, word());
    command.redirections.push_back(std::move(found));
    return true;
  }

  Result<bool> assignment(SimpleCommand& command) {
    size_t end = position_;
    if (end < text_.size() && !is_name_start(text_[end])) return false;
    while (end < text_.size() && is_name(text_[end])) ++end;
    if (end >= text_.size() || text_[end] != '=' || end == position_) return false;
    std::string name{text_.substr(position_, end - position_)};
    position_ = end + 1;
    Word value;
    if (!at_end() && !ends_word(peek())) {
      SHIPLOG_TRY(value, word());
    }
    command.assignments.emplace_back(std::move(name), std::move(value));
    return true;
  }

  Result<Word> word() {
    Word found;
    while (!at_end() && !ends_word(peek())) {
      const char c = peek();
      if (c == '\'') {
        SHIPLOG_TRY(single_quoted(found));
      } else if (c == '"') {
        SHIPLOG_TRY(double_quoted(found));
      } else if (c == '\\') {
        ++position_;
        if (!at_end()) append(found, text_[position_++], true);
      } else if (c == '$') {
        SHIPLOG_TRY(expansion(found, false));
      } else if (c == '`') {
        return syntax_error("\"`\": use $(command)");
      } else {
        append(found, c, false);
        ++position_;
      }
    }
    return found;
  }

  static void append(Word& to, char c, bool quoted) {
    if (to.empty() || to.back().kind != WordPart::Kind::kText || to.back().quoted != quoted) {
      to.push_back({WordPart::Kind::kText, {}, {}, quoted});
    }
    to.back().text += c;
  }

  Result<void> single_quoted(Word& to) {
    const size_t end = text_.find('\'', position_ + 1);
    if (end == std::string_view::npos) return syntax_error("unterminated quoted string");
    to.push_back({WordPart::Kind::kText, std::string{text_.substr(position_ + 1, end - position_ - 1)}, {}, true});
    position_ = end + 1;
    return ok();
  }

  Result<void> double_quoted(Word& to) {
    ++position_;
    to.push_back({WordPart::Kind::kText, {}, {}, true});  // "" is a word
    while (peek() != '"') {
      if (at_end()) return syntax_error("unterminated quoted string");
      if (peek() == '$') {
        SHIPLOG_TRY(expansion(to, true));
        continue;
      }
      if (peek() == '\\' && std::string_view{"\\\"$`\n"}.find(peek(1)) != std::string_view::npos && peek(1) != '\0') {
        ++position_;
      }
      append(to, text_[position_++], true);
    }
    ++position_;
    return ok();
  }

  Result<void> expansion(Word& to, bool quoted) {
    ++position_;
    WordPart part{WordPart::Kind::kVariable, {}, {}, quoted};
    if (take("((")) return syntax_error("\"$((\": arithmetic is not supported in a trial member");
    if (take("(")) {
      part.kind = WordPart::Kind::kCommand;
      SHIPLOG_TRY(part.text, until_closing());
    } else if (take("{")) {
      const size_t end = text_.find('}', position_);
      if (end == std::string_view::npos) return syntax_error("missing \"}\"");
      std::string_view inside = text_.substr(position_, end - position_);
      position_ = end + 1;
      const size_t colon = inside.find(":-");
      if (colon != std::string_view::npos) part.fallback = inside.substr(colon + 2);
      part.text = inside.substr(0, colon);
      if (part.text.empty() || !std::ranges::all_of(part.text, is_name)) return syntax_error("bad substitution");
    } else if (peek() == '?' || peek() == '$' || peek() == '#') {
      part.text = text_[position_++];
    } else {
      while (!at_end() && is_name(peek())) part.text += text_[position_++];
      if (part.text.empty()) {
        append(to, '$', quoted);
        return ok();
      }
    }
    to.push_back(std::move(part));
    return ok();
  }

  /// The text up to the parenthesis that closes a command substitution.
  Result<std::string> until_closing() {
    size_t depth = 1;
    const size_t begin = position_;
    char quote = '\0';
    for (; !at_end(); ++position_) {
      const char c = peek();
      if (quote != '\0') {
        if (c == quote) quote = '\0';
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == '(') {
        ++depth;
      } else if (c == ')' && --depth == 0) {
        return std::string{text_.substr(begin, position_++ - begin)};
      }
    }
    return syntax_error("missing \")\"");
  }

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace

Result<std::vector<CommandPipeline>> parse_script(std::string_view script) { return ScriptParser{script}.list(); }

}  // namespace shiplog::member
