#pragma once

#include <cstdint>
#include <string_view>

namespace shiplog {

/// CRC-32C (Castagnoli polynomial, as in RFC 3720 appendix B.4), eight bytes per step. `seed` is the result for the
/// preceding bytes, so that a checksum can be computed in parts.
uint32_t crc32c(std::string_view bytes, uint32_t seed = 0);

/// The same without the processor's CRC instruction, for machines that lack it.
uint32_t crc32c_by_tables(std::string_view bytes, uint32_t seed = 0);

}  // namespace shiplog
