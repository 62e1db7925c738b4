#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "events/sqlite/connection.h"
#include "events/sqlite/row_checksum.h"
#include "events/sqlite/unpacked.h"
#include "projections/store/checked_table.h"

namespace shiplog::store {

/// Inserts rows of a table with their checksum, which is computed here: a function of SQL that is called for every row
/// would be the slowest part. Columns are added in their order; what is added as text must stay until run(). A row that
/// was left unfinished by an error is begun anew by begin().
class CheckedInsert {
 public:
  /// `suffix`: "ON CONFLICT DO NOTHING", or nothing.
  static Result<CheckedInsert> create(sqlite::Connection& connection, const CheckedTable& table,
                                      std::string_view suffix = {}) {
    SHIPLOG_TRY(auto insert, connection.prepare(table.insert_with_checksum() + " " + std::string{suffix}));
    return CheckedInsert{std::move(insert)};
  }

  CheckedInsert& begin() {
    sum_ = {};
    column_ = 0;
    return *this;
  }
  CheckedInsert& add(int64_t number) {
    sum_.add(number);
    insert_.bind(++column_, number);
    return *this;
  }
  CheckedInsert& add(std::string_view text) {
    sum_.add(text);
    insert_.bind(++column_, text);
    return *this;
  }
  template <sqlite::TemporaryString T>
  CheckedInsert& add(T&& temporary) = delete;
  CheckedInsert& add_blob(std::string_view bytes) {
    sum_.add_blob(bytes);
    insert_.bind_blob(++column_, bytes);
    return *this;
  }
  CheckedInsert& add_null() {
    sum_.add_null();
    insert_.bind_null(++column_);
    return *this;
  }
  CheckedInsert& add(const sqlite::PackedText& text) {
    return text.compressed ? add_blob(text.bytes) : add(text.bytes);
  }

  Result<void> run() {
    insert_.bind(++column_, int64_t{sum_.value()});
    return insert_.run();
  }

 private:
  explicit CheckedInsert(sqlite::Statement insert) : insert_{std::move(insert)} {}

  sqlite::Statement insert_;
  sqlite::RowChecksum sum_;
  int column_ = 0;
};

}  // namespace shiplog::store
