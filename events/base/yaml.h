#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog {

/// Reads every document of a YAML stream as JSON values, with the scalar rules of Kubernetes' reader (plain true/false,
/// null, numbers; anything quoted is a string). Empty documents are left out. Error: kBadRequest with line and column.
Result<std::vector<Value>> parse_yaml_stream(std::string_view text);
/// Exactly one document. Error: kBadRequest when there are none or several.
Result<Value> parse_yaml(std::string_view text);
/// Block style, keys sorted, as kubectl -o yaml prints.
std::string to_yaml(const Value& value);

}  // namespace shiplog
