#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>

#include <lua.hpp>

#include "events/base/utf8.h"
#include "services/interpreter/lua/context.h"

// Values to Lua and back.
namespace shiplog::interpreter::lua {
namespace {

constexpr double kExact = 9007199254740992.0;  // 2^53: Lua's numbers represent every integer up to here exactly
constexpr int kDeepest = 200;

void remember_large(LuaContext& context, double number, const Value& given) {
  if (std::abs(number) < kExact) return;
  const auto [known, first] = context.large.try_emplace(number, given);
  if (!first && known->second != given) known->second = Value{};
}

/// A large allocation here is a list or map of the arguments, not a long string.
void create_table(lua_State* state, int items, int members) {
  struct Pushing {
    explicit Pushing(LuaContext& of) : context{of} { context.pushing_table = true; }
    ~Pushing() { context.pushing_table = false; }
    Pushing(const Pushing&) = delete;
    Pushing& operator=(const Pushing&) = delete;
    LuaContext& context;
  };
  const Pushing pushing{context_of(state)};
  lua_createtable(state, items, members);
}

void push_at(lua_State* state, const Value& value, int depth) {
  if (depth > kDeepest) luaL_error(state, "an argument is nested too deeply");
  luaL_checkstack(state, 4, "an argument is nested too deeply");
  switch (value.kind()) {
    case Value::Kind::kNull:
      return lua_pushnil(state);
    case Value::Kind::kBool:
      return lua_pushboolean(state, value.as_bool() ? 1 : 0);
    case Value::Kind::kInt: {
      const auto number = static_cast<double>(value.as_int());
      remember_large(context_of(state), number, value);
      return lua_pushnumber(state, number);
    }
    case Value::Kind::kDouble: {
      const double number = value.as_double();
      remember_large(context_of(state), number, value);
      return lua_pushnumber(state, number);
    }
    case Value::Kind::kString: {
      const std::string_view text = value.as_string();
      charge_hash(state, text);
      return lua_pushlstring(state, text.data(), text.size());
    }
    case Value::Kind::kArray: {
      create_table(state, static_cast<int>(value.size()), 0);
      int index = 0;
      for (const Value& item : value.items()) {
        push_at(state, item, depth + 1);
        lua_rawseti(state, -2, ++index);
      }
      return;
    }
    case Value::Kind::kObject: {
      create_table(state, 0, static_cast<int>(value.size()));
      for (const auto& member : value.members()) {
        if (member.value.is_null()) continue;
        charge_hash(state, member.key());
        lua_pushlstring(state, member.key().data(), member.key().size());
        push_at(state, member.value, depth + 1);
        lua_rawset(state, -3);
      }
      return;
    }
  }
}

/// The paths at which the given objects have {} or []; without list indexes, as upstream compares them.
struct Empties {
  std::set<std::string> objects, lists;

  void note(const Value& value, const std::string& path) {
    if (value.is_object()) {
      for (const auto& member : value.members()) note_child(member.value, path + '\n' + std::string{member.key()});
    } else {
      for (const Value& item : value.items()) note_child(item, path);
    }
  }
  void note_child(const Value& child, const std::string& path) {
    if (child.is_object() && child.size() == 0) {
      objects.insert(path);
    } else if (child.is_array() && child.size() == 0) {
      lists.insert(path);
    } else {
      note(child, path);
    }
  }
};

class Puller {
 public:
  Puller(lua_State* state, const std::vector<Value>* shapes) : state_{state}, shapes_{shapes} {}

  Value top(int index) {
    if (lua_type(state_, index) == LUA_TTABLE && is_empty(index)) return Value::object();
    Value out;
    at(index, 0, out);
    return out;
  }

 private:
  bool is_empty(int index) {
    lua_pushnil(state_);
    if (lua_next(state_, index) == 0) return true;
    lua_pop(state_, 2);
    return false;
  }

  /// Other bytes cannot be stored as JSON.
  void check_utf8(std::string_view text) const {
    if (!is_utf8(text)) luaL_error(state_, "the result holds text that is not UTF-8%s", where().c_str());
  }

