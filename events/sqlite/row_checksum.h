#pragma once

#include <cstdint>
#include <string_view>

struct sqlite3;

namespace shiplog::sqlite {

/// CRC-32C of the columns of a row, with their types and lengths: ("ab", "c") and ("a", "bc") differ, and so do 1 and
/// "1". Every connection has it as an SQL function, and a second one for reads:
///
///   checksum(COLUMN, ...)                 -- what a row carries in its column `crc`
///   intact(TABLE, crc, COLUMN, ...)       -- 1; where the checksum differs, the statement fails with SQLITE_CORRUPT
///   and
///                                         -- a message with the table and the row's first column
///
/// SQLite evaluates the terms of a WHERE in their order as long as no index is involved: intact() comes first, so that
/// no other term sees a damaged row and leaves it out in silence. Of "column = ?" SQLite puts the value in the place of
/// the column in all other terms, so that rows with another value seem damaged: unless an index finds the rows by that
/// column, the term must be "+column = ?".
class RowChecksum {
 public:
  void add(int64_t number);
  void add(std::string_view text) { add('t', text); }
  void add_blob(std::string_view bytes) { add('b', bytes); }
  void add_null() { add('n', {}); }
  uint32_t value() const { return value_; }

 private:
  void add(char type, std::string_view bytes);
  uint32_t value_ = 0;
};

/// Adds both functions to a connection.
void add_row_functions(sqlite3* database);

}  // namespace shiplog::sqlite
