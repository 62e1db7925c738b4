#include "projections/comparison/comparison.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "events/sqlite/connection.h"
#include "projections/store/checked_table.h"
#include "projections/store/schemas.h"

namespace shiplog {
namespace {

using store::CheckedTable;
using Found = std::function<void(const RowFinding&)>;

constexpr const char* kDiffers = "differs from what the journal makes of it";

/// It has no checksums, as it only relates names to entries.
const CheckedTable& subject_table() {
  static const CheckedTable kTable{
      .name = "subject", .columns = {"type", "ns", "name", "offset"}, .key = {"type", "ns", "name", "offset"}};
  return kTable;
}

/// What the columns of a row mean. Its checksum follows from them, or else from how they are compressed.
std::vector<std::string> compared_columns(const CheckedTable& table) {
  std::vector<std::string> compared;
  for (const std::string& column : table.columns) {
    const auto meaning = std::ranges::find(table.meanings, column, &std::pair<std::string, std::string>::first);
    if (meaning == table.meanings.end()) {
      compared.push_back("r." + column);
    } else if (!meaning->second.empty()) {  // of a damaged row there is none
      compared.push_back("CASE r.crc WHEN " + table.checksum("r") + " THEN " + meaning->second + " END");
    }
  }
  return compared;
}

/// Whether the row is what it was written as, in types too; then the key, then all columns.
std::string sql_of(const CheckedTable& table) {
  const bool checked = &table != &subject_table();
  std::string key, columns;
  for (const std::string& column : table.key) key += (key.empty() ? "r." : ", r.") + column;
  for (const std::string& column : compared_columns(table)) columns += ", " + column;
  return "SELECT " + (checked ? "r.crc IS " + table.checksum("r") : std::string{"1"}) + ", " + key + columns +
         " FROM " + table.name + " r ORDER BY " + key;
}

/// The rows of one table in the order of its key.
class Rows {
 public:
  static Result<Rows> open(sqlite::Connection& connection, const CheckedTable& table) {
    SHIPLOG_TRY(auto statement, connection.prepare(sql_of(table)));
    return Rows{std::move(statement), table};
  }

  Result<void> advance() {
    SHIPLOG_TRY(valid_, statement_.next());
    return ok();
  }
  bool valid() const { return valid_; }
  bool intact() const { return statement_.integer(0) != 0; }

  /// As the table is ordered: numbers before texts.
  int compare_key(const Rows& other) const {
    for (int column = 1; column <= static_cast<int>(table_->key.size()); ++column) {
      const bool ours = statement_.is_integer(column);
      const bool theirs = other.statement_.is_integer(column);
      if (ours != theirs) return ours ? -1 : 1;
      const int order = ours ? (statement_.integer(column) < other.statement_.integer(column)   ? -1
                                : statement_.integer(column) > other.statement_.integer(column) ? 1
                                                                                                : 0)
                             : statement_.text(column).compare(other.statement_.text(column));
      if (order != 0) return order;
    }
    return 0;
  }
  bool same_values(const Rows& other) const {
    const int first = 1 + static_cast<int>(table_->key.size());
    const int columns = static_cast<int>(compared_columns(*table_).size());
    for (int column = first; column < first + columns; ++column) {
      if (statement_.is_null(column) != other.statement_.is_null(column) ||
          statement_.is_integer(column) != other.statement_.is_integer(column)) {
        return false;
      }
      const bool same = statement_.is_integer(column) ? statement_.integer(column) == other.statement_.integer(column)
                                                      : statement_.text(column) == other.statement_.text(column);
      if (!same) return false;
    }
    return true;
  }
  int64_t number(int key_column) const { return statement_.integer(1 + key_column); }
  std::string key() const {
    std::string text;
    for (int column = 1; column <= static_cast<int>(table_->key.size()); ++column) {
      text += (column == 1 ? "" : " ") + std::string{statement_.text(column)};
    }
    return text;
  }

 private:
  Rows(sqlite::Statement statement, const CheckedTable& table) : statement_{std::move(statement)}, table_{&table} {}

  sqlite::Statement statement_;
  const CheckedTable* table_;
  bool valid_ = false;
};

/// From which entry on nothing may be missing: the first that only retention by age would have kept.
class Retained {
 public:
  explicit Retained(sqlite::Connection& given) : given_{given} {}

  Result<bool> may_be_missing(const CheckedTable& table, const Rows& row) {
    if (&table == &store::entry_table()) {
      SHIPLOG_TRY(const int64_t first, first_entry());
      return row.number(0) < first;
    }
    if (&table == &subject_table()) {
      SHIPLOG_TRY(const int64_t first, first_entry());
      return row.number(3) < first;
    }
    if (&table == &store::decision_table()) {
      SHIPLOG_TRY(const int64_t first, first_decision());
      return row.number(0) < first;
    }
    return false;
  }

