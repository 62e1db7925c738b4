// The bytes in this file were made by Protobuf for Python from a separate protocol file (S-71): the tests verify the
// protocol itself, not only that our client and server agree.
#include "services/adapters/estimators/messages.h"

#include <gtest/gtest.h>

#include "schemas/estimator/v1/estimator.grpc.pb.h"
#include "services/adapters/estimators/estimator_resolver.h"
#include "tests/support/given.h"

namespace shiplog::estimators {
namespace {

using given::json;

std::string bytes(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (size_t at = 0; at + 1 < hex.size(); at += 2) out += static_cast<char>(digit(hex[at]) * 16 + digit(hex[at + 1]));
  return out;
}

const Value& requirements() {
  static const Value kValue = json(R"({"namespace":"default","priorityClassName":"high",
    "resourceRequest":{"cpu":"500m"},"nodeClaim":{"nodeSelector":{"disk":"ssd"},
      "tolerations":[{"key":"k","operator":"Exists","value":"","effect":"NoSchedule"}],
      "hardNodeAffinity":{"nodeSelectorTerms":[{"matchFields":[],"matchExpressions":[
        {"key":"zone","operator":"In","values":["x","y-zz"]}]}]}}})");
  return kValue;
}

TEST(EstimatorMessages, ServiceAndMethodsAreCalledAsUpstream_S_71) {
  EXPECT_STREQ(pb::Estimator::service_full_name(), "github.com.karmada_io.karmada.pkg.estimator.service.Estimator");
}

TEST(EstimatorMessages, ReplicaRequirements_S_71) {
  const std::string expected = bytes(
      "0a076d656d62657231125f0a3f120b0a046469736b120373736422170a150a130a047a6f6e651202496e1a01781a04792d7a7a2a170a016b"
      "1206457869737473220a4e6f5363686564756c651a0764656661756c742204686967682a0d0a0363707512060a043530306d");
  pb::MaxAvailableReplicasRequest written;
  written.set_cluster("member1");
  put(requirements(), *written.mutable_replicarequirements());
  EXPECT_EQ(written.SerializeAsString(), expected);
  pb::MaxAvailableReplicasRequest read;
  ASSERT_TRUE(read.ParseFromString(expected));
  const auto value = requirements_from(read.replicarequirements());
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(value.value(), requirements());
}

TEST(EstimatorMessages, AssumedWorkloads_S_71_M_9) {
  const Value workloads = json(R"([{"namespace":"shop","components":[{"name":"web","replicas":2}]}])");
  pb::MaxAvailableReplicasRequest written;
  written.set_cluster("m");
  put_assumed(workloads, *written.mutable_assumedworkloads());
  EXPECT_EQ(written.SerializeAsString(), bytes("0a016d1a110a0473686f7012090a0377656212001802"));
  EXPECT_EQ(assumed_from(written.assumedworkloads()).value(),
            json(R"([{"namespace":"shop","components":[{"name":"web","replicas":2,
                "replicaRequirements":{"resourceRequest":{}}}]}])"));
}

TEST(EstimatorMessages, ComponentSetsAndReplicasWithoutANodeClaim_S_71) {
  pb::MaxAvailableComponentSetsRequest sets;
  ASSERT_TRUE(
      sets.ParseFromString(bytes("0a076d656d6265723112270a0a6a6f626d616e6167657212171a0468696768220f0a066d656d6f7"
                                 "27912050a0331476918021a0764656661756c74")));
  ASSERT_EQ(sets.components_size(), 1);
  EXPECT_EQ(sets.namespace_(), "default");
  EXPECT_EQ(sets.components(0).replicas(), 2);
  EXPECT_EQ(requirements_from(sets.components(0).replicarequirements()).value(),
            json(R"({"priorityClassName":"high","resourceRequest":{"memory":"1Gi"}})"));
  pb::UnschedulableReplicasRequest pods;
  ASSERT_TRUE(
      pods.ParseFromString(bytes("0a076d656d6265723112230a07617070732f7631120a4465706c6f796d656e741a0764656661756c"
                                 "7422037765621880b09dc2df01")));
  EXPECT_EQ(pods.resource().apiversion(), "apps/v1");
  EXPECT_EQ(pods.resource().name(), "web");
  EXPECT_EQ(pods.unschedulablethreshold(), 60'000'000'000);
}

TEST(EstimatorMessages, UnparsableBytesAreRefused) {
  pb::ReplicaRequirements broken;
  (*broken.mutable_resourcerequestbytes())["cpu"] = "\x0a\x7f";
  EXPECT_EQ(requirements_from(broken).error().code, ErrorCode::kBadRequest);
  pb::ReplicaRequirements claim;
  claim.mutable_nodeclaim()->add_tolerationsbytes("\xff");
  EXPECT_EQ(requirements_from(claim).error().code, ErrorCode::kBadRequest);
}

TEST(EstimatorAddress, AnnotationThenServiceThenItsName_S_71_S_72) {
  given::History history;
  history.object({type::kNamespace, "", "karmada-system"}, R"({"apiVersion":"v1","kind":"Namespace"})");
  const auto cluster = [&](const char* name, const std::string& more) {
    history.object({type::kCluster, "", name},
                   R"({"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster",)" + more + "}");
  };
  EstimatorOptions options;
  const auto at = [&](const char* name) {
    const auto address = estimator_address(history.state(), name, options);
    return address ? address.value() : address.error().message;
  };
  cluster("m1", R"("spec":{"syncMode":"Push"})");
  cluster("m2",
          R"("metadata":{"annotations":{"estimator.shiplog.io/address":"10.0.0.1:99"}},"spec":{"syncMode":"Pull"})");
  cluster("m3", R"("spec":{"syncMode":"Pull"})");
  EXPECT_EQ(at("m1"), "karmada-scheduler-estimator-m1.karmada-system.svc.cluster.local:10352");
  EXPECT_EQ(at("m2"), "10.0.0.1:99");
  EXPECT_EQ(at("m3"), "karmada-scheduler-estimator-m3.karmada-system.svc.cluster.local:10352");
  options.not_in_pull_mode = true;
  EXPECT_EQ(at("m3"), "clusters in Pull mode are not asked");
  options.port = 7;
  options.service_prefix = "est";
  history.object({"services", "karmada-system", "est-m1"}, R"({"spec":{"clusterIP":"fd00::1"}})");
  EXPECT_EQ(at("m1"), "[fd00::1]:7");
  history.object({"services", "karmada-system", "est-m1"}, R"({"spec":{"clusterIP":"None"}})");
  EXPECT_EQ(at("m1"), "service karmada-system/est-m1 has neither a cluster IP nor an external name");
  history.object({"services", "karmada-system", "est-m1"},
                 R"({"spec":{"type":"ExternalName","externalName":"e.org"}})");
  EXPECT_EQ(at("m1"), "e.org:7");
}

}  // namespace
}  // namespace shiplog::estimators
