#pragma once

#include <string>

#include "events/base/result.h"
#include "services/adapters/vault/cipher.h"

namespace shiplog::vault {

/// The fleet's own key, which wraps the keys of objects: a file of 32 random bytes, mode 0600.
/// Errors: kIo; kCorrupt, the file does not hold a key.
Result<Key> load_fleet_key(const std::string& path);

/// Makes the file when there is none. Processes that start together make one key.
Result<Key> load_or_create_fleet_key(const std::string& path);

/// Tells which key it is, not what it is.
std::string fingerprint_of(const Key& fleet);

/// The key that signs checkpoints of the record's tree follows from the fleet's own key, so that all processes that
/// hold it sign with the same, and a restored fleet does too: 32 bytes, from which the fleet's key cannot be computed.
Key checkpoint_seed(const Key& fleet);
/// The name of that key: "shiplog/fleet-0123456789abcdef".
std::string checkpoint_key_name(const Key& fleet);

}  // namespace shiplog::vault
