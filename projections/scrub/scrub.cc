#include "projections/scrub/scrub.h"

#include "events/base/json.h"
#include "events/sqlite/connection.h"

namespace shiplog {
namespace {

constexpr size_t kBytesOfARow = 100;  // besides its longest column

/// Rows are read in the order of their key, so each has one entry in each index, which must be where the key says.
std::string found_by(const store::CheckedTable& table, const store::CheckedIndex& index) {
  std::string where;
  for (const std::string& column : index.columns) where += "i." + column + " = r." + column + " AND ";
  for (const std::string& column : table.key) where += "i." + column + " = r." + column + " AND ";
  const std::string found = "EXISTS (SELECT 1 FROM " + table.name + " i INDEXED BY " + index.name + " WHERE " +
                            where.substr(0, where.size() - 5) + ")";
  return index.partial ? "(r." + index.columns.front() + " IS NULL OR " + found + ")" : found;
}

/// crc, bytes, one column for each index, two of what is particular to the table, the key.
std::string sql_of(const store::CheckedTable& table, bool from_start) {
  std::string key, marks;
  for (const std::string& column : table.key) {
    key += (key.empty() ? "r." : ", r.") + column;
    marks += marks.empty() ? "?" : ", ?";
  }
  std::string sql = "SELECT r.crc IS " + table.checksum("r");
  // Without its base a version says nothing.
  if (&table == &store::version_table()) {
    sql += " AND (r.base = 0 OR EXISTS (SELECT 1 FROM version_base b WHERE b.id = r.base))";
  }
  sql += ", length(CAST(" + table.bulk + " AS BLOB))";
  for (const store::CheckedIndex& index : table.indexes) sql += ", " + found_by(table, index);
  if (&table == &store::version_table()) {
    sql += ", EXISTS (SELECT 1 FROM object o WHERE o.type = r.type AND o.ns = r.ns AND o.name = r.name), NULL";
  } else if (&table == &store::entry_table()) {
    sql += ", r.events, r.revision";
  } else {
    sql += ", 1, NULL";
  }
  sql += ", " + key + " FROM " + table.name + " r";
  if (!from_start) sql += " WHERE (" + key + ") > (" + marks + ")";
  return sql + " ORDER BY " + key + " LIMIT ?";
}

/// Types that objects have and that are not in the table of types. The key of objects begins with the type: each type
/// is one look-up, however many objects it has.
Result<void> find_lost_types(const View& view, ProjectionDamage& damage) {
  SHIPLOG_TRY(auto row, view.connection().prepare(
                            "WITH RECURSIVE used(type) AS (SELECT min(type) FROM object UNION ALL SELECT (SELECT "
                            "min(type) FROM object WHERE type > used.type) FROM used WHERE used.type IS NOT NULL) "
                            "SELECT type FROM used WHERE type IS NOT NULL AND type NOT IN (SELECT id FROM type)"));
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return ok();
    damage.rows.insert({&store::type_table(), {row.integer(0)}});
  }
}

RowKey key_of(const sqlite::Statement& row, int first, size_t columns) {
  RowKey key;
  for (size_t index = 0; index < columns; ++index) {
    const int column = first + static_cast<int>(index);
    if (row.is_integer(column)) {
      key.emplace_back(row.integer(column));
    } else {
      key.emplace_back(std::string{row.text(column)});
    }
  }
  return key;
}

/// Whether every object that an entry is about leads to it: by a version, or by the table of subjects.
class SubjectLookup {
 public:
  static Result<SubjectLookup> make(sqlite::Connection& connection) {
    SHIPLOG_TRY(auto subject,
                connection.prepare("SELECT 1 FROM subject s WHERE s.type = (SELECT id FROM type WHERE name = ?1) AND "
                                   "s.ns = ?2 AND s.name = ?3 AND s.offset = ?4"));
    // What an entry made of an object is the object's newest version as of the entry's revision.
    SHIPLOG_TRY(auto version, connection.prepare(
                                  "SELECT 1 FROM object o CROSS JOIN version v ON v.revision = (SELECT max(revision) "
                                  "FROM version WHERE object = o.id AND revision <= ?5) WHERE o.type = (SELECT id FROM "
                                  "type WHERE name = ?1) AND o.ns = ?2 AND o.name = ?3 AND v.offset = ?4"));
    return SubjectLookup{std::move(subject), std::move(version)};
  }

  Result<bool> all_found(std::string_view events, int64_t offset, int64_t revision) {
    SHIPLOG_TRY(const Value all, parse_json(events));
    for (const Value& event : all.items()) {
      if (event[2].as_string().empty()) continue;  // a control event
      const std::string type = event[2].str(), ns = event[3].str(), name = event[4].str();
      subject_.bind_all(type, ns, name, offset);
      SHIPLOG_TRY(const bool named, subject_.next());
      subject_.reset();
      if (named) continue;
      version_.bind_all(type, ns, name, offset, revision);
      SHIPLOG_TRY(const bool made, version_.next());
      version_.reset();
      if (!made) return false;
    }
    return true;
  }

 private:
  SubjectLookup(sqlite::Statement subject, sqlite::Statement version)
      : subject_{std::move(subject)}, version_{std::move(version)} {}

  sqlite::Statement subject_, version_;
};

}  // namespace

std::string text_of(const RowKey& key) {
  std::string text;
  for (const auto& part : key) {
    if (!text.empty()) text += ' ';
    const auto* number = std::get_if<int64_t>(&part);
    text += number != nullptr ? std::to_string(*number) : std::get<std::string>(part);
  }
  return text;
}

Result<ScrubbedRows> scrub_rows(const View& view, const store::CheckedTable& table, const std::optional<RowKey>& after,
                                size_t most, ProjectionDamage& damage) {
  SHIPLOG_TRY(auto row, view.connection().prepare(sql_of(table, !after)));
  int parameter = 0;
  if (after) {
    for (const auto& part : *after) {
      std::visit([&](const auto& value) { row.bind(++parameter, value); }, part);
    }
  }
  row.bind(++parameter, static_cast<int64_t>(most));
  SHIPLOG_TRY(auto subjects, SubjectLookup::make(view.connection()));
  const bool of_entries = &table == &store::entry_table();
  const int first_index = 2;
  const int particular = first_index + static_cast<int>(table.indexes.size());
  ScrubbedRows read;
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) break;
    ++read.rows;
    read.bytes += kBytesOfARow + static_cast<size_t>(row.integer(1));
    RowKey key = key_of(row, particular + 2, table.key.size());
    if (row.integer(0) == 0) {
      damage.rows.insert({&table, std::move(key)});
      continue;  // nothing else that it contains can be relied on
    }
    for (size_t index = 0; index < table.indexes.size(); ++index) {
      if (row.integer(first_index + static_cast<int>(index)) == 0) damage.indexes.insert(table.indexes[index].name);
    }
    if (of_entries) {
      if (!damage.empty()) {  // what leads to the entry may be what is damaged
        read.last = std::move(key);
        continue;
      }
      SHIPLOG_TRY(const bool all, subjects.all_found(row.text(particular), std::get<int64_t>(key.front()),
                                                     row.integer(particular + 1)));
      if (!all) damage.unfound.insert(key);
    } else if (row.integer(particular) == 0) {
      damage.unnamed.insert(key);
    }
    // The key of a damaged row may be anything: to continue after it could leave rows out, or never end.
    read.last = std::move(key);
  }
  if (&table == &store::type_table() && !read.last) {
    SHIPLOG_TRY(find_lost_types(view, damage));
  }
  return read;
}

}  // namespace shiplog
