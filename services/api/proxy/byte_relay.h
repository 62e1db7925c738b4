#pragma once

#include <functional>
#include <memory>

#include "services/http/byte_stream.h"

namespace shiplog::api {

/// Passes bytes between two connections in both directions until both have finished sending or one is broken; then both
/// are closed. A side is read from only once what it sent before is taken by the other one, so that a slow reader slows
/// down the sender. After one side has finished, the other one may continue until `after_linger` runs what it was
/// given. `kept` is dropped with the connections.
void relay_bytes(std::shared_ptr<ByteStream> one, std::shared_ptr<ByteStream> other,
                 std::function<void(std::function<void()>)> after_linger, std::shared_ptr<void> kept);

}  // namespace shiplog::api
