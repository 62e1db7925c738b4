#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shiplog::store {

/// An index of a table, and with it the one question that finds a damaged or missing entry of it.
struct CheckedIndex {
  std::string name;
  std::vector<std::string> columns;
  bool partial = false;  ///< without rows in which the first column is NULL
};

/// A table whose last column, `crc`, is the checksum of the others (events/sqlite/row_checksum.h).
struct CheckedTable {
  std::string name;
  std::vector<std::string> columns;  ///< without crc
  std::vector<std::string> key;      ///< the columns of its primary key
  std::string bulk = "''";           ///< the expression of the column that holds most of its bytes
  std::vector<CheckedIndex> indexes = {};
  /// Of a column whose bytes depend on how it was compressed, an expression of what they mean, of the table as "r";
  /// empty: they mean nothing by themselves. By these rows are compared with those that another build has made.
  std::vector<std::pair<std::string, std::string>> meanings = {};
  bool by_reference = false;  ///< its rows mean something only to those that refer to them

  /// "checksum(a.x, a.y)", for a SELECT from the table under this name.
  std::string checksum(std::string_view alias) const;
  /// "intact('table', a.crc, a.x, a.y)": the first term of the WHERE of each query that reads the table.
  std::string intact(std::string_view alias) const;
  /// "INSERT INTO table VALUES (?1, ?2, checksum(?1, ?2))".
  std::string insert() const;
  /// "INSERT INTO table VALUES (?1, ?2, ?3)": the last one is the checksum.
  std::string insert_with_checksum() const;
  /// "crc = ...", for an UPDATE that sets some columns to these expressions: a damaged row stays a damaged row.
  struct Assignment {
    std::string column, expression;
  };
  std::string set_checksum(const std::vector<Assignment>& assignments) const;
};

const CheckedTable& checkpoint_table();
const CheckedTable& type_table();
const CheckedTable& object_table();
const CheckedTable& version_base_table();
const CheckedTable& version_table();
const CheckedTable& retention_table();
const CheckedTable& actor_table();
const CheckedTable& entry_table();
const CheckedTable& decision_table();
const CheckedTable& template_revision_table();
const CheckedTable& tree_leaf_table();
const CheckedTable& tree_node_table();
/// The JSON of a version, for a SELECT from the table under this name.
std::string version_json(const std::string& alias);
/// The same, if its base is joined to it, by LEFT JOIN version_base: for many versions in one statement.
std::string version_json(const std::string& alias, const std::string& base);
/// All of them; those that the rows of others refer to come first.
std::span<const CheckedTable* const> checked_tables();

}  // namespace shiplog::store
