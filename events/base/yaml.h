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
/// Exactly one document. Keys that stand twice in one object are an error; but the last one wins when `duplicates` is
/// given, which then gets a text about each, as Kubernetes' reader writes it: `line 3: key "a" already set in map`.
/// Error: kBadRequest, also when there are none or several documents.
Result<Value> parse_yaml(std::string_view text, std::vector<std::string>* duplicates = nullptr);
/// Block style, keys sorted, as kubectl -o yaml prints.
std::string to_yaml(const Value& value);

}  // namespace shiplog
