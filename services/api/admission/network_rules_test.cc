#include "tests/support/admit.h"

// Services and what is beside them, as Kubernetes 1.33 to 1.36 judge them.

namespace shiplog::api {
namespace {

Value service_of(const std::string& of_spec, const char* name = "s") {
  return json(R"({"metadata":{"name":")" + std::string{name} + R"("},"spec":{"ports":[{"port":80}])" + of_spec + "}}");
}

TEST(NetworkRules, NamesOfServicesMayBeginWithADigit) {  // CRU-9
  EXPECT_EQ(message_of(create("services", service_of("", "0-web"))), "no error");
  EXPECT_EQ(fields_of(create("services", service_of("", "a.b"))), "metadata.name");
  const auto ingress = [](const char* type) {
    return fields_of(create(type, json(R"({"metadata":{"name":"i"},"spec":{"defaultBackend":{"service":{"name":"0-web",
        "port":{"number":80}}}}})")));
  };
  EXPECT_EQ(ingress("ingresses.networking.k8s.io"), "no error");
  EXPECT_NE(ingress("multiclusteringresses.networking.karmada.io"), "no error") << "Karmada's webhook";
}

TEST(NetworkRules, ServicesReportWhatHasNoEffect) {
  const auto warnings = [](const char* of_spec) { return warnings_of("services", service_of(of_spec)); };
  EXPECT_EQ(warnings(""), "");
  EXPECT_EQ(warnings(R"(,"externalIPs":["010.1.2.3"])"),
            "spec.externalIPs[0]: non-standard IP address \"010.1.2.3\" is invalid: use \"10.1.2.3\"\n"
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  EXPECT_EQ(warnings(R"(,"trafficDistribution":"PreferClose")"),
            R"(spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone")");
  EXPECT_EQ(warnings(R"(,"trafficDistribution":"PreferSameNode")"), "");
  EXPECT_EQ(warnings(R"(,"clusterIP":"None","loadBalancerIP":"1.2.3.4","sessionAffinity":"ClientIP")"),
            "spec.loadBalancerIP is ignored for headless services\n"
            "spec.SessionAffinity is ignored for headless services");
  EXPECT_EQ(warnings(R"(,"externalName":"a.b")"),
            R"(spec.externalName is ignored when spec.type is not "ExternalName")");
  EXPECT_EQ(warnings(R"(,"type":"LoadBalancer","loadBalancerSourceRanges":["10.0.0.1/8"])"),
            "spec.loadBalancerSourceRanges[0]: CIDR value \"10.0.0.1/8\" is ambiguous in this context (should be "
            "\"10.0.0.0/8\" or \"10.0.0.1/32\"?)");
}

TEST(NetworkRules, AnnotationsForTopologyAgree) {  // CRU-9
  Value service = service_of("");
  service.edit("metadata").set("annotations", json(R"({"service.kubernetes.io/topology-mode":"Auto",
      "service.kubernetes.io/topology-aware-hints":"auto"})"));
  EXPECT_EQ(fields_of(create("services", service)), "metadata.annotations[service.kubernetes.io/topology-mode]");
  service.edit("metadata").set("annotations", json(R"({"service.kubernetes.io/topology-aware-hints":"auto"})"));
  EXPECT_EQ(warnings_of("services", service),
            "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
            "service.kubernetes.io/topology-mode instead");
}

TEST(NetworkRules, AddressesOfOlderFormsAreReported) {
  EXPECT_EQ(warnings_of("networkpolicies.networking.k8s.io",
                        json(R"({"metadata":{"name":"n"},"spec":{"podSelector":{},"ingress":[{"from":[{"ipBlock":
                               {"cidr":"010.0.0.0/8","except":["10.1.0.0/016"]}}]}]}})")),
            "spec.ingress[0].from[0].ipBlock.cidr: non-standard CIDR value \"010.0.0.0/8\" is invalid: use "
            "\"10.0.0.0/8\"\n"
            "spec.ingress[0].from[0].ipBlock.except[0]: non-standard CIDR value \"10.1.0.0/016\" is invalid: use "
            "\"10.1.0.0/16\"");
  EXPECT_EQ(warnings_of("endpoints", json(R"({"metadata":{"name":"e"},"subsets":[{"addresses":[{"ip":
                "::ffff:10.0.0.1"}],"ports":[{"port":80}]}]})")),
            "subsets[0].addresses[0].ip: non-standard IP address \"::ffff:10.0.0.1\" is invalid: use \"10.0.0.1\"");
  EXPECT_EQ(warnings_of("endpointslices.discovery.k8s.io",
                        json(R"({"metadata":{"name":"e"},"addressType":"IPv6","endpoints":[{"addresses":
                               ["fd00:0::1"]}]})")),
            "endpoints[0].addresses[0]: IPv6 address \"fd00:0::1\" should be in RFC 5952 canonical format "
            "(\"fd00::1\")");
  EXPECT_EQ(warnings_of("endpointslices.discovery.k8s.io",
                        json(R"({"metadata":{"name":"e"},"addressType":"FQDN","endpoints":[{"addresses":["a.b"]}]})")),
            "spec.addressType: FQDN endpoints are deprecated");
  EXPECT_EQ(warnings_of("nodes", json(R"({"metadata":{"name":"n"},"spec":{"podCIDRs":["10.0.0.0/08"]}})")),
            "spec.podCIDRs[0]: non-standard CIDR value \"10.0.0.0/08\" is invalid: use \"10.0.0.0/8\"");
}

TEST(NetworkRules, AddressesOfSlicesAreOfTheirFamily) {  // CRU-9
  const auto refused = [](const char* address) {
    return create("endpointslices.discovery.k8s.io",
                  json(R"({"metadata":{"name":"e"},"addressType":"IPv4","endpoints":[{"addresses":[")" +
                       std::string{address} + R"("]}]})"));
  };
  EXPECT_EQ(fields_of(refused("fd00::1")), "endpoints[0].addresses");
  EXPECT_NE(message_of(refused("fd00::1")).find("must be an IPv4 address"), std::string::npos);
  EXPECT_EQ(fields_of(refused("a")), "endpoints[0].addresses[0]");
  EXPECT_NE(message_of(refused("a")).find("must be a valid IP address, (e.g. 10.9.8.7"), std::string::npos);
}

TEST(NetworkRules, FeaturesOfNodesAreSortedNames) {  // CRU-9
  const auto refused = [](const char* features) {
    return create("nodes",
                  json(R"({"metadata":{"name":"n"},"status":{"declaredFeatures":)" + std::string{features} + "}}"));
  };
  EXPECT_EQ(message_of(refused(R"(["A","B/c","B/d1"])")), "no error");
  EXPECT_EQ(fields_of(refused(R"(["B","A"])")), "status.declaredFeatures[1]");
  EXPECT_EQ(fields_of(refused(R"(["a"])")), "status.declaredFeatures[0]");
  EXPECT_EQ(fields_of(refused(R"(["A/"])")), "status.declaredFeatures[0]");
  EXPECT_NE(message_of(refused(R"(["A","A"])")).find("Duplicate value"), std::string::npos);
}

}  // namespace
}  // namespace shiplog::api
