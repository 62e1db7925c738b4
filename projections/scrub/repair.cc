#include "projections/scrub/repair.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "events/sqlite/connection.h"
#include "projections/audit/audit_projection.h"
#include "projections/decisions/decision_projection.h"
#include "projections/history/history_projection.h"
#include "projections/history/history_query.h"
#include "projections/history/stored_version.h"
#include "projections/proof/tree_query.h"
#include "projections/revisions/revision_projection.h"
#include "projections/store/checkpoint.h"
#include "projections/store/open.h"

namespace shiplog {
namespace {

using store::CheckedTable;

int64_t number_in(const RowKey& key, size_t index = 0) {
  const auto* number = std::get_if<int64_t>(&key[index]);
  return number == nullptr ? 0 : *number;
}
std::string text_in(const RowKey& key, size_t index) {
  const auto* text = std::get_if<std::string>(&key[index]);
  return text == nullptr ? "" : *text;
}

}  // namespace

struct ProjectionRepair::Impl {
  std::unique_ptr<sqlite::Connection> connection;
  store::TypeIds types;
  std::unique_ptr<AuditProjection> audit;
  std::unique_ptr<DecisionProjection> decisions;
  std::unique_ptr<RevisionProjection> revisions;
  // What take() looks for, by the place in the journal.
  std::set<Revision> versions, bases;
  std::set<int64_t> entries, unfound;              // offsets
  std::map<int64_t, std::vector<int64_t>> actors;  // by the offset of an entry with this actor
  std::map<int64_t, std::set<size_t>> decided;     // the events of an entry
  std::map<Revision, int64_t> type_names;          // by the revision of a version with this type
  std::set<uint64_t> leaves;                       // ordinals
  uint64_t ordinal = 0;                            // of the next entry
  Offset tree_begins;
  // What finish() does.
  std::set<RowKey> names;       // (type, ns, name)
  std::set<int64_t> workloads;  // object.id
  std::set<int64_t> nodes;      // tree_node.id
  bool retention = false;
  size_t repaired = 0;

  explicit Impl(std::unique_ptr<sqlite::Connection> opened) : connection{std::move(opened)}, types{*connection} {}

