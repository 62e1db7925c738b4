#include "services/http/kubeconfig.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "services/http/private_file.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct KubeconfigTest : ::testing::Test {
  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = folder + "/" + name;
    std::ofstream{path} << text;
    return path;
  }
  TestDirectory directory{"kubeconfig"};
  const std::string& folder = directory.path();
};

constexpr const char* kPlain = R"(apiVersion: v1
kind: Config
clusters:
- name: east
  cluster: {server: "https://10.0.0.1:6443", certificate-authority-data: Q0EgZWFzdA==, tls-server-name: kube.example}
- name: west
  cluster:
    server: https://10.0.0.2:6443
    insecure-skip-tls-verify: true
users:
- name: admin
  user:
    client-certificate-data: Y2VydA==
    client-key-data: a2V5
- name: robot
  user: {token: sesame}
- name: cloud
  user:
    exec: {command: aws}
- name: old
  user: {username: a, password: b}
contexts:
- name: east
  context: {cluster: east, user: admin, namespace: shop}
- name: west
  context: {cluster: west, user: robot}
- name: cloudy
  context: {cluster: east, user: cloud}
- name: basic
  context: {cluster: east, user: old}
- name: nowhere
  context: {cluster: north, user: admin}
- name: nobody
  context: {cluster: east, user: ghost}
current-context: east
)";

TEST_F(KubeconfigTest, ResolvesTheCurrentContextWithInlineData) {
  const auto found = context_of(read_kubeconfig({file("config", kPlain)}).value()).value();
  EXPECT_EQ(found.name, "east");
  EXPECT_EQ(found.ns, "shop");
  EXPECT_EQ(found.target.url, "https://10.0.0.1:6443");
  EXPECT_EQ(found.target.ca_pem, "CA east");
  EXPECT_EQ(found.target.server_name, "kube.example");
  EXPECT_EQ(found.target.certificate_pem, "cert");
  EXPECT_EQ(found.target.key_pem, "key");
  EXPECT_FALSE(found.target.insecure);
}

TEST_F(KubeconfigTest, ResolvesANamedContextWithTokenAndWithoutVerification) {
  const auto found = context_of(read_kubeconfig({file("config", kPlain)}).value(), "west").value();
  EXPECT_EQ(found.ns, "default");
  EXPECT_EQ(found.target.bearer_token, "sesame");
  EXPECT_TRUE(found.target.insecure);
}

TEST_F(KubeconfigTest, RefusesWhatItCannotHonourAndNamesIt) {
  const std::string path = file("config", kPlain);
  const auto kubeconfig = read_kubeconfig({path}).value();
  const auto why = [&](const char* context) { return context_of(kubeconfig, context).error(); };
  EXPECT_EQ(why("cloudy").code, ErrorCode::kInvalid);
  EXPECT_THAT(why("cloudy").message, HasSubstr("user \"cloud\" in " + path + " uses exec, which is not supported"));
  EXPECT_THAT(why("basic").message, HasSubstr("uses username"));
  EXPECT_EQ(why("nowhere").code, ErrorCode::kNotFound);
  EXPECT_THAT(why("nowhere").message, HasSubstr("the cluster \"north\""));
  EXPECT_THAT(why("nobody").message, HasSubstr("the user \"ghost\""));
  EXPECT_THAT(why("absent").message, HasSubstr("no context \"absent\" in " + path));
}

TEST_F(KubeconfigTest, ReadsReferencedFilesFromTheKubeconfigsFolder) {
  file("ca.crt", "CA in a file");
  file("token", "file-token\n");
  const std::string path =
      file("config", R"({"clusters":[{"name":"c","cluster":{"server":"https://x","certificate-authority":"ca.crt"}}],
    "users":[{"name":"u","user":{"tokenFile":"token","token":"stale"}}],
    "contexts":[{"name":"k","context":{"cluster":"c","user":"u"}}],"current-context":"k"})");
  const auto found = context_of(read_kubeconfig({path}).value()).value();
  EXPECT_EQ(found.target.ca_pem, "CA in a file");
  EXPECT_EQ(found.target.bearer_token, "file-token");
}

TEST_F(KubeconfigTest, FirstFileWinsAndMissingOnesAreSkipped) {
  const std::string first = file("first", R"(
clusters: [{name: east, cluster: {server: "https://first"}}]
current-context: west
)");
  const auto merged = read_kubeconfig({folder + "/absent", first, file("second", kPlain)}).value();
  EXPECT_EQ(merged.clusters.at("east").server, "https://first");
  EXPECT_EQ(merged.clusters.at("west").server, "https://10.0.0.2:6443");
  EXPECT_EQ(merged.current_context, "west");
}

TEST_F(KubeconfigTest, NamesTheFileThatIsMissingOrBroken) {
  const auto missing = read_kubeconfig({folder + "/absent"});
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr(folder + "/absent"));
  for (const char* text : {"{broken", "just text", "kind: Pod"}) {
    const std::string path = file("broken", text);
    const auto broken = read_kubeconfig({path});
    ASSERT_FALSE(broken) << text;
    EXPECT_THAT(broken.error().message, HasSubstr(path)) << text;
  }
}

