#include "services/debugger/words.h"

#include <cstdio>

#include "events/base/json.h"
#include "events/base/utf8.h"

namespace shiplog::debugger {
namespace {

Error at_column(size_t at, const std::string& words) {
  return {ErrorCode::kBadRequest, "column " + std::to_string(at + 1) + ": " + words};
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_sign(char c) { return c == '=' || c == '!' || c == '<' || c == '>'; }

/// The place behind the closing quote; npos: there is none.
size_t end_of_quoted(std::string_view line, size_t begin) {
  for (size_t at = begin + 1; at < line.size(); ++at) {
    if (line[at] == '\\') {
      ++at;
    } else if (line[at] == line[begin]) {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

Result<size_t> end_of_plain(std::string_view line, size_t begin) {
  size_t depth = 0;
  size_t open = begin;
  size_t at = begin;
  for (; at < line.size(); ++at) {
    const char c = line[at];
    if (depth > 0) {
      if (c == ']') --depth;
      if (c == '"' || c == '\'') {
        const size_t end = line.find(c, at + 1);
        if (end == std::string_view::npos) return at_column(at, "the quote is not closed");
        at = end;
      }
      continue;
    }
    if (c == '[') {
      open = at;
      ++depth;
    } else if (is_blank(c) || is_sign(c) || c == '(' || c == ')' || c == '"') {
      break;
    }
  }
  if (depth > 0) return at_column(open, "[ is not closed");
  return at;
}

Result<size_t> end_of_sign(std::string_view line, size_t at) {
  const std::string_view two = line.substr(at, 2);
  if (two == "==" || two == "!=" || two == "<=" || two == ">=") return at + 2;
  if (line[at] != '!') return at + 1;
  return at_column(at, "! alone means nothing here: write not");
}

/// U+0080 to U+009F are control characters; the others change the direction of what follows, or are not visible.
bool deceives(std::string_view character) {
  if (character.size() == 2) return character[0] == '\xc2' && static_cast<unsigned char>(character[1]) < 0xa0;
  if (character.size() != 3 || character[0] != '\xe2') return false;
  const auto second = static_cast<unsigned char>(character[1]);
  const auto third = static_cast<unsigned char>(character[2]);
  if (second == 0x80) return (third >= 0x8b && third <= 0x8f) || (third >= 0xa8 && third <= 0xae);
  return second == 0x81 && third >= 0xa6 && third <= 0xa9;
}

void append_code_point(std::string_view character, std::string& out) {
  unsigned code = static_cast<unsigned char>(character[0]) & (character.size() == 2 ? 0x1fU : 0x0fU);
  for (const char c : character.substr(1)) code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
  char text[8];
  std::snprintf(text, sizeof text, "\\u%04x", code);
  out += text;
}

}  // namespace

Result<std::vector<CommandWord>> words_of(std::string_view line) {
  if (line.size() > kLongestLine) return Error{ErrorCode::kBadRequest, "the line is longer than 16384 bytes"};
  std::vector<CommandWord> words;
  for (size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (is_blank(c)) {
      ++at;
      continue;
    }
    if (c == '"') {
      const size_t end = end_of_quoted(line, at);
      if (end == std::string_view::npos) return at_column(at, "the quote is not closed");
      const auto text = parse_json(line.substr(at, end - at));
      if (!text) return at_column(at, "the quoted text cannot be read: " + text.error().message);
      words.push_back({CommandWord::Kind::kQuoted, text.value().str(), at + 1});
      at = end;
      continue;
    }
    const bool sign = is_sign(c) || c == '(' || c == ')';
    size_t end = at;
    if (sign) {
      SHIPLOG_TRY(end, end_of_sign(line, at));
    } else {
      SHIPLOG_TRY(end, end_of_plain(line, at));
    }
    words.push_back(
        {sign ? CommandWord::Kind::kSign : CommandWord::Kind::kPlain, std::string{line.substr(at, end - at)}, at + 1});
    at = end;
  }
  return words;
}

Value value_of(const CommandWord& word) {
  if (word.kind == CommandWord::Kind::kQuoted) return word.text;
  const bool literal = word.text == "true" || word.text == "false" || word.text == "null" ||
                       word.text.starts_with('[') || word.text.starts_with('{') ||
                       (!word.text.empty() && word.text.find_first_not_of("0123456789+-.eE") == std::string::npos);
  if (literal) {
    if (auto value = parse_json(word.text)) return value.value();
  }
  return word.text;
}

bool matches_glob(std::string_view pattern, std::string_view text) {
  // The last * is the only one to go back to, so this takes at most the product of both lengths.
  size_t star = std::string_view::npos;
  size_t resume = 0;
  size_t p = 0;
  size_t t = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string without_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_sequence_length(text.substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0 || (length == 1 && (byte < 0x20 || byte == 0x7f) && byte != '\n' && byte != '\t')) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      out += escaped;
      ++at;
      continue;
    }
    const std::string_view character = text.substr(at, length);
    if (deceives(character)) {
      append_code_point(character, out);
    } else {
      out += character;
    }
    at += length;
  }
  return out;
}

}  // namespace shiplog::debugger
