#pragma once

#include <ostream>

#include <gtest/gtest.h>

#include "tests/crash/control_plane.h"

namespace shiplog::crash {

/// Processes that are killed and frozen, on any journal: a program names its backends with
/// INSTANTIATE_TEST_SUITE_P(Name, Kill, ::testing::Values(...), backend_name) and lists kill_suite.cc.
class Kill : public ::testing::TestWithParam<JournalUnderTestFactory> {};

inline void PrintTo(const JournalUnderTestFactory& backend, std::ostream* stream) { *stream << backend.name; }
inline std::string backend_name(const ::testing::TestParamInfo<JournalUnderTestFactory>& info) {
  return info.param.name;
}

}  // namespace shiplog::crash
