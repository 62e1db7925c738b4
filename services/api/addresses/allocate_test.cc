#include "services/api/addresses/allocate.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/literals.h"

namespace shiplog::api {
namespace {

const ObjectKey kWeb{"services", "default", "web"};

using test::json;
Value service(std::string_view spec) { return Value::object({{"spec", json(spec)}}); }

class Allocate : public ::testing::Test {
 protected:
  Result<Value> give(const Value& wanted, const Value& old = {}) {
    return with_addresses(kWeb, old, wanted, ranges_, index_, random_);
  }
  Value given(const Value& wanted, const Value& old = {}) {
    auto made = give(wanted, old);
    if (!made) ADD_FAILURE() << made.error().message;
    return made ? made.value()["spec"] : Value{};
  }
  std::string refused(const Value& wanted, const Value& old = {}) {
    const auto made = give(wanted, old);
    if (made) return "accepted: " + to_json(made.value());
    std::string text;
    for (const FieldCause& cause : made.error().causes) text += cause.field + ": " + cause.message + "\n";
    return text.empty() ? made.error().message : text;
  }
  void take(const std::string& name, std::string_view spec) {
    index_.update({"services", "other", name}, Value{}, service(spec));
  }

  ServiceRanges ranges_ = service_ranges_from({"10.96.0.0/29"}, {"30000-30003"});
  ServiceIndex index_;
  SeededRandom random_{7};
};

TEST_F(Allocate, AFreeClusterIpUntilTheRangeIsFull) {
  std::set<std::string> seen;
  for (int i = 0; i < 5; ++i) {
    const Value spec = given(service(R"({"type":"ClusterIP"})"));
    EXPECT_EQ(spec["clusterIPs"], Value::array({spec["clusterIP"]}));
    EXPECT_EQ(to_json(spec["ipFamilies"]), R"(["IPv4"])");
    EXPECT_EQ(spec["ipFamilyPolicy"].str(), "SingleStack");
    EXPECT_TRUE(seen.insert(spec["clusterIP"].str()).second);
    take("s" + std::to_string(i), R"({"clusterIP":")" + spec["clusterIP"].str() + R"("})");
  }
  EXPECT_EQ(seen, (std::set<std::string>{"10.96.0.2", "10.96.0.3", "10.96.0.4", "10.96.0.5", "10.96.0.6"}))
      << "neither the network's address, nor that of the Service kubernetes, nor the broadcast address";
  EXPECT_NE(refused(service(R"({"type":"ClusterIP"})")).find("range 10.96.0.0/29"), std::string::npos);
}

TEST_F(Allocate, HeadlessAndExternalServicesGetNone) {
  EXPECT_TRUE(given(service(R"({"type":"ExternalName"})"))["clusterIP"].is_null());
  const Value headless = given(service(R"({"type":"ClusterIP","clusterIP":"None","clusterIPs":["None"],
                                           "selector":{"a":"b"}})"));
  EXPECT_EQ(to_json(headless["clusterIPs"]), R"(["None"])");
  EXPECT_EQ(headless["ipFamilyPolicy"].str(), "SingleStack");
  const Value anywhere = given(service(R"({"type":"ClusterIP","clusterIP":"None","clusterIPs":["None"]})"));
  EXPECT_EQ(to_json(anywhere["ipFamilies"]), R"(["IPv4","IPv6"])");
}

TEST_F(Allocate, AnAddressOfTheUsersOwnIsCheckedWhenItIsNew) {
  const auto with_ip = [](const std::string& ip) {
    return service(R"({"type":"ClusterIP","clusterIP":")" + ip + R"(","clusterIPs":[")" + ip + R"("]})");
  };
  EXPECT_EQ(given(with_ip("10.96.0.4"))["clusterIP"].str(), "10.96.0.4");
  take("other", R"({"clusterIP":"10.96.0.4"})");
  EXPECT_EQ(refused(with_ip("10.96.0.4")),
            "spec.clusterIPs[0]: Invalid value: \"10.96.0.4\": failed to allocate IP 10.96.0.4: provided IP is already "
            "allocated\n");
  EXPECT_NE(refused(with_ip("10.97.0.4")).find("not in the valid range; the range of valid IPs is 10.96.0.0/29"),
            std::string::npos);
  EXPECT_EQ(given(with_ip("10.97.0.4"), with_ip("10.97.0.4"))["clusterIP"].str(), "10.97.0.4")
      << "it was stored when the range was another one";
}

TEST_F(Allocate, NodePortsOfTheTypesThatHaveThem) {
  const Value wanted = service(R"({"type":"NodePort","ports":[{"port":53,"protocol":"TCP"},
      {"port":53,"protocol":"UDP"},{"port":80,"protocol":"TCP","nodePort":30001}]})");
  const Value ports = given(wanted)["ports"];
  EXPECT_EQ(ports[0]["nodePort"], ports[1]["nodePort"]) << "one port number for both protocols";
  EXPECT_NE(ports[0]["nodePort"], ports[2]["nodePort"]);
  take("other", R"({"ports":[{"nodePort":30001}]})");
  EXPECT_EQ(refused(wanted), "spec.ports[2].nodePort: Invalid value: 30001: provided port is already allocated\n");
  EXPECT_NE(refused(service(R"({"type":"NodePort","ports":[{"port":80,"nodePort":80}]})")).find("is 30000-30003"),
            std::string::npos);
  EXPECT_TRUE(given(service(R"({"type":"ClusterIP","ports":[{"port":80}]})"))["ports"][0]["nodePort"].is_null());
  EXPECT_TRUE(given(service(
      R"({"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"port":80}]})"))["ports"][0]["nodePort"]
                  .is_null());
  const Value local =
      given(service(R"({"type":"LoadBalancer","externalTrafficPolicy":"Local","ports":[{"port":80}]})"));
  EXPECT_GE(local["healthCheckNodePort"].as_int(), 30000);
  EXPECT_NE(local["healthCheckNodePort"], local["ports"][0]["nodePort"]);
}

