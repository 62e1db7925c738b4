#include "services/debugger/dap/adapter.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/debugger/dap/frames.h"
#include "services/roles/registry.h"
#include "tests/support/golden_journal.h"

namespace shiplog::debugger {
namespace {

class AdapterOfAJournal : public ::testing::Test {
 protected:
  /// The response; events are in events_.
  Value ask(const std::string& command, Value arguments = Value::object()) {
    sent_.clear();
    events_.clear();
    adapter_.handle(Value::object(
        {{"seq", ++seq_}, {"type", "request"}, {"command", command}, {"arguments", std::move(arguments)}}));
    Value response;
    for (const Value& message : sent_) {
      if (message["type"].as_string() == "event") {
        events_.push_back(message);
      } else {
        EXPECT_TRUE(response.is_null()) << "one response";
        response = message;
      }
    }
    EXPECT_EQ(response["request_seq"].as_int(), seq_);
    EXPECT_EQ(response["command"].as_string(), command);
    return response;
  }
  Value body(const std::string& command, Value arguments = Value::object()) {
    const Value response = ask(command, std::move(arguments));
    EXPECT_TRUE(response["success"].as_bool()) << to_json(response);
    return response["body"];
  }
  Value stopped(const std::string& command, Value arguments = Value::object()) {
    body(command, std::move(arguments));
    EXPECT_EQ(events_.size(), 1U);
    if (events_.empty()) return {};
    EXPECT_EQ(events_.back()["event"].as_string(), "stopped");
    return events_.back()["body"];
  }
  void start() {
    EXPECT_TRUE(body("initialize")["supportsStepBack"].as_bool());
    body("launch", Value::object({{"journal", "golden"}}));
    ASSERT_EQ(events_.size(), 1U);
    EXPECT_EQ(events_[0]["event"].as_string(), "initialized");
    EXPECT_EQ(stopped("configurationDone")["reason"].as_string(), "entry");
  }
  std::string top_frame() {
    return body("stackTrace", Value::object({{"threadId", 1}}))["stackFrames"][0]["name"].str();
  }

