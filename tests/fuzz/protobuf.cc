#include "events/kinds/protobuf.h"

#include "events/base/check.h"
#include "events/base/json.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

/// What was read can be written, and reads as the same.
void check_round_trip(const Kinds& kinds, const Value& object) {
  const auto bytes = encode_protobuf(kinds, object);
  SHIPLOG_CHECK(bytes.has_value(), "what was read from protobuf can be written as protobuf");
  const auto again = decode_protobuf(kinds, bytes.value());
  SHIPLOG_CHECK(again && again.value() == object, "and reads as the same object");
}

}  // namespace

SHIPLOG_FUZZ_TARGET(protobuf) {
  const Kinds& kinds = Kinds::compiled();
  if (const auto object = decode_protobuf(kinds, input)) {
    SHIPLOG_CHECK(parse_stored_json(to_json(object.value())).has_value(), "what was read is JSON");
    check_round_trip(kinds, object.value());
    return;
  }
  // The other way in: an object of a client that speaks JSON, read by one that speaks protobuf.
  const Value object = fuzz::json_or_null(input);
  if (!object.is_object()) return;
  const auto bytes = encode_protobuf(kinds, object);
  if (!bytes) {
    SHIPLOG_CHECK(!bytes.error().message.empty(), "what has no protobuf form is told why");
    return;
  }
  const auto seen = decode_protobuf(kinds, bytes.value());
  if (!seen) return;  // a text that is no time or quantity is for the validation to refuse
  check_round_trip(kinds, seen.value());
}

}  // namespace shiplog
