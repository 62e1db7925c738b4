// What large objects cost to check. None of these tests measures time: what grew with the square of a request's size,
// or faster, took minutes.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/admit.h"

namespace shiplog::api {
namespace {

Value list_of(size_t count, const std::function<Value(size_t)>& item) {
  Value list = Value::array();
  for (size_t i = 0; i < count; ++i) list.push_back(item(i));
  return list;
}

TEST(LargeObjects, AQuotaMayRepeatItsScopes) {
  constexpr size_t kMany = 10'000;
  Value hard = Value::object();
  for (size_t i = 0; i < kMany; ++i) hard.set("hugepages-" + std::to_string(i), "1");
  for (const char* scope : {"NotBestEffort", "PriorityClass", "Other"}) {
    Value quota = json(R"({"metadata":{"name":"q"},"spec":{}})");
    quota.edit("spec").set("hard", hard);
    quota.edit("spec").set("scopes", list_of(kMany, [&](size_t) { return Value{scope}; }));
    EXPECT_NE(message_of(create("resourcequotas", quota)), "no error") << scope;
  }
}

TEST(LargeObjects, AContainerMayRepeatACapability) {
  Value pod = json(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","securityContext":
      {"allowPrivilegeEscalation":false}}]}})");
  Value& container = pod.edit("spec").edit("containers").edit_items()[0];
  Value added = list_of(100'000, [](size_t) { return Value{"CAP_SYS_ADMIN"}; });
  container.edit("securityContext").set("capabilities", Value::object({{"add", std::move(added)}}));
  const auto created = create("pods", pod);
  ASSERT_FALSE(created.has_value());
  EXPECT_EQ(created.error().causes.size(), 1U);
  EXPECT_LT(created.error().message.size(), 2000U);
}

TEST(LargeObjects, ANodeMayListManyDrivers) {
  const auto driver = [](size_t number) {
    return Value::object({{"name", "d" + std::to_string(number) + ".example.com"}, {"nodeID", "n"}});
  };
  Value node = json(R"({"metadata":{"name":"n"},"spec":{}})");
  node.edit("spec").set("drivers", list_of(20'000, driver));
  const Value old = stored("csinodes.storage.k8s.io", node);
  EXPECT_EQ(message_of(update("csinodes.storage.k8s.io", old, old)), "no error");
}

TEST(LargeObjects, AWebhookMayHaveManyRules) {
  const auto rule = [](size_t number) {
    return Value::object({{"apiGroups", Value::array({"g" + std::to_string(number)})},
                          {"apiVersions", Value::array({"v1"})},
                          {"resources", Value::array({"things"})},
                          {"operations", Value::array({"CREATE"})}});
  };
  Value hooks = json(R"({"metadata":{"name":"w"},"webhooks":[{"name":"a.example.com","sideEffects":"None",
      "admissionReviewVersions":["v1"],"clientConfig":{"url":"https://a.example.com"}}]})");
  Value& hook = hooks.edit("webhooks").edit_items()[0];
  hook.set("rules", list_of(10'000, rule));
  const char* type = "validatingwebhookconfigurations.admissionregistration.k8s.io";
  const Value old = stored(type, hooks);
  Value changed = old;
  changed.edit("webhooks").edit_items()[0].edit("rules").edit_items().pop_back();
  EXPECT_EQ(message_of(update(type, old, changed)), "no error");
}

TEST(LargeObjects, APodMayHaveManyClaimsAndResources) {
  constexpr size_t kMany = 10'000;
  Value pod = json(R"({"metadata":{"name":"p"},"spec":{"resources":{"limits":{"cpu":"1"}},"containers":[{"name":"c",
      "image":"i"}]}})");
  const auto sidecar = [](size_t number) {
    const std::string text = std::to_string(number);
    Value resources = json(R"({"claims":[{"name":"none"}]})");
    resources.set("requests", Value::object({{"hugepages-" + text, "1"}}));
    return Value::object(
        {{"name", "s" + text}, {"image", "i"}, {"restartPolicy", "Always"}, {"resources", std::move(resources)}});
  };
  const auto claim = [](size_t number) {
    return Value::object({{"name", std::string(50, 'a') + std::to_string(number)}, {"resourceClaimName", "c"}});
  };
  pod.edit("spec").set("initContainers", list_of(kMany, sidecar));
  pod.edit("spec").set("resourceClaims", list_of(kMany, claim));
  EXPECT_NE(message_of(create("pods", pod)), "no error");
}

}  // namespace
}  // namespace shiplog::api
