#include "projections/store/checked_table.h"

#include <algorithm>
#include <array>

namespace shiplog::store {
namespace {

std::string list_of(const std::vector<std::string>& columns, const std::string& alias) {
  std::string list;
  for (const std::string& column : columns) list += (list.empty() ? "" : ", ") + alias + column;
  return list;
}

}  // namespace

std::string CheckedTable::checksum(std::string_view alias) const {
  return "checksum(" + list_of(columns, std::string{alias} + ".") + ")";
}

std::string CheckedTable::intact(std::string_view alias) const {
  const std::string prefix = std::string{alias} + ".";
  return "intact('" + name + "', " + prefix + "crc, " + list_of(columns, prefix) + ")";
}

std::string CheckedTable::insert() const {
  std::string values;
  for (size_t index = 1; index <= columns.size(); ++index) {
    values += (values.empty() ? "?" : ", ?") + std::to_string(index);
  }
  return "INSERT INTO " + name + " VALUES (" + values + ", checksum(" + values + "))";
}

std::string CheckedTable::insert_with_checksum() const {
  std::string values;
  for (size_t index = 0; index <= columns.size(); ++index) values += values.empty() ? "?" : ", ?";
  return "INSERT INTO " + name + " VALUES (" + values + ")";
}

std::string CheckedTable::set_checksum(const std::vector<Assignment>& assignments) const {
  std::vector<std::string> after = columns;
  for (const Assignment& assignment : assignments) {
    std::replace(after.begin(), after.end(), assignment.column, assignment.expression);
  }
  return "crc = CASE crc WHEN checksum(" + list_of(columns, "") + ") THEN checksum(" + list_of(after, "") +
         ") ELSE crc END";
}

const CheckedTable& checkpoint_table() {
  static const CheckedTable kTable{
      .name = "checkpoint",
      .columns = {"fingerprint", "next", "revision", "time", "fold_version", "leases", "settled", "hash"},
      .key = {"rowid"}};
  return kTable;
}

const CheckedTable& type_table() {
  static const CheckedTable kTable{.name = "type",
                                   .columns = {"id", "name"},
                                   .key = {"id"},
                                   .indexes = {{.name = "sqlite_autoindex_type_1", .columns = {"name"}}}};
  return kTable;
}

const CheckedTable& object_table() {
  static const CheckedTable kTable{
      .name = "object", .columns = {"type", "ns", "name", "id", "live"}, .key = {"type", "ns", "name"}};
  return kTable;
}

const CheckedTable& version_base_table() {
  static const CheckedTable kTable{.name = "version_base",
                                   .columns = {"id", "object", "json"},
                                   .key = {"id"},
                                   .bulk = "r.json",
                                   .by_reference = true};
  return kTable;
}

// A number in the place of a base that is not there is an error of unpacked().
std::string version_json(const std::string& alias) {
  return "unpacked(" + alias + ".json, CASE " + alias +
         ".base WHEN 0 THEN 0 ELSE coalesce((SELECT b.json FROM version_base b " + "WHERE b.id = " + alias +
         ".base AND " + version_base_table().intact("b") + "), 0) END)";
}

std::string version_json(const std::string& alias, const std::string& base) {
  return "unpacked(" + alias + ".json, CASE WHEN " + alias + ".base = 0 OR " + base + ".id IS NULL THEN 0 WHEN " +
         version_base_table().intact(base) + " THEN " + base + ".json END)";
}

const CheckedTable& version_table() {
  static const CheckedTable kTable{
      .name = "version",
      .columns = {"revision", "object", "type", "ns", "name", "operation", "offset", "event_index", "previous", "base",
                  "json"},
      .key = {"revision"},
      .bulk = "r.json",
      .indexes = {{.name = "version_by_object", .columns = {"object"}},
                  {.name = "version_by_type", .columns = {"type"}}},
      .meanings = {{"base", ""},
                   {"json",
                    "CASE WHEN r.base = 0 OR EXISTS (SELECT 1 FROM version_base b WHERE b.id = r.base AND "
                    "b.crc = " +
                        version_base_table().checksum("b") + ") THEN " + version_json("r") + " END"}}};
  return kTable;
}

const CheckedTable& retention_table() {
  static const CheckedTable kTable{.name = "retention", .columns = {"oldest"}, .key = {"rowid"}};
  return kTable;
}

const CheckedTable& actor_table() {
  static const CheckedTable kTable{
      .name = "actor",
      .columns = {"id", "user", "groups", "service", "source_ip", "user_agent"},
      .key = {"id"},
      .bulk = "r.groups",
      .indexes = {{.name = "actor_by_content", .columns = {"user", "groups", "service", "source_ip", "user_agent"}}}};
  return kTable;
}

const CheckedTable& entry_table() {
  static const CheckedTable kTable{
      .name = "entry",
      .columns = {"offset",   "id",       "time",      "actor",    "verb",     "path",   "cause_revision",
                  "cause_id", "trace_id", "as_of",     "revision", "families", "events", "also",
                  "refusal",  "reason",   "duplicate", "request",  "record",   "answer"},
      .key = {"offset"},
      .bulk = "r.events",
      .indexes = {{.name = "entry_by_request", .columns = {"request"}, .partial = true},
                  {.name = "entry_by_record", .columns = {"record"}, .partial = true},
                  {.name = "entry_by_time", .columns = {"time"}},
                  {.name = "entry_by_cause", .columns = {"cause_revision"}}}};
  return kTable;
}

const CheckedTable& decision_table() {
  static const CheckedTable kTable{.name = "decision",
                                   .columns = {"id", "type", "ns", "name", "kind", "summary", "explanation"},
                                   .key = {"id"},
                                   .bulk = "r.explanation",
                                   .indexes = {{.name = "decision_by_subject", .columns = {"type", "ns", "name"}}},
                                   .meanings = {{"explanation", "unpacked(r.explanation)"}}};
  return kTable;
}

const CheckedTable& template_revision_table() {
  static const CheckedTable kTable{
      .name = "template_revision",
      .columns = {"object", "number", "generation", "created", "hash", "template", "annotations"},
      .key = {"object", "number"},
      .bulk = "r.template"};
  return kTable;
}

const CheckedTable& tree_leaf_table() {
  static const CheckedTable kTable{.name = "tree_leaf", .columns = {"ordinal", "offset", "hash"}, .key = {"ordinal"}};
  return kTable;
}

const CheckedTable& tree_node_table() {
  static const CheckedTable kTable{.name = "tree_node", .columns = {"id", "hash"}, .key = {"id"}};
  return kTable;
}

std::span<const CheckedTable* const> checked_tables() {
  static const std::array<const CheckedTable*, 12> kTables{
      &checkpoint_table(), &retention_table(),         &type_table(),      &actor_table(),
      &object_table(),     &version_base_table(),      &version_table(),   &entry_table(),
      &decision_table(),   &template_revision_table(), &tree_leaf_table(), &tree_node_table()};
  return kTables;
}

}  // namespace shiplog::store
