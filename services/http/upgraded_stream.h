#pragma once

#include <functional>
#include <memory>

#include "events/base/time.h"
#include "services/http/byte_stream.h"
#include "services/http/input_buffer.h"
#include "services/http/transport.h"

/// Internal to services/http.
namespace shiplog {

/// Takes over a connection after its upgrade. `received` are the bytes behind the upgrade's messages. A write may make
/// no progress for `write_timeout`. `closed` is called on the strand, once. Call on the strand.
std::shared_ptr<ByteStream> upgraded_stream(const net::Strand& strand, std::unique_ptr<net::Transport> transport,
                                            InputBuffer received, Millis write_timeout, std::function<void()> closed);

}  // namespace shiplog
