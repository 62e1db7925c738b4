#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/sqlite/connection.h"
#include "events/state/state.h"

namespace shiplog::store {

struct Checkpoint {
  std::string fingerprint;
  Offset next;
  StateMeta meta;
};

/// nullopt: the file has none (it is new or incomplete). Of a file of another build only the fingerprint is read.
/// Error: kCorrupt, it cannot be read, or is not what was written.
Result<std::optional<Checkpoint>> read_checkpoint(sqlite::Connection& connection);
/// Writes the first one.
Result<void> insert_checkpoint(sqlite::Connection& connection, const Checkpoint& checkpoint);

/// The leases as the checkpoint stores them. Each batch advances the checkpoint, and few change a lease.
class LeasesText {
 public:
  /// Valid until the next call.
  const std::string& of(const Leases& leases);

 private:
  Leases leases_;
  std::string json_;
};

/// Advances it. Error: kConflict, it is not at `from`: another process has advanced it.
Result<void> advance_checkpoint(sqlite::Connection& connection, LeasesText& leases, Offset from, Offset next,
                                const StateMeta& meta);

/// Numbers of type names, assigned on first use. Threads: the writer's.
class TypeIds {
 public:
  explicit TypeIds(sqlite::Connection& connection) : connection_{connection} {}
  Result<int64_t> id(std::string_view name);
  /// After a rollback: discards the numbers assigned in that transaction.
  void forget() { ids_.clear(); }

 private:
  sqlite::Connection& connection_;
  std::map<std::string, int64_t, std::less<>> ids_;
};

/// The number of a type, for readers; nullopt: no object of that type was ever written.
Result<std::optional<int64_t>> find_type(sqlite::Connection& connection, std::string_view name);

}  // namespace shiplog::store
