#include "services/adapters/vault/vault.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "events/base/base64.h"
#include "events/base/hex.h"
#include "events/state/sealed.h"
#include "services/adapters/vault/fleet_key.h"
#include "services/adapters/vault/journal_key_store.h"
#include "services/adapters/vault/key_store.h"
#include "services/adapters/vault/live_keys.h"
#include "services/adapters/vault/memory_key_store.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

using vault::Key;
using vault::kKeyBytes;
using vault::kNonceBytes;
using vault::kSealedPrefix;

constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
/// A key that is missing is looked for again after this, before it counts as lost: another process may have destroyed
/// it with an object whose removal this one has yet to fold.
constexpr std::chrono::seconds kSecondLook{1};

bool is_named(const Value& value) { return value.is_object() && value["metadata"]["name"].is_string(); }

std::string name_of(const Value& holder) {
  if (!is_named(holder)) return "a sealed object";
  const std::string ns = holder["metadata"]["namespace"].str();
  return holder["kind"].str() + " " + (ns.empty() ? "" : ns + "/") + holder["metadata"]["name"].str();
}

std::string wrap(const Key& fleet, const Key& key) {
  return vault::encrypt(fleet, vault::random_bytes(kNonceBytes),
                        {reinterpret_cast<const char*>(key.data()), key.size()});
}

std::optional<Key> unwrap(const Key& fleet, std::string_view wrapped) {
  const auto plain = vault::decrypt(fleet, wrapped);
  if (!plain || plain->size() != kKeyBytes) return std::nullopt;
  Key key{};
  std::copy(plain->begin(), plain->end(), key.begin());
  return key;
}

}  // namespace

struct Vault::Impl {
  /// What becomes of text whose key is not there.
  enum class Keyless {
    kError,
    kEmptyIfDestroyed,  // an error if it is lost
    kLeaveSealed,
  };

  std::mutex mutex;  // guards cached and the order of changes to the store
  std::unique_ptr<KeyStore> store;
  Key fleet{};
  std::map<std::string, Key, std::less<>> cached;
  vault::LiveKeys live;

  std::mutex watch_mutex;  // guards lost, closing and watcher
  std::set<ObjectKey> lost;
  bool closing = false;
  std::condition_variable wake;
  std::thread watcher;

  ~Impl() { stop(); }

  void stop() {
    std::thread ending;
    {
      const std::lock_guard lock{watch_mutex};
      closing = true;
      ending.swap(watcher);
    }
    wake.notify_all();
    if (ending.joinable()) ending.join();
  }

  Result<std::optional<Key>> find(std::string_view id) {
    if (const auto found = cached.find(id); found != cached.end()) return std::optional{found->second};
    SHIPLOG_TRY(const auto wrapped, store->find(id));
    if (!wrapped) return std::optional<Key>{};
    const auto key = unwrap(fleet, *wrapped);
    if (!key) {
      return Error{ErrorCode::kCorrupt, store->describe() + ": a key cannot be unwrapped: this is not the fleet's key"};
    }
    cached.emplace(id, *key);
    return key;
  }

  Result<std::pair<std::string, Key>> make(const ObjectKey& object) {
    const Key key = vault::random_key();
    const std::string id = hex(vault::random_bytes(16));
    SHIPLOG_TRY(store->add(id, object, wrap(fleet, key)));
    cached.emplace(id, key);
    return std::pair{id, key};
  }

  /// The newest key of an object, or a new one.
  Result<std::pair<std::string, Key>> key_for(const ObjectKey& object) {
    SHIPLOG_TRY(const std::string id, store->newest_of(object));
    if (id.empty()) return make(object);
    SHIPLOG_TRY(const auto key, find(id));
    if (!key) return make(object);
    return std::pair{id, *key};
  }

  Result<void> destroy(const std::vector<std::string>& ids) {
    for (const std::string& id : ids) cached.erase(id);
    return store->destroy(ids);
  }

