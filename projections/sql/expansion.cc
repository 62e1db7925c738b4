#include "projections/sql/expansion.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <vector>

namespace shiplog {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

/// The words and the other characters of a statement: names in lower case and without their quotes. SQLite also takes a
/// string in single quotes for a name. Comments are left out.
std::vector<std::string> tokens_of(std::string_view sql) {
  std::vector<std::string> tokens;
  size_t at = 0;
  while (at < sql.size()) {
    const char c = sql[at];
    if (sql.substr(at, 2) == "--") {
      at = std::min(sql.find('\n', at), sql.size());
    } else if (sql.substr(at, 2) == "/*") {
      const size_t end = sql.find("*/", at + 2);
      at = end == std::string_view::npos ? sql.size() : end + 2;
    } else if (c == '\'' || c == '"' || c == '`' || c == '[') {
      const char close = c == '[' ? ']' : c;
      std::string name;
      for (++at; at < sql.size(); ++at) {
        if (sql[at] == close) {
          if (c == '[' || at + 1 >= sql.size() || sql[at + 1] != close) break;
          ++at;  // a doubled quote
        }
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(sql[at])));
      }
      ++at;
      tokens.push_back(name.empty() ? " " : name);
    } else if (is_word(c)) {
      std::string word;
      for (; at < sql.size() && is_word(sql[at]); ++at) {
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(sql[at])));
      }
      tokens.push_back(word);
    } else {
      if (std::isspace(static_cast<unsigned char>(c)) == 0) tokens.emplace_back(1, c);
      ++at;
    }
  }
  return tokens;
}

/// The token at `index` names a common table expression: "NAME AS (", "NAME (COLUMN, ...) AS NOT MATERIALIZED (".
bool is_definition(const std::vector<std::string>& tokens, size_t index) {
  const auto token = [&](size_t position) { return position < tokens.size() ? tokens[position] : std::string{}; };
  size_t at = index + 1;
  if (token(at) == "(") {
    while (at < tokens.size() && tokens[at] != ")") ++at;
    ++at;
  }
  if (token(at) != "as") return false;
  ++at;
  if (token(at) == "not") ++at;
  if (token(at) == "materialized") ++at;
  return token(at) == "(";
}

}  // namespace

Result<void> check_expansion(std::string_view sql) {
  const std::vector<std::string> tokens = tokens_of(sql);
  std::map<std::string, int> uses, definitions;
  for (size_t index = 0; index < tokens.size(); ++index) {
    // "name.column" does not copy anything.
    const bool qualifies = index + 1 < tokens.size() && tokens[index + 1] == ".";
    if (!qualifies && (index == 0 || tokens[index - 1] != ".")) ++uses[tokens[index]];
    if (is_word(tokens[index].front()) || tokens[index].size() > 1) {
      if (is_definition(tokens, index)) ++definitions[tokens[index]];
    }
  }
  // Each use of a name copies its expression, with the copies of what that uses: never more than the product.
  double copies = 1;
  for (const auto& [name, count] : definitions) {
    for (int each = 0; each < count; ++each) copies *= std::max(1, uses[name] - count);
  }
  if (copies <= kMostExpansions) return ok();
  return Error{ErrorCode::kBadRequest,
               "the common table expressions use each other too often: use each of them only a few times"};
}

}  // namespace shiplog
