#pragma once

#include <memory>

#include "services/adapters/vault/key_store.h"

namespace shiplog {

/// Keys that end with the process.
std::unique_ptr<KeyStore> make_memory_key_store();

}  // namespace shiplog
