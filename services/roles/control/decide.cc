#include "services/roles/control/decide.h"

namespace shiplog::control {

Decided decide(const State& state) {
  Decision decision;
  decision.events = {StateHashed{state.revision(), state.hash()}};
  return decision;
}

}  // namespace shiplog::control
