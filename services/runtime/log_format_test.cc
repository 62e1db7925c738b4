#include "services/runtime/log_format.h"

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::log {
namespace {

constexpr int64_t kNoon = 1'795'348'800'123'045;  // 2026-11-22T12:00:00.123045Z

std::string made(Format format, std::initializer_list<Field> fields) {
  return line(format, Level::kWarn, kNoon, "/somewhere/services/runtime/roles.cc", 41,
              payload(format, "placement.decided", fields));
}

TEST(LogFormat, TextQuotesWhatHasSpaces) {
  EXPECT_EQ(made(Format::kText,
                 {kv("binding", "default/web"), kv("revision", 81), kv("reason", "no \"space\""), kv("of", "")}),
            "time=2026-11-22T12:00:00.123Z level=warn event=placement.decided binding=default/web revision=81 "
            "reason=\"no \\\"space\\\"\" of=\"\"\n");
}

TEST(LogFormat, JsonHasTheConventionalFields) {  // OBS-2
  const std::string text = made(
      Format::kJson, {kv("binding", "default/web"), kv("revision", 81), kv("ignored", true), kv("reason", "a\nb")});
  EXPECT_EQ(text,
            "{\"ts\":1795348800123.045,\"level\":\"warn\",\"caller\":\"runtime/roles.cc:41\",\"logger\":\"placement\","
            "\"msg\":\"placement.decided\",\"binding\":\"default/web\",\"revision\":81,\"ignored\":true,"
            "\"reason\":\"a\\nb\"}\n");
  const auto parsed = parse_json(text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed.value()["revision"].as_int(), 81);
}

}  // namespace
}  // namespace shiplog::log
