#pragma once

#include <cstdint>

namespace shiplog {

/// The wire types of protobuf that Kubernetes uses. Source: the "Encoding" section of the Protocol Buffers
/// documentation.
enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

}  // namespace shiplog
