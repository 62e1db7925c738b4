#include "services/adapters/members/watch_line.h"

#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog {
namespace {

std::string trimmed(const std::string& line) {
  std::string buffer = "of the line before";
  return std::string{without_managed_fields(line, buffer)};
}

TEST(WatchLine, IsReadWithoutTheFieldsOfManagers) {
  const std::string fields = R"([{"manager":"a]}\"","fieldsV1":{"f:spec":{"f:x":{}}}},{"manager":"b"}])";
  EXPECT_EQ(
      trimmed(R"({"type":"ADDED","object":{"metadata":{"managedFields":)" + fields + R"(,"name":"n"},"spec":1}})"),
      R"({"type":"ADDED","object":{"metadata":{"name":"n"},"spec":1}})");
  EXPECT_EQ(trimmed(R"({"object":{"kind":"K","metadata":{"name":"n","managedFields":)" + fields + R"(}},"type":"X"})"),
            R"({"object":{"kind":"K","metadata":{"name":"n"}},"type":"X"})");
  EXPECT_EQ(trimmed(R"({"object":{"metadata":{"managedFields":[]}}})"), R"({"object":{"metadata":{}}})");
}

TEST(WatchLine, KeepsWhatOnlyHasTheName) {
  for (const std::string line : {
           R"({"type":"ADDED","object":{"spec":{"managedFields":[1]},"metadata":{"name":"n"}}})",
           R"({"type":"ADDED","metadata":{"x":{"managedFields":[1]}}})",
           R"({"object":{"metadata":{"labels":{"managedFields":[1]}}}})",
           R"({"object":[{"metadata":{"managedFields":[1]}}]})",
           R"({"object":{"metadata":{"managedFields":"[1]"}}})",
           R"({"object":{"metadata":{"annotations":{"a":",\"managedFields\":[1]"}}}})",
           R"({"object":{"metadata":["managedFields",[1]]}})",
       }) {
    EXPECT_EQ(trimmed(line), line);
  }
}

TEST(WatchLine, OfWhichPartIsMissingIsLeftToTheParser) {
  const std::string whole = R"({"object":{"metadata":{"managedFields":[{"a":"\\"}],"name":"n"}},"type":"A"})";
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    EXPECT_FALSE(parse_json(trimmed(part))) << part;
  }
  EXPECT_TRUE(parse_json(trimmed(whole)));
}

}  // namespace
}  // namespace shiplog
