#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"

/// Runs one function of a Lua 5.1 script on JSON values, in a state of its own that is thrown away afterwards: nothing
/// leaks from one call to the next (L-13 to L-16).
namespace shiplog::interpreter::lua {

/// What a script may use: the libraries table, string and math, os.time and os.date, most of the basic functions, and
/// require("kube"). No files, no code loaded at run time, no metatables.
///
/// A bound on work instead of one on time, so that every replica and every replay stops at the same instruction. It
/// stands for upstream's second: in this many steps (an instruction of the virtual machine, or what a library function
/// does in about the same time) Lua takes less than a tenth of that.
inline constexpr int64_t kMostSteps = 4'000'000;
/// Bytes that a script may hold at once, its arguments included.
inline constexpr size_t kMostBytes = size_t{64} << 20;
/// Longest string that a library function takes or makes (L-13).
inline constexpr size_t kLongestString = 1'000'000;

/// Longest script, in bytes: the parser takes quadratic time for some texts.
inline constexpr size_t kLongestScript = size_t{256} << 10;

struct Call {
  std::string_view script;
  const char* function = "";     ///< the global to be called
  std::vector<Value> arguments;  ///< null becomes nil
  size_t results = 1;            ///< what more it returns is dropped, what less is null
  /// Where an empty table is asked for its meaning (L-16): as it was at the same path in one of these. Without any, or
  /// where none of them has it, an empty table below the top is left out; at the top it is {}.
  std::vector<Value> shapes;
  UtcMillis now;               ///< for os.time and os.date, which are in UTC
  bool* asked_time = nullptr;  ///< set when the script calls one of these
};

/// The results. Numbers that are whole become integers. An integer too large for Lua's numbers (2^53) survives where
/// the script hands on the one it was given; a result that would have lost digits is an error. Errors: kInvalid with
/// the script's line ("luaScript:3: ..."): it does not parse, has no such function, failed, or returned what no JSON
/// can hold; kTooLarge: it went beyond kMostSteps or kMostBytes.
Result<std::vector<Value>> run(const Call& call);

/// kInvalid with line and cause when the script is not Lua 5.1.
Result<void> check(std::string_view script);

}  // namespace shiplog::interpreter::lua
