// What register and token make and refuse, without a server.
#include "services/programs/shiplogctl/register.h"

#include <string>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/random.h"
#include "services/adapters/pki/certificate_request.h"
#include "services/adapters/pki/detached_signature.h"
#include "services/adapters/pki/new_request.h"

namespace shiplog::ctl {
namespace {

const BootstrapToken kToken{"abcdef", "0123456789abcdef"};
constexpr UtcMillis kNow{1767355200000};  // 2026-01-02T12:00:00Z

RegisterOptions options() {
  RegisterOptions options;
  options.endpoint = "10.0.0.1:7443";
  options.name = "edge";
  options.token = kToken.text();
  options.ca_pins = {"sha256:" + std::string(64, 'a')};
  options.kubeconfig_out = "edge.agent.kubeconfig";
  return options;
}

std::string refused(RegisterOptions given) {
  const auto checked = check_register_options(given);
  return checked ? "" : checked.error().message;
}

TEST(Register, TheCommandLineIsChecked_1_7_2) {  // 1.7.1
  EXPECT_EQ(refused(options()), "");
  RegisterOptions given = options();
  given.token.clear();
  EXPECT_EQ(refused(given), "token is required");
  given = options();
  given.ca_pins.clear();
  EXPECT_EQ(refused(given), "need to verify CACertHashes, or set --discovery-token-unsafe-skip-ca-verification=true");
  given.unsafe_without_pins = true;
  EXPECT_EQ(refused(given), "");
  given = options();
  given.ca_pins = {"sha256:" + std::string(63, 'a')};
  EXPECT_NE(refused(given), "");
  given = options();
  given.name = "Edge";
  EXPECT_NE(refused(given), "");
}

Value info(const std::string& kubeconfig, const std::string& secret = kToken.secret) {
  Value data = Value::object({{"kubeconfig", kubeconfig}});
  data.set("jws-kubeconfig-abcdef", detached_signature(kubeconfig, kToken.id, secret));
  return Value::object({{"data", std::move(data)}});
}

TEST(Register, ClusterInfoCountsOnlyIfTheTokenHasSignedIt_1_7_4) {
  const std::string good = "clusters:\n- cluster:\n    certificate-authority-data: Q0E=\n    server: https://x\n";
  const auto found = discovered(info(good), kToken);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found.value().ca_pem, "CA");
  EXPECT_EQ(found.value().url, "https://x");
  EXPECT_EQ(discovered(info(good, "fedcba9876543210"), kToken).error().code, ErrorCode::kForbidden);
  EXPECT_EQ(discovered(info(good), {"uvwxyz", kToken.secret}).error().code, ErrorCode::kNotFound);
  Value changed = info(good);
  changed.edit("data").set("kubeconfig", good + " ");
  EXPECT_EQ(discovered(changed, kToken).error().code, ErrorCode::kForbidden);
  EXPECT_EQ(discovered(info("clusters: []\n"), kToken).error().code, ErrorCode::kInvalid);
  const std::string file = "clusters:\n- cluster: {certificate-authority: /etc/passwd, server: https://x}\n";
  EXPECT_EQ(discovered(info(file), kToken).error().code, ErrorCode::kInvalid) << "it must not name files";
}

TEST(Register, ACommandIsPrintedForAnAgentWithoutAnImage) {
  RegisterOptions given = options();
  given.zones = {"a", "b"};
  given.rotates_certificate = true;
  EXPECT_EQ(agent_command(given, "my member.kubeconfig"),
            "shiplogd agent --karmada-kubeconfig=edge.agent.kubeconfig --kubeconfig='my member.kubeconfig' "
            "--cluster-name=edge --cluster-namespace=karmada-cluster --cluster-zones=a,b "
            "'--controllers=*,certRotation' --karmada-kubeconfig-namespace=karmada-system");
  EXPECT_EQ(agent_objects(given, "text", "https://m").size(), 5U) << "no Deployment";
}

TEST(Register, TheAgentOfAnImageHasItsAccessAsAFile_1_7_10) {
  RegisterOptions given = options();
  given.image = "example.com/shiplog:1";
  const auto objects = agent_objects(given, "text", "https://m");
  const Value& deployment = objects.back().second;
  const Value& command = deployment["spec"]["template"]["spec"]["containers"][0]["command"];
  EXPECT_EQ(command[0].str() + " " + command[1].str(), "shiplogd agent");
  EXPECT_EQ(command[2].str(), "--karmada-kubeconfig=/etc/kubeconfig/karmada-kubeconfig");
  EXPECT_EQ(deployment["spec"]["template"]["spec"]["serviceAccountName"].str(), "karmada-agent-sa");
  EXPECT_EQ(objects[1].second["data"]["karmada-kubeconfig"].str(), base64_encode("text"));
  given.image = "docker.io/karmada/karmada-agent:v1.17.0";
  EXPECT_EQ(agent_objects(given, "", "").back().second["spec"]["template"]["spec"]["containers"][0]["command"][0].str(),
            "/bin/karmada-agent");
}

TEST(Register, TheRolesOfAnAgentAreThoseOfUpstream_1_7_9) {
  const auto roles = agent_roles("edge", "karmada-cluster");
  std::string paths;
  for (const auto& [collection, object] : roles) {
    paths += collection + "/" + object["metadata"]["name"].str() + "\n";
  }
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1";
  EXPECT_EQ(paths, "/api/v1/namespaces/karmada-es-edge\n" + rbac + "/clusterroles/system:karmada:edge:agent\n" + rbac +
                       "/clusterrolebindings/system:karmada:edge:agent\n" + rbac +
                       "/namespaces/karmada-cluster/roles/system:karmada:edge:agent-secret\n" + rbac +
                       "/namespaces/karmada-es-edge/roles/system:karmada:edge:agent-work\n" + rbac +
                       "/namespaces/karmada-cluster/rolebindings/system:karmada:edge:agent-secret\n" + rbac +
                       "/namespaces/karmada-es-edge/rolebindings/system:karmada:edge:agent-work\n");
}

TEST(Register, TheAccessOfAnAgentNamesItsCluster_1_10_3) {
  const auto secret = [](const std::string& user) {
    const std::string text = "users: [{name: '" + user + "', user: {}}]";
    return Value::object({{"data", Value::object({{"karmada-kubeconfig", base64_encode(text)}})}});
  };
  EXPECT_TRUE(is_access_of(secret("system:karmada:agent:edge"), "edge"));
  EXPECT_TRUE(is_access_of(secret("edge"), "edge")) << "upstream's register";
  EXPECT_FALSE(is_access_of(secret("system:karmada:agent:edge2"), "edge"));
  EXPECT_FALSE(is_access_of(Value::object({{"data", Value::object({{"karmada-kubeconfig", "!"}})}}), "edge"));
  EXPECT_FALSE(is_access_of(Value::object(), "edge"));
}

TEST(Register, ARequestIsForTheKeyThatItComesWith) {
  const auto made = new_request("system:karmada:agent:edge", {"system:karmada:agents"});
  ASSERT_TRUE(made);
  const auto read = inspect_request(made.value().request_pem);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read.value().common_name, "system:karmada:agent:edge");
  EXPECT_EQ(read.value().organizations, std::vector<std::string>{"system:karmada:agents"});
  EXPECT_NE(made.value().key_pem.find("PRIVATE KEY"), std::string::npos);
  EXPECT_FALSE(public_key_pin("no certificate"));
}