  /// False: an empty table that is omitted.
  bool at(int index, int depth, Value& out) {
    charge(state_, 8);
    switch (lua_type(state_, index)) {
      case LUA_TNIL:
        out = Value{};
        return true;
      case LUA_TBOOLEAN:
        out = lua_toboolean(state_, index) != 0;
        return true;
      case LUA_TNUMBER:
        out = number(lua_tonumber(state_, index));
        return true;
      case LUA_TSTRING: {
        size_t length = 0;
        const char* text = lua_tolstring(state_, index, &length);
        charge(state_, static_cast<int64_t>(length / 64));
        check_utf8({text, length});
        out = std::string_view{text, length};
        return true;
      }
      case LUA_TTABLE:
        return table(index, depth, out);
      default:
        luaL_error(state_, "the result holds a %s, which is no value of JSON%s", luaL_typename(state_, index),
                   where().c_str());
        return false;
    }
  }

  Value number(double number) {
    if (!std::isfinite(number)) luaL_error(state_, "the result holds a number that is not finite%s", where().c_str());
    if (number != std::floor(number)) return number;
    if (std::abs(number) < kExact) return static_cast<int64_t>(number);
    const auto& large = context_of(state_).large;
    const auto known = large.find(number);
    if (known == large.end() || known->second.is_null()) {
      luaL_error(state_, "the result holds the number %f, of which digits may be lost%s", number, where().c_str());
    }
    return known->second;
  }

  bool table(int index, int depth, Value& out) {
    if (depth > kDeepest) luaL_error(state_, "the result is nested too deeply, or holds itself");
    luaL_checkstack(state_, 4, "the result is nested too deeply");
    lua_pushnil(state_);
    if (lua_next(state_, index) == 0) return empty(out);
    const bool list = lua_type(state_, -2) == LUA_TNUMBER;
    lua_pop(state_, 2);
    list ? items(index, depth, out) : members(index, depth, out);
    return true;
  }

  void items(int index, int depth, Value& out) {
    Value::Array all;
    size_t entries = 0;
    for (lua_pushnil(state_); lua_next(state_, index) != 0; lua_pop(state_, 1)) {
      if (lua_type(state_, -2) != LUA_TNUMBER) mixed();
      ++entries;
    }
    const size_t length = lua_objlen(state_, index);
    if (entries != length) luaL_error(state_, "the result holds a list with gaps%s", where().c_str());
    for (size_t item = 1; item <= length; ++item) {
      lua_rawgeti(state_, index, static_cast<int>(item));
      Value value;
      if (at(lua_gettop(state_), depth + 1, value)) all.push_back(std::move(value));
      lua_pop(state_, 1);
    }
    out = Value::array(std::move(all));
  }

  void members(int index, int depth, Value& out) {
    Value::Object all;
    for (lua_pushnil(state_); lua_next(state_, index) != 0; lua_pop(state_, 1)) {
      if (lua_type(state_, -2) != LUA_TSTRING) mixed();
      size_t length = 0;
      const char* text = lua_tolstring(state_, -2, &length);
      const std::string_view key{text, length};
      check_utf8(key);
      const size_t before = path_.size();
      path_ += '\n';
      path_ += key;
      Value value;
      if (at(lua_gettop(state_), depth + 1, value)) all.push_back({Value{key}, std::move(value)});
      path_.resize(before);
    }
    out = Value::object(std::move(all));
  }

  bool empty(Value& out) {
    if (shapes_ == nullptr || shapes_->empty()) return false;
    if (!empties_) {
      empties_.emplace();
      for (const Value& shape : *shapes_) empties_->note(shape, "");
    }
    if (empties_->objects.contains(path_)) {
      out = Value::object();
      return true;
    }
    out = Value::array();
    return empties_->lists.contains(path_);
  }

  [[noreturn]] void mixed() {
    luaL_error(state_, "the result holds a table with keys that are neither all names nor all of a list%s",
               where().c_str());
    std::abort();  // not reached: luaL_error does not return
  }

  std::string where() const {
    std::string path = path_.substr(path_.empty() ? 0 : 1);
    for (char& c : path) {
      if (c == '\n') c = '.';
    }
    return path.empty() ? "" : " (at " + path + ")";
  }

  lua_State* state_;
  const std::vector<Value>* shapes_;
  std::string path_;
  std::optional<Empties> empties_;
};

int absolute(lua_State* state, int index) { return index > 0 ? index : lua_gettop(state) + 1 + index; }

}  // namespace

void push(lua_State* state, const Value& value) { push_at(state, value, 0); }

Value pull(lua_State* state, int index) { return Puller{state, &context_of(state).shapes}.top(absolute(state, index)); }

Value pull_unshaped(lua_State* state, int index) { return Puller{state, nullptr}.top(absolute(state, index)); }

}  // namespace shiplog::interpreter::lua
