#include "services/programs/member/endpoint_slice.h"

#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/programs/member/kinds.h"
#include "tests/support/given.h"

namespace shiplog::member {
namespace {

using given::History;

const ObjectKey kWeb{kServices, "default", "web"};

class EndpointSlices : public ::testing::Test {
 protected:
  void service(const std::string& spec) {
    history_.object(kWeb, R"({"apiVersion":"v1","kind":"Service","spec":)" + spec + "}");
  }
  void pod(const std::string& name, const std::string& address, const std::string& app = "web",
           const std::string& ready = "True") {
    history_.object({kPods, "default", name},
                    R"({"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"app":")" + app +
                        R"("}},"spec":{"nodeName":"n1","containers":[{"ports":[{"name":"http","containerPort":8080}]}]},
        "status":{"phase":"Running","podIP":")" +
                        address + R"(","conditions":[{"type":"Ready","status":")" + ready + R"("}]}})");
  }
  std::vector<Value> slices() {
    history_.settle(decide_endpoint_slices, kWeb);
    std::vector<Value> all;
    for (const auto& [name, slice] : history_.state().objects(kEndpointSlices)) all.push_back(slice.value);
    return all;
  }

  History history_;
};

TEST_F(EndpointSlices, HaveTheAddressesOfTheServicesPods) {
  service(R"({"selector":{"app":"web"},"ports":[{"name":"http","port":80,"targetPort":"http"}]})");
  ASSERT_EQ(slices().size(), 1U) << "also of a Service without pods";
  pod("web-1", "10.1.0.1");
  pod("web-2", "10.1.0.2", "web", "False");
  pod("other", "10.1.0.3", "other");
  pod("pending", "");
  const auto found = slices();
  ASSERT_EQ(found.size(), 1U);
  const Value& slice = found.front();
  EXPECT_EQ(label_of(slice, "kubernetes.io/service-name"), "web");
  EXPECT_EQ(label_of(slice, "endpointslice.kubernetes.io/managed-by"), "endpointslice-controller.k8s.io");
  EXPECT_EQ(to_json(slice["ports"]), R"([{"name":"http","port":8080,"protocol":"TCP"}])");
  ASSERT_EQ(slice["endpoints"].size(), 2U);
  EXPECT_EQ(slice["endpoints"][0]["addresses"][0], "10.1.0.1");
  EXPECT_EQ(slice["endpoints"][0]["targetRef"]["name"], "web-1");
  EXPECT_TRUE(slice["endpoints"][0]["conditions"]["ready"].as_bool());
  EXPECT_FALSE(slice["endpoints"][1]["conditions"]["ready"].as_bool());
}

TEST_F(EndpointSlices, HoldAHundredEndpointsEach) {
  service(R"({"selector":{"app":"web"},"ports":[{"port":80}]})");
  for (int number = 0; number < 150; ++number) {
    pod("web-" + std::to_string(number), "10.1.1." + std::to_string(number));
  }
  ASSERT_EQ(slices().size(), 2U);
  for (int number = 0; number < 150; ++number) history_.remove({kPods, "default", "web-" + std::to_string(number)});
  ASSERT_EQ(slices().size(), 1U);
}

TEST_F(EndpointSlices, OfAServiceWithoutASelectorAreNotMade) {
  service(R"({"ports":[{"port":80}]})");
  EXPECT_EQ(slices().size(), 0U);
}

}  // namespace
}  // namespace shiplog::member
