#include <algorithm>
#include <string>
#include <string_view>

#include <lua.hpp>

#include "services/interpreter/lua/context.h"
#include "services/interpreter/lua/pattern.h"
#include "services/interpreter/lua/vm.h"

// The library string: Lua's own functions where they are fast, our own where a pattern is matched.
namespace shiplog::interpreter::lua {
namespace {

constexpr int kMostBytesAtOnce = 1000;

void too_long(lua_State* state, size_t length) {
  if (length > kLongestString) luaL_error(state, "a string of more than %d bytes is too long", int{kLongestString});
}

std::string_view text_of(lua_State* state, int index) {
  size_t length = 0;
  const char* text = luaL_checklstring(state, index, &length);
  too_long(state, length);
  return {text, length};
}

/// Functions that traverse a string byte by byte are charged for its length.
int metered(lua_State* state) {
  int64_t cost = 20 + lua_gettop(state);
  for (int index = lua_gettop(state); index > 0; --index) {
    if (lua_type(state, index) != LUA_TSTRING) continue;
    too_long(state, lua_objlen(state, index));
    cost += static_cast<int64_t>(lua_objlen(state, index) / 16);
  }
  charge(state, cost);
  return lua_tocfunction(state, lua_upvalueindex(1))(state);
}

/// string.format, with "%s" for every type as in gopher-lua and in later versions of Lua: that of 5.1 takes strings and
/// numbers only.
int format(lua_State* state) {
  const std::string_view form = text_of(state, 1);
  charge(state, static_cast<int64_t>(form.size() / 4));
  int argument = 1;
  for (size_t at = form.find('%'); at < form.size(); at = form.find('%', at + 1)) {
    at = form.find_first_not_of("-+ #.0123456789", at + 1);
    if (at >= form.size()) break;
    if (form[at] == '%') continue;
    if (++argument > lua_gettop(state)) break;
    if (form[at] != 's' || lua_isstring(state, argument) != 0) continue;
    push_as_text(state, argument);
    lua_replace(state, argument);
  }
  return metered(state);
}

/// string.byte(text [, from [, to]]) returns a number for each byte.
int bytes(lua_State* state) {
  const std::string_view text = text_of(state, 1);
  const auto size = static_cast<double>(text.size());
  const auto place = [&](int argument, double otherwise) {
    const double given = luaL_optnumber(state, argument, otherwise);
    return given < 0 ? size + given + 1 : given;
  };
  const double from = std::max(place(2, 1), 1.0);
  const double to = std::min(place(3, from), size);
  if (!(from <= to)) return 0;
  if (to - from >= kMostBytesAtOnce) return luaL_error(state, "string slice too long");
  const auto count = static_cast<int>(to - from) + 1;
  charge(state, 2 * int64_t{count});
  luaL_checkstack(state, count, "string slice too long");
  const size_t first = static_cast<size_t>(from) - 1;
  for (const char c : text.substr(first, static_cast<size_t>(count))) {
    lua_pushinteger(state, static_cast<unsigned char>(c));
  }
  return count;
}

int repeat(lua_State* state) {
  const std::string_view text = text_of(state, 1);
  const double times = luaL_checknumber(state, 2);
  std::string out;
  if (!text.empty() && times >= 1) {
    if (static_cast<double>(text.size()) * times > double{kLongestString}) too_long(state, kLongestString + 1);
    charge(state,
           static_cast<int64_t>(times) / 4 + static_cast<int64_t>(text.size() * static_cast<size_t>(times) / 16));
    for (auto left = static_cast<int64_t>(times); left > 0; --left) out += text;
  }
  lua_pushlstring(state, out.data(), out.size());
  return 1;
}

/// The start of a search from a Lua position: counted from 1, negative from the end.
size_t start_of(lua_State* state, int index, size_t length) {
  const auto given = static_cast<int64_t>(luaL_optnumber(state, index, 1));
  const auto size = static_cast<int64_t>(length);
  const int64_t start = given < 0 ? std::max<int64_t>(size + given, 0) : std::max<int64_t>(given - 1, 0);
  return static_cast<size_t>(std::min(start, size));
}

/// Runs a matching function and converts its exceptions into errors of the script.
template <class Body>
int guarded(lua_State* state, Body body) {
  std::string why;
  try {
    return body();
  } catch (const Pattern::Malformed& malformed) {
    why = malformed.why;
  } catch (const Pattern::TooLong&) {
    charge(state, 1);
  }
  return luaL_error(state, "%s", why.c_str());
}

void push_text(lua_State* state, std::string_view text) {
  charge(state, static_cast<int64_t>(text.size() / 64));  // a string that exists already is not allocated
  lua_pushlstring(state, text.data(), text.size());
}

void push_capture(lua_State* state, std::string_view text, const Pattern& pattern, size_t index) {
  const Pattern::Capture& capture = pattern.capture(index);
  switch (capture.kind) {
    case Pattern::Capture::Kind::kPosition:
      return lua_pushnumber(state, static_cast<double>(capture.at + 1));
    case Pattern::Capture::Kind::kText:
      return push_text(state, text.substr(capture.at, capture.length));
    case Pattern::Capture::Kind::kOpen:
      break;
  }
  throw Pattern::Malformed{"unfinished capture"};
}

/// All captures, or the whole match if there are none and `whole` is set.
int push_captures(lua_State* state, std::string_view text, const Pattern& pattern, size_t from, size_t to, bool whole) {
  if (pattern.captures() == 0) {
    if (!whole) return 0;
    push_text(state, text.substr(from, to - from));
    return 1;
  }
  luaL_checkstack(state, static_cast<int>(pattern.captures()), "too many captures");
  for (size_t index = 0; index < pattern.captures(); ++index) push_capture(state, text, pattern, index);
  return static_cast<int>(pattern.captures());
}

int search(lua_State* state, bool find) {
  const std::string_view text = text_of(state, 1);
  const std::string_view pattern = text_of(state, 2);
  size_t at = start_of(state, 3, text.size());
  const bool plain = find && (lua_toboolean(state, 4) != 0 || pattern.find_first_of("^$*+?.([%-") == pattern.npos);
  if (plain) {
    // In the worst case every position is compared with nearly all of the pattern.
    const size_t left = text.size() - at;
    charge(state, static_cast<int64_t>(left / 32 + left * std::min(pattern.size(), left) / 256));
    const size_t found = text.find(pattern, at);
    if (found == std::string_view::npos) {
      lua_pushnil(state);
      return 1;
    }
    lua_pushnumber(state, static_cast<double>(found + 1));
    lua_pushnumber(state, static_cast<double>(found + pattern.size()));
    return 2;
  }
  return guarded(state, [&] {
    const bool anchored = pattern.starts_with('^');
    Pattern matcher{text, pattern, context_of(state).steps};
    do {
      charge(state, 1);
      const size_t end = matcher.match(at, anchored ? 1 : 0);
      if (end == Pattern::kNoMatch) continue;
      if (!find) return push_captures(state, text, matcher, at, end, true);
      lua_pushnumber(state, static_cast<double>(at + 1));
      lua_pushnumber(state, static_cast<double>(end));
      return 2 + push_captures(state, text, matcher, at, end, false);
    } while (++at <= text.size() && !anchored);
    lua_pushnil(state);
    return 1;
  });
}

int find(lua_State* state) { return search(state, true); }
int match(lua_State* state) { return search(state, false); }

/// Upvalues: text, pattern, position to continue from.
int next_match(lua_State* state) {
  const std::string_view text = text_of(state, lua_upvalueindex(1));
  const std::string_view pattern = text_of(state, lua_upvalueindex(2));
  return guarded(state, [&] {
    Pattern matcher{text, pattern, context_of(state).steps};
    for (auto at = static_cast<size_t>(lua_tonumber(state, lua_upvalueindex(3))); at <= text.size(); ++at) {
      const size_t end = matcher.match(at);
      if (end == Pattern::kNoMatch) continue;
      lua_pushnumber(state, static_cast<double>(end == at ? end + 1 : end));  // an empty match advances by one
      lua_replace(state, lua_upvalueindex(3));
      return push_captures(state, text, matcher, at, end, true);
    }
    return 0;
  });
}

int all_matches(lua_State* state) {
  text_of(state, 1);
  text_of(state, 2);
  lua_settop(state, 2);
  lua_pushnumber(state, 0);
  lua_pushcclosure(state, next_match, 3);
  return 1;
}

/// The replacement of a match, appended to `out`. The third argument is a string with %1 etc., a table or a function;
/// nil and false leave the match unchanged.
void replace(lua_State* state, std::string& out, std::string_view text, const Pattern& matcher, size_t from,
             size_t to) {
  if (lua_type(state, 3) == LUA_TSTRING || lua_type(state, 3) == LUA_TNUMBER) {
    const std::string_view form = text_of(state, 3);
    charge(state, static_cast<int64_t>(form.size() / 4));
    for (size_t at = 0; at < form.size(); ++at) {
      if (form[at] != '%') {
        out += form[at];
        continue;
      }
      const char letter = ++at < form.size() ? form[at] : '%';
      if (letter < '0' || letter > '9') {
        out += letter;
      } else if (letter == '0' || (letter == '1' && matcher.captures() == 0)) {
        out += text.substr(from, to - from);
      } else {
        const auto index = static_cast<size_t>(letter - '1');
        if (index >= matcher.captures()) throw Pattern::Malformed{"invalid capture index"};
        push_capture(state, text, matcher, index);
        out += text_of(state, -1);
        lua_pop(state, 1);
      }
    }
    return;
  }
  const int top = lua_gettop(state);
  if (lua_type(state, 3) == LUA_TFUNCTION) {
    lua_pushvalue(state, 3);
    const int captures = push_captures(state, text, matcher, from, to, true);
    lua_call(state, captures, 1);
  } else {
    const int captures = push_captures(state, text, matcher, from, to, true);
    lua_settop(state, lua_gettop(state) - captures + 1);  // the first is the key
    lua_gettable(state, 3);
  }
  if (lua_toboolean(state, -1) == 0) {
    out += text.substr(from, to - from);
  } else if (lua_isstring(state, -1) == 0) {
    luaL_error(state, "invalid replacement value (a %s)", luaL_typename(state, -1));
  } else {
    out += text_of(state, -1);
  }
  lua_settop(state, top);
}

int substitute(lua_State* state) {
  const std::string_view text = text_of(state, 1);
  std::string_view pattern = text_of(state, 2);
  const int type = lua_type(state, 3);
  if (type != LUA_TSTRING && type != LUA_TNUMBER && type != LUA_TTABLE && type != LUA_TFUNCTION) {
    return luaL_argerror(state, 3, "string/function/table expected");
  }
  const double most = luaL_optnumber(state, 4, static_cast<double>(text.size() + 1));
  lua_settop(state, 3);
  return guarded(state, [&] {
    const bool anchored = pattern.starts_with('^');
    Pattern matcher{text, pattern, context_of(state).steps};
    std::string out;
    double count = 0;
    size_t at = 0;
    while (count < most) {
      charge(state, 1);
      const size_t end = matcher.match(at, anchored ? 1 : 0);
      if (end != Pattern::kNoMatch) {
        ++count;
        replace(state, out, text, matcher, at, end);
        too_long(state, out.size());
      }
      if (end != Pattern::kNoMatch && end > at) {
        at = end;
      } else if (at < text.size()) {
        out += text[at++];
      } else {
        break;
      }
      if (anchored) break;
    }
    if (at < text.size()) out += text.substr(at);
    too_long(state, out.size());
    push_text(state, out);
    lua_pushnumber(state, count);
    return 2;
  });
}

void set(lua_State* state, const char* name, lua_CFunction function) {
  lua_pushcfunction(state, function);
  lua_setfield(state, -2, name);
}

}  // namespace

void open_string(lua_State* state) {
  lua_pushcfunction(state, luaopen_string);
  lua_pushliteral(state, LUA_STRLIBNAME);
  lua_call(state, 1, 0);
  lua_getglobal(state, LUA_STRLIBNAME);
  for (const char* name : {"char", "format", "len", "lower", "reverse", "sub", "upper"}) {
    lua_getfield(state, -1, name);
    lua_pushcclosure(state, std::string_view{name} == "format" ? format : metered, 1);
    lua_setfield(state, -2, name);
  }
  set(state, "byte", bytes);
  set(state, "rep", repeat);
  set(state, "find", find);
  set(state, "match", match);
  set(state, "gmatch", all_matches);
  set(state, "gfind", all_matches);
  set(state, "gsub", substitute);
  lua_pushnil(state);
  lua_setfield(state, -2, "dump");
  lua_pop(state, 1);
}

}  // namespace shiplog::interpreter::lua
