#include "services/interpreter/lua/vm.h"
#include "tests/support/interpreting.h"

// Lua's patterns, with the results that the manual (5.4.1) specifies.
namespace shiplog::interpreter::lua {
namespace {

std::string of(const std::string& expression) {
  const auto results = run({"function F() return {" + expression + "} end", "F", {}, 1, {}, {}});
  return results ? to_json(results.value().at(0)) : results.error().message;
}

TEST(LuaPattern, Finds) {
  EXPECT_EQ(of("('hello world'):find('o w')"), "[5,7]");
  EXPECT_EQ(of("('hello'):find('l', 4)"), "[4,4]");
  EXPECT_EQ(of("('hello'):find('l', -1)"), "{}") << "nil";
  EXPECT_EQ(of("('a.b'):find('.', 1, true)"), "[2,2]");
  EXPECT_EQ(of("('a.b'):find('%.')"), "[2,2]");
  EXPECT_EQ(of("('key = value'):find('(%w+)%s*=%s*(%w+)')"), R"([1,11,"key","value"])");
  EXPECT_EQ(of("('abc'):find('')"), "[1,0]");
  EXPECT_EQ(of("('abc'):find('', 10)"), "[4,3]");
}

TEST(LuaPattern, Matches) {
  EXPECT_EQ(of("('2026-01-02'):match('^(%d+)-(%d+)-(%d+)$')"), R"(["2026","01","02"])");
  EXPECT_EQ(of("('  trim me  '):match('^%s*(.-)%s*$')"), R"(["trim me"])");
  EXPECT_EQ(of("('hello'):match('()ll()')"), "[3,5]");
  EXPECT_EQ(of("('aab'):match('.-(b)')"), R"(["b"])") << "captures of an abandoned alternative are discarded";
  EXPECT_EQ(of("('THE (quick) fox'):match('%((%a+)%)')"), R"(["quick"])");
  EXPECT_EQ(of("('f(a(b)c)d'):match('%b()')"), R"x(["(a(b)c)"])x");
  EXPECT_EQ(of("('say \"it\\'s\" now'):match('([\"\\'])(.-)%1')"), R"(["\"","it's"])");
  EXPECT_EQ(of("('x1y22'):match('[^%d]%d%d')"), R"(["y22"])");
  EXPECT_EQ(of("('a]b-c'):match('[]%-]+', 2), ('a-z'):match('[a%-]+'), ('m'):match('[a-z]')"), R"(["]","a-","m"])");
  EXPECT_EQ(of("('color colour'):match('colou?r$')"), R"(["colour"])");
  EXPECT_EQ(of("('THE fox'):match('%f[%a]%a+', 4)"), R"(["fox"])");
}

TEST(LuaPattern, IteratesOverAllMatches) {
  const auto all =
      run({"function F() local t = {} for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do t[#t + 1] = k .. v end "
           "for w in ('one two'):gmatch('%a+') do t[#t + 1] = w end "
           "for p in ('ab'):gmatch('()') do t[#t + 1] = p end return t end",
           "F",
           {},
           1,
           {},
           {}});
  EXPECT_EQ(to_json(all.value().at(0)), R"(["a1","b2","one","two",1,2,3])");
}

TEST(LuaPattern, Substitutes) {
  EXPECT_EQ(of("('hello world'):gsub('o', '0')"), R"(["hell0 w0rld",2])");
  EXPECT_EQ(of("('hello world'):gsub('(%w+) (%w+)', '%2 %1 %0 %%')"), R"(["world hello hello world %",1])");
  EXPECT_EQ(of("('abc'):gsub('%w', '%0%0', 2)"), R"(["aabbc",2])");
  EXPECT_EQ(of("('$name is $age'):gsub('%$(%w+)', {name = 'lua'})"), R"(["lua is $age",2])");
  EXPECT_EQ(of("('a b'):gsub('%a', function(c) return c:upper() .. #c end)"), R"(["A1 B1",2])");
  EXPECT_EQ(of("('abc'):gsub('', '-')"), R"(["-a-b-c-",4])");
  EXPECT_EQ(of("('abc'):gsub('^a', 'x'), ('  x'):gsub('^%s+', '')"), R"(["xbc","x",1])");
}

TEST(LuaPattern, RefusesInvalidPatterns) {
  for (const auto& [pattern, why] : std::vector<std::pair<std::string, std::string>>{{"%", "ends with '%'"},
                                                                                     {"[a", "missing ']'"},
                                                                                     {"(a", "unfinished capture"},
                                                                                     {"a)", "invalid pattern capture"},
                                                                                     {"%1", "invalid capture index"},
                                                                                     {"%b(", "unbalanced pattern"},
                                                                                     {"%fa", "missing '['"}}) {
    EXPECT_NE(of("('aaa'):match('" + pattern + "')").find(why), std::string::npos)
        << of("('aaa'):match('" + pattern + "')");
  }
  EXPECT_NE(of("('a'):rep(500):match(('a?'):rep(500))").find("too complex"), std::string::npos);
}

}  // namespace
}  // namespace shiplog::interpreter::lua
