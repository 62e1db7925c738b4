#pragma once

#include "events/base/value.h"
#include "services/cel/cel_type.h"
#include "services/cel/cel_value.h"

namespace shiplog::cel {

/// JSON without a schema: whole numbers are int, other numbers double, objects maps. Shares the content of `json`.
CelValue from_json(const Value& json);

/// JSON of a schema's type. Objects, lists and maps look at their items when these are read. What does not have the
/// type gives an error value, as upstream does.
CelValue from_json(const Value& json, const CelField& field);

/// What it costs at most to compare the JSON with other JSON.
uint64_t json_comparison_cost(const Value& json);

}  // namespace shiplog::cel
