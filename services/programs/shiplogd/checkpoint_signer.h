#pragma once

#include <memory>
#include <string>

#include "events/base/result.h"

namespace shiplog {

namespace proof {
class NoteSigner;
}

/// Signs checkpoints with a key that is derived from the fleet's, which the vault has made. `keys`: the folder of
/// fleet.key. Error: the file cannot be read.
Result<std::shared_ptr<const proof::NoteSigner>> checkpoint_signer(const std::string& keys);

}  // namespace shiplog
