#include "tests/support/admit.h"

// Selectors of devices, the status of claims, and what a slice says of its devices.

namespace shiplog::api {
namespace {

constexpr const char* kClaimType = "resourceclaims.resource.k8s.io";
constexpr const char* kSliceType = "resourceslices.resource.k8s.io";

Value slice_with(const std::string& devices) {
  return json(R"({"metadata":{"name":"a"},"spec":{"driver":"d.io","allNodes":true,"pool":{"name":"p","generation":1,
      "resourceSliceCount":1},"devices":)" +
              devices + "}}");
}

TEST(DeviceSelectors, AreCompiled) {  // CRU-9
  const auto selected = [](const std::string& expression) {
    Value object = json(R"({"metadata":{"name":"a"},"spec":{"selectors":[{"cel":{}}]}})");
    object.edit("spec").edit("selectors").edit_items()[0].edit("cel").set("expression", expression);
    return message_of(create("deviceclasses.resource.k8s.io", object));
  };
  for (const char* good :
       {"device.driver == 'd.io'", "device.attributes['d.io'].model == 'a'", "device.attributes['d.io'].ready",
        "device.capacity['d.io'].memory.compareTo(quantity('10Gi')) >= 0", "device.allowMultipleAllocations == true",
        "device.attributes['d.io'].version.isGreaterThan(semver('1.0.0'))",
        "cel.bind(d, device.attributes['d.io'], d.a && d.b)"}) {
    EXPECT_EQ(selected(good), "no error") << good;
  }
  EXPECT_NE(selected("device.name == 'a'").find("compilation failed: ERROR: <input>:1:7: undefined field 'name'"),
            std::string::npos);
  EXPECT_NE(selected("device.driver").find("must evaluate to bool or the unknown type, not string"), std::string::npos);
  EXPECT_NE(selected("cel.bind(").find("compilation failed"), std::string::npos);
  EXPECT_NE(selected(std::string(10241, ' ')).find("may not be more than 10240 bytes"), std::string::npos);
}

TEST(DeviceStatus, OfClaimsFollowsTheAllocation) {  // SUB-1
  const Value old = stored(kClaimType, json(R"({"metadata":{"name":"a"},"spec":{"devices":{"requests":[{"name":"a",
      "exactly":{"deviceClassName":"c"}}]}}})"));
  const auto written = [](const Value& before, const std::string& status) {
    Value object = before;
    object.set("status", json(status));
    Admission admission = admission_for(kClaimType, "a");
    return admit_status_update(admission, before, object);
  };
  const auto good = written(old, R"({"allocation":{"devices":{"results":[{"request":"a","driver":"d.io","pool":"p/q",
      "device":"x"}]}},"reservedFor":[{"resource":"pods","name":"p","uid":"u"}],"devices":[{"driver":"d.io","pool":
      "p/q","device":"x","conditions":[]}]})");
  ASSERT_EQ(message_of(good), "no error");
  EXPECT_EQ(fields_of(written(old, R"({"reservedFor":[{"resource":"pods","name":"p","uid":"u"}]})")),
            "status.reservedFor");
  Value allocated = old;
  allocated.set("status", good.value()["status"]);
  EXPECT_EQ(fields_of(written(allocated, R"({"allocation":{"devices":{"results":[]}}})")), "status.allocation");
  const auto freed = written(allocated, R"({"devices":[{"driver":"d.io","pool":"p/q","device":"x","conditions":[]}]})");
  ASSERT_EQ(message_of(freed), "no error");
  EXPECT_FALSE(freed.value()["status"].contains("devices")) << "the device is no longer allocated";
}

TEST(DeviceTaints, KeepTheirTime) {
  const Value old =
      stored(kSliceType, slice_with(R"([{"name":"a","taints":[{"key":"k","effect":"NoSchedule","timeAdded":
      "2025-01-01T00:00:00Z"},{"key":"l","effect":"None"}]}])"));
  EXPECT_EQ(old["spec"]["devices"][0]["taints"][1]["timeAdded"].str(), "2026-01-02T03:04:05Z");
  Value untimed = old;
  untimed.edit("spec").edit("devices").edit_items()[0].edit("taints").edit_items()[0].erase("timeAdded");
  const auto again = update(kSliceType, old, untimed);
  ASSERT_EQ(message_of(again), "no error");
  EXPECT_EQ(again.value()["spec"], old["spec"]);
  for (int i = 0; i < 200; ++i) untimed.edit("spec").edit("devices").push_back(json(R"({"name":"x"})"));
  EXPECT_EQ(fields_of(update(kSliceType, old, untimed)), "spec.devices");
}

}  // namespace
}  // namespace shiplog::api
