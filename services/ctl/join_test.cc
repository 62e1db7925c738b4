#include "services/ctl/join.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/kinds/kinds.h"

namespace shiplog::ctl {
namespace {

ClientTarget member() {
  ClientTarget target;
  target.url = "https://10.0.0.1:6443";
  target.ca_pem = "CA";
  target.certificate_pem = "CERT";
  target.key_pem = "KEY";
  return target;
}

TEST(CtlJoin, NameIsADnsLabelOfAtMost48Characters) {  // cli section 10
  EXPECT_TRUE(check_cluster_name("member-1"));
  EXPECT_TRUE(check_cluster_name(std::string(48, 'a')));
  for (const std::string& name : {std::string{"A"}, std::string{"a.b"}, std::string{"-a"}, std::string{"a-"},
                                  std::string{"a/b"}, std::string(49, 'a')}) {
    EXPECT_EQ(check_cluster_name(name).error().message.find("invalid cluster name(" + name + "): "), 0U);
  }
  EXPECT_EQ(check_cluster_name("").error().message, "cluster name is required");
}

TEST(CtlUnjoin, NamesTheBindingsThatHoldTheClusterAndWhatKeepsThemThere) {
  const auto bindings = parse_json(R"({"items": [
    {"metadata": {"namespace": "cap", "name": "reg"}, "spec": {"clusters": [{"name": "m1"}, {"name": "m3"}]},
     "status": {"conditions": [{"type": "Scheduled", "status": "False", "reason": "SchedulerError", "message": "few"}]}},
    {"metadata": {"name": "role"}, "spec": {"clusters": [{"name": "m3"}]},
     "status": {"conditions": [{"type": "Scheduled", "status": "True", "reason": "Success", "message": "fine"}]}},
    {"metadata": {"namespace": "a", "name": "b"}, "spec": {"clusters": [{"name": "m3"}]}},
    {"metadata": {"namespace": "a", "name": "c"}, "spec": {"clusters": [{"name": "m3"}]}}]})");
  EXPECT_EQ(bindings_on(bindings.value(), "m3"),
            "bindings that are placed on it and find no other place: cap/reg (SchedulerError: few); role; a/b; and 1 "
            "more");
  EXPECT_EQ(bindings_on(bindings.value(), "m2"), "");
}

TEST(CtlJoin, SecretHasTheTokenElseTheCertificate) {
  ClientTarget target = member();
  EXPECT_EQ(to_json(credentials_secret({.name = "m1"}, target).value()["data"]),
            R"({"caBundle":"Q0E=","client-certificate-data":"Q0VSVA==","client-key-data":"S0VZ"})");
  target.bearer_token = "t0";
  EXPECT_EQ(to_json(credentials_secret({.name = "m1"}, target).value()["data"]),
            R"({"caBundle":"Q0E=","token":"dDA="})");
  EXPECT_EQ(credentials_secret({.name = "m1"}, ClientTarget{}).error().code, ErrorCode::kInvalid);
}

TEST(CtlJoin, ClusterObjectIsValidAndComplete) {
  ClientTarget target = member();
  target.insecure = true;
  const JoinOptions options{.name = "m1", .provider = "p", .region = "r", .zones = {"z1", "z2"}};
  const Value cluster = cluster_object(options, target, "uid-1");
  EXPECT_EQ(to_json(cluster["spec"]),
            R"({"apiEndpoint":"https://10.0.0.1:6443","id":"uid-1","insecureSkipTLSVerification":true,"provider":"p",)"
            R"("region":"r","secretRef":{"name":"m1","namespace":"karmada-cluster"},"syncMode":"Push",)"
            R"("zones":["z1","z2"]})");
  const Kind* kind = Kinds::compiled().find_kind("cluster.karmada.io/v1alpha1", "Cluster");
  ASSERT_NE(kind, nullptr);
  EXPECT_FALSE(kind->namespaced);
}

}  // namespace
}  // namespace shiplog::ctl
