#include "events/base/check.h"
#include "events/codec/codec.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {

// The bytes of an entry, as a damaged journal may hold them.
SHIPLOG_FUZZ_TARGET(journal_codec) {
  const auto entry = decode(input);
  if (!entry) {
    SHIPLOG_CHECK(entry.error().code == ErrorCode::kCorrupt && !entry.error().message.empty(),
                  "bytes that are no entry are corrupt, with a cause");
    return;
  }
  const std::string bytes = encode(entry.value());
  const auto again = decode(bytes);
  SHIPLOG_CHECK(again.has_value(), "what was decoded can be stored again");
  SHIPLOG_CHECK(encode(again.value()) == bytes, "equal entries give equal bytes");
}

}  // namespace shiplog
