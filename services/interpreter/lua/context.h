#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/hash.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/interpreter/lua/arena.h"

struct lua_State;

// State and functions shared by the parts of the virtual machine's environment. A function that "raises" exits with a
// Lua error, which is a C++ exception here (the library is Debian's C++ build), so destructors run.
namespace shiplog::interpreter::lua {

/// Instructions between two checks of the remaining steps.
inline constexpr int kHookEvery = 1000;

/// The limits and arguments of one call. Reachable through the state's allocator.
struct LuaContext {
  Arena arena;
  int64_t steps = 0;  ///< remaining
  size_t bytes = 0;   ///< allocated
  /// The part of these bytes that one instruction may have to traverse: strings, lists and the stack.
  size_t string_bytes = 0, list_bytes = 0, stack_bytes = 0;
  const void* stack = nullptr;    ///< Lua's stack of values
  std::set<const void*> strings;  ///< the blocks counted as strings
  bool pushing_table = false;     ///< a new block is a table's
  int hook_every = kHookEvery;    ///< instructions; only ever reduced
  lua_State* state = nullptr;     ///< set once it exists
  bool exhausted = false;         ///< the steps are used up: everything raises from here on
  bool out_of_memory = false;
  UtcMillis now;
  bool asked_time = false;
  bool priority_class = false;            ///< as in Call
  uint64_t random = 0x9e3779b97f4a7c15U;  ///< math.random's: the same in each call
  /// Numbers beyond 2^53 among the arguments, with their exact values; null if several integers map to the same number.
  std::map<double, Value> large;
  /// The different long strings among the arguments, by their hash in Lua: see charge_hash().
  std::map<uint32_t, std::set<Hash128>> hashes;
  std::vector<Value> shapes;
};

LuaContext& context_of(lua_State* state);
/// Deducts steps. Raises when none remain.
void charge(lua_State* state, int64_t steps);
/// Lua finds equal strings by an unseeded hash over some of their characters. Strings that differ only in the other
/// characters make the insertion of each one as slow as there are such strings, so each is charged for that. Equal
/// strings are one: what a fleet's clusters report alike costs no more in a larger fleet. This
/// applies to arguments, which any user may supply; a script that creates such strings itself is stopped by its time
/// limit. Raises as charge() does.
void charge_hash(lua_State* state, std::string_view text);

/// Leaves the value on the stack. Raises if out of memory.
void push(lua_State* state, const Value& value);
/// The value at a stack index; empty tables as specified by Call::shapes. Raises for values that JSON cannot represent.
Value pull(lua_State* state, int index);
/// The same without shapes: empty tables below the top level are omitted.
Value pull_unshaped(lua_State* state, int index);

/// Leaves the value at a stack index as text, as tostring returns it: without addresses, which differ on each run.
void push_as_text(lua_State* state, int index);

/// Add the libraries to the globals. Raise if out of memory.
void open_base(lua_State* state);
void open_table(lua_State* state);
void open_string(lua_State* state);
void open_math(lua_State* state);
void open_os(lua_State* state);
/// Leaves the table of require("kube") on the stack.
void open_kube(lua_State* state);

}  // namespace shiplog::interpreter::lua