TEST_F(KubeconfigTest, WhatCannotBeReadIsAnErrorOfTheContextsThatUseIt) {
  const std::string path = file("config", R"(
clusters:
- {name: good, cluster: {server: "https://good"}}
- {name: damaged, cluster: {server: "https://damaged", certificate-authority-data: "!"}}
users:
- {name: good, user: {token: t}}
- {name: keyless, user: {client-key: no-such-file}}
contexts:
- {name: good, context: {cluster: good, user: good}}
- {name: damaged, context: {cluster: damaged, user: good}}
- {name: keyless, context: {cluster: good, user: keyless}}
current-context: good
)");
  const auto read = read_kubeconfig({path}).value();
  EXPECT_EQ(context_of(read).value().target.bearer_token, "t");
  EXPECT_THAT(context_of(read, "damaged").error().message,
              HasSubstr(path + ": cluster \"damaged\": certificate-authority-data is not base64"));
  const auto keyless = context_of(read, "keyless");
  EXPECT_EQ(keyless.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(keyless.error().message, HasSubstr(path + ": user \"keyless\": client-key"));
}

TEST_F(KubeconfigTest, AProgramThatIssuesCredentialsIsOnlyForCallersThatRunIt) {
  const std::string path = file("config", R"(
clusters:
- name: c
  cluster:
    server: "https://c"
    extensions: [{name: other, extension: 1}, {name: client.authentication.k8s.io/exec, extension: {audience: a}}]
users:
- name: u
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/login, args: [get, token], env: [{name: A, value: b}],
           interactiveMode: IfAvailable, installHint: Install it., provideClusterInfo: true}
- name: on-the-path
  user: {exec: {command: login}}
contexts:
- {name: k, context: {cluster: c, user: u}}
- {name: p, context: {cluster: c, user: on-the-path}}
)");
  const auto read = read_kubeconfig({path}).value();
  EXPECT_EQ(context_of(read, "k").error().code, ErrorCode::kInvalid);
  const auto plugin = context_with_plugin(read, "k").value().plugin;
  ASSERT_TRUE(plugin);
  EXPECT_EQ(std::filesystem::path{plugin->command}.lexically_normal(), folder + "/bin/login");
  EXPECT_THAT(plugin->args, ElementsAre("get", "token"));
  EXPECT_THAT(plugin->env, ElementsAre(std::pair<std::string, std::string>{"A", "b"}));
  EXPECT_EQ(plugin->api_version, "client.authentication.k8s.io/v1");
  EXPECT_EQ(plugin->interactive_mode, "IfAvailable");
  EXPECT_EQ(plugin->install_hint, "Install it.");
  EXPECT_TRUE(plugin->provide_cluster_info);
  EXPECT_EQ(plugin->cluster_config["audience"].str(), "a");
  EXPECT_EQ(context_with_plugin(read, "p").value().plugin->command, "login");
}

TEST_F(KubeconfigTest, ReadsTheFilesThatKubectlReads) {
  EXPECT_THAT(kubeconfig_paths("/flag", "/a:/b", "/home/x"), ElementsAre("/flag"));
  EXPECT_THAT(kubeconfig_paths("", "/a::/b:", "/home/x"), ElementsAre("/a", "/b"));
  EXPECT_THAT(kubeconfig_paths("", "", "/home/x"), ElementsAre("/home/x/.kube/config"));
  EXPECT_THAT(kubeconfig_paths("", nullptr, nullptr), ElementsAre());
}

TEST_F(KubeconfigTest, ReadsBackWhatItWritesWithMode0600) {
  ClientTarget target;
  target.url = "https://127.0.0.1:6443";
  target.proxy_url = "socks5://proxy:1080";
  for (const char* pem : {"", "a", "ab", "abc", "-----BEGIN CERTIFICATE-----\nxyz\n"}) {
    target.ca_pem = target.certificate_pem = target.key_pem = pem;
    const std::string path = folder + "/written";
    ASSERT_TRUE(write_kubeconfig(path, "shiplog", target, "team"));
    struct stat status = {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    const auto found = context_of(read_kubeconfig({path}).value()).value();
    EXPECT_EQ(found.name, "shiplog");
    EXPECT_EQ(found.ns, "team");
    EXPECT_EQ(found.target.url, target.url);
    EXPECT_EQ(found.target.proxy_url, target.proxy_url);
    EXPECT_EQ(found.target.ca_pem, pem);
    EXPECT_EQ(found.target.key_pem, pem);
  }
}

TEST_F(KubeconfigTest, ReportsWhereItCannotWrite) {
  const auto written = write_kubeconfig(folder + "/no/such/folder", "x", {});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kIo);
  EXPECT_THAT(written.error().message, HasSubstr(folder + "/no/such/folder"));
}

}  // namespace
}  // namespace shiplog
