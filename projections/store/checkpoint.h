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

/// nullopt: the file has none (it is new, or was never finished). Error: kCorrupt, it cannot be read.
Result<std::optional<Checkpoint>> read_checkpoint(sqlite::Connection& connection);
/// Writes the first one.
Result<void> insert_checkpoint(sqlite::Connection& connection, const Checkpoint& checkpoint);
/// Moves it on. Error: kConflict, it does not stand at `from`: somebody else has moved it.
Result<void> advance_checkpoint(sqlite::Connection& connection, Offset from, Offset next, const StateMeta& meta);

/// Numbers for type names, given out as they are met. Threads: the writer's.
class TypeIds {
 public:
  explicit TypeIds(sqlite::Connection& connection) : connection_{connection} {}
  Result<int64_t> id(std::string_view name);
  /// After a rollback: numbers given out in that transaction are void.
  void forget() { ids_.clear(); }

 private:
  sqlite::Connection& connection_;
  std::map<std::string, int64_t, std::less<>> ids_;
};

/// A reader's number for a type; nullopt: nothing of that type was ever written.
Result<std::optional<int64_t>> find_type(sqlite::Connection& connection, std::string_view name);

}  // namespace shiplog::store
