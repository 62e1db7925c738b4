#include "events/base/json.h"

#include "events/base/check.h"
#include "events/base/yaml.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {

SHIPLOG_FUZZ_TARGET(json) {
  std::vector<std::string> duplicates;
  const auto parsed = parse_json(input, &duplicates);
  if (!parsed) {
    SHIPLOG_CHECK(parsed.error().code == ErrorCode::kBadRequest && !parsed.error().message.empty(),
                  "invalid JSON is a bad request with a message");
    return;
  }
  const Value& value = parsed.value();
  const auto stored = parse_stored_json(input);
  SHIPLOG_CHECK(stored && stored.value() == value, "accepted JSON can be stored");

  const std::string written = to_json(value);
  const auto again = parse_json(written);
  SHIPLOG_CHECK(again && again.value() == value, "written and read again it is the same value");
  SHIPLOG_CHECK(to_json(again.value()) == written, "equal values give equal bytes");
  const auto pretty = parse_json(to_pretty_json(value));
  SHIPLOG_CHECK(pretty && pretty.value() == value, "indented too");
  if (duplicates.empty()) SHIPLOG_CHECK(written.size() <= 8 * input.size(), "writing does not blow up");

  const auto yaml = parse_yaml(to_yaml(value));
  // A null document counts as none, as between two "---".
  SHIPLOG_CHECK(value.is_null() || (yaml && fuzz::same_in_yaml(yaml.value(), value)), "as YAML too");
}

}  // namespace shiplog
