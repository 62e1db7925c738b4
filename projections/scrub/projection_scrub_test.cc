// Every column of every table, damaged: what is read is never another answer than before, and what was damaged is what
// it was again after the repair.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "projections/audit/audit_query.h"
#include "projections/audit/outcome_query.h"
#include "projections/decisions/decision_query.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "projections/proof/tree_query.h"
#include "projections/revisions/revision_query.h"
#include "projections/scrub/repair.h"
#include "projections/scrub/scrub.h"
#include "tests/support/projected_fleet.h"

namespace shiplog {
namespace {

using store::CheckedTable;

const ObjectKey kWeb{"deployments.apps", "default", "web"};
const ObjectKey kBinding{type::kResourceBinding, "default", "web-deployment"};
const ObjectKey kMap = config_map("default", "a");

Value deployment(const std::string& image) {
  return Value::object(
      {{"metadata", Value::object({{"name", "web"},
                                   {"namespace", "default"},
                                   {"annotations", Value::object({{"kubernetes.io/change-cause", image}})}})},
       {"spec", Value::object({{"template", Value::object({{"image", image}})}})}});
}

class ProjectionScrub : public ::testing::Test {
 protected:
  ProjectionScrub() {
    fleet_.create(kMap, "one");
    fleet_.update(kMap, "two");
    fleet_.create(config_map("other", "b"), "removed later");
    fleet_.remove(config_map("other", "b"));
    for (const char* image : {"v1", "v2"}) {
      fleet_.write({image == std::string{"v1"} ? Event{ObjectCreated{kWeb, deployment(image)}}
                                               : Event{ObjectUpdated{kWeb, deployment(image)}}});
    }
    fleet_.write({RequestDenied{kMap, 403, "Forbidden", "not you"}});
    fleet_.create(kMap, "refused, as it is there");
    Entry bound;
    bound.actor = {"system:shiplog:binder", {"roles"}, "binder", "10.0.0.2", "shiplogd"};
    bound.request = {"decide", "/binder"};
    bound.cause = {fleet_.revision(), fleet_.journal().back().second.id, "4bf92f3577b34da6a3ce929d0e0e4736"};
    bound.as_of = fleet_.revision();
    bound.events = {BindingPut{kBinding, object_value(kBinding), {Text{"bound"}, "digest", {}, {}, {}}}};
    fleet_.write(std::move(bound));
    Entry produced;
    produced.actor = {"carol", {"g"}, "api", "10.0.0.3", "producer"};
    produced.request = {"update", "/api/v1/configmaps"};
    produced.source = {"request-1", "fleet.requests", 3, 17};
    produced.events = {ObjectUpdated{kMap, object_value(kMap, "three")}};
    produced_ = produced.source;
    fleet_.write(std::move(produced));
    // Enough for a subtree.
    for (const char* text : {"1", "2", "3", "4", "5"}) fleet_.update(config_map("other", "b"), text);
  }

  void execute(const std::string& sql) const { must(must(store::open_writer(fleet_.path()))->execute(sql)); }

  /// The first row that the index has.
  std::string first_key(const CheckedTable& table, const store::CheckedIndex& index) const {
    auto connection = must(store::open_reader(fleet_.path()));
    auto row = must(connection->prepare("SELECT min(" + table.key.front() + ") FROM " + table.name + " WHERE " +
                                        index.columns.front() + " IS NOT NULL"));
    EXPECT_TRUE(must(row.next()));
    return std::to_string(row.integer(0));
  }

  ProjectionDamage scrub() const { return scrub(must(Reader::open(fleet_.path()))); }
  static ProjectionDamage scrub(Reader reader) {
    ProjectionDamage damage;
    for (const CheckedTable* table : store::checked_tables()) {
      std::optional<RowKey> after;
      do {
        const View view = must(reader.view());
        after = must(scrub_rows(view, *table, after, 3, damage)).last;
      } while (after);
      if (table == &store::type_table() && !damage.empty()) break;
    }
    return damage;
  }

  /// Returns how much was repaired.
  size_t repair(const ProjectionDamage& damage) const {
    ProjectionRepair repair = must(ProjectionRepair::open(fleet_.path(), damage));
    State state;
    for (const auto& [offset, entry] : fleet_.journal()) {
      const Folded folded = fold(state, entry);
      must(repair.take(offset, entry, folded, TestFleet::leaf_of(entry)));
    }
    EXPECT_FALSE(repair.needs_journal());
    must(repair.finish());
    return repair.repaired();
  }

