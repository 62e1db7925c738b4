#pragma once

#include <cstdint>

namespace shiplog {

/// The wire types of protobuf that Kubernetes uses. Source: the "Encoding" section of the Protocol Buffers
/// documentation.
enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Schema::proto_wrapper of a field that is in two messages which JSON does not have, one in the other: the outer one's
/// number, shifted by this, and the inner one's.
inline constexpr int kWrapperBits = 16;

}  // namespace shiplog
