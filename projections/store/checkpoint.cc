#include "projections/store/checkpoint.h"

#include <charconv>

#include "events/base/json.h"
#include "projections/store/checked_table.h"
#include "projections/store/schemas.h"

namespace shiplog::store {
namespace {

std::string leases_json(const Leases& leases) {
  Value all = Value::object();
  for (const auto& [service, lease] : leases.all()) {
    all.set(service, Value::object({{"holder", lease.holder}, {"epoch", lease.epoch}}));
  }
  return to_json(all);
}

std::string settled_json(const SettledPartitions& partitions) {
  Value all = Value::array();
  for (const auto& [partition, settled] : partitions) {
    Value ranges = Value::array();
    for (const auto& [first, last] : settled.ranges()) ranges.push_back(Value::array({first, last}));
    all.push_back(Value::array({partition.first, int64_t{partition.second}, settled.done_before(), std::move(ranges)}));
  }
  return to_json(all);
}

SettledPartitions settled_from(const Value& all) {
  SettledPartitions partitions;
  for (const Value& partition : all.items()) {
    std::vector<SettledOffsets::Range> ranges;
    for (const Value& range : partition[3].items()) ranges.emplace_back(range[0].as_int(), range[1].as_int());
    partitions[{partition[0].str(), static_cast<int32_t>(partition[1].as_int())}] =
        SettledOffsets{partition[2].as_int(), ranges};
  }
  return partitions;
}

Result<Hash128> parse_hash(std::string_view hex) {
  Hash128 hash;
  const bool long_enough = hex.size() == 32;
  const char* middle = hex.data() + (long_enough ? 16 : 0);
  if (!long_enough || std::from_chars(hex.data(), middle, hash.hi, 16).ptr != middle ||
      std::from_chars(middle, hex.data() + 32, hash.lo, 16).ptr != hex.data() + 32) {
    return Error{ErrorCode::kCorrupt, "the state hash in the checkpoint is not 32 hexadecimal digits"};
  }
  return hash;
}

}  // namespace

Result<std::optional<Checkpoint>> read_checkpoint(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto exists, connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'checkpoint'"));
  SHIPLOG_TRY(const bool table, exists.next());
  if (!table) return std::nullopt;
  Checkpoint read;
  {
    SHIPLOG_TRY(auto row, connection.prepare("SELECT fingerprint FROM checkpoint"));
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return std::nullopt;
    read.fingerprint = row.text(0);
  }
  if (read.fingerprint != fingerprint()) return read;  // the other columns are those of another build
  static const std::string kRead =
      "SELECT fingerprint, next, revision, time, fold_version, leases, settled, hash FROM checkpoint c WHERE " +
      checkpoint_table().intact("c");
  SHIPLOG_TRY(auto row, connection.prepare(kRead));
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  read.next = Offset{row.integer(1)};
  read.meta.revision = Revision{static_cast<uint64_t>(row.integer(2))};
  read.meta.time = UtcMillis{row.integer(3)};
  read.meta.fold_version = static_cast<uint32_t>(row.integer(4));
  const auto leases = parse_json(row.text(5));
  if (!leases) return Error{ErrorCode::kCorrupt, "the leases in the checkpoint: " + leases.error().message};
  Leases::Map held;
  for (const Value::Member& lease : leases.value().members()) {
    held[std::string{lease.key()}] = {lease.value["holder"].str(),
                                      static_cast<uint64_t>(lease.value["epoch"].as_int())};
  }
  read.meta.leases = Leases{std::move(held)};
  const auto settled = parse_json(row.text(6));
  if (!settled) return Error{ErrorCode::kCorrupt, "the settled offsets in the checkpoint: " + settled.error().message};
  read.meta.settled = settled_from(settled.value());
  SHIPLOG_TRY(read.meta.hash, parse_hash(row.text(7)));
  return read;
}

Result<void> insert_checkpoint(sqlite::Connection& connection, const Checkpoint& checkpoint) {
  SHIPLOG_TRY(auto insert, connection.prepare(checkpoint_table().insert()));
  return insert.run(checkpoint.fingerprint, checkpoint.next.value, static_cast<int64_t>(checkpoint.meta.revision.value),
                    checkpoint.meta.time.value, static_cast<int64_t>(checkpoint.meta.fold_version),
                    leases_json(checkpoint.meta.leases), settled_json(checkpoint.meta.settled),
                    to_string(checkpoint.meta.hash));
}

const std::string& LeasesText::of(const Leases& leases) {
  if (!json_.empty() && leases.shares_with(leases_)) return json_;
  leases_ = leases;
  json_ = leases_json(leases);
  return json_;
}

Result<void> advance_checkpoint(sqlite::Connection& connection, LeasesText& leases, Offset from, Offset next,
                                const StateMeta& meta) {
  static const std::string kUpdate =
      "UPDATE checkpoint SET next = ?1, revision = ?2, time = ?3, fold_version = ?4, leases = ?5, settled = ?6, hash = "
      "?7, "
      "crc = checksum(fingerprint, ?1, ?2, ?3, ?4, ?5, ?6, ?7) WHERE next = ?8";
  SHIPLOG_TRY(auto update, connection.prepare(kUpdate));
  SHIPLOG_TRY(update.run(next.value, static_cast<int64_t>(meta.revision.value), meta.time.value,
                         static_cast<int64_t>(meta.fold_version), leases.of(meta.leases), settled_json(meta.settled),
                         to_string(meta.hash), from.value));
  if (connection.changed() == 1) return ok();
  SHIPLOG_TRY(read_checkpoint(connection));  // is it damaged?
  return Error{ErrorCode::kConflict, "projection " + connection.path() + ": it is no longer at offset " +
                                         std::to_string(from.value) + "; another process writes this file"};
}

Result<int64_t> TypeIds::id(std::string_view name) {
  if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
  SHIPLOG_TRY(auto found, find_type(connection_, name));
  if (!found) {
    SHIPLOG_TRY(auto newest, connection_.prepare("SELECT coalesce(max(id), 0) FROM type"));
    SHIPLOG_TRY([[maybe_unused]] const bool row, newest.next());
    found = newest.integer(0) + 1;
    SHIPLOG_TRY(auto insert, connection_.prepare(type_table().insert()));
    SHIPLOG_TRY(insert.run(*found, name));
  }
  ids_.emplace(name, *found);
  return *found;
}

Result<std::optional<int64_t>> find_type(sqlite::Connection& connection, std::string_view name) {
  static const std::string kFind = "SELECT t.id FROM type t WHERE t.name = ? AND " + type_table().intact("t");
  SHIPLOG_TRY(auto row, connection.prepare(kFind));
  row.bind(1, name);
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  return std::optional{row.integer(0)};
}

}  // namespace shiplog::store