  /// The text whose key is not there.
  Result<Value> without_key(std::string_view id, const Value& holder, Keyless keyless) {
    SHIPLOG_TRY(const bool on_purpose, store->destroyed(id));
    if (!on_purpose && live.needs(id, holder)) {
      return Error{ErrorCode::kCorrupt, name_of(holder) + " cannot be read: its key is missing from " +
                                            store->describe() +
                                            ". Restore the keys from a backup; or replace the whole object (kubectl "
                                            "replace), or delete it"};
    }
    if (keyless == Keyless::kEmptyIfDestroyed) return Value{""};
    return Error{ErrorCode::kGone, name_of(holder) + " was deleted, and its key destroyed"};
  }

  /// `holder` is the innermost object around the value that has a name.
  Result<void> open_all(Value& value, const Value& holder, Keyless keyless) {
    if (value.is_string()) {
      const std::string_view text = value.as_string();
      const std::string_view id = vault::key_id_of(text);
      if (id.empty()) return ok();
      SHIPLOG_TRY(const auto key, find(id));
      if (!key && keyless == Keyless::kLeaveSealed) return ok();
      if (!key) {
        SHIPLOG_TRY(value, without_key(id, holder, keyless));
        return ok();
      }
      const size_t begin = kSealedPrefix.size() + id.size() + 1;
      const auto bytes = begin <= text.size() ? base64_decode(text.substr(begin)) : std::nullopt;
      auto plain = bytes ? vault::decrypt(*key, *bytes) : std::nullopt;
      if (!plain && keyless == Keyless::kLeaveSealed) return ok();
      if (!plain) {
        return Error{ErrorCode::kCorrupt, name_of(holder) + " cannot be read: a sealed text in it has been altered"};
      }
      value = Value{*std::move(plain)};
      return ok();
    }
    if (!has_sealed(value)) return ok();
    if (value.is_array()) {
      for (Value& item : value.edit_items()) {
        SHIPLOG_TRY(open_all(item, holder, keyless));
      }
      return ok();
    }
    const Value within = is_named(value) ? value : holder;
    std::vector<std::string> keys;
    for (const auto& member : value.members()) {
      if (has_sealed(member.value)) keys.emplace_back(member.key());
    }
    for (const std::string& key : keys) {
      SHIPLOG_TRY(open_all(value.edit(key), within, keyless));
    }
    return ok();
  }

  static Value sealed_text(std::string_view id, const Key& key, std::string_view field, std::string_view plain) {
    // The nonce is derived from the text itself: equal texts seal alike, different ones never share a nonce (SIV).
    const std::string nonce = vault::hmac(key, std::string{field} + '\0' + std::string{plain}).substr(0, kNonceBytes);
    return Value{std::string{kSealedPrefix} + std::string{id} + ":" + base64_encode(vault::encrypt(key, nonce, plain))};
  }

  Result<void> seal_all(const Value& stored, Value& value, std::string_view field) {
    if (value.is_string() && value != stored) {
      const std::string_view id = stored.is_string() ? vault::key_id_of(stored.as_string()) : std::string_view{};
      if (value.as_string().starts_with(kSealedPrefix)) {
        return Error{ErrorCode::kInvalid,
                     "a text begins with \"shiplog:sealed:\", which is how the content of Secrets "
                     "is stored: leave it out"};
      }
      if (id.empty()) return ok();
      SHIPLOG_TRY(const auto key, find(id));
      if (!key) return Error{ErrorCode::kCorrupt, "a sealed text cannot be changed: its key is missing"};
      value = sealed_text(id, *key, field, value.as_string());
      return ok();
    }
    if (!has_sealed(stored) && !has_sealed(value)) return ok();
    if (value.is_array()) {
      size_t index = 0;
      for (Value& item : value.edit_items()) {
        SHIPLOG_TRY(seal_all(stored[index++], item, field));
      }
      return ok();
    }
    std::vector<std::string> keys;
    for (const auto& member : value.members()) keys.emplace_back(member.key());
    for (const std::string& key : keys) {
      const Value& before = stored[key];
      if (has_sealed(before) || has_sealed(value[key])) {
        SHIPLOG_TRY(seal_all(before, value.edit(key), key));
      }
    }
    return ok();
  }

