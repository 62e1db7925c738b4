#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "services/cel/cel_libraries.h"
#include "services/cel/program.h"

// For tests: each expression is true, or ends in an error with this text. Most of them are in the tests of cel-go and
// of k8s.io/apiserver/pkg/cel/library.

namespace shiplog::cel {

struct LibrarySample {
  const char* expression;
  const char* error;
};

inline std::string outcome_of(const std::string& expression) {
  const auto program = CelProgram::compile(expression, {&kubernetes_functions(), {}});
  if (!program) return program.error().message;
  CelMeter meter{1'000'000};
  const CelValue value = program.value().evaluate({}, meter);
  if (value.is_error()) return value.error_message();
  return value.is(CelValue::Kind::kBool) && value.as_bool() ? "" : "not true";
}

inline void expect_outcomes(const std::vector<LibrarySample>& samples) {
  for (const LibrarySample& sample : samples) {
    const std::string outcome = outcome_of(sample.expression);
    const std::string error = sample.error;
    if (error.empty()) {
      EXPECT_EQ(outcome, "") << sample.expression;
    } else {
      EXPECT_NE(outcome.find(error), std::string::npos) << sample.expression << ": " << outcome;
    }
  }
}

}  // namespace shiplog::cel