  /// What every query answers: their errors, or all they return as text.
  std::vector<std::string> answers() const { return answers(must(Reader::open(fleet_.path()))); }
  std::vector<std::string> answers(Reader reader) const {
    std::vector<std::string> all;
    const auto put = [&](const char* query, const auto& result, const auto& text) {
      all.push_back(std::string{query} + ": " + (result ? text(result.value()) : "error " + result.error().message));
    };
    auto seen = reader.view();
    if (!seen) return {"view: error " + seen.error().message};
    const View& view = seen.value();
    const AuditQuery audit{view};
    const HistoryQuery history{view};
    const ObjectQuery objects{view};
    const auto entry_text = [](const AuditRow& row) {
      std::string text = std::to_string(row.offset.value) + row.actor.user + row.request.verb + row.cause.trace_id +
                         std::to_string(row.revision.value) + (row.refusal ? row.refusal->reason : "");
      for (const AuditEvent& event : row.events) text += event.summary;
      return text;
    };
    const auto entries = [&](const std::vector<AuditRow>& rows) {
      std::string text;
      for (const AuditRow& row : rows) text += entry_text(row) + ";";
      return text;
    };
    const auto versions = [](const std::vector<VersionRow>& rows) {
      std::string text;
      for (const VersionRow& row : rows) text += name_of(row.operation) + row.json + row.entry.actor.user + ";";
      return text;
    };
    const auto number = [](const auto& value) { return std::to_string(value.value); };
    put("audit", audit.find({.limit = 0}), entries);
    put("audit of a user", audit.find({.user = "carol", .limit = 0}), entries);
    put("audit of a verb", audit.find({.verb = "update", .limit = 0}), entries);
    put("audit of a family", audit.find({.family = "scheduling", .limit = 0}), entries);
    put("audit of refusals", audit.find({.only_refused = true, .limit = 0}), entries);
    put("settled", audit.settled(record_of(produced_)), [&](const std::optional<SettledRequest>& found) {
      return found ? found->id + entry_text(found->entry) : "none";
    });
    put("versions of the map", history.versions(kMap), versions);
    put("versions of the removed map", history.versions(config_map("other", "b")), versions);
    put("changes", history.changes({.ns = "default"}), [](const std::vector<ChangeRow>& rows) {
      std::string text;
      for (const ChangeRow& row : rows) text += row.object.type + row.object.name + row.json + ";";
      return text;
    });
    put("oldest", history.oldest(), number);
    const TreeQuery tree{view};
    const auto hash_text = [](const proof::Digest& hash) { return proof::to_base64(hash); };
    put("root", tree.size() ? proof::root_at(tree.size().value(), tree.nodes()) : tree.size().error(), hash_text);
    put("a leaf", tree.leaf(3), [&](const std::optional<TreeLeaf>& leaf) {
      return leaf ? std::to_string(leaf->offset.value) + hash_text(leaf->hash) : "none";
    });
    put("revision at a time", history.revision_at(fleet_.now()), number);
    put("maps", objects.list({.type = kMap.type.str()}), [](const std::vector<ObjectRow>& rows) {
      std::string text;
      for (const ObjectRow& row : rows) text += row.key.name + row.json + ";";
      return text;
    });
    put("past maps", objects.list({.type = kMap.type.str(), .at = Revision{5}}),
        [](const std::vector<ObjectRow>& rows) {
          std::string text;
          for (const ObjectRow& row : rows) text += row.key.name + row.json + ";";
          return text;
        });
    put("map", objects.get(kMap), [](const std::optional<ObjectRow>& row) { return row ? row->json : "none"; });
    put("count", objects.count({.type = kMap.type.str()}), [](uint64_t count) { return std::to_string(count); });
    put("decisions", DecisionQuery{view}.of(kBinding), [](const std::vector<DecisionRow>& rows) {
      std::string text;
      for (const DecisionRow& row : rows) text += row.kind + row.summary + row.explanation + row.service;
      return text;
    });
    put("outcomes", OutcomeQuery{view}.from(Offset{}, 100), [](const std::vector<EntryOutcome>& rows) {
      std::string text;
      for (const EntryOutcome& row : rows) {
        text += std::to_string(row.revision.value) + (row.accepted ? "+" : "-") + std::to_string(row.families) + ";";
      }
      return text;
    });
    std::string revisions;
    const auto visited = RevisionQuery{view}.visit({.type = kWeb.type.str()}, [&](const TemplateRevision& revision) {
      revisions += std::to_string(revision.number) + revision.pod_template + revision.annotations + revision.created;
      return true;
    });
    all.push_back("revisions: " + (visited ? revisions : "error " + visited.error().message));
    return all;
  }

