#include <string>
#include <vector>

#include "events/base/check.h"
#include "events/base/json.h"
#include "services/cel/cel_json.h"
#include "services/cel/patch_object.h"
#include "services/cel/program.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

constexpr uint64_t kCostLimit = 20'000;

std::string outcome_of(const cel::CelValue& value, cel::CelMeter& meter) {
  if (value.is_error()) return "error: " + value.error_message();
  const auto json = cel::json_of(value, true, meter);
  return std::to_string(static_cast<int>(value.kind())) + " " + (json ? to_json(json.value()) : json.error().message);
}

}  // namespace

// An expression; the JSON of its variable x.
SHIPLOG_FUZZ_TARGET(cel_expression) {
  const auto part = fuzz::parts(input, 2);
  const auto program = cel::CelProgram::compile(part[0], {&cel::mutation_functions(), {{"x", cel::CelType{}}}, true});
  if (!program) {
    SHIPLOG_CHECK(!program.error().message.empty(), "an expression is refused with a message");
    return;
  }
  const std::vector<cel::CelValue> variables = {cel::from_json(fuzz::json_or_null(part[1]), {})};
  cel::CelMeter meter{kCostLimit}, again{kCostLimit};
  const std::string first = outcome_of(program.value().evaluate(variables, meter), meter);
  SHIPLOG_CHECK(
      outcome_of(program.value().evaluate(variables, again), again) == first && meter.spent() == again.spent(),
      "an expression gives the same every time, for the same cost");
}

}  // namespace shiplog