  /// Objects whose keys are not in the store.
  Result<std::map<ObjectKey, std::vector<std::string>>> missing() {
    const auto objects = live.all();
    SHIPLOG_TRY(const auto keys, store->all());
    std::map<std::string_view, std::string_view> wrapped;
    for (const auto& [id, bytes] : keys) wrapped.emplace(id, bytes);
    std::map<ObjectKey, std::vector<std::string>> found;
    const std::lock_guard lock{mutex};
    for (const auto& [object, one] : objects) {
      for (const std::string& id : one.ids) {
        const auto at = wrapped.find(id);
        if (at == wrapped.end()) {
          found[object].push_back(id);
        } else if (!cached.contains(id)) {
          // Kept in memory, so that it can be put back. One that cannot be unwrapped is met when it is needed.
          if (const auto key = unwrap(fleet, at->second)) cached.emplace(id, *key);
        }
      }
    }
    return found;
  }

  /// Puts back what is still in memory. The objects whose keys are lost.
  Result<std::set<ObjectKey>> restore(const std::map<ObjectKey, std::vector<std::string>>& absent) {
    std::set<ObjectKey> gone;
    for (const auto& [object, ids] : absent) {
      for (const std::string& id : ids) {
        SHIPLOG_TRY(const bool on_purpose, store->destroyed(id));
        if (on_purpose) continue;
        const std::lock_guard lock{mutex};
        const auto found = cached.find(id);
        if (found == cached.end()) {
          gone.insert(object);
          continue;
        }
        SHIPLOG_TRY(store->add(id, object, wrap(fleet, found->second)));
        log::error("vault.key_restored", {log::kv("object", to_string(object)), log::kv("store", store->describe()),
                                          log::kv("reason",
                                                  "the key was removed from the store while this process was running, "
                                                  "and was put back from memory")});
      }
    }
    return gone;
  }

  /// `wait` returns false when the process stops.
  Result<void> look(const std::function<bool()>& wait, const std::function<void(const std::vector<ObjectKey>&)>& tell) {
    SHIPLOG_TRY(const bool changed, store->changed());
    {
      const std::lock_guard lock{watch_mutex};
      if (!changed && lost.empty()) return ok();
    }
    SHIPLOG_TRY(auto absent, missing());
    if (!absent.empty()) {
      if (!wait()) return ok();
      SHIPLOG_TRY(absent, missing());
    }
    SHIPLOG_TRY(auto gone, restore(absent));
    std::vector<ObjectKey> fresh;
    {
      const std::lock_guard lock{watch_mutex};
      std::ranges::set_difference(gone, lost, std::back_inserter(fresh));
      lost = std::move(gone);
    }
    for (const ObjectKey& object : fresh) {
      log::error("vault.key_lost", {log::kv("object", to_string(object)), log::kv("store", store->describe()),
                                    log::kv("reason",
                                            "the key is missing: the object cannot be read and is not propagated; "
                                            "restore the keys from a backup, or replace or delete the object")});
    }
    if (!fresh.empty() && tell) tell(fresh);
    return ok();
  }

  void run(Millis every, const std::function<void(const std::vector<ObjectKey>&)>& tell) {
    const auto wait_for = [this](std::chrono::milliseconds time) {
      std::unique_lock lock{watch_mutex};
      return !wake.wait_for(lock, time, [this] { return closing; });
    };
    std::string complained;
    do {
      const auto looked = look([&] { return wait_for(kSecondLook); }, tell);
      const std::string trouble = looked ? "" : looked.error().message;
      if (!trouble.empty() && trouble != complained) log::error("vault.store_failed", {log::kv("reason", trouble)});
      complained = trouble;
    } while (wait_for(std::chrono::milliseconds{every.value}));
  }
};