  Result<void> prepare(const ProjectionDamage& damage);
  Result<void> locate(const CheckedTable& table, const RowKey& key);
  Result<std::optional<int64_t>> one(const std::string& sql, int64_t parameter) const;
  Result<void> write_version(const FoldedEntry& folded, size_t index, bool itself, bool its_base);
  Result<void> write_type(const Change& change, int64_t id);
  Result<void> write_rows_of(const FoldedEntry& folded);
  Result<void> name_object(const RowKey& key);
  Result<void> repeat_workload(int64_t object);
  Result<void> find_oldest();
  Result<void> write_leaf(uint64_t leaf_ordinal, Offset offset, const proof::Digest& hash);
  Result<void> compute_node(int64_t id);
};

Result<std::optional<int64_t>> ProjectionRepair::Impl::one(const std::string& sql, int64_t parameter) const {
  SHIPLOG_TRY(auto row, connection->prepare(sql));
  row.bind(1, parameter);
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  return std::optional{row.integer(0)};
}

// Where in the journal a damaged row comes from, or what else it follows from.
Result<void> ProjectionRepair::Impl::locate(const CheckedTable& table, const RowKey& key) {
  const int64_t number = number_in(key);
  if (&table == &store::version_table()) {
    versions.insert(Revision{static_cast<uint64_t>(number)});
  } else if (&table == &store::version_base_table()) {
    bases.insert(Revision{static_cast<uint64_t>(number)});
  } else if (&table == &store::entry_table()) {
    entries.insert(number);
  } else if (&table == &store::decision_table()) {
    decided[number >> kDecisionIndexBits].insert(static_cast<size_t>(number & ((1 << kDecisionIndexBits) - 1)));
  } else if (&table == &store::actor_table()) {
    SHIPLOG_TRY(const auto offset, one("SELECT e.offset FROM entry e WHERE e.actor = ? AND e.crc = " +
                                           store::entry_table().checksum("e") + " ORDER BY e.offset LIMIT 1",
                                       number));
    if (offset) actors[*offset].push_back(number);
  } else if (&table == &store::type_table()) {
    SHIPLOG_TRY(const auto revision, one("SELECT v.revision FROM version v WHERE v.type = ? AND v.crc = " +
                                             store::version_table().checksum("v") + " ORDER BY v.revision LIMIT 1",
                                         number));
    if (revision) type_names[Revision{static_cast<uint64_t>(*revision)}] = number;
  } else if (&table == &store::object_table()) {
    names.insert(key);
  } else if (&table == &store::template_revision_table()) {
    workloads.insert(number);
  } else if (&table == &store::retention_table()) {
    retention = true;
  } else if (&table == &store::tree_leaf_table()) {
    leaves.insert(static_cast<uint64_t>(number));
  } else if (&table == &store::tree_node_table()) {
    nodes.insert(number);
  }
  // The checkpoint is written anew with the next batch.
  return ok();
}

Result<void> ProjectionRepair::Impl::prepare(const ProjectionDamage& damage) {
  SHIPLOG_TRY(auto audit_projection, AuditProjection::create(*connection, types));
  SHIPLOG_TRY(auto decision_projection, DecisionProjection::create(*connection, types));
  SHIPLOG_TRY(auto revision_projection, RevisionProjection::create(*connection));
  audit = std::make_unique<AuditProjection>(std::move(audit_projection));
  decisions = std::make_unique<DecisionProjection>(std::move(decision_projection));
  revisions = std::make_unique<RevisionProjection>(std::move(revision_projection));
  for (const ProjectionDamage::Row& row : damage.rows) {
    SHIPLOG_TRY(locate(*row.table, row.key));
  }
  if (!leaves.empty()) {
    // Of the first leaf that is not damaged, as many records before it as there are leaves.
    SHIPLOG_TRY(const auto begins, one("SELECT l.offset FROM tree_leaf l WHERE l.ordinal = ? AND l.crc = " +
                                           store::tree_leaf_table().checksum("l"),
                                       0));
    if (begins) tree_begins = Offset{*begins};
  }
  for (const RowKey& entry : damage.unfound) unfound.insert(number_in(entry));
  for (const RowKey& version : damage.unnamed) {
    SHIPLOG_TRY(auto row, connection->prepare("SELECT type, ns, name FROM version WHERE revision = ?"));
    row.bind(1, number_in(version));
    SHIPLOG_TRY(const bool found, row.next());
    if (found) names.insert({row.integer(0), std::string{row.text(1)}, std::string{row.text(2)}});
  }
  return ok();
}

Result<void> ProjectionRepair::Impl::write_version(const FoldedEntry& folded, size_t index, bool itself,
                                                   bool its_base) {
  const ObjectKey& key = folded.folded.changes[index].object;
  SHIPLOG_TRY(const int64_t type, types.id(key.type));
  static const std::string kFind =
      "SELECT o.id FROM object o WHERE o.type = ? AND o.ns = ? AND o.name = ? AND " + store::object_table().intact("o");
  SHIPLOG_TRY(auto object, connection->prepare(kFind));
  object.bind_all(type, key.ns, key.name);
  SHIPLOG_TRY(const bool found, object.next());
  if (!found) return ok();  // deleted since by its age, with all its versions
  const int64_t id = object.integer(0);
  object.reset();
  const StoredVersion version = version_of(folded, index, type, id);
  if (its_base) {
    SHIPLOG_TRY(const bool replaced, replace_base(*connection, version.revision, id, version.json));
    repaired += replaced ? 1 : 0;
  }
  if (itself) {
    SHIPLOG_TRY(const bool replaced, replace_version(*connection, version));
    repaired += replaced ? 1 : 0;
  }
  return ok();
}

Result<void> ProjectionRepair::Impl::write_type(const Change& change, int64_t id) {
  SHIPLOG_TRY(auto remove, connection->prepare("DELETE FROM type WHERE id = ?"));
  SHIPLOG_TRY(remove.run(id));
  // Its row may be there under a damaged number.
  SHIPLOG_TRY(auto renumbered, connection->prepare("DELETE FROM type WHERE name = ?"));
  SHIPLOG_TRY(renumbered.run(change.object.type));
  repaired += static_cast<size_t>(connection->changed());
  SHIPLOG_TRY(auto insert, connection->prepare(store::type_table().insert()));
  SHIPLOG_TRY(insert.run(id, change.object.type));
  ++repaired;
  return ok();
}

Result<void> ProjectionRepair::Impl::write_rows_of(const FoldedEntry& folded) {
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*connection));
  const int64_t offset = folded.offset.value;
  // Types and actors first, as the other rows refer to them.
  for (const Change& change : folded.folded.changes) {
    const auto named = type_names.find(change.revision);
    if (named == type_names.end()) continue;
    SHIPLOG_TRY(write_type(change, named->second));
    type_names.erase(named);
  }
  if (const auto found = actors.find(offset); found != actors.end()) {
    for (const int64_t id : found->second) {
      SHIPLOG_TRY(const bool replaced, AuditProjection::replace_actor(*connection, id, folded.entry.actor));
      repaired += replaced ? 1 : 0;
    }
    actors.erase(found);
  }
  for (size_t index = 0; index < folded.folded.changes.size(); ++index) {
    const Revision revision = folded.folded.changes[index].revision;
    const bool version = versions.erase(revision) > 0, base = bases.erase(revision) > 0;
    if (version || base) {
      SHIPLOG_TRY(write_version(folded, index, version, base));
    }
  }
  if (entries.erase(offset) > 0) {
    SHIPLOG_TRY(const bool replaced, audit->replace(*connection, folded));
    repaired += replaced ? 1 : 0;
  }
  if (unfound.erase(offset) > 0) {
    SHIPLOG_TRY(audit->name_subjects(folded));
    ++repaired;
  }
  if (const auto found = decided.find(offset); found != decided.end()) {
    for (const size_t index : found->second) {
      if (index >= folded.entry.events.size()) continue;  // a damaged number
      SHIPLOG_TRY(const bool replaced, decisions->replace(*connection, folded, index));
      repaired += replaced ? 1 : 0;
    }
    decided.erase(found);
  }
  return transaction.commit();
}

