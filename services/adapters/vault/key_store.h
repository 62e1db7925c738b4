#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"

namespace shiplog {

/// A key as a store has it.
struct StoredKey {
  std::string id, wrapped;
  ObjectKey object;
};

/// Where the Vault keeps the keys of objects, wrapped: each has a random id, and is never changed, only destroyed.
/// Threads: any.
class KeyStore {
 public:
  virtual ~KeyStore() = default;

  /// The wrapped key; nullopt: it does not exist. (An id is only requested once a text names it, and the key
  /// was stored before that.) Error: kUnavailable, this is not known now.
  virtual Result<std::optional<std::string>> find(std::string_view id) = 0;
  /// The key was destroyed on purpose, by any process. Remembered for an hour at least: long enough for processes that
  /// have yet to fold the removal of its object.
  virtual Result<bool> destroyed(std::string_view id) = 0;
  /// The id of an object's newest key; empty: it has none.
  virtual Result<std::string> newest_of(const ObjectKey& object) = 0;
  /// Durable on return. An existing key stays.
  virtual Result<void> add(const std::string& id, const ObjectKey& object, const std::string& wrapped) = 0;
  /// Not to be found by this process from now on, and destroyed for good as soon as the store can.
  virtual Result<void> destroy(const std::vector<std::string>& ids) = 0;

  /// Another process may have changed the store since the last call, or it was replaced; true for the first call.
  virtual Result<bool> changed() = 0;
  /// All keys, id and wrapped.
  virtual Result<std::vector<std::pair<std::string, std::string>>> all() = 0;
  /// All keys with their objects, those of an object in the order in which they were added: to copy them.
  virtual Result<std::vector<StoredKey>> list() = 0;
  /// Of the fleet's key that wrapped the keys; empty: none is recorded yet.
  virtual Result<std::string> fingerprint() = 0;
  /// Records it. Error: kInvalid, the store has keys that another key has wrapped.
  virtual Result<void> adopt(const std::string& fingerprint) = 0;

  /// Objects whose keys may have outlived them, as a process was killed between a removal and destroy().
  virtual std::vector<ObjectKey> to_look_after() = 0;
  /// "keys.db in /var/lib/shiplog"
  virtual std::string describe() const = 0;
};

/// A small SQLite file, which processes on one machine share. What is destroyed is overwritten before destroy()
/// returns.
class SqliteKeyStore : public KeyStore {
 public:
  /// Records it, unless there are keys that another key has wrapped; the one that is recorded then.
  virtual Result<std::string> claim(const std::string& fingerprint) = 0;
};
Result<std::unique_ptr<SqliteKeyStore>> open_sqlite_key_store(const std::string& file);

}  // namespace shiplog
