#include <gtest/gtest.h>

#include "tests/support/cel_outcomes.h"

namespace shiplog::cel {
namespace {

TEST(CelTextLibrary, StringsAreCutAndJoined) {
  expect_outcomes({
      {R"~('tacocat'.charAt(3) == 'o')~", ""},
      {R"~('tacocat'.charAt(7) == '')~", ""},
      {R"~('©αT'.charAt(0) == '©' && '©αT'.charAt(1) == 'α' && '©αT'.charAt(2) == 'T')~", ""},
      {R"~('tacocat'.indexOf('') == 0)~", ""},
      {R"~('tacocat'.indexOf('ac') == 1)~", ""},
      {R"~('tacocat'.indexOf('none') == -1)~", ""},
      {R"~('tacocat'.indexOf('', 3) == 3)~", ""},
      {R"~('tacocat'.indexOf('a', 3) == 5)~", ""},
      {R"~('tacocat'.indexOf('at', 3) == 5)~", ""},
      {R"~('ta©o©αT'.indexOf('©') == 2)~", ""},
      {R"~('ta©o©αT'.indexOf('©', 3) == 4)~", ""},
      {R"~('ta©o©αT'.indexOf('©αT', 3) == 4)~", ""},
      {R"~('ta©o©αT'.indexOf('©α', 5) == -1)~", ""},
      {R"~('ijk'.indexOf('k') == 2)~", ""},
      {R"~('hello wello'.indexOf('hello wello') == 0)~", ""},
      {R"~('hello wello'.indexOf('ello', 6) == 7)~", ""},
      {R"~('hello wello'.indexOf('elbo room!!') == -1)~", ""},
      {R"~('hello wello'.indexOf('elbo room!!!') == -1)~", ""},
      {R"~(''.lastIndexOf('@@') == -1)~", ""},
      {R"~('tacocat'.lastIndexOf('') == 7)~", ""},
      {R"~('tacocat'.lastIndexOf('at') == 5)~", ""},
      {R"~('tacocat'.lastIndexOf('none') == -1)~", ""},
      {R"~('tacocat'.lastIndexOf('', 3) == 3)~", ""},
      {R"~('tacocat'.lastIndexOf('a', 3) == 1)~", ""},
      {R"~('ta©o©αT'.lastIndexOf('©') == 4)~", ""},
      {R"~('ta©o©αT'.lastIndexOf('©', 3) == 2)~", ""},
      {R"~('ta©o©αT'.lastIndexOf('©α', 4) == 4)~", ""},
      {R"~('hello wello'.lastIndexOf('ello', 6) == 1)~", ""},
      {R"~('hello wello'.lastIndexOf('low') == -1)~", ""},
      {R"~('hello wello'.lastIndexOf('elbo room!!') == -1)~", ""},
      {R"~('hello wello'.lastIndexOf('elbo room!!!') == -1)~", ""},
      {R"~('hello wello'.lastIndexOf('hello wello') == 0)~", ""},
      {R"~('bananananana'.lastIndexOf('nana', 7) == 6)~", ""},
      {R"~('TacoCat'.lowerAscii() == 'tacocat')~", ""},
      {R"~('TacoCÆt'.lowerAscii() == 'tacocÆt')~", ""},
      {R"~('TacoCÆt Xii'.lowerAscii() == 'tacocÆt xii')~", ""},
      {R"~("12 days 12 hours".replace("{0}", "2") == "12 days 12 hours")~", ""},
      {R"~("{0} days {0} hours".replace("{0}", "2") == "2 days 2 hours")~", ""},
      {R"~("{0} days {0} hours".replace("{0}", "2", 1).replace("{0}", "23") == "2 days 23 hours")~", ""},
      {R"~("1 ©αT taco".replace("αT", "o©α") == "1 ©o©α taco")~", ""},
      {R"~("hello hello".replace("", "_") == "_h_e_l_l_o_ _h_e_l_l_o_")~", ""},
      {R"~("hello hello".replace("h", "") == "ello ello")~", ""},
      {R"~("hello world".split(" ") == ["hello", "world"])~", ""},
      {R"~("hello world events!".split(" ", 0) == [])~", ""},
      {R"~("hello world events!".split(" ", 1) == ["hello world events!"])~", ""},
      {R"~("o©o©o©o".split("©", -1) == ["o", "o", "o", "o"])~", ""},
      {R"~("tacocat".substring(4) == "cat")~", ""},
      {R"~("tacocat".substring(7) == "")~", ""},
      {R"~("tacocat".substring(0, 4) == "taco")~", ""},
      {R"~("tacocat".substring(4, 4) == "")~", ""},
      {R"~('ta©o©αT'.substring(2, 6) == "©o©α")~", ""},
      {R"~('ta©o©αT'.substring(7, 7) == "")~", ""},
      {R"~(" \f\n\r\t\vtext  ".trim() == "text")~", ""},
      {R"~("\u0085\u00a0\u1680text".trim() == "text")~", ""},
      {R"~("text\u2000\u2001\u2002\u2003\u2004\u2004\u2006\u2007\u2008\u2009".trim() == "text")~", ""},
      {R"~("\u200atext\u2028\u2029\u202F\u205F\u3000".trim() == "text")~", ""},
      {R"~("\u180etext\u200b\u200c\u200d\u2060\ufeff".trim() == "\u180etext\u200b\u200c\u200d\u2060\ufeff")~", ""},
      {R"~('tacoCat'.upperAscii() == 'TACOCAT')~", ""},
      {R"~('tacoCαt'.upperAscii() == 'TACOCαT')~", ""},
      {R"~(['x', 'y'].join() == 'xy')~", ""},
      {R"~(['x', 'y'].join('-') == 'x-y')~", ""},
      {R"~([].join() == '')~", ""},
      {R"~([].join('-') == '')~", ""},
      {R"~(strings.quote("first\nsecond") == "\"first\\nsecond\"")~", ""},
      {R"~(strings.quote("bell\a") == "\"bell\\a\"")~", ""},
      {R"~(strings.quote("\bbackspace") == "\"\\bbackspace\"")~", ""},
      {R"~(strings.quote("\fform feed") == "\"\\fform feed\"")~", ""},
      {R"~(strings.quote("carriage \r return") == "\"carriage \\r return\"")~", ""},
      {R"~(strings.quote("horizontal tab\t") == "\"horizontal tab\\t\"")~", ""},
      {R"~(strings.quote("vertical \v tab") == "\"vertical \\v tab\"")~", ""},
      {R"~(strings.quote("double \\\\ slash") == "\"double \\\\\\\\ slash\"")~", ""},
      {R"~(strings.quote("two escape sequences \a\n") == "\"two escape sequences \\a\\n\"")~", ""},
      {R"~(strings.quote("verbatim") == "\"verbatim\"")~", ""},
      {R"~(strings.quote("ends with \\") == "\"ends with \\\\\"")~", ""},
      {R"~(strings.quote("\\ starts with") == "\"\\\\ starts with\"")~", ""},
      {R"~(strings.quote("printable unicode😀") == "\"printable unicode😀\"")~", ""},
      {R"~(strings.quote("mid string \" quote") == "\"mid string \\\" quote\"")~", ""},
      {R"~(strings.quote('single-quote with "double quote"') == "\"single-quote with \\\"double quote\\\"\"")~", ""},
      {R"~(strings.quote("size('ÿ')") == "\"size('ÿ')\"")~", ""},
      {R"~(strings.quote("size('πέντε')") == "\"size('πέντε')\"")~", ""},
      {R"~(strings.quote("завтра") == "\"завтра\"")~", ""},
      {R"~(strings.quote("\U0001F431\U0001F600\U0001F61B") == "\"\U0001F431\U0001F600\U0001F61B\"")~", ""},
      {R"~(strings.quote("ta©o©αT") == "\"ta©o©αT\"")~", ""},
      {R"~(strings.quote("") == "\"\"")~", ""},
      {R"~(strings.quote('%s %s').format(['hello', 'world']) == "\"hello world\"")~", ""},
      {R"~('tacocat'.charAt(30) == '')~", R"~(index out of range: 30)~"},
      {R"~('tacocat'.indexOf('a', 30) == -1)~", ""},
      {R"~('tacocat'.indexOf('', 7) == 7)~", ""},
      {R"~('tacocat'.indexOf('', 30) == 7)~", ""},
      {R"~('tacocat'.indexOf('', -1) == 0)~", R"~(index out of range: -1)~"},
      {R"~('tacocat'.lastIndexOf('a', -1) == -1)~", R"~(index out of range: -1)~"},
      {R"~('tacocat'.lastIndexOf('a', 30) == -1)~", ""},
      {R"~('tacocat'.lastIndexOf('', 7) == 7)~", ""},
      {R"~('tacocat'.lastIndexOf('', 30) == 7)~", ""},
      {R"~('tacocat'.lastIndexOf('', -1) == 0)~", R"~(index out of range: -1)~"},
      {R"~("tacocat".substring(40) == "cat")~", R"~(index out of range: 40)~"},
      {R"~("tacocat".substring(-1) == "cat")~", R"~(index out of range: -1)~"},
      {R"~("tacocat".substring(1, 50) == "cat")~", R"~(index out of range: 50)~"},
      {R"~("tacocat".substring(49, 50) == "cat")~", R"~(index out of range: 49)~"},
      {R"~("tacocat".substring(4, 3) == "")~", R"~(invalid substring range. start: 4, end: 3)~"},
  });
}

TEST(CelTextLibrary, StringsAreFormatted) {
  expect_outcomes({
      {R"~("no substitution".format([]) == "no substitution")~", ""},
      {R"~("str is %s and some more".format(["filler"]) == "str is filler and some more")~", ""},
      {R"~("%% and also %%".format([]) == "% and also %")~", ""},
      {R"~("%%%s%%".format(["text"]) == "%text%")~", ""},
      {R"~("%.3f".format([1.2345]) == "1.234")~", ""},
      {R"~("this is 5 in binary: %b".format([5]) == "this is 5 in binary: 101")~", ""},
      {R"~("%b".format([-5]) == "-101")~", ""},
      {R"~("%b".format([true]) == "1")~", ""},
      {R"~("%o".format([11]) == "13")~", ""},
      {R"~("%o".format([-11]) == "-13")~", ""},
      {R"~("%x".format([30]) == "1e")~", ""},
      {R"~("%X".format([30]) == "1E")~", ""},
      {R"~("%x".format([-30]) == "-1e")~", ""},
      {R"~("%X".format([uint(6000)]) == "1770")~", ""},
      {R"~("%x".format(["Hello world!"]) == "48656c6c6f20776f726c6421")~", ""},
      {R"~("%X".format([b"byte string"]) == "6279746520737472696E67")~", ""},
      {R"~("%e".format([1052.032911275]) == "1.052033e+03")~", ""},
      {R"~("%f".format([2.71828]) == "2.718280")~", ""},
      {R"~("%s".format([2.71]) == "2.71")~", ""},
      {R"~("%s".format([[2.71]]) == "[2.710000]")~", ""},
      {R"~("%s".format([0.000000002]) == "2e-09")~", ""},
      {R"~("%s".format([999999999999]) == "999999999999")~", ""},
      {R"~("%s".format([double("NaN")]) == "NaN")~", ""},
      {R"~("%s".format([double("Inf")]) == "+Inf")~", ""},
      {R"~("%s".format([[double("NaN"), double("-Inf")]]) == "[\"NaN\", \"-Inf\"]")~", ""},
      {R"~("%d".format([uint(64)]) == "64")~", ""},
      {R"~("null: %s".format([null]) == "null: null")~", ""},
      {R"~("some bytes: %s".format([b"xyz"]) == "some bytes: xyz")~", ""},
      {R"~("type is %s".format([type("test string")]) == "type is string")~", ""},
      {R"~("%s".format([timestamp("2023-02-03T23:31:20+00:00")]) == "2023-02-03T23:31:20Z")~", ""},
      {R"~("%s".format([duration("1h45m47s")]) == "6347s")~", ""},
      {R"~("%s".format([duration("2ns")]) == "0.000000002s")~", ""},
      {R"~("%s".format([["abc", "d"]]) == "[\"abc\", \"d\"]")~", ""},
      {R"~("%s".format([{"key2": duration("2h"), "key1": duration("1s")}]) == "{\"key1\":duration(\"1s\"), \"key2\":duration(\"7200s\")}")~",
       ""},
      {R"~("%s".format([{1: "a", 2: "b"}]) == "{1:\"a\", 2:\"b\"}")~", ""},
      {R"~("%f".format(["Infinity"]) == "Infinity")~", ""},
      {R"~("%a".format([1]) == "")~", R"~(could not parse formatting clause: unrecognized formatting clause "a")~"},
      {R"~("%d %d %d".format([0, 1]) == "")~", R"~(index 2 out of range)~"},
      {R"~("string is %b".format(["abc"]) == "")~",
       R"~(error during formatting: only integers and bools can be formatted as binary, was given string)~"},
      {R"~("%d".format([duration("30m2s")]) == "")~",
       R"~(error during formatting: decimal clause can only be used on integers, was given google.protobuf.Duration)~"},
      {R"~("octal: %o".format(["a string"]) == "")~",
       R"~(error during formatting: octal clause can only be used on integers, was given string)~"},
      {R"~("%.99999999999f".format([1.0]) == "")~", R"~(exceeds maximum allowed precision)~"},
      {R"~("%".format([1]) == "")~", R"~(unexpected end of string)~"},
      {R"~("%.".format([1]) == "")~", R"~(could not find end of precision specifier)~"},
  });
}

TEST(CelTextLibrary, RegularExpressionsFind) {
  expect_outcomes({
      {R"~("abc 123".find('[0-9]+') == '123')~", ""},
      {R"~("abc 123".find('xyz') == '')~", ""},
      {R"~("123 abc 456".findAll('[0-9]+') == ['123', '456'])~", ""},
      {R"~("123 abc 456".findAll('[0-9]+', 1) == ['123'])~", ""},
      {R"~("123 abc 456".findAll('[0-9]+', 0) == [])~", ""},
      {R"~("123 abc 456".findAll('xyz') == [])~", ""},
      {R"~("this is a test".matches('^this'))~", ""},
      {R"~('\u00e9'.find('\\C') == '')~", R"~(invalid escape sequence: \C)~"},
      {R"~('a'.find('\\' + 'C') == '')~", R"~(invalid escape sequence: \C)~"},
      {R"~('\\C'.matches('^\\\\C$') && 'C'.matches('^[A-C]$') && '\\C'.matches('^\\Q\\C\\E$'))~", ""},
      {R"~('Grüße_1'.matches('^[\\p{L}\\p{N}_.-]{1,63}$') && 'ßa-b'.matches('^\\p{L}[\\p{L}\\p{N}_-]{0,30}$'))~", ""},
      {R"~('gums'.reverse() == 'smug')~", R"~(found no matching overload for 'reverse')~"},
      {R"~(!"this is a test".matches('^is'))~", ""},
      {R"~(matches('hello', 'h.*o'))~", ""},
      {R"~("ab".findAll('') == ['', '', ''])~", ""},
      {R"~("aab".findAll('a*') == ['aa', ''])~", ""},
      {R"~("\u00e9\u00e9".findAll('.') == ['\u00e9', '\u00e9'])~", ""},
  });
}

TEST(CelTextLibrary, UrlsAreReadAsGoReadsThem) {
  expect_outcomes({
      {R"~(isURL('https://user:pass@example.com:80/query/path?query=val#fragment'))~", ""},
      {R"~(isURL('/absolute-path'))~", ""},
      {R"~(!isURL('https://a:b:c/'))~", ""},
      {R"~(!isURL('../relative-path'))~", ""},
      {R"~(!isURL('http://[::1'))~", ""},
      {R"~(!isURL(''))~", ""},
      {R"~(url('https://example.com:80/').getScheme() == 'https')~", ""},
      {R"~(url('/path').getScheme() == '')~", ""},
      {R"~(url('https://example.com:80/').getHost() == 'example.com:80')~", ""},
      {R"~(url('https://[::1]:80/').getHost() == '[::1]:80')~", ""},
      {R"~(url('/path').getHost() == '')~", ""},
      {R"~(url('https://example.com:80/').getHostname() == 'example.com')~", ""},
      {R"~(url('https://[::1]:80/').getHostname() == '::1')~", ""},
      {R"~(url('https://example.com:80/').getPort() == '80')~", ""},
      {R"~(url('https://example.com/').getPort() == '')~", ""},
      {R"~(url('https://example.com/path').getEscapedPath() == '/path')~", ""},
      {R"~(url('https://example.com/path with spaces/').getEscapedPath() == '/path%20with%20spaces/')~", ""},
      {R"~(url('https://example.com').getEscapedPath() == '')~", ""},
      {R"~(url('https://example.com/path?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']})~", ""},
      {R"~(url('https://example.com/path?key with spaces=value with spaces').getQuery() == {'key with spaces': ['value with spaces']})~",
       ""},
      {R"~(url('https://example.com/path?').getQuery() == {})~", ""},
      {R"~(url('https://example.com/path').getQuery() == {})~", ""},
      {R"~(url('https://example.com/a') == url('https://example.com/a'))~", ""},
      {R"~(url('https://example.com/a') != url('https://example.com/b'))~", ""},
      {R"~(url('HTTPS://example.com/a').getScheme() == 'https')~", ""},
      {R"~(url('https://example.com/a#frag').getEscapedPath() == '/a')~", ""},
      {R"~(url('https://a:b:c/').getPort() == '')~",
       R"~(URL parse error during conversion from string: parse "https://a:b:c/": invalid port ":c" after host)~"},
      {R"~(url('../relative').getPort() == '')~",
       R"~(URL parse error during conversion from string: parse "../relative": invalid URI for request)~"},
  });
}

TEST(CelTextLibrary, WhatWouldRunLongIsStopped) {
  const std::string text = "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'";
  // Each step makes the text 64 times as long.
  std::string grown = text;
  for (int i = 0; i < 4; ++i) grown += ".replace('a', " + text + ")";
  EXPECT_NE(outcome_of(grown + ".size() == 0").find("cost limit exceeded"), std::string::npos);
  EXPECT_NE(outcome_of("lists.range(2000).distinct().size() == 0").find("cost limit exceeded"), std::string::npos);
  EXPECT_NE(outcome_of("sets.contains(lists.range(2000), lists.range(2000))").find("cost limit exceeded"),
            std::string::npos);
  // A short pattern that makes a large program.
  const std::string pattern =
      text + ".replace('a', " + text + ").replace('a', " + text + ").matches('((a{30}){30}){3}b')";
  EXPECT_NE(outcome_of(pattern), "");
}

TEST(CelTextLibrary, PatternsThatCannotBeReadAreRefusedWhenTheyAreCompiled) {
  for (const char* function : {"matches", "find", "findAll"}) {
    const auto program = CelProgram::compile(std::string{"'a'."} + function + "('(')", {&kubernetes_functions(), {}});
    EXPECT_FALSE(program) << function;
  }
}

}  // namespace
}  // namespace shiplog::cel