TEST_F(Allocate, PortsThatMembersChoseForStayWithoutOne) {
  const Value old = service(R"({"type":"NodePort","ports":[{"port":80,"protocol":"TCP"}]})");
  Value wanted = old;
  wanted.edit("spec").edit("ports").push_back(json(R"({"port":81,"protocol":"TCP"})"));
  const Value spec = given(wanted, old);
  EXPECT_FALSE(spec["clusterIP"].is_empty());
  EXPECT_TRUE(spec["ports"][0]["nodePort"].is_null()) << "a new one would change the members' ports";
  EXPECT_FALSE(spec["ports"][1]["nodePort"].is_null());
}

TEST_F(Allocate, TwoFamiliesWhereTheClusterHasTwoRanges) {
  EXPECT_EQ(refused(service(R"({"type":"ClusterIP","ipFamilyPolicy":"RequireDualStack"})")),
            "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured for dual-stack "
            "services\n");
  EXPECT_EQ(given(service(R"({"type":"ClusterIP","ipFamilyPolicy":"PreferDualStack"})"))["clusterIPs"].size(), 1U);
  ranges_ = service_ranges_from({"10.96.0.0/29", "fd00::/112"}, {"30000-30003"});
  const Value both = given(service(R"({"type":"ClusterIP","ipFamilyPolicy":"PreferDualStack"})"));
  EXPECT_EQ(to_json(both["ipFamilies"]), R"(["IPv4","IPv6"])");
  EXPECT_TRUE(both["clusterIPs"][1].as_string().starts_with("fd00::")) << to_json(both);
  const Value six = given(service(R"({"type":"ClusterIP","ipFamilies":["IPv6"]})"));
  EXPECT_TRUE(six["clusterIP"].as_string().starts_with("fd00::")) << to_json(six);
  EXPECT_NE(refused(service(R"({"type":"ClusterIP","clusterIP":"fd00:0::5","clusterIPs":["fd00:0::5"]})"))
                .find("canonical form (\"fd00::5\")"),
            std::string::npos);
}

TEST(ServiceRanges, AreChecked) {
  EXPECT_TRUE(parse_service_networks({"10.96.0.0/12", "fd00::/108"}));
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{}, {"10.0.0.0"}, {"10.0.0.0/30"}, {"10.0.0.0/8"}, {"10.0.0.0/24", "10.1.0.0/24"}}) {
    EXPECT_FALSE(parse_service_networks(wrong));
  }
  EXPECT_TRUE(parse_node_ports({"30000-32767"}));
  for (const char* wrong : {"", "30000", "32767-30000", "0-10", "1-70000", "a-b"})
    EXPECT_FALSE(parse_node_ports({wrong}));
  EXPECT_EQ(own_service_ip(service_ranges_from({"10.0.0.77/24"}, {})), "10.0.0.1");
}

}  // namespace
}  // namespace shiplog::api
