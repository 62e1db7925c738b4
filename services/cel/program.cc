#include "services/cel/program.h"

#include <algorithm>
#include <utility>

#include "services/cel/checker.h"
#include "services/cel/evaluator.h"
#include "services/cel/parser.h"

namespace shiplog::cel {

Result<CelProgram> CelProgram::compile(std::string_view text, const CelEnvironment& environment) {
  SHIPLOG_TRY(auto root, parse_expression(text));
  CelChecked checked = check_types(*root, text, environment);
  if (!checked.issues.empty()) return Error{ErrorCode::kInvalid, std::move(checked.issues)};
  CelProgram program;
  program.root_ = std::move(root);
  program.type_ = std::move(checked.type);
  program.slots_ = checked.slots;
  program.memory_ = checked.memory;
  program.used_.assign(checked.used.begin(), checked.used.end());
  return program;
}

bool CelProgram::uses(std::string_view variable) const { return std::ranges::find(used_, variable) != used_.end(); }

CelValue CelProgram::evaluate(std::span<const CelValue> variables, CelMeter& meter) const {
  std::vector<CelValue> slots{variables.begin(), variables.end()};
  slots.resize(slots_);
  CelValue result = CelEvaluator{std::move(slots), meter}.evaluate(*root_);
  return meter.exceeded() ? cost_limit_exceeded() : result;
}

}  // namespace shiplog::cel
