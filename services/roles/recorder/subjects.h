#pragma once

#include <string>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/state.h"

namespace shiplog::recorder {

// Related objects: a Work, its binding, and the template of both. Null: it was removed.

const Value& template_of(const State& state, const Value& binding);
const Value& binding_of_work(const State& state, const Value& work);
/// By the Work's binding; of a Work without one (a namespace's), what its manifest is a copy of.
const Value& template_of_work(const State& state, const Value& work);

/// "default/web", and "web" of what lies in no namespace.
std::string place_of(const Value& object);

}  // namespace shiplog::recorder
