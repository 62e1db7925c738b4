#include "services/api/admission/event_rules.h"

#include <tuple>
#include <vector>

#include "tests/support/admit.h"

namespace shiplog::api {
namespace {

Value event() {
  return json(R"({"eventTime":"2026-01-01T00:00:00.000001Z","reportingController":"a.io/b","reportingInstance":"i",
      "action":"Do","reason":"T","regarding":{"kind":"Pod","name":"p","namespace":"default"},"note":"n",
      "type":"Normal","deprecatedCount":0})");
}

std::string wrong_with(const Value& object, const Value* old) {
  Causes causes;
  check_strict_event(object, old, causes);
  std::string all;
  for (const FieldCause& cause : causes.list()) all += (all.empty() ? "" : ", ") + cause.field + ": " + cause.message;
  return all;
}

TEST(EventRules, NewEventsOfTheNewerVersion) {  // EVENT-2
  const std::string long_text(1025, 'x');
  for (const auto& [field, value, wrong] : std::vector<std::tuple<const char*, Value, const char*>>{
           {"type", "Normal", ""},
           {"eventTime", nullptr, "eventTime: Required value"},
           {"type", "Foo", R"(type: Invalid value: "": has invalid value: Foo)"},
           {"note", long_text, R"(message: Invalid value: "": can have at most 1024 characters)"},
           {"action", long_text, R"(action: Invalid value: "": can have at most 128 characters)"},
           {"reason", long_text, R"(reason: Invalid value: "": can have at most 128 characters)"},
           {"series", json(R"({"count":1})"),
            R"(series.count: Invalid value: "": should be at least 2, series.lastObservedTime: Required value)"},
           {"deprecatedCount", 1, R"(count: Invalid value: "": needs to be unset)"},
           {"deprecatedSource", json(R"({"host":"h"})"), R"(source: Invalid value: "": needs to be unset)"},
           {"deprecatedFirstTimestamp", "2026-01-01T00:00:00Z",
            R"(firstTimestamp: Invalid value: "": needs to be unset)"},
       }) {
    Value object = event();
    object.set(field, value);
    EXPECT_EQ(wrong_with(object, nullptr), wrong) << field;
  }
  Value unqualified = event();
  unqualified.set("reportingController", "a b");
  EXPECT_TRUE(wrong_with(unqualified, nullptr).starts_with(R"(reportingController: Invalid value: "a b": name part)"));
}

TEST(EventRules, OnlyTheSeriesOfAnEventChanges) {  // EVENT-2
  const Value old = event();
  Value object = old;
  object.set("series", json(R"({"count":2,"lastObservedTime":"2026-01-01T00:00:00.000001Z"})"));
  object.erase("deprecatedCount");
  object.set("eventTime", "2026-01-01T00:00:00.000001000Z");
  EXPECT_EQ(wrong_with(object, &old), "");
  object.set("note", "other");
  object.edit("regarding").set("name", "q");
  EXPECT_TRUE(wrong_with(object, &old).starts_with("involvedObject: Invalid value: {"));
  EXPECT_TRUE(wrong_with(object, &old).ends_with(R"(message: Invalid value: "other": field is immutable)"));
}

TEST(EventRules, TheNamespaceOfWhatAnEventIsAbout) {  // EVENT-2
  const auto about = [](const char* ns, const char* time) {
    Value object =
        json(R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p"},"action":"a","reason":"r",
        "reportingComponent":"c","reportingInstance":"i"})");
    object.edit("involvedObject").set("namespace", ns);
    object.set("eventTime", time);
    return fields_of(create("events", object));
  };
  EXPECT_EQ(about("default", ""), "no error");
  EXPECT_EQ(about("", ""), "no error");
  EXPECT_EQ(about("other", ""), "involvedObject.namespace");
}

}  // namespace
}  // namespace shiplog::api
