#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/time.h"
#include "events/base/value.h"
#include "services/interpreter/lua/arena.h"

struct lua_State;

// What the parts of the virtual machine's surroundings share. Everything that says "raises" leaves as a Lua error,
// which is a C++ exception here (the library is Debian's C++ build), so destructors run.
namespace shiplog::interpreter::lua {

/// Instructions between two looks at what is left.
inline constexpr int kHookEvery = 1000;

/// What one call may still use, and what it was given. The state's allocator holds it.
struct Context {
  Arena arena;
  int64_t steps = 0;  ///< left
  size_t bytes = 0;   ///< held
  /// Of these, what one instruction may have to go through: strings, lists and the stack.
  size_t string_bytes = 0, list_bytes = 0, stack_bytes = 0;
  const void* stack = nullptr;    ///< Lua's stack of values
  std::set<const void*> strings;  ///< the blocks counted as strings
  bool pushing_table = false;     ///< a new block is a table's
  int hook_every = kHookEvery;    ///< instructions; only ever made smaller
  lua_State* state = nullptr;     ///< once there is one
  bool exhausted = false;         ///< the steps are used up: everything raises from here on
  bool out_of_memory = false;
  UtcMillis now;
  bool asked_time = false;
  uint64_t random = 0x9e3779b97f4a7c15U;  ///< math.random's: the same in each call
  /// Numbers beyond 2^53 among the arguments: what they stood for; null when different integers did.
  std::map<double, Value> large;
  /// How many of the long strings among the arguments have the same hash in Lua: see charge_hash().
  std::map<uint32_t, int64_t> hashes;
  std::vector<Value> shapes;
};

Context& context_of(lua_State* state);
/// Raises when there are no more steps.
void charge(lua_State* state, int64_t steps);
/// Lua finds equal strings by a hash over some of their characters, without a seed. Whoever chooses strings that differ
/// only in the others makes each new one as slow as there are strings; so that is what each costs. Of arguments, which
/// anybody may have written; a script that makes such strings itself is stopped by the clock. Raises as charge().
void charge_hash(lua_State* state, std::string_view text);

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