TEST(Token, HasItsForm_1_6_1) {
  EXPECT_TRUE(parse_token("abcdef.0123456789abcdef"));
  for (const char* text : {"", "abcdef", "abcdef.", "ABCDEF.0123456789abcdef", "abcdef.0123456789abcdeg0"}) {
    EXPECT_FALSE(parse_token(text)) << text;
  }
  SeededRandom random{7};
  EXPECT_TRUE(parse_token(random_token(random).text()));
}

TEST(Token, OnlyAZeroTimeIsForEver_1_6_3) {
  for (const char* text : {"1ns", "0.9ms", "-1ns", "999ms", "0h0m0.5s"}) {
    const auto ttl = parse_token_ttl(text);
    ASSERT_FALSE(ttl) << text;
    EXPECT_EQ(ttl.error().message, "--ttl " + std::string{text} + " is less than a second; 0 is for ever");
  }
  for (const char* text : {"0", "0s", "0h0m"}) EXPECT_EQ(parse_token_ttl(text).value(), Millis{0}) << text;
  EXPECT_EQ(parse_token_ttl("1s").value(), Millis{1000});
  EXPECT_FALSE(parse_token_ttl("soon"));
  EXPECT_LT(parse_token_ttl("-2s").value(), Millis{0}) << "refused with the other options";
}

TEST(Token, ASecretOfItHasTheDefaultsOfUpstream_1_6_3) {
  const Value secret = token_secret(kToken, {}, kNow);
  EXPECT_EQ(secret["metadata"]["name"].str(), "bootstrap-token-abcdef");
  const auto field = [&](const char* name) { return base64_decode(secret["data"][name].as_string()).value_or(""); };
  EXPECT_EQ(field("expiration"), "2026-01-03T12:00:00Z");
  EXPECT_EQ(field("usage-bootstrap-signing") + field("usage-bootstrap-authentication"), "truetrue");
  EXPECT_EQ(field("auth-extra-groups"), "system:bootstrappers:karmada:default-cluster-token");
  EXPECT_EQ(token_row(secret, kNow).value()[1], "24h");
  EXPECT_EQ(token_row(secret, {kNow.value + 90'000'000}).value()[1], "<invalid>");
  EXPECT_FALSE(token_row(Value::object({{"type", "Opaque"}}), kNow));
  TokenCreateOptions odd;
  odd.groups = {"system:masters"};
  EXPECT_FALSE(check_token_options(odd));
}

}  // namespace
}  // namespace shiplog::ctl
