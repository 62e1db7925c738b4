#pragma once

#include <optional>
#include <string_view>

#include "events/base/value.h"

namespace shiplog {

/// What a plain (unquoted) YAML scalar means to Kubernetes' reader: null, a boolean (yes/no/on/off included), a number,
/// or, for most text, a string. Nothing when the text stands for what JSON cannot hold (infinity, NaN).
/// Source: sigs.k8s.io/yaml, whose reader is go-yaml v2 followed by Go's JSON writer, so 1.0 is the integer 1.
std::optional<Value> resolve_yaml_scalar(std::string_view text);

/// True for text that must be quoted to be read as a string: what resolves to something else, here or in other readers
/// (dates, base-60 numbers, merge keys).
bool yaml_needs_quotes(std::string_view text);

}  // namespace shiplog
