#include "events/base/check.h"
#include "events/base/json.h"
#include "services/interpreter/lua/vm.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {

// A script and its argument.
SHIPLOG_FUZZ_TARGET(lua) {
  const auto part = fuzz::parts(input, 2);
  const Value argument = fuzz::json_or_null(part[1]);
  const auto parsed = interpreter::lua::check(part[0]);
  const interpreter::lua::Call call{.script = part[0],
                                    .function = "F",
                                    .arguments = {argument},
                                    .results = 2,
                                    .shapes = {},
                                    .now = UtcMillis{1'790'000'000'000}};
  const auto results = interpreter::lua::run(call);
  if (!results) {
    SHIPLOG_CHECK(results.error().code == ErrorCode::kInvalid || results.error().code == ErrorCode::kTooLarge,
                  "a script fails as a script");
    SHIPLOG_CHECK(!results.error().message.empty(), "a script that fails has a cause");
    return;
  }
  SHIPLOG_CHECK(parsed.has_value(), "what runs has been parsed");
  SHIPLOG_CHECK(results.value().size() == 2, "missing results are null");
  for (const Value& result : results.value()) {
    // Text that is no UTF-8 is repaired where it is stored: what was read once stays as it is.
    const auto stored = parse_stored_json(to_json(result));
    SHIPLOG_CHECK(stored.has_value(), "a result is JSON");
    const auto twice = parse_stored_json(to_json(stored.value()));
    SHIPLOG_CHECK(twice && twice.value() == stored.value(), "a result that was stored stays as it is");
  }
  const auto again = interpreter::lua::run(call);
  SHIPLOG_CHECK(again && again.value() == results.value(), "a script gives the same every time");
}

}  // namespace shiplog
