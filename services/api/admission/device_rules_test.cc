#include <gtest/gtest.h>

#include "events/base/yaml.h"
#include "services/api/admission/admission.h"

// What is refused of the kinds of resource.k8s.io, of networks and of volume attributes (CRU-9).

namespace shiplog::api {
namespace {

Admission admission_for_type(const std::string& type, const std::string& name) {
  Admission admission;
  admission.kinds = &Kinds::compiled();
  admission.kind = Kinds::compiled().find_type(type);
  admission.name = name;
  return admission;
}

std::string causes_of(const Result<Value>& result) {
  std::string text;
  if (result) return text;
  for (const FieldCause& cause : result.error().causes) text += cause.field + ": " + cause.message + "\n";
  return text.empty() ? result.error().message : text;
}

std::string created(const std::string& type, const std::string& body) {
  Admission admission = admission_for_type(type, "");
  if (admission.kind->namespaced) admission.ns = "default";
  return causes_of(admit_create(admission, parse_yaml("{metadata: {name: a}, " + body + "}").value()));
}

std::string changed(const std::string& type, const std::string& before, const std::string& after) {
  Admission admission = admission_for_type(type, "a");
  if (admission.kind->namespaced) admission.ns = "default";
  const auto object = [&](const std::string& body) {
    return parse_yaml("{metadata: {name: a, uid: u, resourceVersion: '1'" +
                      std::string{admission.kind->namespaced ? ", namespace: default" : ""} + "}, " + body + "}")
        .value();
  };
  return causes_of(admit_update(admission, object(before), object(after)));
}

constexpr const char* kClaims = "resourceclaims.resource.k8s.io";

std::string claim(const std::string& devices) { return created(kClaims, "spec: {devices: {" + devices + "}}"); }
/// Of a claim with one request.
std::string request(const std::string& body) {
  return claim("requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com" + (body.empty() ? "" : ", " + body) +
               "}}]");
}

TEST(DeviceRules, AClaimAsksForDevicesOfAClass) {
  EXPECT_EQ(request(""), "");
  EXPECT_EQ(request("allocationMode: All"), "");
  EXPECT_EQ(request("selectors: [{cel: {expression: 'device.attributes[\"gpu.example.com\"].model == \"x\"'}}]"), "");
  EXPECT_EQ(
      claim("requests: [{name: gpu, firstAvailable: [{name: big, deviceClassName: big}, {name: small, "
            "deviceClassName: small, count: 2}]}], constraints: [{requests: [gpu], matchAttribute: "
            "example.com/numa}], config: [{requests: [gpu/big], opaque: {driver: example.com, parameters: {a: 1}}}]"),
      "");
  EXPECT_EQ(claim("requests: [{name: gpu}]"),
            "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required\n");
  EXPECT_EQ(claim("requests: [{name: gpu, exactly: {}}]"),
            "spec.devices.requests[0].exactly.deviceClassName: Required value\n");
  EXPECT_EQ(request("allocationMode: Some"),
            "spec.devices.requests[0].exactly.allocationMode: Unsupported value: \"Some\": supported values: \"All\", "
            "\"ExactCount\"\n");
  EXPECT_EQ(request("allocationMode: All, count: 2"),
            "spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is "
            "'All'\n");
  EXPECT_EQ(request("count: -1"),
            "spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero\n");
  EXPECT_NE(request("selectors: [{cel: {expression: 'device.'}}]").find("compilation failed: ERROR: <input>:1:8"),
            std::string::npos);
  EXPECT_EQ(request("selectors: [{}]"), "spec.devices.requests[0].exactly.selectors[0].cel: Required value\n");
}

TEST(DeviceRules, ConstraintsAndConfigurationsNameRequests) {
  const std::string one = "requests: [{name: gpu, exactly: {deviceClassName: c}}], ";
  const std::string wrong =
      ": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'\n";
  EXPECT_EQ(claim(one + "constraints: [{requests: [cpu], distinctAttribute: example.com/id}]"),
            "spec.devices.constraints[0].requests[0]: Invalid value: \"cpu\"" + wrong);
  EXPECT_EQ(claim(one + "config: [{requests: [gpu/x], opaque: {driver: d.io, parameters: {}}}]"),
            "spec.devices.config[0].requests[0]: Invalid value: \"gpu/x\"" + wrong);
  EXPECT_EQ(claim(one + "config: [{}]"), "spec.devices.config[0].opaque: Required value\n");
  EXPECT_EQ(claim("requests: [{name: gpu, exactly: {deviceClassName: c}}, {name: gpu, exactly: {deviceClassName: c}}]"),
            "spec.devices.requests[1]: Duplicate value: \"gpu\"\n");
}

TEST(DeviceRules, WhatIsClaimedDoesNotChange) {
  const std::string one =
      "spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: c, allocationMode: ExactCount, count: 1}}]}}";
  const std::string two =
      "spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: d, allocationMode: ExactCount, count: 1}}]}}";
  EXPECT_EQ(changed(kClaims, one, one), "");
  EXPECT_NE(changed(kClaims, one, two).find("spec: Invalid value"), std::string::npos);
  const auto in_template = [](const std::string& spec) { return "spec: {" + spec + "}"; };
  EXPECT_EQ(created("resourceclaimtemplates.resource.k8s.io", in_template(one)), "");
  EXPECT_NE(
      changed("resourceclaimtemplates.resource.k8s.io", in_template(one), in_template(two)).find("field is immutable"),
      std::string::npos);
}

TEST(DeviceRules, TheCountOfARequestIsOneUnlessItIsStated) {
  Admission admission = admission_for_type(kClaims, "");
  admission.ns = "default";
  const auto made = admit_create(
      admission,
      parse_yaml("{metadata: {name: a}, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: c}}, "
                 "{name: all, exactly: {deviceClassName: c, allocationMode: All}}]}}}")
          .value());
  ASSERT_TRUE(made) << causes_of(made);
  const Value& requests = made.value()["spec"]["devices"]["requests"];
  EXPECT_EQ(requests[0]["exactly"]["count"], Value{1});
  EXPECT_EQ(requests[0]["exactly"]["allocationMode"].str(), "ExactCount");
  EXPECT_TRUE(requests[1]["exactly"]["count"].is_null());
}

TEST(DeviceRules, ASliceOffersTheDevicesOfNodes) {
  const auto slice = [](const std::string& spec) {
    return created("resourceslices.resource.k8s.io",
                   "spec: {driver: d.io, pool: {name: p/q, generation: 1, "
                   "resourceSliceCount: 1}, " +
                       spec + "}");
  };
  EXPECT_EQ(slice("nodeName: node1, devices: [{name: gpu-0, attributes: {model: {string: x}}, capacity: {memory: "
                  "{value: 1Gi}}}]"),
            "");
  EXPECT_EQ(slice("devices: []"),
            "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is "
            "required\n");
  EXPECT_EQ(slice("nodeName: node1, allNodes: true"),
            "spec: Invalid value: \"{`nodeName`, `allNodes`}\": exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
            "`perDeviceNodeSelection` is required, but multiple fields are set\n");
  EXPECT_EQ(slice("nodeName: node1, devices: [{name: a}, {name: a}]"), "spec.devices[1]: Duplicate value: \"a\"\n");
}

TEST(NetworkRangeRules, AServiceCidrHasOneRangeOfEachFamily) {
  const auto cidr = [](const std::string& ranges) {
    return created("servicecidrs.networking.k8s.io", "spec: {cidrs: [" + ranges + "]}");
  };
  EXPECT_EQ(cidr("10.0.0.0/16, 'fd00::/112'"), "");
  EXPECT_EQ(cidr(""), "spec.cidrs: Required value: at least one CIDR required\n");
  EXPECT_EQ(
      cidr("10.0.0.0"),
      "spec.cidrs[0]: Invalid value: \"10.0.0.0\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)\n");
  EXPECT_NE(cidr("10.0.0.0/16, 11.0.0.0/16"), "");
}

TEST(NetworkRangeRules, AnIpAddressIsItsName) {
  const auto address = [](const std::string& name, const std::string& spec) {
    Admission admission = admission_for_type("ipaddresses.networking.k8s.io", "");
    return causes_of(
        admit_create(admission, parse_yaml("{metadata: {name: '" + name + "'}, spec: {" + spec + "}}").value()));
  };
  const std::string parent = "parentRef: {resource: services, namespace: default, name: web}";
  EXPECT_EQ(address("10.0.0.1", parent), "");
  EXPECT_EQ(address("10.0.0.1", ""), "spec.parentRef: Required value\n");
  EXPECT_EQ(address("10.0.0.01", parent).find("metadata.name: Invalid value"), 0U) << address("10.0.0.01", parent);
}

TEST(VolumeAttributesRules, AClassDoesNotChange) {
  constexpr const char* kType = "volumeattributesclasses.storage.k8s.io";
  EXPECT_EQ(created(kType, "driverName: d.io, parameters: {iops: '100'}"), "");
  EXPECT_EQ(created(kType, "driverName: d.io"),
            "parameters: Required value: must contain at least one key/value pair\n");
  EXPECT_EQ(
      changed(kType, "driverName: d.io, parameters: {a: b}", "driverName: e.io, parameters: {a: c}"),
      "driverName: Forbidden: updates to driverName are forbidden.\nparameters: Forbidden: updates to parameters are "
      "forbidden.\n");
}

}  // namespace
}  // namespace shiplog::api
