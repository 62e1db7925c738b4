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

}  // namespace shiplog::vault
