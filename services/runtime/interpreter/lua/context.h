#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "events/base/value.h"
#include "services/runtime/interpreter/lua/arena.h"

struct lua_State;

// What the parts of the virtual machine's surroundings share. Everything that says "raises" leaves as a Lua error,
// which is a C++ exception here (the library is Debian's C++ build), so destructors run.
namespace shiplog::interpreter::lua {

/// What one call may still use, and what it was given. The state's allocator holds it.
struct Context {
  Arena arena;
  int64_t steps = 0;       ///< left
  size_t bytes = 0;        ///< held
  size_t large_bytes = 0;  ///< of these, in large blocks
  bool exhausted = false;  ///< the steps are used up: everything raises from here on
  bool out_of_memory = false;
  UtcMillis now;
  uint64_t random = 0x9e3779b97f4a7c15U;  ///< math.random's: the same in each call
  /// Numbers beyond 2^53 among the arguments: what they stood for; null when different integers did.
  std::map<double, Value> large;
  std::vector<Value> shapes;
};

Context& context_of(lua_State* state);
/// Raises when there are no more steps.
void charge(lua_State* state, int64_t steps);

/// Leaves the value on the stack. Raises without memory.
void push(lua_State* state, const Value& value);
/// The value at a stack index; empty tables as Call::shapes says. Raises for what no JSON can hold.
Value pull(lua_State* state, int index);
/// The same where nothing is known of empty tables: below the top they are left out.
Value pull_unshaped(lua_State* state, int index);

/// Put the libraries into the globals. Raise without memory.
void open_base(lua_State* state);
void open_table(lua_State* state);
void open_string(lua_State* state);
void open_math(lua_State* state);
void open_os(lua_State* state);
/// Leaves the table of require("kube") on the stack.
void open_kube(lua_State* state);

}  // namespace shiplog::interpreter::lua
