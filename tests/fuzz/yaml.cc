#include "events/base/yaml.h"

#include "events/base/check.h"
#include "events/base/json.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {

SHIPLOG_FUZZ_TARGET(yaml) {
  const auto documents = parse_yaml_stream(input);
  const auto single = parse_yaml(input);
  if (!documents) {
    SHIPLOG_CHECK(documents.error().code == ErrorCode::kBadRequest && !documents.error().message.empty(),
                  "invalid YAML is a bad request with a message");
    SHIPLOG_CHECK(!single, "it is not a single document either");
    return;
  }
  SHIPLOG_CHECK(single.has_value() == (documents.value().size() == 1), "one document is one");
  for (const Value& value : documents.value()) {
    const auto again = parse_yaml(to_yaml(value));
    SHIPLOG_CHECK(again && fuzz::same_in_yaml(again.value(), value), "written and read again it is the same value");
    const auto json = parse_json(to_json(value));
    SHIPLOG_CHECK(json && json.value() == value, "as JSON too");
  }
}

}  // namespace shiplog
