#include "events/base/json_path.h"

#include <random>

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog {
namespace {

const Value& status() {
  static const Value kStatus = parse_json(R"({"jobStatus":{"jobID":"9c2f","state":"RUNNING","checkpoint":1234567},
      "a.b":"dotted","ratio":0.5,"done":true,"nothing":null,"empty":"",
      "list":[{"type":"Ready","status":"True","x":1},{"type":"Other","status":"False"}],"numbers":[10,11,12,13]})")
                                   .value();
  return kStatus;
}

std::string text_of(std::string_view path) {
  const auto parsed = JsonPathTemplate::parse(path);
  if (!parsed) return "cannot read: " + parsed.error().message;
  const auto text = parsed.value().evaluate(status());
  return text ? text.value() : "error: " + text.error().message;
}

TEST(JsonPathTemplate, PrintsWhatAPathLeadsTo_3_4_2) {
  for (const char* path :
       {"{.jobStatus.jobID}", "{ .jobStatus.jobID }", "{$.jobStatus.jobID}", "{@.jobStatus.jobID}",
        "{.jobStatus['jobID']}", "{['jobStatus'].jobID}", "{..jobID}", "{$['jobStatus']['jobID']}"}) {
    EXPECT_EQ(text_of(path), "9c2f") << path;
  }
  EXPECT_EQ(text_of("{.jobStatus.checkpoint}"), "1234567") << "without the exponent that kubectl's floats have";
  EXPECT_EQ(text_of("{.done}"), "true");
  EXPECT_EQ(text_of("{.ratio}"), "0.5");
  EXPECT_EQ(text_of(R"({.a\.b})"), "dotted");
  EXPECT_EQ(text_of("{.jobStatus}"), R"({"checkpoint":1234567,"jobID":"9c2f","state":"RUNNING"})");
  EXPECT_EQ(text_of("{.empty}"), "");
}

TEST(JsonPathTemplate, TextAndSeveralExpressions_3_4_2) {
  EXPECT_EQ(text_of("job-{.jobStatus.jobID}-{.jobStatus.state}"), "job-9c2f-RUNNING");
  EXPECT_EQ(text_of(R"({.jobStatus.jobID}{"-"}{'x'})"), "9c2f-x");
  EXPECT_EQ(text_of("{range .list[*]}{.type}={.status};{end}"), "Ready=True;Other=False;");
  EXPECT_EQ(text_of(".jobStatus.jobID"), ".jobStatus.jobID") << "what stands outside of braces is text, as in kubectl";
  EXPECT_EQ(text_of(""), "");
}

TEST(JsonPathTemplate, ListsSlicesAndUnions) {
  EXPECT_EQ(text_of("{.numbers[0]} {.numbers[-1]}"), "10 13");
  EXPECT_EQ(text_of("{.numbers[1:3]}"), "11 12");
  EXPECT_EQ(text_of("{.numbers[:2]}"), "10 11");
  EXPECT_EQ(text_of("{.numbers[::2]}"), "10 12");
  EXPECT_EQ(text_of("{.numbers[-2:]}"), "12 13");
  EXPECT_EQ(text_of("{.numbers[0,2]}"), "10 12");
  EXPECT_EQ(text_of("{.numbers[*]}"), "10 11 12 13");
  EXPECT_EQ(text_of("{.jobStatus['state','jobID']}"), "RUNNING 9c2f");
  EXPECT_EQ(text_of("{.jobStatus.*}"), "1234567 9c2f RUNNING") << "in the order of their names";
}

TEST(JsonPathTemplate, Filters) {
  EXPECT_EQ(text_of(R"({.list[?(@.type=="Ready")].status})"), "True");
  EXPECT_EQ(text_of("{.list[?(@.type != 'Ready')].status}"), "False");
  EXPECT_EQ(text_of("{.list[?(@.x)].type}"), "Ready");
  EXPECT_EQ(text_of("{.numbers[?(@ > 11)]}"), "12 13");
  EXPECT_EQ(text_of("{.numbers[?(@<=10)]}"), "10");
  EXPECT_EQ(text_of("{.list[?(@.type=='none')].status}"), "") << "no item is let through: nothing is missing";
  EXPECT_EQ(text_of("{.list[?(@.x==1)].type}"), "error: x is not found") << "as in kubectl, of the other item";
}

TEST(JsonPathTemplate, WhatIsMissingIsAnError_3_4_2) {
  EXPECT_EQ(text_of("{.status.jobStatus}"), "error: status is not found");
  EXPECT_EQ(text_of("{.jobStatus.jobId}"), "error: jobId is not found");
  EXPECT_EQ(text_of("{.nothing}"), "error: nothing is not found");
  EXPECT_EQ(text_of("{..absent}"), "error: absent is not found");
  EXPECT_EQ(text_of("{.numbers[4]}"), "error: array index out of bounds: index 4, length 4");
  EXPECT_EQ(text_of("{.numbers[-5]}"), "error: array index out of bounds: index -5, length 4");
  EXPECT_EQ(text_of("{.jobStatus[0]}"), "error: what is indexed is no list");
  EXPECT_EQ(text_of("{.jobStatus[?(@.x)]}"), "error: what is filtered is no list");
  EXPECT_EQ(text_of("{.numbers[?(@ > 'a')]}"), "error: only two strings or two whole numbers have an order");
}

TEST(JsonPathTemplate, WhatCannotBeReadNamesThePlace) {
  for (const char* path : {"{",
                           "{}",
                           "{.a",
                           "{.a[",
                           "{.a[}",
                           "{.a[0}",
                           "{.a['x}",
                           "{.a[?(}",
                           "{.a[?(@.x]}",
                           "{.a[?(@.x=='1']}",
                           "{...a}",
                           "{end}",
                           "{range .a}",
                           "{range .a}{range .b}{end}",
                           "{.a[0:1:0]}",
                           "{.a[99999999999999999999]}",
                           "{a}",
                           "{.a}}{",
                           "{.a[?(@.x==1.5)]}",
                           "{.a[,]}",
                           "{\"x}",
                           "{.a{.b}}",
                           "{.a[?(@.b==)]}"}) {
    EXPECT_TRUE(text_of(path).starts_with("cannot read: JSONPath, character ")) << path << ": " << text_of(path);
  }
}

TEST(JsonPathTemplate, HostileTemplatesAreBounded) {
  EXPECT_TRUE(text_of(std::string(5000, 'x')).starts_with("cannot read: the JSONPath has 5000 bytes"));
  std::string filters = "{.list";
  for (int i = 0; i < 300; ++i) filters += "[?(@";
  EXPECT_TRUE(text_of(filters).starts_with("cannot read: ")) << "not a recursion of 300";
  std::string ranges;
  for (int i = 0; i < 150; ++i) ranges += "{range .list}";
  EXPECT_TRUE(text_of(ranges).starts_with("cannot read: "));

  // A status of 100,000 values: templates that would look at all of them again and again.
  Value::Array items;
  for (int i = 0; i < 300; ++i) {
    Value::Array inner;
    for (int j = 0; j < 330; ++j) inner.emplace_back(j);
    items.push_back(Value::array(std::move(inner)));
  }
  const Value large = Value::object({{"list", Value::array(std::move(items))}, {"text", std::string(100'000, 'x')}});
  for (const char* path : {"{..*..*..*..*..*..*}", "{.list[?($..x)]}",
                           "{range .list[*]}{range $.list[*]}{range $..*}x{end}"
                           "{end}{end}",
                           "{.list[*,*,*,*,*,*,*][*,*,*,*,*,*]}", "{.text}", "{.list}", "{.list[*][?(@ > -1)][?(@)]}",
                           "{.list[?($.list[*][?(@==1)])]}"}) {
    const auto parsed = JsonPathTemplate::parse(path);
    ASSERT_TRUE(parsed.has_value()) << path << parsed.error().message;
    const auto text = parsed.value().evaluate(large);
    ASSERT_FALSE(text.has_value()) << path;
    EXPECT_TRUE(text.error().code == ErrorCode::kTooLarge || text.error().code == ErrorCode::kInvalid) << path;
  }
}

TEST(JsonPathTemplate, AnyBytesGiveATextOrAnError) {
  std::mt19937 random{3};
  constexpr std::string_view kPieces[] = {"{", "}", ".",  "..", "[",      "]",    "?(", ")", "@",
                                          "$", "'", "\"", "==", "<",      "list", "x",  "0", "-1",
                                          ":", ",", "*",  " ",  "range ", "end",  "\\"};
  int printed = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string path;
    for (size_t i = random() % 12; i > 0; --i) path += kPieces[random() % std::size(kPieces)];
    const std::string text = text_of(path);
    EXPECT_LE(text.size(), JsonPathTemplate::kLongestText + 100);
    printed += text.starts_with("cannot read: ") || text.starts_with("error: ") ? 0 : 1;
  }
  EXPECT_GT(printed, 100);
}

}  // namespace
}  // namespace shiplog