// The row of an object's name follows from its newest version.
Result<void> ProjectionRepair::Impl::name_object(const RowKey& key) {
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*connection));
  const int64_t type = number_in(key);
  const std::string ns = text_in(key, 1), name = text_in(key, 2);
  SHIPLOG_TRY(auto remove, connection->prepare("DELETE FROM object WHERE type = ? AND ns = ? AND name = ?"));
  SHIPLOG_TRY(remove.run(type, ns, name));
  static const std::string kNewest = "SELECT " + version_columns("v") +
                                     " FROM version v WHERE v.type = ? AND v.ns = ? AND v.name = ? AND v.crc = " +
                                     store::version_table().checksum("v") + " ORDER BY v.revision DESC LIMIT 1";
  SHIPLOG_TRY(auto row, connection->prepare(kNewest));
  row.bind_all(type, ns, name);
  SHIPLOG_TRY(const bool found, row.next());
  if (found) {
    SHIPLOG_TRY(const StoredVersion newest, stored_version(*connection, row));
    const auto live = static_cast<int64_t>(newest.operation != static_cast<int64_t>(VersionOperation::kRemoved));
    SHIPLOG_TRY(auto insert, connection->prepare(store::object_table().insert()));
    SHIPLOG_TRY(insert.run(type, ns, name, newest.object, live));
  }
  row.reset();
  SHIPLOG_TRY(transaction.commit());
  ++repaired;
  return ok();
}

