#include "services/adapters/sandbox/frames.h"

namespace shiplog::sandbox {

std::string header_of(size_t length) {
  std::string header;
  for (size_t byte = 0; byte < kHeader; ++byte) header += static_cast<char>((length >> (8 * byte)) & 0xffU);
  return header;
}

size_t length_in(const char* header) {
  size_t length = 0;
  for (size_t byte = 0; byte < kHeader; ++byte) {
    length |= size_t{static_cast<unsigned char>(header[byte])} << (8 * byte);
  }
  return length;
}

}  // namespace shiplog::sandbox
