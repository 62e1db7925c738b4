#pragma once

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "services/interpreter/interpreter.h"

namespace shiplog::interpreter::testing {

inline constexpr UtcMillis kNoon{1'767'268'800'000};  // 2026-01-01T12:00:00Z

/// An object, as people write it; it fails the test when it does not parse.
inline Value yaml(std::string_view text) {
  const auto parsed = parse_yaml(text);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message) << "\n" << text;
  return parsed ? parsed.value() : Value{};
}

}  // namespace shiplog::interpreter::testing
