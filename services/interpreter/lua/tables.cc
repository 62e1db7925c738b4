#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>
#include <string_view>

#include <lua.hpp>

#include "services/interpreter/lua/context.h"
#include "services/interpreter/lua/vm.h"

// The library table. Lua's own functions loop in C, where no instruction is counted: each is charged in advance for the
// elements that it traverses, or replaced if their number is not known in advance.
namespace shiplog::interpreter::lua {
namespace {

constexpr int64_t kComparison = 20;  // steps, for a call of a C function
constexpr int64_t kMostShifted = INT_MAX;

/// A position as Lua's functions read it. Raises for numbers outside 32 bits: converting them is undefined behaviour.
int position(lua_State* state, int argument) {
  const double given = luaL_checknumber(state, argument);
  if (!(std::abs(given) <= static_cast<double>(kMostShifted))) luaL_argerror(state, argument, "not a position");
  return static_cast<int>(given);
}

int length_of(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  return static_cast<int>(lua_objlen(state, 1));
}

int call_own(lua_State* state) { return lua_tocfunction(state, lua_upvalueindex(1))(state); }

/// table.insert(list, [position,] value): the elements from the position on move up by one.
int insert(lua_State* state) {
  const int end = length_of(state) + 1;
  switch (lua_gettop(state)) {
    case 2:
      lua_rawseti(state, 1, end);
      return 0;
    case 3: {
      const int at = position(state, 2);
      if (at < 1) return luaL_argerror(state, 2, "position out of bounds");
      charge(state, 4 * static_cast<int64_t>(std::max(0, end - at)));
      for (int index = end; index > at; --index) {
        lua_rawgeti(state, 1, index - 1);
        lua_rawseti(state, 1, index);
      }
      lua_rawseti(state, 1, at);
      return 0;
    }
    default:
      return luaL_error(state, "wrong number of arguments to 'insert'");
  }
}

int remove(lua_State* state) {
  charge(state, 4 * static_cast<int64_t>(length_of(state)));
  return call_own(state);
}

/// table.concat(list [, separator [, from [, to]]]).
int concat(lua_State* state) {
  const int length = length_of(state);
  const int from = lua_isnoneornil(state, 3) ? 1 : position(state, 3);
  const int to = lua_isnoneornil(state, 4) ? length : position(state, 4);
  size_t separator = 0;
  luaL_optlstring(state, 2, "", &separator);
  if (separator > kLongestString) return luaL_argerror(state, 2, "too long");
  // It ends at the first index without a string, so it traverses at most the existing elements.
  const int64_t items = std::clamp<int64_t>(int64_t{to} - from + 1, 0, kMostSteps);
  charge(state, items * (8 + static_cast<int64_t>(separator / 16)));
  return call_own(state);
}

int greatest_index(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  double greatest = 0;
  for (lua_pushnil(state); lua_next(state, 1) != 0; lua_pop(state, 1)) {
    charge(state, 2);
    if (lua_type(state, -2) == LUA_TNUMBER) greatest = std::max(greatest, lua_tonumber(state, -2));
  }
  lua_pushnumber(state, greatest);
  return 1;
}

/// The comparison function that is passed to Lua's sort. Upvalue: the script's function, or nil.
int counted_less(lua_State* state) {
  int64_t cost = kComparison;
  for (int index = 1; index <= 2; ++index) {
    if (lua_type(state, index) == LUA_TSTRING) cost += static_cast<int64_t>(lua_objlen(state, index) / 64);
  }
  charge(state, cost);
  if (lua_isnil(state, lua_upvalueindex(1))) {
    lua_pushboolean(state, lua_lessthan(state, 1, 2));
    return 1;
  }
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_pushvalue(state, 1);
  lua_pushvalue(state, 2);
  lua_call(state, 2, 1);
  return 1;
}

int sort(lua_State* state) {
  length_of(state);
  if (!lua_isnoneornil(state, 2)) luaL_checktype(state, 2, LUA_TFUNCTION);
  lua_settop(state, 2);
  lua_pushcclosure(state, counted_less, 1);
  return call_own(state);
}

}  // namespace

void open_table(lua_State* state) {
  lua_pushcfunction(state, luaopen_table);
  lua_pushliteral(state, LUA_TABLIBNAME);
  lua_call(state, 1, 0);
  lua_getglobal(state, LUA_TABLIBNAME);
  const auto wrap = [&](const char* name, lua_CFunction with) {
    lua_getfield(state, -1, name);
    lua_pushcclosure(state, with, 1);
    lua_setfield(state, -2, name);
  };
  wrap("insert", insert);
  wrap("remove", remove);
  wrap("concat", concat);
  wrap("maxn", greatest_index);
  wrap("sort", sort);
  for (const char* name :
       {"foreach", "foreachi"}) {  // deprecated in favour of pairs, and without its deterministic order
    lua_pushnil(state);
    lua_setfield(state, -2, name);
  }
  lua_pop(state, 1);
}

}  // namespace shiplog::interpreter::lua
