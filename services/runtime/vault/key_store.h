#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"

namespace shiplog {

/// Where the Vault keeps the keys of objects, wrapped: each has a random id, and is never changed, only destroyed.
/// Threads: any.
class KeyStore {
 public:
  virtual ~KeyStore() = default;

  /// The wrapped key; nullopt: destroyed. (An id is only asked for once a text that names it is there, and the key was
  /// there before.) Error: kUnavailable, nobody can tell now.
  virtual Result<std::optional<std::string>> find(std::string_view id) = 0;
  /// The id of an object's newest key; empty: it has none.
  virtual Result<std::string> newest_of(const ObjectKey& object) = 0;
  /// Durable on return.
  virtual Result<void> add(const std::string& id, const ObjectKey& object, const std::string& wrapped) = 0;
  /// Not to be found by this process from now on, and destroyed for good as soon as the store can.
  virtual Result<void> destroy(const std::vector<std::string>& ids) = 0;

  /// Objects whose keys may have outlived them, as a process was killed between a removal and destroy().
  virtual std::vector<ObjectKey> to_look_after() = 0;
  /// "keys.db in /var/lib/shiplog"
  virtual std::string describe() const = 0;
};

/// A small SQLite file, which processes on one machine share. What is destroyed is overwritten before destroy()
/// returns.
Result<std::unique_ptr<KeyStore>> open_sqlite_key_store(const std::string& file);

}  // namespace shiplog
