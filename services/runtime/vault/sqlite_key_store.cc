#include <mutex>

#include <sys/stat.h>

#include "projections/store/connection.h"
#include "services/runtime/vault/key_store.h"

namespace shiplog {
namespace {

class SqliteKeyStore final : public KeyStore {
 public:
  explicit SqliteKeyStore(std::unique_ptr<store::Connection> file) : file_{std::move(file)} {}

  Result<std::optional<std::string>> find(std::string_view id) override {
    const std::lock_guard lock{mutex_};
    SHIPLOG_TRY(auto statement, file_->prepare("SELECT wrapped FROM key WHERE id = ?"));
    statement.bind_all(id);
    SHIPLOG_TRY(const bool found, statement.next());
    if (!found) return std::optional<std::string>{};
    return std::optional{std::string{statement.blob(0)}};
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
    SHIPLOG_TRY(auto statement, file_->prepare("INSERT INTO key (id, object, wrapped) VALUES (?, ?, ?)"));
    statement.bind(1, std::string_view{id});
    statement.bind(2, std::string_view{name});
    statement.bind_blob(3, wrapped);
    return statement.run();
  }

  Result<void> destroy(const std::vector<std::string>& ids) override {
    const std::lock_guard lock{mutex_};
    for (const std::string& id : ids) {
      SHIPLOG_TRY(auto statement, file_->prepare("DELETE FROM key WHERE id = ?"));
      SHIPLOG_TRY(statement.run(std::string_view{id}));
    }
    // The write-ahead log still has the pages as they were: it is cut off, and secure_delete has overwritten the rest.
    return file_->execute("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /// None: destroy() is done before a removal is projected, so a removal that is cut short is folded again.
  std::vector<ObjectKey> to_look_after() override { return {}; }
  std::string describe() const override { return file_->path(); }

 private:
  std::mutex mutex_;
  std::unique_ptr<store::Connection> file_;
};

}  // namespace

Result<std::unique_ptr<KeyStore>> open_sqlite_key_store(const std::string& path) {
  SHIPLOG_TRY(auto file, store::Connection::open(path, store::Connection::Mode::kWrite));
  ::chmod(path.c_str(), 0600);
  SHIPLOG_TRY(
      file->execute("PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;"
                    "CREATE TABLE IF NOT EXISTS key (id TEXT PRIMARY KEY, object TEXT NOT NULL, "
                    "wrapped BLOB NOT NULL);"
                    "CREATE INDEX IF NOT EXISTS key_object ON key (object)"));
  return std::unique_ptr<KeyStore>{std::make_unique<SqliteKeyStore>(std::move(file))};
}

}  // namespace shiplog
