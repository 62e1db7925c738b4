#pragma once

#include <string_view>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/yaml.h"

/// Literals of tests. A typo in one fails the test and shows it.
namespace shiplog::test {

inline Value value_or_failure(const Result<Value>& parsed, std::string_view text) {
  if (!parsed) ADD_FAILURE() << parsed.error().message << " in " << text;
  return parsed ? parsed.value() : Value{};
}
inline Value json(std::string_view text) { return value_or_failure(parse_json(text), text); }
inline Value yaml(std::string_view text) { return value_or_failure(parse_yaml(text), text); }

}  // namespace shiplog::test
