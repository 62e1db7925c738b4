#include <cmath>
#include <string>

#include <lua.hpp>

#include "events/base/quantity.h"
#include "services/interpreter/lua/context.h"
#include "services/interpreter/native/native.h"

// require("kube") (L-15).
namespace shiplog::interpreter::lua {
namespace {

constexpr size_t kLongestQuantity = 256;

struct Amount {
  Quantity quantity;
  QuantityFormat format = QuantityFormat::kDecimal;
};

Amount amount_of(lua_State* state, int index) {
  if (lua_isnil(state, index)) return {};
  if (lua_type(state, index) != LUA_TSTRING) luaL_typerror(state, index, "string");
  size_t length = 0;
  const char* text = lua_tolstring(state, index, &length);
  if (length > kLongestQuantity) luaL_argerror(state, index, "too long for a quantity");
  charge(state, 50);
  const auto parsed = parse_quantity({text, length});
  if (!parsed) luaL_error(state, "%s", parsed.error().message.c_str());
  return {parsed.value(), quantity_format({text, length})};
}

int resource_add(lua_State* state) {
  Amount sum;
  for (int index = 1; index <= lua_gettop(state); ++index) {
    const Amount amount = amount_of(state, index);
    if (sum.quantity.is_zero()) sum.format = amount.format;
    sum.quantity = sum.quantity + amount.quantity;
  }
  const std::string text = to_string(sum.quantity, sum.format);
  lua_pushlstring(state, text.data(), text.size());
  return 1;
}

int resource_quantity(lua_State* state) {
  if (lua_gettop(state) != 1) return luaL_error(state, "getResourceQuantity takes one quantity");
  const Amount amount = amount_of(state, 1);
  if (amount.quantity.negative()) return luaL_error(state, "the quantity %s is negative", lua_tostring(state, 1));
  lua_pushnumber(state, static_cast<double>(amount.quantity.whole_milli()) / 1000.0);
  return 1;
}

int pod_requirements(lua_State* state) {
  if (lua_gettop(state) != 1) return luaL_error(state, "accuratePodRequirements takes one pod template");
  luaL_checktype(state, 1, LUA_TTABLE);
  const Value pod_template = pull_unshaped(state, 1);
  charge(state, 100);
  const auto requirements = native::pod_requirements(pod_template["spec"], context_of(state).priority_class
                                                                               ? native::PriorityClass::kNamed
                                                                               : native::PriorityClass::kLeftOut);
  if (!requirements) return luaL_error(state, "%s", requirements.error().message.c_str());
  push(state, requirements.value());
  return 1;
}

int pod_dependencies(lua_State* state) {
  if (lua_gettop(state) != 2) return luaL_error(state, "getPodDependencies takes a pod template and a namespace");
  luaL_checktype(state, 1, LUA_TTABLE);
  const std::string ns = luaL_optstring(state, 2, "default");
  const Value pod_template = pull_unshaped(state, 1);
  charge(state, 100);
  push(state, to_value(native::pod_dependencies(pod_template["spec"], ns)));
  return 1;
}

}  // namespace

void open_kube(lua_State* state) {
  lua_createtable(state, 0, 4);
  const auto set = [&](const char* name, lua_CFunction function) {
    lua_pushcfunction(state, function);
    lua_setfield(state, -2, name);
  };
  set("resourceAdd", resource_add);
  set("getResourceQuantity", resource_quantity);
  set("accuratePodRequirements", pod_requirements);
  set("getPodDependencies", pod_dependencies);
}

}  // namespace shiplog::interpreter::lua
