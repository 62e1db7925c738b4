#pragma once

#include <variant>

#include <gtest/gtest.h>

#include "events/decision.h"

namespace shiplog {

/// The decision in what a decide function has answered; nullptr: nothing is decided. An error or a question fails the
/// test. Valid as long as `decided`.
inline const Decision* decision_of(const Result<Decided>& decided) {
  if (!decided) {
    ADD_FAILURE() << "cannot be decided: " << decided.error().message;
    return nullptr;
  }
  if (const auto* needs = std::get_if<NeedsAnswers>(&decided.value())) {
    ADD_FAILURE() << "needs answers: " << needs->why;
    return nullptr;
  }
  return std::get_if<Decision>(&decided.value());
}

}  // namespace shiplog