  const Decides decides_ = all_decides();
  std::vector<Value> sent_, events_;
  int64_t seq_ = 0;
  int64_t last_sent_ = 0;
  DebugAdapter adapter_{[](const Value& arguments) -> Result<std::unique_ptr<Session>> {
                          if (arguments["journal"].as_string() != "golden")
                            return Error{ErrorCode::kNotFound, "there is no such journal"};
                          return std::make_unique<Session>(timeline_of(journal_with(golden_records(7))));
                        },
                        [this](const Value& message) {
                          EXPECT_EQ(message["seq"].as_int(), ++last_sent_);
                          sent_.push_back(message);
                        },
                        decides_};
};

TEST_F(AdapterOfAJournal, StepsInBothDirections) {
  start();
  const std::string first = top_frame();
  EXPECT_EQ(stopped("next")["reason"].as_string(), "step");
  const std::string second = top_frame();
  EXPECT_NE(second, first);
  EXPECT_EQ(stopped("stepBack")["reason"].as_string(), "step");
  EXPECT_EQ(top_frame(), first);
  stopped("stepIn");
  EXPECT_NE(top_frame().find("system:shiplog:"), std::string::npos) << "a decision";
  EXPECT_EQ(stopped("continue")["description"].as_string(), "the end of the journal is reached");
  EXPECT_EQ(stopped("reverseContinue")["description"].as_string(), "the beginning is reached");
  EXPECT_EQ(top_frame(), "before the first entry");
  EXPECT_EQ(stopped("stepBack")["description"].as_string(), "the beginning is reached");
  EXPECT_GT(body("scopes", Value::object({{"frameId", 0}}))["scopes"].size(), 0U);
}

TEST_F(AdapterOfAJournal, ConditionsAreFunctionBreakpoints) {
  start();
  const Value set = body(
      "setFunctionBreakpoints",
      Value::object(
          {{"breakpoints",
            Value::array({Value::object({{"name", "event PlacementDecided"}}), Value::object({{"name", "colour red"}}),
                          Value::object({{"name", "decision"}, {"condition", "offset == 5"}})})}}));
  EXPECT_TRUE(set["breakpoints"][0]["verified"].as_bool());
  EXPECT_FALSE(set["breakpoints"][1]["verified"].as_bool(true));
  EXPECT_NE(set["breakpoints"][1]["message"].as_string().find("column 1"), std::string::npos);
  EXPECT_TRUE(set["breakpoints"][2]["verified"].as_bool());
  const Value stop = stopped("continue");
  EXPECT_EQ(stop["reason"].as_string(), "function breakpoint");
  EXPECT_NE(top_frame().find("PlacementDecided"), std::string::npos) << top_frame();
  // A new list replaces the old one.
  body("setFunctionBreakpoints");
  EXPECT_EQ(stopped("continue")["description"].as_string(), "the end of the journal is reached");
}

TEST_F(AdapterOfAJournal, RefusalsAreExceptionsAndEntriesAreSources) {
  start();
  body("setExceptionBreakpoints", Value::object({{"filters", Value::array({"refused"})}}));
  EXPECT_EQ(stopped("continue")["reason"].as_string(), "exception");
  EXPECT_NE(top_frame().find("[refused"), std::string::npos) << top_frame();
  const Value frame = body("stackTrace")["stackFrames"][0];
  const Value text = body("source", Value::object({{"source", frame["source"]}, {"sourceReference", 0}}));
  EXPECT_NE(text["content"].as_string().find("result: refused"), std::string::npos);

  body("setExceptionBreakpoints", Value::object({{"filters", Value::array()}}));
  const Value set =
      body("setBreakpoints", Value::object({{"source", Value::object({{"sourceReference", 3}})},
                                            {"breakpoints", Value::array({Value::object({{"line", 12}})})}}));
  EXPECT_TRUE(set["breakpoints"][0]["verified"].as_bool());
  stopped("reverseContinue");
  EXPECT_EQ(top_frame().substr(0, 3), "#3 ");
  const Value file =
      body("setBreakpoints", Value::object({{"source", Value::object({{"path", "/etc/passwd"}})},
                                            {"breakpoints", Value::array({Value::object({{"line", 1}})})}}));
  EXPECT_FALSE(file["breakpoints"][0]["verified"].as_bool(true));
}

TEST_F(AdapterOfAJournal, ShowsEntriesExplanationsAndTheState) {
  start();
  body("setFunctionBreakpoints",
       Value::object({{"breakpoints", Value::array({Value::object({{"name", "event PlacementDecided"}})})}}));
  stopped("continue");
  const Value frames = body("stackTrace");
  EXPECT_GT(frames["totalFrames"].as_int(), 1) << "what led to it";
  const Value one = body("stackTrace", Value::object({{"startFrame", 1}, {"levels", 1}}));
  ASSERT_EQ(one["stackFrames"].size(), 1U);
  EXPECT_EQ(one["stackFrames"][0]["name"], frames["stackFrames"][1]["name"]);
  std::map<std::string, int64_t> scopes;
  const Value of_frame = body("scopes", Value::object({{"frameId", frames["stackFrames"][0]["id"]}}));
  for (const Value& scope : of_frame["scopes"].items()) {
    scopes[scope["name"].str()] = scope["variablesReference"].as_int();
  }
  ASSERT_TRUE(scopes.contains("Explanation"));
  const auto children = [&](int64_t reference) {
    return body("variables", Value::object({{"variablesReference", reference}}))["variables"];
  };
  EXPECT_EQ(children(scopes["Explanation"])[0]["name"].as_string(), "PlacementDecided");
  bool found = false;
  const Value types = children(scopes["State at the cursor"]);
  for (const Value& type : types.items()) {
    if (type["name"].as_string() != "deployments.apps") continue;
    const Value objects = children(type["variablesReference"].as_int());
    EXPECT_EQ(objects[0]["name"].as_string(), "default/web");
    EXPECT_GT(children(objects[0]["variablesReference"].as_int()).size(), 2U);
    found = true;
  }
  EXPECT_TRUE(found);
  const Value page =
      body("variables", Value::object({{"variablesReference", scopes["Entry"]}, {"start", 1}, {"count", 2}}));
  EXPECT_EQ(page["variables"].size(), 2U);

  const auto evaluate = [&](const char* expression, const char* context) {
    return body("evaluate", Value::object({{"expression", expression}, {"context", context}}))["result"].str();
  };
  EXPECT_EQ(evaluate("object Deployment default/web exists", "watch"), "true");
  EXPECT_EQ(evaluate("Deployment default/web .metadata.name", "hover"), "\"web\"\n");
  EXPECT_NE(evaluate("rerun", "repl").find("the same as recorded"), std::string::npos);
  evaluate("goto entry 5", "repl");
  ASSERT_EQ(events_.size(), 1U) << "the editor sees that the cursor has moved";
  EXPECT_EQ(events_[0]["body"]["reason"].as_string(), "goto");
  const Value old = ask("variables", Value::object({{"variablesReference", scopes["Entry"]}}));
  EXPECT_FALSE(old["success"].as_bool(true)) << "references end when the cursor moves";
}

TEST_F(AdapterOfAJournal, WhatCannotBeAnsweredIsAnError) {
  const auto fails = [&](const std::string& command, Value arguments = Value::object()) {
    const Value response = ask(command, std::move(arguments));
    EXPECT_FALSE(response["success"].as_bool(true)) << command;
    return response["message"].str();
  };
  EXPECT_NE(fails("next").find("send launch first"), std::string::npos);
  EXPECT_NE(fails("launch", Value::object({{"journal", "other"}})).find("no such journal"), std::string::npos);
  EXPECT_NE(fails("setVariable").find("not supported"), std::string::npos);
  start();
  EXPECT_NE(fails("launch", Value::object({{"journal", "golden"}})).find("open already"), std::string::npos);
  fails("scopes", Value::object({{"frameId", 1'000'000}}));
  fails("variables", Value::object({{"variablesReference", -4}}));
  fails("source", Value::object({{"sourceReference", 1'000'000}}));
  fails("evaluate", Value::object({{"expression", "frobnicate"}, {"context", "repl"}}));
  // Arguments of other types than the protocol's are as if they were not there.
  body("scopes", Value::object({{"frameId", 1e300}}));
  body("stackTrace", Value::object({{"startFrame", "many"}, {"levels", -3}}));
  body("setFunctionBreakpoints", "text");
  for (const char* text : {"{}", "[]", "7", "null", R"({"type":"request"})", R"({"type":"response","command":"next"})",
                           R"({"type":"request","command":{}})"}) {
    sent_.clear();
    adapter_.handle(parse_json(text).value());
    ASSERT_EQ(sent_.size(), 1U) << text;
    EXPECT_FALSE(sent_[0]["success"].as_bool(true));
  }
  EXPECT_FALSE(adapter_.finished());
  body("disconnect");
  EXPECT_EQ(events_[0]["event"].as_string(), "terminated");
  EXPECT_TRUE(adapter_.finished());
}

TEST(DebugFrames, AreCutHoweverTheyArrive) {
  const std::string bytes = frame("{\"a\":1}") + "X-Other: 1\r\ncontent-length: 2\r\n\r\n{}" + frame("");
  FrameReader reader;
  std::vector<std::string> got;
  for (const char c : bytes) {
    reader.feed({&c, 1});
    while (true) {
      const auto message = reader.next();
      ASSERT_TRUE(message);
      if (!message.value()) break;
      got.push_back(*message.value());
    }
  }
  EXPECT_EQ(got, (std::vector<std::string>{"{\"a\":1}", "{}", ""}));
}

TEST(DebugFrames, RefuseWhatIsNoFrame) {
  const auto code = [](std::string_view bytes) {
    FrameReader reader;
    reader.feed(bytes);
    const auto message = reader.next();
    return message ? ErrorCode::kInternal : message.error().code;
  };
  EXPECT_EQ(code("Content-Length: 99999999999\r\n\r\n"), ErrorCode::kTooLarge);
  EXPECT_EQ(code("Content-Length: 99999999999999999999999999\r\n\r\n"), ErrorCode::kTooLarge);
  EXPECT_EQ(code("Content-Length: -1\r\n\r\n"), ErrorCode::kBadRequest);
  EXPECT_EQ(code("Content-Length: \r\n\r\n"), ErrorCode::kBadRequest);
  EXPECT_EQ(code("Content-Length: 1x\r\n\r\n"), ErrorCode::kBadRequest);
  EXPECT_EQ(code("hello\r\n\r\n"), ErrorCode::kBadRequest);
  EXPECT_EQ(code("A: b\r\n\r\n"), ErrorCode::kBadRequest);
  EXPECT_EQ(code(std::string(5'000, 'a')), ErrorCode::kBadRequest);
}

}  // namespace
}  // namespace shiplog::debugger
