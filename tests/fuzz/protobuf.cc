#include "events/kinds/protobuf.h"

#include "events/base/check.h"
#include "events/base/json.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

/// A decoded object can be encoded and decodes to the same object.
void check_round_trip(const Kinds& kinds, const Value& object) {
  const auto bytes = encode_protobuf(kinds, object);
  SHIPLOG_CHECK(bytes.has_value(), "an object decoded from protobuf can be encoded");
  const auto again = decode_protobuf(kinds, bytes.value());
  SHIPLOG_CHECK(again && again.value() == object, "and reads as the same object");
}

}  // namespace

SHIPLOG_FUZZ_TARGET(protobuf) {
  const Kinds& kinds = Kinds::compiled();
  if (const auto object = decode_protobuf(kinds, input)) {
    SHIPLOG_CHECK(parse_stored_json(to_json(object.value())).has_value(), "a decoded object is valid JSON");
    check_round_trip(kinds, object.value());
    return;
  }
  // The other direction: an object that one client writes in JSON and another reads in protobuf.
  const Value object = fuzz::json_or_null(input);
  if (!object.is_object()) return;
  const auto bytes = encode_protobuf(kinds, object);
  if (!bytes) {
    SHIPLOG_CHECK(!bytes.error().message.empty(), "an object without a protobuf form has an error message");
    return;
  }
  const auto seen = decode_protobuf(kinds, bytes.value());
  if (!seen) return;  // invalid times and quantities are refused by validation
  check_round_trip(kinds, seen.value());
}

}  // namespace shiplog
