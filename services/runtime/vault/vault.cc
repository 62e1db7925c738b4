#include "services/runtime/vault/vault.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events/base/base64.h"
#include "events/base/freed.h"
#include "events/state/sealed.h"
#include "services/runtime/log.h"
#include "services/runtime/vault/journal_key_store.h"
#include "services/runtime/vault/key_store.h"

namespace shiplog {
namespace {

constexpr size_t kKeyBytes = 32;
constexpr size_t kNonceBytes = 12;
constexpr size_t kTagBytes = 16;
// No base64 holds a colon: sealed text cannot be mistaken for a Secret's data.
constexpr std::string_view kPrefix = "shiplog:sealed:v1:";
constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

using Key = std::array<unsigned char, kKeyBytes>;

std::string hex(const unsigned char* bytes, size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (size_t at = 0; at < size; ++at) {
    text += kDigits[bytes[at] >> 4U];
    text += kDigits[bytes[at] & 15U];
  }
  return text;
}

std::string hmac(const Key& key, std::string_view message) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(message.data()),
       message.size(), digest.data(), &size);
  return {digest.begin(), digest.begin() + size};
}

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, Freed<&EVP_CIPHER_CTX_free>>;

/// nonce, ciphertext, tag.
std::string encrypt(const Key& key, std::string_view nonce, std::string_view plain) {
  const Cipher cipher{EVP_CIPHER_CTX_new()};
  std::string out{nonce};
  out.resize(kNonceBytes + plain.size() + kTagBytes);
  auto* at = reinterpret_cast<unsigned char*>(out.data()) + kNonceBytes;
  int size = 0;
  EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.data(),
                     reinterpret_cast<const unsigned char*>(nonce.data()));
  EVP_EncryptUpdate(cipher.get(), at, &size, reinterpret_cast<const unsigned char*>(plain.data()),
                    static_cast<int>(plain.size()));
  EVP_EncryptFinal_ex(cipher.get(), at + size, &size);
  EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, at + plain.size());
  return out;
}

std::optional<std::string> decrypt(const Key& key, std::string_view sealed) {
  if (sealed.size() < kNonceBytes + kTagBytes) return std::nullopt;
  const size_t size = sealed.size() - kNonceBytes - kTagBytes;
  std::string plain(size, '\0');
  std::string tag{sealed.substr(kNonceBytes + size)};
  const Cipher cipher{EVP_CIPHER_CTX_new()};
  int written = 0;
  EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.data(),
                     reinterpret_cast<const unsigned char*>(sealed.data()));
  EVP_DecryptUpdate(cipher.get(), reinterpret_cast<unsigned char*>(plain.data()), &written,
                    reinterpret_cast<const unsigned char*>(sealed.data()) + kNonceBytes, static_cast<int>(size));
  EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data());
  int rest = 0;
  if (EVP_DecryptFinal_ex(cipher.get(), reinterpret_cast<unsigned char*>(plain.data()) + written, &rest) != 1) {
    return std::nullopt;
  }
  return plain;
}

/// The key id of a sealed text; empty: it is not sealed.
std::string_view key_id_of(std::string_view text) {
  if (!text.starts_with(kPrefix)) return {};
  text.remove_prefix(kPrefix.size());
  return text.substr(0, text.find(':'));
}

void collect_key_ids(const Value& value, std::vector<std::string>& ids) {
  if (value.is_string()) {
    if (const auto id = key_id_of(value.as_string()); !id.empty()) ids.emplace_back(id);
  }
  for (const Value& item : value.items()) collect_key_ids(item, ids);
  for (const auto& member : value.members()) collect_key_ids(member.value, ids);
}

bool has_sealed(const Value& value) {
  if (value.is_string()) return value.as_string().starts_with(kPrefix);
  return std::ranges::any_of(value.items(), has_sealed) ||
         std::ranges::any_of(value.members(), [](const auto& member) { return has_sealed(member.value); });
}

