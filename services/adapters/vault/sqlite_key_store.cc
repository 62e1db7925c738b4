#include <mutex>

#include <sys/stat.h>

#include "events/base/hash.h"
#include "events/base/system.h"
#include "events/sqlite/connection.h"
#include "services/adapters/vault/key_store.h"

namespace shiplog {
namespace {

constexpr Millis kRememberDestroyed{60 * 60 * 1000};

constexpr sqlite::Connection::Settings kSettings = {
    .kind = "key store",
    .when_damaged = "restore it from a backup",
    .create = true,
    .pragmas =
        "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;"};

constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS key (id TEXT PRIMARY KEY, object TEXT NOT NULL, wrapped BLOB NOT NULL);"
    "CREATE INDEX IF NOT EXISTS key_object ON key (object);"
    "CREATE TABLE IF NOT EXISTS destroyed (hash TEXT PRIMARY KEY, at INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS fleet (one INTEGER PRIMARY KEY CHECK (one = 1), fingerprint TEXT NOT NULL)";

/// What is left of a destroyed key: nothing that names it.
std::string hash_of(std::string_view id) { return to_string(siphash128(id)); }

/// Which file a name stands for; zeros: none.
std::pair<uint64_t, uint64_t> identity_of(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

Result<std::unique_ptr<sqlite::Connection>> open_file(const std::string& path) {
  SHIPLOG_TRY(auto file, sqlite::Connection::open(path, kSettings));
  ::chmod(path.c_str(), 0600);
  SHIPLOG_TRY(file->execute(kTables));
  return file;
}

class FileKeyStore final : public SqliteKeyStore {
 public:
  explicit FileKeyStore(std::unique_ptr<sqlite::Connection> file)
      : path_{file->path()}, file_{std::move(file)}, identity_{identity_of(path_)} {}

  Result<std::optional<std::string>> find(std::string_view id) override {
    const std::lock_guard lock{mutex_};
    SHIPLOG_TRY(auto statement, file_->prepare("SELECT wrapped FROM key WHERE id = ?"));
    statement.bind_all(id);
    SHIPLOG_TRY(const bool found, statement.next());
    if (!found) return std::optional<std::string>{};
    return std::optional{std::string{statement.blob(0)}};
  }

  Result<bool> destroyed(std::string_view id) override {
    const std::lock_guard lock{mutex_};
    const std::string hash = hash_of(id);
    SHIPLOG_TRY(auto statement, file_->prepare("SELECT 1 FROM destroyed WHERE hash = ?"));
    statement.bind_all(std::string_view{hash});
    return statement.next();
  }

  Result<std::string> newest_of(const ObjectKey& object) override {
    const std::lock_guard lock{mutex_};
    const std::string name = to_string(object);
    SHIPLOG_TRY(auto statement, file_->prepare("SELECT id FROM key WHERE object = ? ORDER BY rowid DESC LIMIT 1"));
    statement.bind_all(std::string_view{name});
    SHIPLOG_TRY(const bool found, statement.next());
    return found ? std::string{statement.text(0)} : std::string{};
  }

  Result<void> add(const std::string& id, const ObjectKey& object, const std::string& wrapped) override {
    const std::lock_guard lock{mutex_};
    const std::string name = to_string(object);
    SHIPLOG_TRY(auto statement, file_->prepare("INSERT OR IGNORE INTO key (id, object, wrapped) VALUES (?, ?, ?)"));
    statement.bind(1, std::string_view{id});
    statement.bind(2, std::string_view{name});
    statement.bind_blob(3, wrapped);
    return statement.run();
  }

  Result<void> destroy(const std::vector<std::string>& ids) override {
    const std::lock_guard lock{mutex_};
    const UtcMillis now = SystemClock{}.now();
    for (const std::string& id : ids) {
      const std::string hash = hash_of(id);
      SHIPLOG_TRY(auto remember, file_->prepare("INSERT OR IGNORE INTO destroyed (hash, at) VALUES (?, ?)"));
      SHIPLOG_TRY(remember.run(std::string_view{hash}, now.value));
      SHIPLOG_TRY(auto statement, file_->prepare("DELETE FROM key WHERE id = ?"));
      SHIPLOG_TRY(statement.run(std::string_view{id}));
    }
    SHIPLOG_TRY(auto forget, file_->prepare("DELETE FROM destroyed WHERE at < ?"));
    SHIPLOG_TRY(forget.run(now.value - kRememberDestroyed.value));
    // The write-ahead log still has the pages as they were: it is cut off, and secure_delete has overwritten the rest.
    return file_->execute("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  // SQLite counts what other connections change; a file that was removed or replaced is opened anew.
  Result<bool> changed() override {
    const std::lock_guard lock{mutex_};
    bool anew = false;
    if (const auto now = identity_of(path_); now != identity_) {
      SHIPLOG_TRY(file_, open_file(path_));
      identity_ = identity_of(path_);
      anew = true;
    }
    SHIPLOG_TRY(auto statement, file_->prepare("PRAGMA data_version"));
    SHIPLOG_TRY(const bool found, statement.next());
    const int64_t version = found ? statement.integer(0) : 0;
    return std::exchange(version_, version) != version || anew;
  }

  Result<std::vector<std::pair<std::string, std::string>>> all() override {
    const std::lock_guard lock{mutex_};
    SHIPLOG_TRY(auto statement, file_->prepare("SELECT id, wrapped FROM key"));
    std::vector<std::pair<std::string, std::string>> keys;
    while (true) {
      SHIPLOG_TRY(const bool found, statement.next());
      if (!found) return keys;
      keys.emplace_back(std::string{statement.text(0)}, std::string{statement.blob(1)});
    }
  }

  Result<std::string> fingerprint() override {
    const std::lock_guard lock{mutex_};
    return read_fingerprint();
  }

  Result<std::string> claim(const std::string& fingerprint) override {
    const std::lock_guard lock{mutex_};
    SHIPLOG_TRY(auto statement,
                file_->prepare("INSERT INTO fleet (one, fingerprint) VALUES (1, ?) ON CONFLICT (one) DO "
                               "UPDATE SET fingerprint = excluded.fingerprint "
                               "WHERE NOT EXISTS (SELECT 1 FROM key)"));
    SHIPLOG_TRY(statement.run(std::string_view{fingerprint}));
    return read_fingerprint();
  }

  Result<std::vector<StoredKey>> list() override {
    const std::lock_guard lock{mutex_};
    SHIPLOG_TRY(auto statement, file_->prepare("SELECT id, wrapped, object FROM key ORDER BY rowid"));
    std::vector<StoredKey> keys;
    while (true) {
      SHIPLOG_TRY(const bool found, statement.next());
      if (!found) return keys;
      SHIPLOG_TRY(auto object, parse_object_key(statement.text(2)));
      keys.push_back({std::string{statement.text(0)}, std::string{statement.blob(1)}, std::move(object)});
    }
  }

  Result<void> adopt(const std::string& fingerprint) override {
    SHIPLOG_TRY(const std::string claimed, claim(fingerprint));
    if (claimed == fingerprint) return ok();
    return Error{ErrorCode::kInvalid, path_ + " holds keys that another fleet's key has wrapped: name another folder"};
  }

  /// None: destroy() is done before a removal is projected, so a removal that is cut short is folded again.
  std::vector<ObjectKey> to_look_after() override { return {}; }
  std::string describe() const override { return path_; }

 private:
  Result<std::string> read_fingerprint() {
    SHIPLOG_TRY(auto statement, file_->prepare("SELECT fingerprint FROM fleet"));
    SHIPLOG_TRY(const bool found, statement.next());
    return found ? std::string{statement.text(0)} : std::string{};
  }

  const std::string path_;
  std::mutex mutex_;
  std::unique_ptr<sqlite::Connection> file_;
  std::pair<uint64_t, uint64_t> identity_;
  int64_t version_ = -1;
};

}  // namespace

Result<std::unique_ptr<SqliteKeyStore>> open_sqlite_key_store(const std::string& path) {
  SHIPLOG_TRY(auto file, open_file(path));
  return std::unique_ptr<SqliteKeyStore>{std::make_unique<FileKeyStore>(std::move(file))};
}

}  // namespace shiplog
