#include "services/interpreter/lua/vm.h"

#include "tests/support/interpreting.h"

namespace shiplog::interpreter::lua {
namespace {

using testing::kNoon;
using testing::yaml;

/// The result of F for the arguments, as JSON, or the error message.
std::string result_of(const std::string& script, std::vector<Value> arguments = {}, std::vector<Value> shapes = {}) {
  const auto results = run({script, "F", std::move(arguments), 1, std::move(shapes), kNoon});
  return results ? to_json(results.value().at(0)) : results.error().message;
}
std::string returns(const std::string& expression) { return result_of("function F() return " + expression + " end"); }

TEST(InterpreterLua, CallsAFunctionWithValues_L_12) {
  EXPECT_EQ(result_of("function F(a, b, c) return {a.x + 1, b, c == nil} end", {yaml("{x: 2}"), "text", Value{}}),
            R"([3,"text",true])");
  const auto two = run({"function F() return 1 end", "F", {}, 2, {}, kNoon});
  EXPECT_EQ(two.value(), (std::vector<Value>{1, {}}));
  EXPECT_EQ(result_of("local function f() return 7 end function F() return f() end"), "7");
}

TEST(InterpreterLua, TextOfAResultIsUtf8) {
  EXPECT_EQ(returns("'caf\\195\\169'"), "\"caf\xC3\xA9\"");
  EXPECT_EQ(returns("{a = {b = 'caf\\233'}}"), "the result holds text that is not UTF-8 (at a.b)");
  EXPECT_EQ(returns("{['\\255'] = 1}"), "the result holds text that is not UTF-8");
}

TEST(InterpreterLua, ReportsTheErrorAndItsLine_L_12) {
  EXPECT_EQ(result_of("function G() end"), "not found function F");
  EXPECT_EQ(result_of("F = 1"), "F is not a function but a number");
  EXPECT_EQ(result_of("function F()\n  return nil + 1\nend"),
            "luaScript:2: attempt to perform arithmetic on a nil value");
  EXPECT_EQ(result_of("function F(o)\n\n  return o.spec.x\nend", {yaml("{}")}),
            "luaScript:3: attempt to index field 'spec' (a nil value)");
  EXPECT_EQ(result_of("function F() return table.concat({{}}) end"),
            "luaScript:1: invalid value (table) at index 1 in table for 'concat'");
  EXPECT_EQ(result_of("function F( return end"), "luaScript:1: <name> or '...' expected near 'return'");
  EXPECT_EQ(result_of("error('on its own')"), "luaScript:1: on its own");
  EXPECT_EQ(result_of("function F() error({}) end"), "the script failed with a table");
  EXPECT_EQ(result_of("\033Lua"), "the script is compiled code, not text");
  EXPECT_EQ(check("function F() end").has_value(), true);
  EXPECT_EQ(check("x =").error().message, "luaScript:1: unexpected symbol near '<eof>'");
}

TEST(InterpreterLua, WholeNumbersStayIntegers_L_16) {
  EXPECT_EQ(result_of("function F(a) return {a, a * 2, a / 2} end", {5}), "[5,10,2.5]");
  EXPECT_EQ(returns("{1e3, -0.0, 0.1}"), "[1000,0,0.1]");
  EXPECT_NE(returns("0/0").find("not finite"), std::string::npos);
}

TEST(InterpreterLua, LargeIntegersKeepTheirDigitsOrAreRefused_L_16) {
  constexpr int64_t kLarge = 9007199254740993;  // 2^53 + 1: no double
  EXPECT_EQ(result_of("function F(o) return o end", {Value::object({{"a", kLarge}})}), R"({"a":9007199254740993})");
  EXPECT_EQ(result_of("function F(o) return o end", {Value::object({{"a", 1e300}})}), R"({"a":1e+300})");
  EXPECT_NE(result_of("function F(o) return {a = o.a + 10} end", {Value::object({{"a", kLarge}})})
                .find("digits may be lost (at a)"),
            std::string::npos);
  EXPECT_NE(result_of("function F(o) return o end", {Value::array({kLarge, kLarge - 1})}).find("digits may be lost"),
            std::string::npos)
      << "two of the arguments are equal as Lua numbers";
}

TEST(InterpreterLua, EmptyTablesKeepTheirType_L_16) {
  const Value was = yaml("{spec: {o: {}, l: [], t: [{e: {}, f: 1}], gone: 1}}");
  EXPECT_EQ(result_of("function F(o) o.spec.new = {} return o end", {was}, {was}),
            R"({"spec":{"gone":1,"l":[],"o":{},"t":[{"e":{},"f":1}]}})");
  EXPECT_EQ(result_of("function F(o) return o end", {was}), R"({"spec":{"gone":1,"t":[{"f":1}]}})")
      << "no shapes are given";
  EXPECT_EQ(result_of("function F(o) o.spec.gone = {} return o end", {was}, {was, yaml("{spec: {gone: {}}}")}),
            R"({"spec":{"gone":{},"l":[],"o":{},"t":[{"e":{},"f":1}]}})");
  EXPECT_EQ(returns("{}"), "{}");
  EXPECT_EQ(returns("{a = {b = {}}}"), R"({"a":{}})");
}

TEST(InterpreterLua, RefusesValuesThatJsonCannotRepresent) {
  EXPECT_NE(returns("{1, 2, a = 3}").find("neither all names"), std::string::npos);
  EXPECT_NE(returns("{[1] = 1, [3] = 3}").find("list with gaps"), std::string::npos);
  EXPECT_NE(returns("{a = {f = print}}").find("a function, which is no value of JSON (at a.f)"), std::string::npos);
  EXPECT_NE(result_of("function F() local t = {} t.t = t return t end").find("holds itself"), std::string::npos);
}

TEST(InterpreterLua, OnlyTheListedFunctionsExist_L_13) {
  for (const char* name : {"collectgarbage", "dofile", "getfenv", "getmetatable", "load", "loadfile", "loadstring",
                           "rawequal", "rawget", "rawset", "setfenv", "setmetatable", "module", "newproxy", "gcinfo"}) {
    EXPECT_NE(
        result_of(std::string{"function F() return "} + name + "('x') end").find(std::string{name} + " is not there"),
        std::string::npos)
        << name;
  }
  EXPECT_EQ(
      returns(
          "{io == nil, debug == nil, coroutine == nil, os.execute == nil, os.getenv == nil, package.loadlib == nil, "
          "string.dump == nil}"),
      "[true,true,true,true,true,true,true]");
  EXPECT_NE(result_of("require('os')").find("only kube can be required"), std::string::npos);
  EXPECT_EQ(
      returns(
          "{type(table.insert), type(string.format), type(math.floor), type(pcall), type(tonumber('1')), _VERSION}"),
      R"(["function","function","function","function","number","Lua 5.1"])");
}

TEST(InterpreterLua, NothingLeaksFromOneCallToTheNext_L_14) {
  const std::string script =
      "count = (count or 0) + 1 string.mark = count function F() return {count, string.mark} end";
  EXPECT_EQ(result_of(script), "[1,1]");
  EXPECT_EQ(result_of(script), "[1,1]");
}

TEST(InterpreterLua, IsTheSameEachTime) {
  EXPECT_EQ(
      returns("{os.time(), os.date('!%Y-%m-%dT%H:%M:%SZ'), os.time({year = 2024, month = 2, day = 29, hour = 0})}"),
      R"([1767268800,"2026-01-01T12:00:00Z",1709164800])");
  EXPECT_EQ(returns("{os.date('%Y-%m-%d %j %a', 1709164800), os.date('*t', 0).wday}"), R"(["2024-02-29 060 Thu",5])");
  EXPECT_EQ(returns("math.random(1, 1000000)"), returns("math.random(1, 1000000)"));
  EXPECT_EQ(returns("{tostring({}), tostring(print), tostring(nil), tostring(1.5)}"),
            R"(["table","function","nil","1.5"])");
  EXPECT_NE(result_of("function F() for k in pairs({[{}] = 1}) do end end").find("has no order"), std::string::npos);
}

TEST(InterpreterLua, FormatWritesEveryTypeAsText_L_13) {
  EXPECT_EQ(returns("string.format('%s %s %-6s| %5.1s|%d%% %s', true, nil, false, {}, 7, 'a')"),
            R"("true nil false |     t|7% a")");
  EXPECT_EQ(returns("('%s is %s'):format('x', next)"), R"("x is function")");
  EXPECT_NE(result_of("function F() return ('%s %s'):format(1) end").find("no value"), std::string::npos);
  EXPECT_NE(result_of("function F() return ('%d'):format(true) end").find("number expected"), std::string::npos);
}

TEST(InterpreterLua, StopsAScriptThatRunsForEver_L_14) {
  for (const char* body :
       {"while true do end", "local function f() return f() end f()",
        "while true do pcall(function() while true do end end) end",
        "pcall(function() while true do end end) while true do end",
        "local s = ('a'):rep(900000) while true do s:upper() end",
        "local t = {} for i = 1, 100000 do t[i] = i end while true do table.insert(t, 1, 0) table.remove(t, 1) end",
        "(('a'):rep(300000)):find(('.-'):rep(20) .. 'b')", "while true do local t = {} t[1] = 'x' end",
        "local t = {} for i = 1, 60 do t = {t, t} end return t",
        "local s = 'x' while true do local t = s .. ('y'):rep(100000) end",
        "local a = ('x'):rep(1000000) local b = a .. 'y' while true do local c = a < b end",
        "local f = function() error('x') end while true do pcall(f) end",
        "local s = ('a'):rep(900000) while true do s:find(('a'):rep(400000) .. 'b', 1, true) end",
        "local s = ('1'):rep(900000) while true do tonumber(s) end", "while true do os.date(('%c'):rep(100)) end"}) {
    const std::string error = result_of(std::string{"function F() "} + body + " end");
    EXPECT_NE(error.find("more than 4000000 steps"), std::string::npos) << body << "\n" << error;
  }
}

// Each of these once ran for seconds to hours: a loop in C, a handler that no hook counts, or one slow instruction.
TEST(InterpreterLua, CountsWorkOutsideInstructions_L_14) {
  for (const char* body : {
           "xpcall(function() while true do end end, function() while true do end end)",
           "while true do xpcall(function() error('x') end, function() while true do end end) end",
           "local t = {} for i = 1, 500000 do t[i] = i end while true do table.insert(t, 1, 0) end",
           "local t = {} for i = 1, 1000 do t['k' .. i] = i end while true do table.maxn(t) end",
           "local t = {} for i = 1, 60000 do t[i] = i % 2 == 0 and i or -i end "
           "while true do table.sort(t) table.sort(t, function(a, b) return a > b end) end",
           "local t = {} for i = 1, 900 do t[i] = 'x' end while true do table.concat(t, ('y'):rep(1000)) end",
           "local s = ('a'):rep(100000) while true do s:find('[' .. ('b'):rep(900000) .. ']') end",
           "local s = ('a'):rep(900000) while true do s:gsub('', '') end",
           "local s = ('a'):rep(900000) while true do s:gsub('', ('%1'):rep(400000), 5) end",
           "local s = ('a'):rep(900000) while true do for w in s:gmatch('.*') do end end",
           "while true do unpack({}, 1, 1000) end",
           "local t = {} for i = 1, 900 do t[i] = i end "
           "local function f(...) while true do local x = select('#', ...) end end f(unpack(t))",
           "local function f(n, ...) if n == 0 then while true do local x = (...) end end "
           "return f(n - 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, ...) end f(2000)",
           "local s = ('x'):rep(100000) while true do s:byte(1, 1000) end",
           "local a = ('x'):rep(999999) local b = a .. 'y' while true do local c = a .. 'y' end",
           "local t = {} for i = 1, 500000 do t[i] = i end for i = 1, 499999 do t[i] = nil end while true do next(t) "
           "end",
           "while true do os.date(('%c'):rep(120)) end",
       }) {
    const std::string error = result_of(std::string{"function F() "} + body + " end");
    EXPECT_NE(error.find("more than 4000000 steps"), std::string::npos) << body << "\n" << error;
  }
}

TEST(InterpreterLua, PositionsOfListsAreBounded) {
  EXPECT_NE(returns("table.insert({}, 2147483648, 1)").find("not a position"), std::string::npos);
  EXPECT_NE(returns("table.insert({}, -5, 1)").find("position out of bounds"), std::string::npos);
  EXPECT_NE(returns("table.insert({}, 0/0, 1)").find("not a position"), std::string::npos);
  EXPECT_NE(returns("table.concat({}, '', 1, 1e300)").find("not a position"), std::string::npos);
  EXPECT_NE(returns("unpack({}, 1, 1e9)").find("too many results"), std::string::npos);
  EXPECT_NE(returns("unpack({}, -1e300, 1)").find("too many results"), std::string::npos);
  EXPECT_EQ(
      result_of("function F() local t = {1, 2} table.insert(t, 1, 0) table.insert(t, 4, 3) table.insert(t, 9) return t "
                "end"),
      "[0,1,2,3,9]");
  EXPECT_EQ(returns("{table.remove({1, 2, 3}, 1), table.maxn({1, 2, [9] = 1}), table.concat({1, 2, 3}, '-', 2)}"),
            R"([1,9,"2-3"])");
  EXPECT_EQ(result_of("function F() local t = {3, 1, 2} table.sort(t) local u = {3, 1, 2} "
                      "table.sort(u, function(a, b) return a > b end) return {t, u} end"),
            "[[1,2,3],[3,2,1]]");
  EXPECT_EQ(returns("{('abc'):byte(), ('abc'):byte(-1), ('abc'):byte(2, 9)}"), "[97,99,98,99]");
  EXPECT_EQ(returns("{unpack({1, 2, 3}, 2)}"), "[2,3]");
}

TEST(InterpreterLua, AHandlerSeesTheErrorAndItsOwnErrorIsOne) {
  EXPECT_EQ(
      result_of("function F() return {xpcall(function() error('x', 0) end, function(e) return e .. '!' end)} end"),
      R"([false,"x!"])");
  EXPECT_EQ(result_of("function F() return {xpcall(function() return 1, 2 end, print)} end"), "[true,1,2]");
  EXPECT_EQ(result_of("function F() return {xpcall(function() error('x') end, function() error('y') end)} end"),
            R"([false,"error in error handling"])");
  EXPECT_EQ(result_of("function F() return {pcall(function(...) return ... end, 1, 2)} end"), "[true,1,2]");
  EXPECT_EQ(result_of("function F() return {pcall(error, 'x')} end"), R"([false,"x"])");
}

/// Strings of this length have the same hash in Lua, which reads only every third character.
Value with_equal_hashes(int names) {
  Value object = Value::object();
  for (int number = 0; number < names; ++number) {
    std::string name(64, 'a');
    for (size_t bit = 0; bit < 20; ++bit) name[3 * bit + 1] = (number >> bit) % 2 != 0 ? 'b' : 'a';
    object.set(name, 1);
  }
  return object;
}

TEST(InterpreterLua, ArgumentsThatShareAHashAreChargedForTheirCost) {
  const auto error = result_of("function F(o) return 1 end", {with_equal_hashes(4'000)});
  EXPECT_NE(error.find("more than 4000000 steps"), std::string::npos) << error;
  EXPECT_EQ(result_of("function F(o) return 1 end", {with_equal_hashes(1'000)}), "1");
  const Value names = with_equal_hashes(1'000);
  EXPECT_NE(result_of("function F(o) return 1 end", {Value::array({names, names, names, names, names})}).find("steps"),
            std::string::npos)
      << "also when they come again";
}

TEST(InterpreterLua, TextsThatManyClustersReportAlikeCostNoMore) {
  Value items = Value::array();
  for (int i = 0; i < 10'000; ++i) items.push_back("Deployment has minimum availability, as in every other cluster.");
  EXPECT_EQ(result_of("function F(o) return #o end", {items}), "10000");
}

TEST(InterpreterLua, MessagesAndScriptsHaveALength) {
  EXPECT_LT(result_of("function F() error(('x'):rep(900000)) end").size(), 1100U);
  EXPECT_NE(check("x = '" + std::string(300'000, 'y') + "'").error().message.find("longer than 262144 bytes"),
            std::string::npos);
}

TEST(InterpreterLua, AListOfManyItemsIsNoLongString) {
  Value items = Value::array();
  for (int number = 0; number < 10'000; ++number) items.push_back(Value::object({{"a", number}}));
  EXPECT_EQ(
      result_of("function F(l) local sum = 0 for i, one in ipairs(l) do sum = sum + one.a end return sum end", {items}),
      "49995000");
}

TEST(InterpreterLua, StopsAScriptThatUsesTooMuchMemory) {  // L-13
  EXPECT_EQ(result_of("function F() local s = ('x'):rep(1000000) while true do s = s .. s end end"),
            "the script holds more than 64 MiB");
  EXPECT_NE(result_of("function F() return ('x'):rep(1000001) end").find("more than 1000000 bytes"), std::string::npos);
  EXPECT_NE(
      result_of("function F() local function f(n) return 1 + f(n) end return f(1) end").find("more than 4000000 steps"),
      std::string::npos)
      << "each instruction costs more the deeper the stack";
  EXPECT_EQ(result_of("function F() local function f(n) return n == 0 and 0 or 1 + f(n - 1) end return f(500) end"),
            "500");
}

TEST(InterpreterLua, KubeAddsQuantities_L_15) {
  const auto kube = [](const std::string& body) {
    return result_of("local kube = require('kube') function F(o) return " + body + " end");
  };
  EXPECT_EQ(kube("{kube.resourceAdd('100m', nil, '1.2'), kube.resourceAdd(nil, '1Gi', '512Mi'), kube.resourceAdd()}"),
            R"(["1300m","1536Mi","0"])");
  EXPECT_EQ(kube("{kube.getResourceQuantity('1500m'), kube.getResourceQuantity('1Ki'), kube.getResourceQuantity(nil)}"),
            "[1.5,1024,0]");
  EXPECT_NE(kube("kube.getResourceQuantity('-1')").find("negative"), std::string::npos);
  EXPECT_NE(kube("kube.resourceAdd('lots')").find("lots"), std::string::npos);
  EXPECT_NE(kube("kube.resourceAdd(1)").find("string expected"), std::string::npos);
}

TEST(InterpreterLua, KubeReadsPodTemplates_L_15) {
  const Value pod = yaml(R"({spec: {nodeSelector: {a: b}, containers: [{name: c, resources: {requests: {cpu: 1}},
      envFrom: [{configMapRef: {name: m}}]}]}})");
  EXPECT_EQ(result_of("local kube = require('kube') function F(o) return kube.accuratePodRequirements(o) end", {pod}),
            R"({"nodeClaim":{"nodeSelector":{"a":"b"}},"resourceRequest":{"cpu":"1"}})");
  EXPECT_EQ(result_of("local kube = require('kube') function F() return kube.accuratePodRequirements({}) == nil end"),
            "true");
  EXPECT_EQ(result_of("local kube = require('kube') function F(o) return kube.getPodDependencies(o, 'ns') end", {pod}),
            R"([{"apiVersion":"v1","kind":"ConfigMap","name":"m","namespace":"ns"}])");
  EXPECT_EQ(
      result_of("local kube = require('kube') function F(o) return kube.getPodDependencies(o, nil)[1].namespace end",
                {pod}),
      R"("default")");
}

}  // namespace
}  // namespace shiplog::interpreter::lua
