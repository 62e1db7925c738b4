#pragma once

#include <cstdint>
#include <string_view>

namespace shiplog {

/// CRC-32C (Castagnoli polynomial, as in RFC 3720 appendix B.4), eight bytes a step. `seed` is the result over the
/// bytes before these, so that a checksum can be taken in pieces.
uint32_t crc32c(std::string_view bytes, uint32_t seed = 0);

/// The same without the processor's instruction for it: for machines that have none.
uint32_t crc32c_by_tables(std::string_view bytes, uint32_t seed = 0);

}  // namespace shiplog
