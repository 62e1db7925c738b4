#pragma once

#include <cstdlib>
#include <utility>

#include <gtest/gtest.h>

#include "events/base/result.h"

namespace shiplog {

/// The value of a result that must have one; prints the error otherwise.
template <class T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return std::move(result).value();
}
inline void must(const Result<void>& result) { ASSERT_TRUE(result) << result.error().message; }

}  // namespace shiplog
