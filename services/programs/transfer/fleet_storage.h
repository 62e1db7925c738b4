#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/journal/journal.h"
#include "services/adapters/vault/key_store.h"
#include "services/programs/journals.h"

namespace shiplog {

/// Where a fleet keeps what cannot be derived.
struct FleetPlace {
  JournalOptions journal;
  /// Folder of fleet.key and pki, and of keys.db unless the journal is on Kafka. Empty: beside a journal file; on Kafka
  /// not known.
  std::string keys_dir;
};

/// It is opened beside the processes of the fleet, and takes no part in it.
struct FleetStorage {
  std::shared_ptr<Journal> record;
  std::shared_ptr<Journal> ephemera;
  std::unique_ptr<KeyStore> keys;  ///< nullptr: the fleet has none
  std::string keys_dir;            ///< empty: not known
};

/// With place.journal.create, makes what is missing. Errors: those of the backends; kInvalid.
Result<FleetStorage> open_fleet_storage(const FleetPlace& place);

/// Makes the keys of `to` those of `from`, as they are wrapped. Returns how many were added. Error: kConflict, a key
/// differs; kInvalid, `to` is of another fleet's key; those of the stores.
Result<size_t> copy_keys(KeyStore& from, KeyStore& to);

/// Copies fleet.key and pki/, which only their owner may read. Returns their names. What is there already must be the
/// same. Errors: kConflict; kIo.
Result<std::vector<std::string>> copy_key_files(const std::string& from, const std::string& to);

}  // namespace shiplog