// The numbers of a workload's templates follow from its versions, if none is deleted.
Result<void> ProjectionRepair::Impl::repeat_workload(int64_t object) {
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*connection));
  std::vector<std::pair<Change, UtcMillis>> changes;
  {
    SHIPLOG_TRY(auto row, connection->prepare("SELECT " + version_columns("v") +
                                              ", e.time, t.name FROM version v CROSS JOIN entry e ON e.offset = "
                                              "v.offset CROSS JOIN type t ON t.id = v.type WHERE v.object = ? AND " +
                                              store::entry_table().intact("e") + " AND " +
                                              store::type_table().intact("t") + " ORDER BY v.revision"));
    row.bind(1, object);
    Value before;
    while (true) {
      SHIPLOG_TRY(const bool found, row.next());
      if (!found) break;
      SHIPLOG_TRY(const StoredVersion version, stored_version(*connection, row));
      ObjectKey key{std::string{row.text(kVersionColumns + 1)}, std::string{version.ns}, std::string{version.name}};
      const auto operation = static_cast<VersionOperation>(version.operation);
      if (before.is_null() && operation != VersionOperation::kCreated) {
        return Error{ErrorCode::kGone, "the first versions of " + key.type + " " + key.ns + "/" + key.name +
                                           " were deleted by their age, so that its revisions cannot be counted again"};
      }
      Value after;
      if (operation != VersionOperation::kRemoved) {
        SHIPLOG_TRY(after, parse_json(version.json));
      }
      changes.emplace_back(
          Change{std::move(key), Revision{static_cast<uint64_t>(version.revision)}, std::move(before), after, nullptr},
          UtcMillis{row.integer(kVersionColumns)});
      before = std::move(after);
    }
  }
  SHIPLOG_TRY(const auto versions_there, one("SELECT count(*) FROM version WHERE object = ?", object));
  if (versions_there.value_or(0) != static_cast<int64_t>(changes.size())) {
    return Error{ErrorCode::kCorrupt, "projection " + connection->path() +
                                          ": entries or types of versions are missing, so that the revisions of a "
                                          "workload cannot be counted again: stop the process, delete the file and "
                                          "start again, and it is rebuilt"};
  }
  SHIPLOG_TRY(auto remove, connection->prepare("DELETE FROM template_revision WHERE object = ?"));
  SHIPLOG_TRY(remove.run(object));
  SHIPLOG_TRY(revisions->repeat(object, changes));
  SHIPLOG_TRY(transaction.commit());
  ++repaired;
  return ok();
}

// The oldest revision from which on no version is missing: what the row said, or later.
Result<void> ProjectionRepair::Impl::find_oldest() {
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*connection));
  SHIPLOG_TRY(auto row, connection->prepare(
                            "SELECT max(coalesce((SELECT max(v.revision - 1) FROM version v WHERE v.revision > 1 AND "
                            "NOT EXISTS (SELECT 1 FROM version p WHERE p.revision = v.revision - 1)), 0), "
                            "coalesce((SELECT max(v.revision) FROM version v WHERE v.previous > 0 AND NOT EXISTS "
                            "(SELECT 1 FROM version p WHERE p.revision = v.previous)), 0))"));
  SHIPLOG_TRY([[maybe_unused]] const bool found, row.next());
  const int64_t oldest = row.integer(0);
  row.reset();
  SHIPLOG_TRY(auto set, connection->prepare("UPDATE retention SET oldest = ?1, crc = checksum(?1)"));
  SHIPLOG_TRY(set.run(oldest));
  SHIPLOG_TRY(transaction.commit());
  ++repaired;
  return ok();
}

Result<void> ProjectionRepair::Impl::write_leaf(uint64_t leaf_ordinal, Offset offset, const proof::Digest& hash) {
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*connection));
  SHIPLOG_TRY(auto remove, connection->prepare("DELETE FROM tree_leaf WHERE ordinal = ?"));
  SHIPLOG_TRY(remove.run(static_cast<int64_t>(leaf_ordinal)));
  if (connection->changed() == 0) return ok();  // a damaged number
  SHIPLOG_TRY(auto insert, connection->prepare(store::tree_leaf_table().insert()));
  insert.bind(1, static_cast<int64_t>(leaf_ordinal));
  insert.bind(2, offset.value);
  insert.bind_blob(3, proof::bytes_of(hash));
  SHIPLOG_TRY(insert.run());
  SHIPLOG_TRY(transaction.commit());
  ++repaired;
  return ok();
}

