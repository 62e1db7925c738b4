#include "events/sqlite/row_checksum.h"

#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include <sqlite3.h>

#include "events/base/check.h"
#include "events/base/crc32c.h"

namespace shiplog::sqlite {
namespace {

static_assert(std::endian::native == std::endian::little, "checksums are stored as this machine computes them");

void add_value(sqlite3_value* value, RowChecksum& sum) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return sum.add(int64_t{sqlite3_value_int64(value)});
    case SQLITE_TEXT: {
      // Its bytes: sqlite3_value_text() would copy each of them, to put a zero behind.
      const auto* text = static_cast<const char*>(sqlite3_value_blob(value));
      return sum.add(std::string_view{text == nullptr ? "" : text, static_cast<size_t>(sqlite3_value_bytes(value))});
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
      return sum.add_blob({bytes == nullptr ? "" : bytes, static_cast<size_t>(sqlite3_value_bytes(value))});
    }
    case SQLITE_FLOAT: {  // in no table, but a flipped bit makes one of an integer
      const double number = sqlite3_value_double(value);
      return sum.add_blob({reinterpret_cast<const char*>(&number), sizeof number});
    }
    default:
      return sum.add_null();
  }
}

void checksum(sqlite3_context* context, int count, sqlite3_value** values) {
  RowChecksum sum;
  for (int index = 0; index < count; ++index) add_value(values[index], sum);
  sqlite3_result_int64(context, sum.value());
}

std::string text_or_null(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr ? "NULL" : text;
}

void intact(sqlite3_context* context, int count, sqlite3_value** values) {
  if (count < 3) return sqlite3_result_error(context, "intact() needs a table, a checksum and columns", -1);
  RowChecksum sum;
  for (int index = 2; index < count; ++index) add_value(values[index], sum);
  if (sqlite3_value_type(values[1]) == SQLITE_INTEGER && sqlite3_value_int64(values[1]) == sum.value()) {
    return sqlite3_result_int(context, 1);
  }
  const std::string message = "the row " + text_or_null(values[2]) + " of the table \"" + text_or_null(values[0]) +
                              "\" does not match its checksum";
  sqlite3_result_error(context, message.c_str(), static_cast<int>(message.size()));
  sqlite3_result_error_code(context, SQLITE_CORRUPT);  // keeps the message
}

}  // namespace

void RowChecksum::add(int64_t number) {
  std::array<char, 1 + sizeof number> bytes{'i'};
  std::memcpy(bytes.data() + 1, &number, sizeof number);
  value_ = crc32c({bytes.data(), bytes.size()}, value_);
}

void RowChecksum::add(char type, std::string_view content) {
  const uint64_t size = content.size();
  std::array<char, 1 + sizeof size> bytes{type};
  std::memcpy(bytes.data() + 1, &size, sizeof size);
  value_ = crc32c(content, crc32c({bytes.data(), bytes.size()}, value_));
}

void add_row_functions(sqlite3* database) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  for (const auto& [name, function] : {std::pair{"checksum", &checksum}, std::pair{"intact", &intact}}) {
    const int code =
        sqlite3_create_function_v2(database, name, -1, kFlags, nullptr, function, nullptr, nullptr, nullptr);
    SHIPLOG_CHECK(code == SQLITE_OK, "SQLite takes the functions");
  }
}

}  // namespace shiplog::sqlite