Vault::Vault(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Vault::~Vault() = default;

Result<std::unique_ptr<Vault>> Vault::open_folder(const std::string& folder) {
  auto impl = std::make_unique<Impl>();
  const std::string file = folder + "/fleet.key";
  SHIPLOG_TRY(auto store, open_sqlite_key_store(folder + "/keys.db"));
  SHIPLOG_TRY(const std::string recorded, store->fingerprint());
  SHIPLOG_TRY(const auto keys, store->all());
  if (::access(file.c_str(), F_OK) != 0 && !keys.empty()) {
    return Error{ErrorCode::kInvalid,
                 "there is no " + file + ", but " + store->describe() + " holds " + std::to_string(keys.size()) +
                     " keys that the fleet's key has wrapped: restore fleet.key from a backup. Without it the content "
                     "of all Secrets is lost; to give it up for good, remove " +
                     store->describe() + " too"};
  }
  SHIPLOG_TRY(impl->fleet, vault::load_or_create_fleet_key(file));
  const std::string fingerprint = vault::fingerprint_of(impl->fleet);
  const bool fits = keys.empty() || ((recorded.empty() || recorded == fingerprint) &&
                                     unwrap(impl->fleet, keys.front().second).has_value());
  if (!fits) {
    return Error{ErrorCode::kInvalid, file + " is not the key that wrapped those in " + store->describe() +
                                          ": restore the fleet.key that belongs to them from a backup"};
  }
  SHIPLOG_TRY(const std::string claimed, store->claim(fingerprint));
  if (claimed != fingerprint) {  // another process was first
    return Error{ErrorCode::kInvalid, store->describe() + " belongs to another fleet.key than " + file};
  }
  impl->store = std::move(store);
  return std::unique_ptr<Vault>{new Vault{std::move(impl)}};
}

Result<std::unique_ptr<Vault>> Vault::open_log(const std::string& folder, std::shared_ptr<Journal> keys) {
  auto impl = std::make_unique<Impl>();
  const std::string file = folder + "/fleet.key";
  SHIPLOG_TRY(auto store, JournalKeyStore::open(std::move(keys)));
  if (store->is_new()) {
    SHIPLOG_TRY(impl->fleet, vault::load_or_create_fleet_key(file));
  } else if (::access(file.c_str(), F_OK) == 0) {
    SHIPLOG_TRY(impl->fleet, vault::load_fleet_key(file));
  } else {
    return Error{ErrorCode::kInvalid, "there is no " + file + ", but " + store->describe() +
                                          " holds keys that the fleet's key has wrapped: copy fleet.key from the "
                                          "--keys-dir of another process of the fleet"};
  }
  SHIPLOG_TRY(store->claim(vault::fingerprint_of(impl->fleet)));
  impl->store = std::move(store);
  return std::unique_ptr<Vault>{new Vault{std::move(impl)}};
}

/// A Work carries objects of other kinds, as they are in members: those that are sealed are under the key of their
/// template.
Result<Value> Vault::seal_manifests(Value work) {
  const Value manifests = work["spec"]["workload"]["manifests"];
  for (size_t index = 0; index < manifests.size(); ++index) {
    if (!is_sealed(manifests[index])) continue;
    const Value& metadata = manifests[index]["metadata"];
    SHIPLOG_TRY(Value sealed,
                seal({type::kSecret, metadata["namespace"].str(), metadata["name"].str()}, manifests[index]));
    work.edit("spec").edit("workload").edit("manifests").edit_items()[index] = std::move(sealed);
  }
  return work;
}

std::unique_ptr<Vault> Vault::in_memory() {
  auto impl = std::make_unique<Impl>();
  impl->fleet = vault::random_key();
  impl->store = make_memory_key_store();
  return std::unique_ptr<Vault>{new Vault{std::move(impl)}};
}

Result<Value> Vault::seal(const ObjectKey& key, Value object) {
  if (key.type == type::kWork) return seal_manifests(std::move(object));
  if (key.type != type::kSecret) return object;
  const std::lock_guard lock{impl_->mutex};
  std::optional<std::pair<std::string, Key>> own;
  const auto sealed = [&](std::string_view field, const Value& plain) -> Result<Value> {
    if (!plain.is_string() || plain.as_string().starts_with(kSealedPrefix)) return plain;
    if (!own) {
      SHIPLOG_TRY(own, impl_->key_for(key));
    }
    return Impl::sealed_text(own->first, own->second, field, plain.as_string());
  };
  std::vector<std::string> fields;
  for (const auto& member : object["data"].members()) fields.emplace_back(member.key());
  for (const std::string& field : fields) {
    SHIPLOG_TRY(Value text, sealed(field, object["data"][field]));
    object.edit("data").set(field, std::move(text));
  }
  if (const Value* applied = object["metadata"]["annotations"].find(kLastApplied)) {
    SHIPLOG_TRY(Value text, sealed(kLastApplied, *applied));
    object.edit("metadata").edit("annotations").set(kLastApplied, std::move(text));
  }
  return object;
}

bool Vault::may_hold_sealed(std::string_view json) {
  return ::memmem(json.data(), json.size(), kSealedPrefix.data(), kSealedPrefix.size()) != nullptr;
}

bool Vault::has_sealed(const Value& value) {
  if (value.is_string()) return value.as_string().starts_with(kSealedPrefix);
  return std::ranges::any_of(value.items(), has_sealed) ||
         std::ranges::any_of(value.members(), [](const auto& member) { return has_sealed(member.value); });
}

Result<Value> Vault::open(Value object) {
  if (!has_sealed(object)) return object;
  const std::lock_guard lock{impl_->mutex};
  SHIPLOG_TRY(impl_->open_all(object, Value{}, Impl::Keyless::kError));
  return object;
}

Result<Value> Vault::open_version(Value object) {
  if (!has_sealed(object)) return object;
  const std::lock_guard lock{impl_->mutex};
  SHIPLOG_TRY(impl_->open_all(object, Value{}, Impl::Keyless::kEmptyIfDestroyed));
  return object;
}

Result<Value> Vault::open_partly(Value object) {
  if (!has_sealed(object)) return object;
  const std::lock_guard lock{impl_->mutex};
  SHIPLOG_TRY(impl_->open_all(object, Value{}, Impl::Keyless::kLeaveSealed));
  return object;
}

Result<Value> Vault::seal_like(const Value& stored, Value object) {
  const std::lock_guard lock{impl_->mutex};
  SHIPLOG_TRY(impl_->seal_all(stored, object, ""));
  return object;
}

void Vault::load(const State& state) { impl_->live.load(state); }

void Vault::watch_keys(Millis every, std::function<void(const std::vector<ObjectKey>& lost)> lost) {
  const std::lock_guard lock{impl_->watch_mutex};
  if (impl_->closing) return;
  impl_->watcher = std::thread{[impl = impl_.get(), every, tell = std::move(lost)] { impl->run(every, tell); }};
}

void Vault::stop() { impl_->stop(); }

size_t Vault::lost() const {
  const std::lock_guard lock{impl_->watch_mutex};
  return impl_->lost.size();
}

void Vault::destroy_removed_keys(const Removals& removals) {
  for (const ObjectKey& object : impl_->store->to_look_after()) {
    auto last_states = removals(object);
    if (!last_states) {
      log::warn("vault.look_after_failed",
                {log::kv("object", to_string(object)), log::kv("reason", last_states.error().message)});
      continue;
    }
    for (const Value& state : last_states.value()) destroy_keys_in(object, state);
  }
}

void Vault::destroy_keys_in(const ObjectKey& object, const Value& state) {
  const std::vector<std::string> ids = vault::key_ids_in(state);
  if (ids.empty()) return;
  const std::lock_guard lock{impl_->mutex};
  if (auto destroyed = impl_->destroy(ids); !destroyed) {
    log::error("vault.destroy_failed",
               {log::kv("object", to_string(object)), log::kv("reason", destroyed.error().message)});
  }
}

void Vault::on_folded(const State&, const DecodedRecord&, const Folded& folded) {
  for (const Change& change : folded.changes) {
    if (change.object.type != type::kSecret) continue;
    impl_->live.note(change);
    if (change.removed()) destroy_keys_in(change.object, change.before);
  }
}

}  // namespace shiplog
