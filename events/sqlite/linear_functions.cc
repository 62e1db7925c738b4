#include "events/sqlite/linear_functions.h"

#include <cstring>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "events/base/check.h"

namespace shiplog::sqlite {
namespace {

std::string_view text_of(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_value_bytes(value))};
}

/// As std::string_view::find, by the two-way algorithm of the C library.
size_t place_of(std::string_view text, std::string_view part, size_t from) {
  const void* found = ::memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return found == nullptr ? std::string_view::npos : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

void instr(sqlite3_context* context, int, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL || sqlite3_value_type(values[1]) == SQLITE_NULL) return;
  const bool bytes = sqlite3_value_type(values[0]) == SQLITE_BLOB && sqlite3_value_type(values[1]) == SQLITE_BLOB;
  const std::string_view text = text_of(values[0]);
  const std::string_view part = text_of(values[1]);
  if (part.empty()) return sqlite3_result_int(context, 1);
  const size_t at = text.empty() ? std::string_view::npos : place_of(text, part, 0);
  if (at == std::string_view::npos) return sqlite3_result_int(context, 0);
  sqlite3_int64 position = 1;
  for (size_t index = 0; index < at; ++index) {
    if (bytes || (static_cast<unsigned char>(text[index]) & 0xC0U) != 0x80U) ++position;  // characters, not bytes
  }
  sqlite3_result_int64(context, position);
}

void replace(sqlite3_context* context, int, sqlite3_value** values) {
  for (int index = 0; index < 3; ++index) {
    if (sqlite3_value_type(values[index]) == SQLITE_NULL) return;
  }
  const std::string_view text = text_of(values[0]);
  const std::string_view part = text_of(values[1]);
  const std::string_view with = text_of(values[2]);
  const auto most = static_cast<size_t>(sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1));
  std::string out;
  size_t from = 0;
  while (!part.empty() && from < text.size()) {
    const size_t at = place_of(text, part, from);
    if (at == std::string_view::npos) break;
    out += text.substr(from, at - from);
    out += with;
    if (out.size() > most) return sqlite3_result_error_toobig(context);
    from = at + part.size();
  }
  out += text.substr(from);
  if (out.size() > most) return sqlite3_result_error_toobig(context);
  sqlite3_result_text64(context, out.data(), out.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

}  // namespace

void add_linear_functions(sqlite3* database) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  const int first = sqlite3_create_function_v2(database, "instr", 2, kFlags, nullptr, instr, nullptr, nullptr, nullptr);
  const int second =
      sqlite3_create_function_v2(database, "replace", 3, kFlags, nullptr, replace, nullptr, nullptr, nullptr);
  SHIPLOG_CHECK(first == SQLITE_OK && second == SQLITE_OK, "SQLite takes the functions");
}

}  // namespace shiplog::sqlite
