#include "services/adapters/vault/memory_key_store.h"

#include <map>
#include <mutex>
#include <utility>

namespace shiplog {
namespace {

class MemoryKeyStore final : public KeyStore {
 public:
  Result<std::optional<std::string>> find(std::string_view id) override {
    const std::lock_guard lock{mutex_};
    const auto found = keys_.find(id);
    return found == keys_.end() ? std::optional<std::string>{} : std::optional{found->second.second};
  }
  /// No other process can have removed a key.
  Result<bool> destroyed(std::string_view) override { return true; }
  Result<std::string> newest_of(const ObjectKey& object) override {
    const std::lock_guard lock{mutex_};
    const auto found = newest_.find(object);
    return found == newest_.end() ? std::string{} : found->second;
  }
  Result<void> add(const std::string& id, const ObjectKey& object, const std::string& wrapped) override {
    const std::lock_guard lock{mutex_};
    keys_[id] = {object, wrapped};
    newest_[object] = id;
    return ok();
  }
  Result<void> destroy(const std::vector<std::string>& ids) override {
    const std::lock_guard lock{mutex_};
    for (const std::string& id : ids) {
      const auto found = keys_.find(id);
      if (found == keys_.end()) continue;
      if (const auto newest = newest_.find(found->second.first); newest != newest_.end() && newest->second == id) {
        newest_.erase(newest);
      }
      keys_.erase(found);
    }
    return ok();
  }
  Result<bool> changed() override { return std::exchange(asked_, true) == false; }
  Result<std::vector<std::pair<std::string, std::string>>> all() override {
    const std::lock_guard lock{mutex_};
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [id, key] : keys_) all.emplace_back(id, key.second);
    return all;
  }
  /// The order does not matter: what is in memory is not copied.
  Result<std::vector<StoredKey>> list() override {
    const std::lock_guard lock{mutex_};
    std::vector<StoredKey> keys;
    for (const auto& [id, key] : keys_) keys.push_back({id, key.second, key.first});
    return keys;
  }
  Result<std::string> fingerprint() override { return std::string{}; }
  Result<void> adopt(const std::string&) override { return ok(); }
  std::vector<ObjectKey> to_look_after() override { return {}; }
  std::string describe() const override { return "memory"; }

 private:
  std::mutex mutex_;
  std::map<std::string, std::pair<ObjectKey, std::string>, std::less<>> keys_;
  std::map<ObjectKey, std::string> newest_;
  bool asked_ = false;
};

}  // namespace

std::unique_ptr<KeyStore> make_memory_key_store() { return std::make_unique<MemoryKeyStore>(); }

}  // namespace shiplog