  /// A bit of a number, or a character of a text, changed in all rows for which `where` holds.
  static std::string damaging(const CheckedTable& table, const std::string& column, const std::string& where) {
    return "UPDATE " + table.name + " SET " + column + " = CASE typeof(" + column + ") WHEN 'integer' THEN (" + column +
           " | 1) - (" + column + " & 1) WHEN 'blob' THEN CAST('another id' AS BLOB) ELSE ifnull(" + column +
           ", '') || '~' END WHERE " + where;
  }

  TestFleet fleet_;
  RequestSource produced_;
};

/// An index can hide a row until the scrub: all that is there is what was there.
bool missing(const std::string& damaged, const std::string& intact) {
  return damaged.size() < intact.size() && (damaged.ends_with(": ") || damaged.ends_with(": none"));
}

// Rows that are read by the queries above.
std::string a_row_of(const CheckedTable& table) {
  if (table.name == "type") return "name = 'configmaps'";
  if (table.name == "actor") return "user = 'carol'";
  if (table.name == "object") return "name = 'a'";
  if (table.name == "version") return "revision = (SELECT max(revision) FROM version WHERE name = 'a')";
  if (table.name == "version_base") return "object = (SELECT id FROM object WHERE name = 'a')";
  if (table.name == "entry") return "record IS NOT NULL";
  if (table.name == "template_revision") return "number = 1";
  if (table.name == "tree_leaf") return "ordinal = 3";
  return "1";
}

TEST_F(ProjectionScrub, TheTablesAreThoseOfTheSchema) {
  auto connection = must(store::open_reader(fleet_.path()));
  std::vector<std::string> with_checksum;
  auto tables = must(connection->prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'subject'"));
  while (must(tables.next())) with_checksum.emplace_back(tables.text(0));
  std::vector<std::string> described;
  for (const CheckedTable* table : store::checked_tables()) {
    described.push_back(table->name);
    std::vector<std::string> columns;
    auto row = must(connection->prepare("SELECT name FROM pragma_table_info('" + table->name + "')"));
    while (must(row.next())) columns.emplace_back(row.text(0));
    std::vector<std::string> expected = table->columns;
    expected.emplace_back("crc");
    EXPECT_EQ(columns, expected) << table->name;
    std::vector<std::string> indexes, expected_indexes;
    auto index = must(connection->prepare("SELECT name FROM pragma_index_list('" + table->name +
                                          "') WHERE origin <> 'pk' ORDER BY name"));
    while (must(index.next())) indexes.emplace_back(index.text(0));
    for (const store::CheckedIndex& checked : table->indexes) expected_indexes.push_back(checked.name);
    std::ranges::sort(expected_indexes);
    EXPECT_EQ(indexes, expected_indexes) << table->name;
  }
  std::ranges::sort(with_checksum);
  std::ranges::sort(described);
  EXPECT_EQ(described, with_checksum);
}

TEST_F(ProjectionScrub, AnIntactProjectionHasNoDamage) {
  EXPECT_EQ(scrub().size(), 0U);
  for (int i = 0; i < 20; ++i) fleet_.update(kMap, "text " + std::to_string(i));
  for (const char* name : {"c", "d"}) {
    fleet_.create(config_map("default", name));
    fleet_.remove(config_map("default", name));
  }
  must(fleet_.projections().trim_history(Revision{fleet_.revision().value - 3}));
  EXPECT_EQ(scrub().size(), 0U) << "after a trim";
}

TEST_F(ProjectionScrub, ADamagedColumnIsNeverServedAndIsFoundAndRepaired) {
  const auto intact = answers();
  const auto content = dump(fleet_.path());
  for (const std::string& answer : intact) ASSERT_EQ(answer.find("error"), std::string::npos) << answer;
  for (const CheckedTable* table : store::checked_tables()) {
    if (table == &store::checkpoint_table()) continue;  // below
    std::vector<std::string> columns = table->columns;
    columns.emplace_back("crc");
    for (const std::string& column : columns) {
      if (std::ranges::find(table->key, column) != table->key.end()) continue;  // below
      SCOPED_TRACE(table->name + "." + column);
      execute(damaging(*table, column, a_row_of(*table)));
      if (dump(fleet_.path()) == content)
        execute("UPDATE " + table->name + " SET " + column + " = " + column + " + 1 WHERE " + a_row_of(*table));
      ASSERT_NE(dump(fleet_.path()), content);
      // A column that an index leads to: the row is not found under its old value, so that it can be missed until then.
      const bool indexed = std::ranges::any_of(table->indexes, [&](const store::CheckedIndex& index) {
        return std::ranges::find(index.columns, column) != index.columns.end();
      });
      size_t errors = 0;
      const auto damaged = answers();
      for (size_t index = 0; index < damaged.size(); ++index) {
        if (damaged[index].find("error") == std::string::npos) {
          EXPECT_TRUE(indexed || damaged[index] == intact[index]) << damaged[index] << " instead of " << intact[index];
          continue;
        }
        ++errors;
        EXPECT_NE(damaged[index].find("does not match its checksum"), std::string::npos) << damaged[index];
        EXPECT_NE(damaged[index].find("\"" + table->name + "\""), std::string::npos) << damaged[index];
        EXPECT_NE(damaged[index].find("it is rebuilt"), std::string::npos) << damaged[index];
      }
      EXPECT_TRUE(errors > 0 || indexed) << "it is read by some query";
      const ProjectionDamage found = scrub();
      ASSERT_FALSE(found.rows.empty());
      EXPECT_EQ(found.rows.begin()->table->name, table->name);
      EXPECT_GT(repair(found), 0U);
      ASSERT_TRUE(scrub().empty());
      ASSERT_EQ(dump(fleet_.path()), content) << "as it was";
    }
  }
  EXPECT_EQ(answers(), intact);
}

// From what is left of its versions no revision would follow, or too few.
TEST_F(ProjectionScrub, ARolloutHistoryIsNotWrittenAgainFromAPartOfItsVersions) {
  for (const char* lost : {"DELETE FROM type WHERE name = 'deployments.apps'",
                           "DELETE FROM entry WHERE offset = (SELECT max(v.offset) FROM version v WHERE v.name = "
                           "'web')"}) {
    SCOPED_TRACE(lost);
    const std::string copy = fleet_.folder.file("lost.db");
    must(fleet_.projections().snapshot(copy));
    must(must(store::open_writer(copy))
             ->execute(std::string{lost} + "; UPDATE template_revision SET template = '{}' WHERE number = 1"));
    ProjectionDamage damage;
    {
      Reader reader = must(Reader::open(copy));
      must(scrub_rows(must(reader.view()), store::template_revision_table(), std::nullopt, 100, damage));
    }
    ASSERT_EQ(damage.rows.size(), 1U);
    {
      ProjectionRepair repair = must(ProjectionRepair::open(copy, damage));
      const auto finished = repair.finish();
      ASSERT_FALSE(finished.has_value());
      EXPECT_EQ(finished.error().code, ErrorCode::kCorrupt) << finished.error().message;
    }
    auto connection = must(store::open_reader(copy));
    auto rows = must(connection->prepare("SELECT count(*) FROM template_revision"));
    ASSERT_TRUE(must(rows.next()));
    EXPECT_EQ(rows.integer(0), 2);
  }
}

TEST_F(ProjectionScrub, ADamagedKeyIsFoundThoughItCannotBeRepaired) {
  for (const CheckedTable* table : store::checked_tables()) {
    if (table->key.front() == "rowid") continue;
    SCOPED_TRACE(table->name);
    const std::string copy = fleet_.folder.file("copy.db");
    must(fleet_.projections().snapshot(copy));
    must(must(store::open_writer(copy))
             ->execute("UPDATE " + table->name + " SET " + table->key.back() + " = " +
                       (table == &store::object_table() ? "name || 'x'" : table->key.back() + " + 1000000") +
                       " WHERE " + a_row_of(*table)));
    Reader reader = must(Reader::open(copy));
    ProjectionDamage damage;
    std::optional<RowKey> after;
    do {
      const View view = must(reader.view());
      after = must(scrub_rows(view, *table, after, 3, damage)).last;
    } while (after);
    EXPECT_GE(damage.rows.size(), 1U);
  }
}

TEST_F(ProjectionScrub, ATypeThatIsLostOrHasAnotherNumberIsFoundAndRepaired) {
  const auto content = dump(fleet_.path());
  const auto intact = answers();
  for (const char* damaging :
       {"DELETE FROM type WHERE name = 'configmaps'", "UPDATE type SET id = id + 1000000 WHERE name = 'configmaps'",
        "DELETE FROM type WHERE id = (SELECT max(id) FROM type)", "DELETE FROM type"}) {
    SCOPED_TRACE(damaging);
    execute(damaging);
    const ProjectionDamage damage = scrub();
    ASSERT_FALSE(damage.empty());
    EXPECT_EQ(repair(damage), damage.size());
    EXPECT_TRUE(scrub().empty());
    EXPECT_EQ(answers(), intact);
    EXPECT_EQ(dump(fleet_.path()), content);
  }
}

TEST_F(ProjectionScrub, ADamagedCheckpointIsAnErrorUntilTheNextBatch) {
  for (const std::string& column : store::checkpoint_table().columns) {
    if (column == "fingerprint" || column == "next") continue;  // the file counts as that of another build
    SCOPED_TRACE(column);
    Reader reader = fleet_.reader();
    execute("UPDATE checkpoint SET " + column + " = " + column + " || '1'");
    const auto view = reader.view();
    ASSERT_FALSE(view.has_value());
    EXPECT_EQ(view.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(view.error().message.find("\"checkpoint\""), std::string::npos) << view.error().message;
    fleet_.update(kMap, column);
    EXPECT_TRUE(reader.view().has_value());
  }
}

TEST_F(ProjectionScrub, AnIndexThatDoesNotLeadToARowIsFoundAndMadeAnew) {
  const auto content = dump(fleet_.path());
  const auto intact = answers();
  for (const CheckedTable* table : store::checked_tables()) {
    for (const store::CheckedIndex& index : table->indexes) {
      if (index.name.starts_with("sqlite_")) continue;  // of a constraint: it cannot be made of other rows
      SCOPED_TRACE(index.name);
      std::string sql;
      {
        auto connection = must(store::open_reader(fleet_.path()));
        auto row = must(connection->prepare("SELECT sql FROM sqlite_schema WHERE name = '" + index.name + "'"));
        ASSERT_TRUE(must(row.next()));
        sql = row.text(0);
      }
      // Made without a row, and then described as if it had all: what a reader sees of an entry with a flipped bit.
      const std::string without = sql.find(" WHERE ") == std::string::npos ? sql + " WHERE " : sql + " AND ";
      execute("PRAGMA writable_schema = ON; DROP INDEX " + index.name + "; " + without + table->key.front() + " <> " +
              first_key(*table, index) + ";");
      execute("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = '" + sql + "' WHERE name = '" + index.name +
              "'; PRAGMA writable_schema = RESET");
      const ProjectionDamage found = scrub();
      EXPECT_EQ(found.indexes, std::set<std::string>{index.name});
      EXPECT_EQ(repair(found), 1U);
      EXPECT_TRUE(scrub().empty());
      EXPECT_EQ(answers(), intact);
      EXPECT_EQ(dump(fleet_.path()), content);
    }
  }
}

// As a disk does it: one bit of the file, wherever the text stands.
TEST_F(ProjectionScrub, ABitOfATextInTheFileIsNeverServed) {
  const auto intact = answers();
  const std::string copy = fleet_.folder.file("flipped.db");
  must(fleet_.projections().snapshot(copy));
  std::ifstream file{copy, std::ios::binary};
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  size_t flips = 0, compressed = 0;
  std::vector<std::string> texts{"carol",   "producer", "request-1",        "bound",         "decide", "Forbidden",
                                 "not you", "v2",       "4bf92f3577b34da6", "web-deployment"};
  {
    auto connection = must(store::open_reader(fleet_.path()));
    auto row =
        must(connection->prepare("SELECT json FROM version WHERE length(json) > 0 UNION SELECT json FROM "
                                 "version_base UNION SELECT explanation FROM decision"));
    for (; must(row.next()); ++compressed) texts.emplace_back(row.blob(0));
  }
  EXPECT_GT(compressed, 10U);
  for (const std::string& text : texts) {
    for (size_t at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1)) {
      std::string flipped = bytes;
      const size_t middle = at + text.size() / 2;
      flipped[middle] = static_cast<char>(flipped[middle] ^ 4);
      std::ofstream{copy, std::ios::binary | std::ios::trunc} << flipped;
      const auto damaged = answers(must(Reader::open(copy)));
      for (size_t index = 0; index < damaged.size(); ++index) {
        if (damaged[index].find("error") == std::string::npos && !missing(damaged[index], intact[index])) {
          EXPECT_EQ(damaged[index], intact[index]) << text << " at " << at;
        }
      }
      EXPECT_FALSE(scrub(must(Reader::open(copy))).empty()) << text << " at " << at;
      ++flips;
    }
  }
  EXPECT_GT(flips, 20U);
}

}  // namespace
}  // namespace shiplog
