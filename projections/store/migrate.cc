#include "projections/store/migrate.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "events/sqlite/connection.h"
#include "projections/store/checked_table.h"
#include "projections/store/open.h"
#include "projections/store/schemas.h"
#include "projections/store/snapshot.h"

namespace shiplog::store {
namespace {

std::string in_quotes(std::string_view name) { return "\"" + std::string{name} + "\""; }

struct CopiedTable {
  std::string name;
  bool same = false;  ///< its checksums hold in this build too
};

Result<std::vector<CopiedTable>> tables_of(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto row,
              connection.prepare("SELECT n.name, n.sql = o.sql FROM main.sqlite_schema n JOIN old.sqlite_schema o "
                                 "ON o.name = n.name AND o.type = n.type WHERE n.type = 'table' "
                                 "AND n.name NOT LIKE 'sqlite_%'"));
  std::vector<CopiedTable> tables;
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return tables;
    tables.push_back({std::string{row.text(0)}, row.integer(1) != 0});
  }
}

Result<std::set<std::string>> columns_in_old(sqlite::Connection& connection, const std::string& table) {
  SHIPLOG_TRY(auto row, connection.prepare("SELECT name FROM pragma_table_info(?, 'old')"));
  row.bind(1, table);
  std::set<std::string> names;
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return names;
    names.emplace(row.text(0));
  }
}

/// A column that the old file has in another form: the expression for it, of its table as "r", and what is joined to
/// it.
struct Replaced {
  std::string value, join;
};
std::optional<Replaced> replaced(const std::string& table, const std::string& column,
                                 const std::set<std::string>& old) {
  if (old.contains(column)) return std::nullopt;
  if (table == "decision" && column == "id" && old.contains("event_index")) {
    return Replaced{R"(r."offset" << 20 | r.event_index)", ""};
  }
  if (table == "template_revision" && column == "object" && old.contains("name")) {
    return Replaced{"o.id", " JOIN old.object o ON o.type = r.type AND o.ns = r.ns AND o.name = r.name"};
  }
  return std::nullopt;
}

Result<void> copy_table(sqlite::Connection& connection, const std::string& table) {
  SHIPLOG_TRY(const auto old, columns_in_old(connection, table));
  std::string into, values, from = " FROM old." + in_quotes(table) + " r";
  {
    SHIPLOG_TRY(auto row,
                connection.prepare("SELECT name, type, \"notnull\", dflt_value FROM pragma_table_info(?, 'main')"));
    row.bind(1, table);
    while (true) {
      SHIPLOG_TRY(const bool found, row.next());
      if (!found) break;
      const std::string name{row.text(0)};
      const auto other = replaced(table, name, old);
      const bool there = old.contains(name);
      if (!other && !there && (row.integer(2) == 0 || !row.is_null(3))) continue;  // NULL, or its default
      into += (into.empty() ? "" : ", ") + in_quotes(name);
      values += values.empty() ? "" : ", ";
      values += other ? other->value : there ? "r." + in_quotes(name) : row.text(1) == "INTEGER" ? "0" : "''";
      if (other) from += other->join;
    }
  }
  SHIPLOG_TRY(connection.execute("DELETE FROM main." + in_quotes(table)));
  if (into.empty()) return ok();
  return connection.execute("INSERT INTO main." + in_quotes(table) + " (" + into + ") SELECT " + values + from);
}

/// Of rows that had none, or one of other columns. A row of the same table keeps its own, so that damage stays visible.
Result<void> compute_checksums(sqlite::Connection& connection, const std::vector<CopiedTable>& copied) {
  for (const CheckedTable* table : checked_tables()) {
    const auto found = std::ranges::find(copied, table->name, &CopiedTable::name);
    if (found == copied.end() || (found->same && table != &checkpoint_table())) continue;
    SHIPLOG_TRY(connection.execute("UPDATE " + table->name + " SET crc = " + table->checksum(table->name)));
  }
  return ok();
}

Result<void> fill(const std::string& from, const std::string& target) {
  SHIPLOG_TRY(const auto connection, open_writer(target));
  SHIPLOG_TRY(auto attach, connection->prepare("ATTACH DATABASE ? AS old"));
  SHIPLOG_TRY(attach.run(std::string_view{from}));
  {
    SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*connection));
    for (const char* schema : schemas()) {
      SHIPLOG_TRY(connection->execute(schema));
    }
    SHIPLOG_TRY(const auto tables, tables_of(*connection));
    for (const CopiedTable& table : tables) {
      SHIPLOG_TRY(copy_table(*connection, table.name));
    }
    SHIPLOG_TRY(auto mark, connection->prepare("UPDATE checkpoint SET fingerprint = ?"));
    SHIPLOG_TRY(mark.run(fingerprint()));
    if (connection->changed() != 1) {
      return Error{ErrorCode::kCorrupt, from + " has no checkpoint that this build can read"};
    }
    SHIPLOG_TRY(compute_checksums(*connection, tables));
    SHIPLOG_TRY(transaction.commit());
  }
  return connection->execute("DETACH DATABASE old; PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace

Result<void> migrate_database(const std::string& from, const std::string& path) {
  const std::string unfinished = path + ".migrating";
  SHIPLOG_TRY(remove_database(unfinished));
  if (auto filled = fill(from, unfinished); !filled) {
    static_cast<void>(remove_database(unfinished));
    return filled.error().context("migrating " + from);
  }
  SHIPLOG_TRY(remove_database(path));
  std::error_code failed;
  std::filesystem::rename(unfinished, path, failed);
  if (failed) return Error{ErrorCode::kIo, "renaming " + unfinished + ": " + failed.message()};
  return ok();
}

}  // namespace shiplog::store
