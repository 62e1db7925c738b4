#pragma once

#include <optional>
#include <string_view>

#include "events/kinds/kinds.h"
#include "services/adapters/vault/vault.h"
#include "services/api/store.h"

namespace shiplog::api {

/// The stored objects of one server: where each kind is stored, and how its versions are parsed and opened.
/// Threads: any; whatever reads blocks on the projection.
class StoredObjects {
 public:
  StoredObjects() = default;
  /// `vault`: nullptr if nothing is sealed.
  StoredObjects(Store& record, Store& ephemera, Vault* vault) : record_{&record}, ephemera_{&ephemera}, vault_{vault} {}

  Store& record() const { return *record_; }
  Store& store(const Kind& kind) const { return kind.ephemeral ? *ephemera_ : *record_; }
  Vault* vault() const { return vault_; }

  /// The object of the record with this key, opened. Error: kNotFound, and those of load().
  Result<Value> find(const ObjectKey& key) const;
  /// The same as stored JSON, of any kind; nullopt if there is none.
  Result<std::optional<std::string>> find_json(const Kind& kind, const ObjectKey& key) const;

  /// Parses the stored row of an object that exists and opens what is sealed. Errors: Vault::open().
  Result<Value> load(std::string_view json) const;
  /// load(); of a kind that a user defined, in the version of `kind`. Error: also kNotFound in kubectl's words, if the
  /// object has just been removed.
  Result<Value> load_as(const Kind& kind, const ObjectKey& key, std::string_view json) const;
  /// The same of a past version: Vault::open_version().
  Result<Value> load_version(std::string_view json) const;
  Result<Value> open_version(Value stored) const;

 private:
  Store* record_ = nullptr;
  Store* ephemera_ = nullptr;
  Vault* vault_ = nullptr;
};

}  // namespace shiplog::api
