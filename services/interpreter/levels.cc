#include "services/interpreter/levels.h"

#include "services/interpreter/builtin.h"
#include "services/interpreter/webhooks.h"

namespace shiplog::interpreter {

std::string interpreted_by(const State& state, const Value& object, InterpreterOperation operation) {
  if (const auto scripts = customized(state, object, operation); !scripts.empty()) return scripts.front().where;
  if (const auto webhook = webhook_for(state, object, operation)) return webhook->where();
  return built_in(object, operation) ? "the third-party rules compiled in" : "the native rules";
}

}  // namespace shiplog::interpreter
