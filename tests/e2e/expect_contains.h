#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace shiplog::e2e {

/// Fails the test for each of the parts that the text does not contain.
inline void expect_contains(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

}  // namespace shiplog::e2e
