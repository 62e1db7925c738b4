#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/value.h"
#include "events/kinds/kinds.h"

/// Shared by the fuzz targets. A target is a function of arbitrary bytes: it must return, and its assertions
/// (SHIPLOG_CHECK) must hold. With SHIPLOG_FUZZ each file is built as a libFuzzer program; in the ordinary build
/// replay_test.cc runs all targets with the checked-in inputs and mutations of these.
namespace shiplog::fuzz {

using Run = void (*)(std::string_view input);
struct FuzzTarget {
  std::string name;  ///< of its file and of its folder of inputs: "merge_patch"
  Run run;
};

/// All targets of this program.
std::vector<FuzzTarget>& targets();
struct Registered {
  Registered(const char* name, Run run) { targets().push_back({name, run}); }
};

/// Splits the input at lines of three dashes into exactly `count` parts; the last ones are empty if the input has
/// fewer.
std::vector<std::string_view> parts(std::string_view input, size_t count);

/// Null if the text is not JSON.
Value json_or_null(std::string_view text);

/// Equal, except that 1.0 may have become 1, as in the YAML that kubectl writes.
bool same_in_yaml(const Value& a, const Value& b);

/// The kind of the object; Deployment if the kind does not exist.
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
