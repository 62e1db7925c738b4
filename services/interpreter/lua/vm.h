#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"

/// Runs one function of a Lua 5.1 script on JSON values, in a state that is discarded afterwards: nothing leaks from
/// one call to the next (L-13 to L-16).
namespace shiplog::interpreter::lua {

/// The functions available to a script: the libraries table, string and math, os.time and os.date, most of the basic
/// functions, and require("kube"). No files, no code loaded at run time, no metatables.
///
/// A limit on work instead of time, so that every replica and every replay stops at the same instruction. It
/// corresponds to upstream's limit of one second: this many steps (an instruction of the virtual machine, or the work
/// of a library function that takes about the same time) take Lua less than a tenth of that.
inline constexpr int64_t kMostSteps = 4'000'000;
/// Memory limit of a script in bytes, including its arguments.
inline constexpr size_t kMostBytes = size_t{64} << 20;
/// Longest string that a library function accepts or returns (L-13).
inline constexpr size_t kLongestString = 1'000'000;

/// Longest script, in bytes: the parser takes quadratic time for some texts.
inline constexpr size_t kLongestScript = size_t{256} << 10;

enum class Limit { kNone, kSteps, kMemory };

struct Call {
  std::string_view script;
  const char* function = "";     ///< the global function to be called
  std::vector<Value> arguments;  ///< null becomes nil
  size_t results = 1;            ///< further results are dropped, missing ones are null
  /// Determine the meaning of an empty table (L-16): list or map as at the same path in one of these. Without shapes,
  /// or if none of them has the path, an empty table below the top level is omitted; at the top level it is {}.
  std::vector<Value> shapes;
  UtcMillis now;                ///< for os.time and os.date, which are in UTC
  bool* asked_time = nullptr;   ///< set when the script calls one of these
  Limit* exceeded = nullptr;    ///< set with kTooLarge: which limit
  bool priority_class = false;  ///< accuratePodRequirements names it (L-6)
};

/// The results. Whole numbers become integers. An integer too large for Lua's numbers (2^53) is preserved if the script
/// returns the one it was given; a result that would have lost digits is an error. Errors: kInvalid with the script's
/// line ("luaScript:3: ..."): it does not parse, has no such function, failed, or returned a value that JSON cannot
/// represent; kTooLarge: it exceeded kMostSteps or kMostBytes.
Result<std::vector<Value>> run(const Call& call);

/// kInvalid with line and cause if the script is not valid Lua 5.1.
Result<void> check(std::string_view script);

}  // namespace shiplog::interpreter::lua
