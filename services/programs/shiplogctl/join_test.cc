#include "services/programs/shiplogctl/join.h"

#include <gtest/gtest.h>

#include "events/base/base64.h"
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

TEST(CtlJoin, NameIsADnsLabelOfAtMost48Characters) {  // CL-1
  EXPECT_TRUE(check_cluster_name("member-1"));
  EXPECT_TRUE(check_cluster_name(std::string(48, 'a')));
  for (const std::string& name : {std::string{"A"}, std::string{"a.b"}, std::string{"-a"}, std::string{"a-"},
                                  std::string{"a/b"}, std::string(49, 'a')}) {
    EXPECT_EQ(check_cluster_name(name).error().message.find("invalid cluster name(" + name + "): "), 0U);
  }
  EXPECT_EQ(check_cluster_name("").error().message, "cluster name is required");
}

TEST(CtlJoin, ANameOrIdThatIsRegisteredIsRefused_1_3_2) {
  const auto clusters = parse_json(R"({"items": [{"metadata": {"name": "m1"}, "spec": {"id": "uid-1"}},
                                                 {"metadata": {"name": "m2"}, "spec": {}}]})");
  const auto refused = [&](const char* name, const char* id) {
    const auto result = refuse_registered(clusters.value(), name, id);
    return result ? std::string{} : result.error().message;
  };
  EXPECT_EQ(refused("m3", "uid-3"), "");
  EXPECT_EQ(refused("m1", "uid-3"),
            "the cluster ID uid-3 or the cluster name m1 has been registered: run `unjoin m1` first, or choose another "
            "name");
  EXPECT_EQ(refused("m3", "uid-1"),
            "the cluster ID uid-1 or the cluster name m3 has been registered: it is the cluster m1");
}

TEST(CtlUnjoin, NamesTheBindingsThatBlockTheRemovalAndTheirReasons) {
  const auto bindings = parse_json(R"({"items": [
    {"metadata": {"namespace": "cap", "name": "reg"}, "spec": {"clusters": [{"name": "m1"}, {"name": "m3"}]},
     "status": {"conditions": [{"type": "Scheduled", "status": "False", "reason": "SchedulerError", "message": "few"}]}},
    {"metadata": {"name": "role"}, "spec": {"clusters": [{"name": "m3"}]},
     "status": {"conditions": [{"type": "Scheduled", "status": "True", "reason": "Success", "message": "fine"}]}},
    {"metadata": {"namespace": "a", "name": "b"}, "spec": {"clusters": [{"name": "m3"}]}},
    {"metadata": {"namespace": "a", "name": "c"}, "spec": {"clusters": [{"name": "m3"}]}}]})");
  EXPECT_EQ(
      bindings_on(bindings.value(), "m3"),
      "bindings that are placed on it and cannot be placed elsewhere: cap/reg (SchedulerError: few); role; a/b; and 1 "
      "more");
  EXPECT_EQ(bindings_on(bindings.value(), "m2"), "");
}

TEST(CtlJoin, SecretsContainTheIssuedTokensAndNoUserCredentials) {  // 1.4.3
  ClientTarget target = member();
  target.bearer_token = "the user's";
  const IssuedToken issued{"karmada-m1-x", "t0", "THEIRS"};
  const Value secret = credentials_secret({.name = "m1"}, target, issued);
  EXPECT_EQ(to_json(secret["data"]), R"({"caBundle":"Q0E=","token":"dDA="})");
  EXPECT_EQ(secret["metadata"]["labels"]["karmada.io/system"], Value{"true"});
  target.ca_pem.clear();
  EXPECT_EQ(to_json(credentials_secret({.name = "m1"}, target, issued)["data"]), R"({"token":"dDA="})")
      << "the system's certificate authorities";
  target.insecure = true;
  EXPECT_EQ(to_json(credentials_secret({.name = "m1"}, target, issued)["data"]),
            R"({"caBundle":"VEhFSVJT","token":"dDA="})");
  target.insecure = false;
  target.server_name = "m1.internal";
  EXPECT_EQ(to_json(credentials_secret({.name = "m1"}, target, issued)["data"]),
            R"({"tls-server-name":"bTEuaW50ZXJuYWw=","token":"dDA="})");
  const Value impersonator = impersonator_secret({.name = "m1"}, issued);
  EXPECT_EQ(impersonator["metadata"]["name"], Value{"m1-impersonator"});
  EXPECT_EQ(to_json(impersonator["data"]), R"({"token":"dDA="})");
}

TEST(CtlJoin, ATokenNamesTheSecretThatContainsIt) {
  const std::string claims = base64url_encode(R"({"kubernetes.io/serviceaccount/secret.name":"karmada-m1-x"})");
  EXPECT_EQ(secret_of_token("h." + claims + ".s"), "karmada-m1-x");
  for (const std::string& other :
       {std::string{}, std::string{"a.b"}, std::string{"a.!.c"}, "h." + base64url_encode("1") + ".s"}) {
    EXPECT_EQ(secret_of_token(other), "") << other;
  }
}

TEST(CtlJoin, ClusterObjectIsValidAndComplete) {  // 1.1.1, 1.4.5
  ClientTarget target = member();
  target.insecure = true;
  target.proxy_url = "http://proxy:3128";
  const JoinOptions options{.name = "m1", .provider = "p", .region = "r", .zones = {"z1", "z2"}};
  const Value cluster = cluster_object(options, target, "uid-1");
  EXPECT_EQ(
      to_json(cluster["spec"]),
      R"({"apiEndpoint":"https://10.0.0.1:6443","id":"uid-1","impersonatorSecretRef":{"name":"m1-impersonator",)"
      R"("namespace":"karmada-cluster"},"insecureSkipTLSVerification":true,"provider":"p",)"
      R"("proxyURL":"http://proxy:3128","region":"r","secretRef":{"name":"m1","namespace":"karmada-cluster"},"syncMode":"Push",)"
      R"("zones":["z1","z2"]})");
  const Kind* kind = Kinds::compiled().find_kind("cluster.karmada.io/v1alpha1", "Cluster");
  ASSERT_NE(kind, nullptr);
  EXPECT_FALSE(kind->namespaced);
}

}  // namespace
}  // namespace shiplog::ctl