 private:
  /// Entries that a version or a decision refers to stay, whatever their age.
  Result<int64_t> first_entry() {
    if (!entry_) {
      SHIPLOG_TRY(entry_, number("SELECT coalesce(min(e.offset), 9223372036854775807) FROM entry e WHERE NOT EXISTS "
                                 "(SELECT 1 FROM decision d WHERE d.id >= e.offset << 20 AND d.id < (e.offset + 1) << "
                                 "20) AND e.offset NOT IN (SELECT offset FROM version)"));
    }
    return *entry_;
  }
  Result<int64_t> first_decision() {
    if (!decision_) {
      SHIPLOG_TRY(decision_, number("SELECT coalesce(min(id), 9223372036854775807) FROM decision"));
    }
    return *decision_;
  }
  Result<int64_t> number(const char* sql) {
    SHIPLOG_TRY(auto row, given_.prepare(sql));
    SHIPLOG_TRY([[maybe_unused]] const bool found, row.next());
    return row.integer(0);
  }

  sqlite::Connection& given_;
  std::optional<int64_t> entry_, decision_;
};

class ProjectionComparison {
 public:
  ProjectionComparison(sqlite::Connection& given, sqlite::Connection* made, const Found& found)
      : given_{given}, made_{made}, found_{found}, retained_{given} {}

  Result<ComparedProjection> run() {
    check_structure();
    SHIPLOG_TRY(compare_schema());
    for (const CheckedTable* table : store::checked_tables()) {
      SHIPLOG_TRY(table_of(*table));
    }
    SHIPLOG_TRY(table_of(subject_table()));
    return result_;
  }

 private:
  void report(const std::string& table, const std::string& key, const std::string& what) {
    ++result_.findings;
    found_({table, key, what});
  }

  /// Pages, the order of keys, and that indexes lead to the rows that are there.
  void check_structure() {
    const auto checked = [&]() -> Result<void> {
      SHIPLOG_TRY(auto row, given_.prepare("PRAGMA integrity_check"));
      while (true) {
        SHIPLOG_TRY(const bool found, row.next());
        if (!found) return ok();
        if (row.text(0) != "ok") report("", "", "its structure is damaged: " + std::string{row.text(0)});
      }
    }();
    if (!checked) report("", "", "it cannot be checked: " + checked.error().message);
  }

  Result<std::vector<std::string>> schema_of(sqlite::Connection& connection) {
    SHIPLOG_TRY(auto row, connection.prepare("SELECT type || ' ' || name || ' of ' || tbl_name || ': ' || "
                                             "coalesce(sql, '') FROM sqlite_schema ORDER BY type, name"));
    std::vector<std::string> schema;
    while (true) {
      SHIPLOG_TRY(const bool found, row.next());
      if (!found) return schema;
      schema.emplace_back(row.text(0));
    }
  }
  Result<void> compare_schema() {
    SHIPLOG_TRY(const auto empty, sqlite::Connection::open(":memory:", {.kind = "projection", .create = true}));
    for (const char* text : store::schemas()) {
      SHIPLOG_TRY(empty->execute(text));
    }
    SHIPLOG_TRY(const auto made, schema_of(*empty));
    const auto given = schema_of(given_);
    if (!given) {
      report("", "", "its tables cannot be listed: " + given.error().message);
    } else if (given.value() != made) {
      report("", "", "its tables or indexes are not those of this build");
    }
    return ok();
  }

  Result<void> table_of(const CheckedTable& table) {
    auto given = Rows::open(given_, table);
    if (!given) return unreadable(table, given.error());
    if (made_ == nullptr || table.by_reference) return check_alone(table, given.value());
    SHIPLOG_TRY(Rows made, Rows::open(*made_, table));
    SHIPLOG_TRY(made.advance());
    if (const auto read = advance(given.value()); !read) return unreadable(table, read.error());
    while (given.value().valid() || made.valid()) {
      const int order = !given.value().valid() ? 1 : !made.valid() ? -1 : given.value().compare_key(made);
      if (order == 0) {
        if (!given.value().intact() || !given.value().same_values(made)) report(table.name, made.key(), kDiffers);
      } else if (order < 0) {
        report(table.name, given.value().key(), "does not follow from the journal");
      } else {
        const auto retained = retained_.may_be_missing(table, made);
        if (!retained) return unreadable(table, retained.error());
        if (retained.value()) {
          ++result_.missing;
        } else {
          report(table.name, made.key(), "is missing");
        }
      }
      if (order >= 0) {
        SHIPLOG_TRY(made.advance());
      }
      if (order <= 0) {
        if (const auto read = advance(given.value()); !read) return unreadable(table, read.error());
      }
    }
    return ok();
  }

  Result<void> check_alone(const CheckedTable& table, Rows& given) {
    while (true) {
      if (const auto read = advance(given); !read) return unreadable(table, read.error());
      if (!given.valid()) return ok();
      if (!given.intact()) report(table.name, given.key(), "does not match its checksum");
    }
  }

  Result<void> advance(Rows& given) {
    SHIPLOG_TRY(given.advance());
    if (given.valid()) ++result_.rows;
    return ok();
  }

  Result<void> unreadable(const CheckedTable& table, const Error& error) {
    report(table.name, "", "cannot be read to its end: " + error.message);
    return ok();
  }

  sqlite::Connection& given_;
  sqlite::Connection* made_;
  const Found& found_;
  Retained retained_;
  ComparedProjection result_;
};

}  // namespace

Result<ComparedProjection> compare_projections(const View& given, const View& made, const Found& found) {
  return ProjectionComparison{given.connection(), &made.connection(), found}.run();
}

Result<ComparedProjection> check_projection(const View& given, const Found& found) {
  return ProjectionComparison{given.connection(), nullptr, found}.run();
}

}  // namespace shiplog