Result<Key> load_fleet_key(const std::string& path) {
  Key key{};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error{ErrorCode::kIo, "cannot open " + path + ": " + std::strerror(errno)};
  const ssize_t size = ::read(fd, key.data(), key.size());
  ::close(fd);
  if (size != static_cast<ssize_t>(key.size())) {
    return Error{ErrorCode::kCorrupt, path + " does not hold a key of 32 bytes: put the fleet's key back"};
  }
  return key;
}

/// Processes that start together make one key: it gets its name once it is whole, and the first name stays.
Result<Key> load_or_create_fleet_key(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) return load_fleet_key(path);
  const std::string draft = path + "." + std::to_string(::getpid());
  ::unlink(draft.c_str());  // of a process that was killed here
  const int made = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0) return Error{ErrorCode::kIo, "cannot make " + path + ": " + std::strerror(errno)};
  Key key{};
  RAND_bytes(key.data(), static_cast<int>(key.size()));
  const bool written = ::write(made, key.data(), key.size()) == static_cast<ssize_t>(key.size()) && ::fsync(made) == 0;
  ::close(made);
  const bool named = written && ::link(draft.c_str(), path.c_str()) == 0;
  const int cause = errno;
  ::unlink(draft.c_str());
  if (named) return key;
  if (written && cause == EEXIST) return load_fleet_key(path);
  return Error{ErrorCode::kIo, "cannot write " + path + ": " + std::strerror(cause)};
}

}  // namespace

struct Vault::Impl {
  std::mutex mutex;
  std::unique_ptr<KeyStore> store;
  Key fleet{};
  std::map<std::string, Key, std::less<>> cached;

  Result<std::optional<Key>> find(std::string_view id) {
    if (const auto at = cached.find(id); at != cached.end()) return std::optional{at->second};
    SHIPLOG_TRY(const auto wrapped, store->find(id));
    if (!wrapped) return std::optional<Key>{};
    const auto plain = decrypt(fleet, *wrapped);
    if (!plain || plain->size() != kKeyBytes) {
      return Error{ErrorCode::kCorrupt, store->describe() + ": a key cannot be unwrapped: this is not the fleet's key"};
    }
    Key key{};
    std::copy(plain->begin(), plain->end(), key.begin());
    cached.emplace(id, key);
    return std::optional{key};
  }

  Result<std::pair<std::string, Key>> make(const ObjectKey& object) {
    std::array<unsigned char, 16> id_bytes{};
    Key key{};
    std::array<char, kNonceBytes> nonce{};
    RAND_bytes(id_bytes.data(), static_cast<int>(id_bytes.size()));
    RAND_bytes(key.data(), static_cast<int>(key.size()));
    RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()), static_cast<int>(nonce.size()));
    const std::string id = hex(id_bytes.data(), id_bytes.size());
    const std::string wrapped =
        encrypt(fleet, {nonce.data(), nonce.size()}, {reinterpret_cast<const char*>(key.data()), key.size()});
    SHIPLOG_TRY(store->add(id, object, wrapped));
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

  Result<void> open_all(Value& value) {
    if (value.is_string()) {
      const std::string_view text = value.as_string();
      const std::string_view id = key_id_of(text);
      if (id.empty()) return ok();
      SHIPLOG_TRY(const auto key, find(id));
      const auto bytes = base64_decode(text.substr(kPrefix.size() + id.size() + 1));
      const auto plain = key && bytes ? decrypt(*key, *bytes) : std::nullopt;
      if (key && !plain) return Error{ErrorCode::kCorrupt, "a sealed text has been altered"};
      value = Value{plain.value_or("")};
      return ok();
    }
    if (!has_sealed(value)) return ok();
    if (value.is_array()) {
      for (Value& item : value.edit_items()) {
        SHIPLOG_TRY(open_all(item));
      }
      return ok();
    }
    std::vector<std::string> keys;
    for (const auto& member : value.members()) {
      if (has_sealed(member.value)) keys.emplace_back(member.key());
    }
    for (const std::string& key : keys) {
      SHIPLOG_TRY(open_all(value.edit(key)));
    }
    return ok();
  }
};

