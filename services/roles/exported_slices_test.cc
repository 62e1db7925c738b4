#include "services/roles/exported_slices.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog {
namespace {

Value json(const std::string& text) {
  auto parsed = parse_json(text);
  if (!parsed) ADD_FAILURE() << parsed.error().message << " in " << text;
  return parsed ? parsed.value() : Value{};
}

const ExportedService kWeb{"shop", "web", ExportedBy::kMultiClusterService};

Value slice(const std::string& name, const std::string& address = "10.1.0.1", const std::string& family = "IPv4") {
  return json(R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":")" + name +
              R"(","namespace":"shop","uid":"1","resourceVersion":"7","labels":{"kubernetes.io/service-name":"web",
                 "karmada.io/managed":"true","endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io"},
                 "annotations":{"x":"y"},"ownerReferences":[{"uid":"2"}],"finalizers":["f"]},
                 "addressType":")" +
              family + R"(","endpoints":[{"addresses":[")" + address +
              R"("],"conditions":{"ready":true,"x":1},"nodeName":"n1","secret":"s",
                 "targetRef":{"kind":"Pod","name":"web-1","namespace":"shop"}}],
                 "ports":[{"name":"http","port":80,"protocol":"TCP"}],"other":1})");
}

Value request(const std::string& kind = "MultiClusterService") {
  return json(R"({"metadata":{"name":"r","namespace":"karmada-es-m1"},"spec":{"suspendDispatching":true,"workload":
      {"manifests":[{"apiVersion":"networking.karmada.io/v1alpha1","kind":")" +
              kind + R"(","metadata":{"name":"web","namespace":"shop"}}]}}})");
}

TEST(ExportedSlices, OnlyAWorkThatIsKeptIsARequest_5_7_5) {
  EXPECT_EQ(exported_service(request()), kWeb);
  EXPECT_EQ(exported_service(request("ServiceExport"))->by, ExportedBy::kServiceExport);
  EXPECT_EQ(exported_service(request("EndpointSlice")), std::nullopt);
  Value dispatched = request("ServiceExport");
  dispatched.edit("metadata").edit("finalizers").push_back("karmada.io/execution-controller");
  EXPECT_EQ(exported_service(dispatched), std::nullopt) << "it is the Work of the ServiceExport itself";
  Value odd = request();
  odd.edit("spec").edit("workload").edit("manifests").edit_items()[0].edit("metadata").set("name", "a) or (b");
  EXPECT_EQ(exported_service(odd), std::nullopt) << "it would be a part of a selector";
}

TEST(ExportedSlices, OfASliceIsKeptWhatEndpointsAre) {
  const auto usable = usable_slice(slice("web-1"), "shop", "web");
  ASSERT_TRUE(usable);
  EXPECT_EQ(
      to_json(usable.value()),
      R"({"addressType":"IPv4","apiVersion":"discovery.k8s.io/v1","endpoints":[{"addresses":["10.1.0.1"],)"
      R"("conditions":{"ready":true},"nodeName":"n1","targetRef":{"kind":"Pod","name":"web-1","namespace":"shop"}}],)"
      R"("kind":"EndpointSlice","metadata":{"labels":{"endpointslice.kubernetes.io/managed-by":)"
      R"("endpointslice-controller.k8s.io","kubernetes.io/service-name":"web"},"name":"web-1","namespace":"shop"},)"
      R"("ports":[{"name":"http","port":80,"protocol":"TCP"}]})");
  EXPECT_EQ(usable_slice(usable.value(), "shop", "web").value(), usable.value());
}

TEST(ExportedSlices, OfAnotherNamespaceOrServiceItIsNotTaken) {
  EXPECT_FALSE(usable_slice(slice("web-1"), "other", "web"));
  EXPECT_FALSE(usable_slice(slice("web-1"), "shop", "db"));
  EXPECT_FALSE(usable_slice(json("[]"), "shop", "web"));
  EXPECT_FALSE(usable_slice(slice("../web"), "shop", "web"));
}

TEST(ExportedSlices, AddressesOfTheReadersOwnHostAreNoEndpoints) {
  for (const char* address : {"127.0.0.1", "0.0.0.0", "169.254.169.254", "224.0.0.1", "10.0.0.1/8", "web", ""}) {
    EXPECT_FALSE(usable_slice(slice("web-1", address), "shop", "web")) << address;
  }
  for (const char* address : {"::1", "::", "fe80::1", "ff02::1", "::ffff:127.0.0.1", "10.1.0.1"}) {
    EXPECT_FALSE(usable_slice(slice("web-1", address, "IPv6"), "shop", "web")) << address;
  }
  EXPECT_TRUE(usable_slice(slice("web-1", "fd00::7", "IPv6"), "shop", "web"));
  EXPECT_FALSE(usable_slice(slice("web-1", "web.example.com", "FQDN"), "shop", "web"));
}

