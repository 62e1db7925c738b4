#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/value.h"
#include "events/kinds/kinds.h"

/// What the fuzz targets share. A target is a function of any bytes: it must come back, and what it says about them
/// must hold (SHIPLOG_CHECK). Built with SHIPLOG_FUZZ each file is a libFuzzer program of its own; in the ordinary
/// build replay_test.cc runs them all over the checked-in inputs and mutations of these.
namespace shiplog::fuzz {

using Run = void (*)(std::string_view input);
struct Target {
  std::string name;  ///< of its file and of its folder of inputs: "merge_patch"
  Run run;
};

/// All targets of this program.
std::vector<Target>& targets();
struct Registered {
  Registered(const char* name, Run run) { targets().push_back({name, run}); }
};

/// What stands between lines of three dashes: exactly `count` parts, the last ones empty when the input has fewer.
std::vector<std::string_view> parts(std::string_view input, size_t count);

/// Null when the text is no JSON.
Value json_or_null(std::string_view text);

/// Equal, but that 1.0 may have become 1: YAML has no other form of it, as kubectl writes it.
bool same_in_yaml(const Value& a, const Value& b);

/// The kind that the object says it is; a Deployment when there is no such kind.
const Kind& kind_of(const Value& object);

}  // namespace shiplog::fuzz

#ifdef SHIPLOG_FUZZ
/// SHIPLOG_FUZZ_TARGET(name) { ... input ... }
#define SHIPLOG_FUZZ_TARGET(name)                                                            \
  static void name(std::string_view input);                                                  \
  extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, size_t size) {           \
    name(std::string_view{static_cast<const char*>(static_cast<const void*>(bytes)), size}); \
    return 0;                                                                                \
  }                                                                                          \
  static void name(std::string_view input)
#else
#define SHIPLOG_FUZZ_TARGET(name)                                        \
  static void name(std::string_view input);                              \
  static const shiplog::fuzz::Registered name##_registered{#name, name}; \
  static void name(std::string_view input)
#endif