// A subtree follows from the level that is stored below it.
Result<void> ProjectionRepair::Impl::compute_node(int64_t id) {
  const proof::NodeId node = tree_node_of(id);
  if (node.level < kTreeLevelsApart) return ok();  // a damaged number
  const auto stored = tree_nodes(*connection);
  proof::Frontier subtree;
  constexpr uint64_t kBelow = uint64_t{1} << kTreeLevelsApart;
  for (uint64_t index = node.index * kBelow; index < (node.index + 1) * kBelow; ++index) {
    SHIPLOG_TRY(const proof::Digest hash, stored({node.level - kTreeLevelsApart, index}));
    subtree.add(hash);
  }
  const proof::Digest hash = subtree.root();
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*connection));
  SHIPLOG_TRY(auto remove, connection->prepare("DELETE FROM tree_node WHERE id = ?"));
  SHIPLOG_TRY(remove.run(id));
  SHIPLOG_TRY(auto insert, connection->prepare(store::tree_node_table().insert()));
  insert.bind(1, id);
  insert.bind_blob(2, proof::bytes_of(hash));
  SHIPLOG_TRY(insert.run());
  SHIPLOG_TRY(transaction.commit());
  ++repaired;
  return ok();
}

ProjectionRepair::ProjectionRepair(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
ProjectionRepair::ProjectionRepair(ProjectionRepair&&) noexcept = default;
ProjectionRepair::~ProjectionRepair() = default;

Result<ProjectionRepair> ProjectionRepair::open(const std::string& projection, const ProjectionDamage& damage) {
  SHIPLOG_TRY(auto connection, store::open_writer(projection));
  auto impl = std::make_unique<Impl>(std::move(connection));
  // First, as what follows looks rows up.
  for (const std::string& index : damage.indexes) {
    SHIPLOG_TRY(impl->connection->execute("REINDEX \"" + index + "\""));
    ++impl->repaired;
  }
  SHIPLOG_TRY(impl->prepare(damage));
  return ProjectionRepair{std::move(impl)};
}

bool ProjectionRepair::needs_journal() const {
  return !impl_->leaves.empty() || !impl_->versions.empty() || !impl_->bases.empty() || !impl_->entries.empty() ||
         !impl_->unfound.empty() || !impl_->actors.empty() || !impl_->decided.empty() || !impl_->type_names.empty();
}

Result<void> ProjectionRepair::take(Offset offset, const Entry& entry, const Folded& folded,
                                    const std::optional<proof::Digest>& leaf) {
  if (!impl_->leaves.empty() && leaf && offset >= impl_->tree_begins) {
    const uint64_t ordinal = impl_->ordinal++;
    if (impl_->leaves.erase(ordinal) > 0) {
      SHIPLOG_TRY(impl_->write_leaf(ordinal, offset, *leaf));
    }
  }
  const auto damaged_change = [&](const Change& change) {
    return impl_->versions.contains(change.revision) || impl_->bases.contains(change.revision) ||
           impl_->type_names.contains(change.revision);
  };
  if (!impl_->entries.contains(offset.value) && !impl_->unfound.contains(offset.value) &&
      !impl_->actors.contains(offset.value) && !impl_->decided.contains(offset.value) &&
      std::ranges::none_of(folded.changes, damaged_change)) {
    return ok();
  }
  FoldedEntry applied{offset, entry, folded};
  for (const Event& event : entry.events) applied.subjects.push_back(subject_of(event));
  return impl_->write_rows_of(applied);
}

Result<void> ProjectionRepair::finish() {
  for (const RowKey& name : impl_->names) {
    SHIPLOG_TRY(impl_->name_object(name));
  }
  for (const int64_t workload : impl_->workloads) {
    SHIPLOG_TRY(impl_->repeat_workload(workload));
  }
  // Those of lower levels first, as the others are made of them.
  for (const int64_t node : impl_->nodes) {
    SHIPLOG_TRY(impl_->compute_node(node));
  }
  if (impl_->retention) return impl_->find_oldest();
  return ok();
}

size_t ProjectionRepair::repaired() const { return impl_->repaired; }

}  // namespace shiplog