TEST(ExportedSlices, WhatAnApiServerWouldRefuseIsNotTaken) {
  for (const char* name : {"a..b", "-a", "a.-b", "A", "a-", ""}) {
    EXPECT_FALSE(usable_slice(slice(name), "shop", "web")) << name;
  }
  EXPECT_TRUE(usable_slice(slice("a.b-1"), "shop", "web"));
  const auto with = [](const char* list, const char* field, const Value& text) {
    Value changed = slice("web-1");
    changed.edit(list).edit_items()[0].set(field, text);
    return usable_slice(changed, "shop", "web").has_value();
  };
  EXPECT_TRUE(with("endpoints", "hostname", "web-0"));
  EXPECT_FALSE(with("endpoints", "hostname", "web.0"));
  EXPECT_FALSE(with("endpoints", "hostname", 7));
  EXPECT_FALSE(with("endpoints", "nodeName", "n 1"));
  EXPECT_TRUE(with("ports", "name", ""));
  EXPECT_FALSE(with("ports", "name", "http_1"));
  EXPECT_TRUE(with("ports", "appProtocol", "kubernetes.io/h2c"));
  EXPECT_FALSE(with("ports", "appProtocol", "h2c/"));
  Value twice = slice("web-1");
  twice.edit("ports").push_back(json(R"({"name":"http","port":81})"));
  EXPECT_FALSE(usable_slice(twice, "shop", "web")) << "two ports of a name";
}

TEST(ExportedSlices, AServiceMayHaveAsManyPortsAsAnApiServerPermits) {  // SIP, passive FTP
  Value many = slice("web-1");
  for (int port = 0; port < 500; ++port) {
    many.edit("ports").push_back(Value::object({{"name", "p" + std::to_string(port)}, {"port", 30000 + port}}));
  }
  EXPECT_TRUE(usable_slice(many, "shop", "web"));
  for (int port = 500; port < 20000; ++port) {
    many.edit("ports").push_back(Value::object({{"name", "p" + std::to_string(port)}, {"port", 30000 + port}}));
  }
  EXPECT_FALSE(usable_slice(many, "shop", "web"));
}

TEST(ExportedSlices, WhatIsBeyondTheLimitsIsLeftOutAndNamed) {
  std::vector<Value> many;
  for (int number = 0; number < 150; ++number) many.push_back(slice("web-" + std::to_string(1000 + number)));
  const CollectedSlices collected = collected_slices(many, kWeb);
  EXPECT_EQ(collected.slices.size(), kMostSlicesOfService);
  EXPECT_EQ(collected.problem.find("the first 100 of 150 EndpointSlices are collected"), 0U) << collected.problem;

  Value large = slice("web-large");
  const Value endpoint = large["endpoints"][0];
  for (size_t count = 0; count < kMostEndpoints; ++count) large.edit("endpoints").push_back(endpoint);
  const CollectedSlices rest = collected_slices({large, slice("web-1")}, kWeb);
  EXPECT_EQ(rest.slices.size(), 1U);
  EXPECT_NE(rest.problem.find("web-large"), std::string::npos) << rest.problem;
}

TEST(ExportedSlices, ThoseThatTheControlPlaneHasBroughtAreNotCollectedAgain_5_7_7) {
  for (const char* by : {kDispatchedSlices, kImportedSlices}) {
    Value brought = slice("web-1");
    brought.edit("metadata").edit("labels").set(label::kSliceManagedBy, by);
    const CollectedSlices collected = collected_slices({brought}, kWeb);
    EXPECT_EQ(collected.slices.size(), 0U);
    EXPECT_EQ(collected.problem, "");
  }
}

TEST(ExportedSlices, AReportIsCheckedLikeTheMembersObjects) {
  Value work = request();
  EXPECT_FALSE(reported_slices(work)) << "nothing has been reported";
  work.edit("status").set("manifestStatuses", statuses_of_slices(work, collected_slices({slice("web-1")}, kWeb)));
  ASSERT_TRUE(reported_slices(work));
  EXPECT_EQ(reported_slices(work)->slices.size(), 1U);
  // The agent of a member writes it.
  Value forged = Value::array();
  Value foreign = slice("db-1");
  foreign.edit("metadata").set("namespace", "kube-system");
  forged.push_back(foreign);
  forged.push_back(slice("web-2", "169.254.169.254"));
  work.edit("status").edit("manifestStatuses").edit_items()[0].edit("status").set("endpointSlices", forged);
  EXPECT_EQ(reported_slices(work)->slices.size(), 0U);
  EXPECT_NE(reported_slices(work)->problem, "");
}

}  // namespace
}  // namespace shiplog
