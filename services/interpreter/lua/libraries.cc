#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cmath>
#include <string>
#include <string_view>

#include <lua.hpp>

#include "services/interpreter/lua/context.h"
#include "services/interpreter/lua/vm.h"

// The basic functions and the libraries table, math and os (L-13), without functions that access anything outside the
// script, load code, or give different results on each run.
namespace shiplog::interpreter::lua {
namespace {

constexpr const char* kForbidden[] = {"collectgarbage", "dofile",       "getfenv",  "getmetatable", "load",
                                      "loadfile",       "loadstring",   "rawequal", "rawget",       "rawset",
                                      "setfenv",        "setmetatable", "module",   "newproxy",     "gcinfo"};

constexpr int kMostUnpacked = 1000;

int forbidden(lua_State* state) {
  return luaL_error(state, "%s is not there for interpreter scripts", lua_tostring(state, lua_upvalueindex(1)));
}

/// A script's print output is discarded: decisions have no side effects.
int print(lua_State* /*state*/) { return 0; }

/// Only keys with a deterministic order: tables and functions as keys would be ordered by address.
int next(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_settop(state, 2);
  const double before = lua_type(state, 2) == LUA_TNUMBER ? lua_tonumber(state, 2) : 0;
  if (lua_next(state, 1) == 0) {
    lua_pushnil(state);
    return 1;
  }
  const int key = lua_type(state, -2);
  if (key != LUA_TSTRING && key != LUA_TNUMBER && key != LUA_TBOOLEAN) {
    luaL_error(state, "a table with a %s as key has no order", lua_typename(state, key));
  }
  if (key == LUA_TNUMBER) {  // the iteration has passed the empty slots of a list
    const double gap = lua_tonumber(state, -2) - before;
    if (gap > 1 && gap < static_cast<double>(kMostSteps)) charge(state, static_cast<int64_t>(gap / 4));
  }
  return 2;
}

int pairs(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_pushvalue(state, 1);
  lua_pushnil(state);
  return 3;
}

int tostring(lua_State* state) {
  luaL_checkany(state, 1);
  push_as_text(state, 1);
  return 1;
}

int require(lua_State* state) {
  const char* name = luaL_checkstring(state, 1);
  lua_getfield(state, lua_upvalueindex(1), name);
  if (!lua_isnil(state, -1)) return 1;
  lua_getfield(state, lua_upvalueindex(2), name);
  if (lua_isnil(state, -1)) return luaL_error(state, "module '%s' is not there: only kube can be required", name);
  lua_pushvalue(state, 1);
  lua_call(state, 1, 1);
  if (lua_isnil(state, -1)) {
    lua_pop(state, 1);
    lua_pushboolean(state, 1);
  }
  lua_pushvalue(state, -1);
  lua_setfield(state, lua_upvalueindex(1), name);
  return 1;
}

int load_kube(lua_State* state) {
  open_kube(state);
  return 1;
}

void open_package(lua_State* state) {
  lua_createtable(state, 0, 2);
  lua_createtable(state, 0, 1);  // loaded
  lua_createtable(state, 0, 1);  // preload
  lua_pushcfunction(state, load_kube);
  lua_setfield(state, -2, "kube");
  lua_pushvalue(state, -2);
  lua_pushvalue(state, -2);
  lua_pushcclosure(state, require, 2);
  lua_setglobal(state, "require");
  lua_setfield(state, -3, "preload");
  lua_setfield(state, -2, "loaded");
  lua_setglobal(state, "package");
}

/// tonumber reads the whole string.
int to_number(lua_State* state) {
  if (lua_type(state, 1) == LUA_TSTRING) {
    const size_t length = lua_objlen(state, 1);
    if (length > kLongestString) return luaL_error(state, "a string of %d bytes is too long", static_cast<int>(length));
    charge(state, static_cast<int64_t>(length / 4));
  }
  // Called directly, not through Lua, so that its messages name the script's line.
  return lua_tocfunction(state, lua_upvalueindex(1))(state);
}

/// unpack(list [, from [, to]]).
int unpack(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  const double from = luaL_optnumber(state, 2, 1);
  const double to = luaL_optnumber(state, 3, static_cast<double>(lua_objlen(state, 1)));
  if (!(to - from < kMostUnpacked && std::abs(from) < INT_MAX && std::abs(to) < INT_MAX)) {
    return luaL_error(state, "too many results to unpack");
  }
  if (to >= from) charge(state, 2 * static_cast<int64_t>(to - from));
  return lua_tocfunction(state, lua_upvalueindex(1))(state);
}

/// select and assert return all their arguments.
int by_arguments(lua_State* state) {
  charge(state, lua_gettop(state));
  return lua_tocfunction(state, lua_upvalueindex(1))(state);
}

/// The end of a protected call. A caught error costs far more than an instruction. That the script has been stopped
/// cannot be caught.
int end_protected(lua_State* state, int status) {
  if (context_of(state).exhausted) return lua_error(state);
  lua_pushboolean(state, status == 0 ? 1 : 0);
  lua_insert(state, 1);
  return lua_gettop(state);
}

int protected_call(lua_State* state) {
  luaL_checkany(state, 1);
  charge(state, 100 + lua_gettop(state));
  return end_protected(state, lua_pcall(state, lua_gettop(state) - 1, LUA_MULTRET, 0));
}

/// xpcall(function, handler). Lua would run the handler where the error was raised and, if that was in the counting
/// hook, without counting. So it is run afterwards; it can observe no difference, as there is no debug library.
int protected_call_with_handler(lua_State* state) {
  luaL_checkany(state, 2);
  charge(state, 100);
  lua_settop(state, 2);
  lua_insert(state, 1);
  const int status = lua_pcall(state, 0, LUA_MULTRET, 0);
  if (status == 0 || context_of(state).exhausted) {
    if (status == 0) lua_remove(state, 1);
    return end_protected(state, status);
  }
  if (lua_pcall(state, 1, 1, 0) != 0 && !context_of(state).exhausted) {
    lua_pushliteral(state, "error in error handling");
    lua_replace(state, 1);
  }
  return end_protected(state, status);
}

uint64_t next_random(LuaContext& context) {
  context.random ^= context.random << 13U;
  context.random ^= context.random >> 7U;
  context.random ^= context.random << 17U;
  return context.random;
}

/// From a fixed seed: deterministic, and the same in each call.
int random(lua_State* state) {
  const double unit = static_cast<double>(next_random(context_of(state)) >> 11U) * 0x1p-53;
  const int arguments = lua_gettop(state);
  if (arguments == 0) {
    lua_pushnumber(state, unit);
    return 1;
  }
  const double low = arguments == 1 ? 1 : luaL_checknumber(state, 1);
  const double high = luaL_checknumber(state, arguments == 1 ? 1 : 2);
  if (low > high) return luaL_argerror(state, arguments, "interval is empty");
  lua_pushnumber(state, std::floor(unit * (high - low + 1)) + low);
  return 1;
}

int random_seed(lua_State* state) {
  const auto seed = std::bit_cast<uint64_t>(luaL_checknumber(state, 1));
  context_of(state).random = seed == 0 ? 1 : seed;
  return 0;
}

/// The components of a point in time, in UTC.
struct Date {
  int64_t year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0, weekday = 0, yearday = 1;
};

int64_t days_before(int64_t year, int64_t month, int64_t day) {
  // Years that begin in March: the leap day is their last. After "days from civil".
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t of_era = year - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

Date date_of(int64_t seconds) {
  int64_t days = seconds / 86400;
  int64_t rest = seconds % 86400;
  if (rest < 0) {
    rest += 86400;
    --days;
  }
  Date date;
  date.hour = rest / 3600;
  date.minute = rest / 60 % 60;
  date.second = rest % 60;
  date.weekday = ((days + 4) % 7 + 7) % 7;
  date.year = 1970 + days / 366;
  if (days < 0) date.year = 1969 + days / 365;
  while (days_before(date.year + 1, 1, 1) <= days) ++date.year;
  while (days_before(date.year, 1, 1) > days) --date.year;
  date.yearday = days - days_before(date.year, 1, 1) + 1;
  while (date.month < 12 && days_before(date.year, date.month + 1, 1) <= days) ++date.month;
  date.day = days - days_before(date.year, date.month, 1) + 1;
  return date;
}

constexpr size_t kLongestFormat = 256;
constexpr std::array<const char*, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                              "Thursday", "Friday", "Saturday"};
constexpr std::array<const char*, 12> kMonths = {"January", "February", "March",     "April",   "May",      "June",
                                                 "July",    "August",   "September", "October", "November", "December"};

std::string padded(int64_t number, size_t width) {
  std::string digits = std::to_string(number);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

std::string formatted(const Date& date, std::string_view format);

std::string_view abbreviated(const char* name) { return std::string_view{name}.substr(0, 3); }

using Conversion = std::string (*)(const Date& date);
constexpr std::pair<char, Conversion> kConversions[] = {
    {'Y', [](const Date& date) { return std::to_string(date.year); }},
    {'y', [](const Date& date) { return padded(date.year % 100, 2); }},
    {'m', [](const Date& date) { return padded(date.month, 2); }},
    {'d', [](const Date& date) { return padded(date.day, 2); }},
    {'H', [](const Date& date) { return padded(date.hour, 2); }},
    {'I', [](const Date& date) { return padded(date.hour % 12 == 0 ? 12 : date.hour % 12, 2); }},
    {'M', [](const Date& date) { return padded(date.minute, 2); }},
    {'S', [](const Date& date) { return padded(date.second, 2); }},
    {'p', [](const Date& date) { return std::string{date.hour < 12 ? "AM" : "PM"}; }},
    {'j', [](const Date& date) { return padded(date.yearday, 3); }},
    {'w', [](const Date& date) { return std::to_string(date.weekday); }},
    {'a', [](const Date& date) { return std::string{abbreviated(kDays[static_cast<size_t>(date.weekday)])}; }},
    {'A', [](const Date& date) { return std::string{kDays[static_cast<size_t>(date.weekday)]}; }},
    {'b', [](const Date& date) { return std::string{abbreviated(kMonths[static_cast<size_t>(date.month - 1)])}; }},
    {'B', [](const Date& date) { return std::string{kMonths[static_cast<size_t>(date.month - 1)]}; }},
    {'F', [](const Date& date) { return formatted(date, "%Y-%m-%d"); }},
    {'T', [](const Date& date) { return formatted(date, "%H:%M:%S"); }},
    {'X', [](const Date& date) { return formatted(date, "%H:%M:%S"); }},
    {'x', [](const Date& date) { return formatted(date, "%m/%d/%y"); }},
    {'c', [](const Date& date) { return formatted(date, "%a %b %d %H:%M:%S %Y"); }},
    {'z', [](const Date&) { return std::string{"+0000"}; }},
    {'Z', [](const Date&) { return std::string{"UTC"}; }},
    {'%', [](const Date&) { return std::string{"%"}; }}};

/// As strftime of the C locale; unknown conversions stay as they are.
std::string formatted(const Date& date, std::string_view format) {
  std::string out;
  for (size_t index = 0; index < format.size(); ++index) {
    if (format[index] != '%' || index + 1 == format.size()) {
      out += format[index];
      continue;
    }
    const char letter = format[++index];
    const auto* const conversion = std::ranges::find(kConversions, letter, &std::pair<char, Conversion>::first);
    out += conversion == std::end(kConversions) ? std::string{'%', letter} : conversion->second(date);
  }
  return out;
}

int64_t now_of(lua_State* state) {
  context_of(state).asked_time = true;
  return context_of(state).now.value / 1000;
}

int64_t field_of(lua_State* state, const char* name, int64_t fallback) {
  lua_getfield(state, 1, name);
  if (lua_isnil(state, -1) && fallback < 0) luaL_error(state, "field '%s' missing in date table", name);
  const double given = lua_tonumber(state, -1);
  if (!(std::abs(given) < 1e9)) luaL_error(state, "field '%s' is out of range in date table", name);
  const auto value = lua_isnil(state, -1) ? fallback : static_cast<int64_t>(given);
  lua_pop(state, 1);
  return value;
}

int os_time(lua_State* state) {
  if (lua_isnoneornil(state, 1)) {
    lua_pushnumber(state, static_cast<double>(now_of(state)));
    return 1;
  }
  luaL_checktype(state, 1, LUA_TTABLE);
  const int64_t year = field_of(state, "year", -1);
  const int64_t month = std::clamp<int64_t>(field_of(state, "month", -1), 1, 12);
  const int64_t day = field_of(state, "day", -1);
  const int64_t seconds = days_before(year, month, day) * 86400 + field_of(state, "hour", 12) * 3600 +
                          field_of(state, "min", 0) * 60 + field_of(state, "sec", 0);
  lua_pushnumber(state, static_cast<double>(seconds));
  return 1;
}

int os_date(lua_State* state) {
  std::string_view format = luaL_optstring(state, 1, "%c");
  if (format.size() > kLongestFormat) return luaL_argerror(state, 1, "too long");
  charge(state, 100 + 100 * static_cast<int64_t>(format.size()));
  const double when = luaL_optnumber(state, 2, static_cast<double>(now_of(state)));
  if (!(std::abs(when) < 1e12)) return luaL_argerror(state, 2, "not a date");
  const Date date = date_of(static_cast<int64_t>(std::floor(when)));
  if (format.starts_with('!')) format.remove_prefix(1);
  if (!format.starts_with("*t")) {
    const std::string text = formatted(date, format);
    lua_pushlstring(state, text.data(), text.size());
    return 1;
  }
  lua_createtable(state, 0, 9);
  const auto set = [&](const char* name, int64_t value) {
    lua_pushnumber(state, static_cast<double>(value));
    lua_setfield(state, -2, name);
  };
  set("year", date.year);
  set("month", date.month);
  set("day", date.day);
  set("hour", date.hour);
  set("min", date.minute);
  set("sec", date.second);
  set("wday", date.weekday + 1);
  set("yday", date.yearday);
  lua_pushboolean(state, 0);
  lua_setfield(state, -2, "isdst");
  return 1;
}

void open(lua_State* state, lua_CFunction library, const char* name) {
  lua_pushcfunction(state, library);
  lua_pushstring(state, name);
  lua_call(state, 1, 0);
}

}  // namespace

void push_as_text(lua_State* state, int index) {
  switch (lua_type(state, index)) {
    case LUA_TNIL:
      lua_pushliteral(state, "nil");
      break;
    case LUA_TBOOLEAN:
      lua_pushstring(state, lua_toboolean(state, index) != 0 ? "true" : "false");
      break;
    case LUA_TNUMBER:
    case LUA_TSTRING:
      lua_pushvalue(state, index);
      lua_tostring(state, -1);
      break;
    default:
      lua_pushstring(state, luaL_typename(state, index));
      break;
  }
}

void open_base(lua_State* state) {
  open(state, luaopen_base, "");
  for (const char* name : kForbidden) {
    lua_pushstring(state, name);
    lua_pushcclosure(state, forbidden, 1);
    lua_setglobal(state, name);
  }
  lua_pushnil(state);
  lua_setglobal(state, "coroutine");
  lua_register(state, "print", print);
  lua_register(state, "tostring", tostring);
  lua_pushcfunction(state, next);
  lua_pushvalue(state, -1);
  lua_setglobal(state, "next");
  lua_pushcclosure(state, pairs, 1);
  lua_setglobal(state, "pairs");
  const auto wrap = [&](const char* name, lua_CFunction with) {
    lua_getglobal(state, name);
    lua_pushcclosure(state, with, 1);
    lua_setglobal(state, name);
  };
  wrap("unpack", unpack);
  wrap("tonumber", to_number);
  wrap("select", by_arguments);
  wrap("assert", by_arguments);
  lua_register(state, "pcall", protected_call);
  lua_register(state, "xpcall", protected_call_with_handler);
  open_package(state);
}

void open_math(lua_State* state) {
  open(state, luaopen_math, LUA_MATHLIBNAME);
  lua_getglobal(state, LUA_MATHLIBNAME);
  lua_pushcfunction(state, random);
  lua_setfield(state, -2, "random");
  lua_pushcfunction(state, random_seed);
  lua_setfield(state, -2, "randomseed");
  lua_pop(state, 1);
}

void open_os(lua_State* state) {
  lua_createtable(state, 0, 2);
  lua_pushcfunction(state, os_time);
  lua_setfield(state, -2, "time");
  lua_pushcfunction(state, os_date);
  lua_setfield(state, -2, "date");
  lua_setglobal(state, LUA_OSLIBNAME);
}

}  // namespace shiplog::interpreter::lua
