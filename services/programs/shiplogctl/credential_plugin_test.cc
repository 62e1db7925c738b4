#include "services/programs/shiplogctl/credential_plugin.h"

#include <gtest/gtest.h>

#include "tests/support/literals.h"

namespace shiplog::ctl {
namespace {

CredentialPlugin plugin() {
  return {.api_version = "client.authentication.k8s.io/v1",
          .command = "login",
          .args = {},
          .env = {},
          .interactive_mode = "Never",
          .install_hint = {},
          .provide_cluster_info = false,
          .cluster_config = {}};
}

using test::json;

ClientTarget cluster() {
  ClientTarget target;
  target.url = "https://east:6443";
  target.ca_pem = "CA";
  target.server_name = "kube.example";
  return target;
}

TEST(CredentialPlugin, IsToldOfTheClusterIfItWantsTo) {
  CredentialPlugin asked = plugin();
  EXPECT_EQ(json(exec_info(asked, cluster(), false)), json(R"({"apiVersion":"client.authentication.k8s.io/v1",
    "kind":"ExecCredential","spec":{"interactive":false}})"));
  asked.provide_cluster_info = true;
  asked.cluster_config = json(R"({"audience":"a"})");
  EXPECT_EQ(json(exec_info(asked, cluster(), true)), json(R"({"apiVersion":"client.authentication.k8s.io/v1",
    "kind":"ExecCredential","spec":{"interactive":true,"cluster":{"server":"https://east:6443",
    "tls-server-name":"kube.example","certificate-authority-data":"Q0E=","config":{"audience":"a"}}}})"));
}

std::string credential(const std::string& status, const std::string& version = "v1") {
  return R"({"apiVersion":"client.authentication.k8s.io/)" + version + R"(","kind":"ExecCredential","status":)" +
         status + "}";
}

TEST(CredentialPlugin, IssuesATokenOrACertificateOrBoth) {
  ClientTarget target = cluster();
  ASSERT_TRUE(take_credentials(plugin(), credential(R"({"token":"t"})"), target));
  EXPECT_EQ(target.bearer_token, "t");
  EXPECT_EQ(target.certificate_pem, "");
  ASSERT_TRUE(take_credentials(plugin(), credential(R"({"token":"u","clientCertificateData":"C","clientKeyData":"K"})"),
                               target));
  EXPECT_EQ(target.bearer_token, "u");
  EXPECT_EQ(target.certificate_pem, "C");
  EXPECT_EQ(target.key_pem, "K");
}

TEST(CredentialPlugin, WhatItPrintsWronglyIsRefusedAndNotRepeated) {
  const std::string secret = "s3cret";
  for (const std::string& printed :
       {secret, "[\"" + secret + "\"]", R"({"kind":"ExecCredential","status":{"token":")" + secret + "\"}}",
        credential(R"({"token":"s3cret"})", "v1beta1"), credential("null"), credential("{}"),
        credential(R"({"token":""})"), credential(R"({"clientCertificateData":"s3cret"})"),
        credential(R"({"clientKeyData":"s3cret"})"),
        std::string{
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"Token","status":{"token":"s3cret"}})"}}) {
    SCOPED_TRACE(printed);
    ClientTarget target = cluster();
    const auto taken = take_credentials(plugin(), printed, target);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(taken.error().message.find(secret), std::string::npos) << taken.error().message;
    EXPECT_TRUE(taken.error().message.starts_with("credential plugin \"login\"")) << taken.error().message;
    EXPECT_EQ(target.bearer_token, "");
  }
}

TEST(CredentialPlugin, IsOnlyRunAsTheKubeconfigSaysWhole) {
  const auto why = [](const CredentialPlugin& wrong) {
    KubeconfigContext context{"c", "default", cluster(), wrong};
    const auto connection = connect_to("the cluster", context);
    EXPECT_FALSE(connection);
    return connection ? "" : connection.error().message;
  };
  CredentialPlugin wrong = plugin();
  wrong.api_version = "client.authentication.k8s.io/v1alpha1";
  EXPECT_NE(why(wrong).find("v1alpha1\" is not supported"), std::string::npos) << why(wrong);
  wrong = plugin();
  wrong.interactive_mode = "";
  EXPECT_NE(why(wrong).find("has no interactiveMode"), std::string::npos) << why(wrong);
  wrong.interactive_mode = "Sometimes";
  EXPECT_NE(why(wrong).find("\"Sometimes\" is none of"), std::string::npos) << why(wrong);
  wrong = plugin();
  wrong.command = "";
  EXPECT_NE(why(wrong).find("names no command"), std::string::npos) << why(wrong);
  wrong = plugin();
  wrong.command = "no-such-plugin";
  wrong.install_hint = "Install it with care.";
  EXPECT_NE(why(wrong).find("no-such-plugin is not installed"), std::string::npos) << why(wrong);
  EXPECT_NE(why(wrong).find("Install it with care."), std::string::npos) << why(wrong);
  wrong = plugin();
  wrong.command = "false";
  EXPECT_NE(why(wrong).find("failed with exit code 1"), std::string::npos) << why(wrong);
}

}  // namespace
}  // namespace shiplog::ctl
