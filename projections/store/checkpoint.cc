#include "projections/store/checkpoint.h"

#include <charconv>

#include "events/base/json.h"

namespace shiplog::store {
namespace {

std::string leases_json(const std::map<std::string, Lease>& leases) {
  Value all = Value::object();
  for (const auto& [service, lease] : leases) {
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
  SHIPLOG_TRY(auto row,
              connection.prepare("SELECT fingerprint, next, revision, time, fold_version, leases, settled, hash "
                                 "FROM checkpoint"));
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  Checkpoint read;
  read.fingerprint = row.text(0);
  read.next = Offset{row.integer(1)};
  read.meta.revision = Revision{static_cast<uint64_t>(row.integer(2))};
  read.meta.time = UtcMillis{row.integer(3)};
  read.meta.fold_version = static_cast<uint32_t>(row.integer(4));
  const auto leases = parse_json(row.text(5));
  if (!leases) return Error{ErrorCode::kCorrupt, "the leases in the checkpoint: " + leases.error().message};
  for (const Value::Member& lease : leases.value().members()) {
    read.meta.leases[std::string{lease.key()}] = {lease.value["holder"].str(),
                                                  static_cast<uint64_t>(lease.value["epoch"].as_int())};
  }
  const auto settled = parse_json(row.text(6));
  if (!settled) return Error{ErrorCode::kCorrupt, "the settled offsets in the checkpoint: " + settled.error().message};
  read.meta.settled = settled_from(settled.value());
  SHIPLOG_TRY(read.meta.hash, parse_hash(row.text(7)));
  return read;
}

Result<void> insert_checkpoint(sqlite::Connection& connection, const Checkpoint& checkpoint) {
  SHIPLOG_TRY(auto insert, connection.prepare("INSERT INTO checkpoint VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
  return insert.run(checkpoint.fingerprint, checkpoint.next.value, static_cast<int64_t>(checkpoint.meta.revision.value),
                    checkpoint.meta.time.value, static_cast<int64_t>(checkpoint.meta.fold_version),
                    leases_json(checkpoint.meta.leases), settled_json(checkpoint.meta.settled),
                    to_string(checkpoint.meta.hash));
}

Result<void> advance_checkpoint(sqlite::Connection& connection, Offset from, Offset next, const StateMeta& meta) {
  SHIPLOG_TRY(auto update, connection.prepare("UPDATE checkpoint SET next = ?, revision = ?, time = ?, "
                                              "fold_version = ?, leases = ?, settled = ?, hash = ? WHERE next = ?"));
  SHIPLOG_TRY(update.run(next.value, static_cast<int64_t>(meta.revision.value), meta.time.value,
                         static_cast<int64_t>(meta.fold_version), leases_json(meta.leases), settled_json(meta.settled),
                         to_string(meta.hash), from.value));
  if (connection.changed() == 1) return ok();
  return Error{ErrorCode::kConflict, "projection " + connection.path() + ": it is no longer at offset " +
                                         std::to_string(from.value) + "; another process writes this file"};
}

Result<int64_t> TypeIds::id(std::string_view name) {
  if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
  SHIPLOG_TRY(auto insert, connection_.prepare("INSERT OR IGNORE INTO type (name) VALUES (?)"));
  SHIPLOG_TRY(insert.run(name));
  SHIPLOG_TRY(const auto found, find_type(connection_, name));
  ids_.emplace(name, *found);
  return *found;
}

Result<std::optional<int64_t>> find_type(sqlite::Connection& connection, std::string_view name) {
  SHIPLOG_TRY(auto row, connection.prepare("SELECT id FROM type WHERE name = ?"));
  row.bind(1, name);
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  return std::optional{row.integer(0)};
}

}  // namespace shiplog::store