Vault::Vault(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Vault::~Vault() = default;

Result<std::unique_ptr<Vault>> Vault::open_folder(const std::string& folder) {
  auto impl = std::make_unique<Impl>();
  SHIPLOG_TRY(impl->fleet, load_or_create_fleet_key(folder + "/fleet.key"));
  SHIPLOG_TRY(impl->store, open_sqlite_key_store(folder + "/keys.db"));
  return std::unique_ptr<Vault>{new Vault{std::move(impl)}};
}

Result<std::unique_ptr<Vault>> Vault::open_log(const std::string& folder, std::shared_ptr<Journal> keys) {
  auto impl = std::make_unique<Impl>();
  const std::string file = folder + "/fleet.key";
  SHIPLOG_TRY(auto store, JournalKeyStore::open(std::move(keys)));
  if (store->is_new()) {
    SHIPLOG_TRY(impl->fleet, load_or_create_fleet_key(file));
  } else if (::access(file.c_str(), F_OK) == 0) {
    SHIPLOG_TRY(impl->fleet, load_fleet_key(file));
  } else {
    return Error{ErrorCode::kInvalid, "there is no " + file + ", but " + store->describe() +
                                          " holds keys that the fleet's key has wrapped: copy fleet.key from the "
                                          "--keys-dir of another process of the fleet"};
  }
  // Tells which key it is, not what it is.
  const std::string digest = hmac(impl->fleet, "shiplog: which fleet's key is it");
  SHIPLOG_TRY(store->claim(hex(reinterpret_cast<const unsigned char*>(digest.data()), 16)));
  impl->store = std::move(store);
  return std::unique_ptr<Vault>{new Vault{std::move(impl)}};
}

/// A Work carries objects of other kinds, as they are in members: those that are sealed are under the key of their
/// template.
Result<Value> Vault::seal_manifests(Value work) {
  const Value manifests = work["spec"]["workload"]["manifests"];
  for (size_t at = 0; at < manifests.size(); ++at) {
    if (!is_sealed(manifests[at])) continue;
    const Value& metadata = manifests[at]["metadata"];
    SHIPLOG_TRY(Value sealed,
                seal({type::kSecret, metadata["namespace"].str(), metadata["name"].str()}, manifests[at]));
    work.edit("spec").edit("workload").edit("manifests").edit_items()[at] = std::move(sealed);
  }
  return work;
}

Result<Value> Vault::seal(const ObjectKey& key, Value object) {
  if (key.type == type::kWork) return seal_manifests(std::move(object));
  if (key.type != type::kSecret) return object;
  const std::lock_guard lock{impl_->mutex};
  std::optional<std::pair<std::string, Key>> own;
  const auto sealed = [&](std::string_view field, const Value& plain) -> Result<Value> {
    if (!plain.is_string() || plain.as_string().starts_with(kPrefix)) return plain;
    if (!own) {
      SHIPLOG_TRY(own, impl_->key_for(key));
    }
    // The nonce comes from the text itself: equal texts seal alike, different ones never share a nonce (SIV).
    const std::string nonce = hmac(own->second, std::string{field} + '\0' + plain.str()).substr(0, kNonceBytes);
    return Value{std::string{kPrefix} + own->first + ":" +
                 base64_encode(encrypt(own->second, nonce, plain.as_string()))};
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
  return ::memmem(json.data(), json.size(), kPrefix.data(), kPrefix.size()) != nullptr;
}

Result<Value> Vault::open(Value object) {
  if (!has_sealed(object)) return object;
  const std::lock_guard lock{impl_->mutex};
  SHIPLOG_TRY(impl_->open_all(object));
  return object;
}

void Vault::look_after(const Removals& removals) {
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
  std::vector<std::string> ids;
  collect_key_ids(state, ids);
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  if (ids.empty()) return;
  const std::lock_guard lock{impl_->mutex};
  if (auto destroyed = impl_->destroy(ids); !destroyed) {
    log::error("vault.destroy_failed",
               {log::kv("object", to_string(object)), log::kv("reason", destroyed.error().message)});
  }
}

void Vault::on_folded(const State&, const DecodedRecord&, const Folded& folded) {
  for (const Change& change : folded.changes) {
    if (change.object.type == type::kSecret && change.removed()) destroy_keys_in(change.object, change.before);
  }
}

}  // namespace shiplog
