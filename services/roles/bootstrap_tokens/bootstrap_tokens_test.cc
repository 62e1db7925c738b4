// The signed ConfigMap cluster-info, and the end of bootstrap tokens (1.6, 1.7.4).
#include <string>
#include <vector>

#include "events/base/base64.h"
#include "services/adapters/pki/detached_signature.h"
#include "services/roles/bootstrap_tokens/decide.h"
#include "services/roles/bootstrap_tokens/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/given.h"

namespace shiplog::bootstrap_tokens {
namespace {

using given::FakeTask;
using given::History;
using given::kNoon;

const ObjectKey kAbc{type::kSecret, "kube-system", "bootstrap-token-abcdef"};
const ObjectKey kXyz{type::kSecret, "kube-system", "bootstrap-token-uvwxyz"};
constexpr const char* kSecretPart = "0123456789abcdef";

Value token(const ObjectKey& key, const std::string& usage = "signing", const std::string& expiration = {}) {
  Value data = Value::object({{"token-id", base64_encode(key.name.substr(16))},
                              {"token-secret", base64_encode(kSecretPart)},
                              {"usage-bootstrap-" + usage, base64_encode("true")}});
  if (!expiration.empty()) data.set("expiration", base64_encode(expiration));
  return History::named(key, Value::object({{"apiVersion", "v1"},
                                            {"kind", "Secret"},
                                            {"type", "bootstrap.kubernetes.io/token"},
                                            {"data", std::move(data)}}));
}

Surroundings surroundings(const std::string& url = "https://10.0.0.1:5443") {
  return {.server_url = url,
          .authority_pem = "CA",
          .open = [](const Value& secret) -> Result<Value> {
            if (secret["metadata"]["labels"]["key"].as_string() == "lost") return Error{ErrorCode::kInternal, "lost"};
            return secret;
          },
          .sign = [](const std::string& content, const std::string& id,
                     const std::string& secret) { return id + "/" + secret + "/" + std::to_string(content.size()); }};
}

/// With the namespaces that a control plane has.
History started() {
  History history;
  for (const char* ns : {"kube-system", "kube-public"}) history.object({type::kNamespace, "", ns}, "{}");
  return history;
}

int settled(History& history, const Surroundings& with = surroundings()) {
  return history.settle([&](const State& state, const ObjectKey&, UtcMillis now) { return decide(state, now, with); },
                        cluster_info_key());
}

std::vector<std::string> keys_of(const History& history) {
  std::vector<std::string> keys;
  const Value& info = history.state().value_of(cluster_info_key());
  for (const auto& member : info["data"].members()) keys.emplace_back(member.key());
  return keys;
}

TEST(BootstrapTokensRole, ClusterInfoIsSignedByEachTokenThatIsForSigning_1_7_4) {
  History history = started();
  history.put(kAbc, token(kAbc)).put(kXyz, token(kXyz, "authentication"));
  EXPECT_EQ(settled(history), 1);
  EXPECT_EQ(keys_of(history), (std::vector<std::string>{"jws-kubeconfig-abcdef", "kubeconfig"}));
  const Value& data = history.state().value_of(cluster_info_key())["data"];
  EXPECT_EQ(data["kubeconfig"].str(), kubeconfig_of("https://10.0.0.1:5443", "CA"));
  EXPECT_NE(data["kubeconfig"].str().find("certificate-authority-data: Q0E=\n    server: https://10.0.0.1:5443\n"),
            std::string::npos);
  EXPECT_EQ(settled(history), 0);
  history.remove(kAbc);
  EXPECT_EQ(settled(history), 1);
  EXPECT_EQ(keys_of(history), std::vector<std::string>{"kubeconfig"});
}

TEST(BootstrapTokensRole, AnotherAddressIsSignedAnew) {
  History history = started();
  history.put(kAbc, token(kAbc));
  settled(history);
  const std::string before = history.state().value_of(cluster_info_key())["data"]["jws-kubeconfig-abcdef"].str();
  EXPECT_EQ(settled(history, surroundings("https://control.example:443")), 1);
  EXPECT_NE(history.state().value_of(cluster_info_key())["data"]["jws-kubeconfig-abcdef"].str(), before);
}

TEST(BootstrapTokensRole, AnExpiredTokenIsDeletedWithItsSignature_1_6_2) {
  History history = started();
  history.put(kAbc, token(kAbc, "signing", "2026-01-02T13:00:00Z")).put(kXyz, token(kXyz, "signing", "soon"));
  EXPECT_EQ(settled(history), 1) << "an expiration that is no time has passed";
  EXPECT_EQ(history.state().find(kXyz), nullptr);
  EXPECT_EQ(keys_of(history), (std::vector<std::string>{"jws-kubeconfig-abcdef", "kubeconfig"}));
  const UtcMillis expires{kNoon.value + 3'600'000};
  const Decided waits = decide(history.state(), history.now(), surroundings());
  EXPECT_EQ(std::get<LookAgain>(waits).at, expires);
  const Decided over = decide(history.state(), expires, surroundings());
  history.accept(std::get<Decision>(over));
  EXPECT_EQ(history.state().find(kAbc), nullptr);
  EXPECT_EQ(keys_of(history), std::vector<std::string>{"kubeconfig"});
}

TEST(BootstrapTokensRole, WhatIsNoTokenSignsNothingAndStays) {
  History history = started();
  Value lost = token(kAbc);
  lost.edit("metadata").edit("labels").set("key", "lost");
  Value other_id = token(kXyz);
  other_id.edit("data").set("token-id", base64_encode("zzzzzz"));
  const ObjectKey opaque{type::kSecret, "kube-system", "bootstrap-token-opaque"};
  Value of_other_type = token(opaque);
  of_other_type.set("type", "Opaque");
  const ObjectKey elsewhere{type::kSecret, "default", "bootstrap-token-elsewh"};
  history.put(kAbc, lost).put(kXyz, other_id).put(opaque, of_other_type).put(elsewhere, token(elsewhere));
  settled(history);
  EXPECT_EQ(keys_of(history), std::vector<std::string>{"kubeconfig"});
  for (const ObjectKey& key : {kAbc, kXyz, opaque, elsewhere}) EXPECT_NE(history.state().find(key), nullptr);
}

TEST(BootstrapTokensRole, WhatOthersWriteIntoClusterInfoIsReplacedOrKept) {
  History history = started();
  settled(history);
  history.edit(cluster_info_key(), [](Value& info) {
    info.edit("data").set("kubeconfig", "server: https://attacker.example");
    info.edit("data").set("jws-kubeconfig-forged", "x");
    info.edit("data").set("note", "kept");
  });
  EXPECT_EQ(settled(history), 1);
  EXPECT_EQ(keys_of(history), (std::vector<std::string>{"kubeconfig", "note"}));
  history.remove(cluster_info_key());
  EXPECT_EQ(settled(history), 1);
}

TEST(BootstrapTokensRole, ATokenWakesItAndWhatItWritesIsAnObservation) {
  History history = started();
  const auto role = make_bootstrap_tokens_role([] { return std::string{"https://[fd00::1]:5443"}; },
                                               []() -> Result<KeyPair> {
                                                 return KeyPair{"CA", ""};
                                               },
                                               [](const Value& secret) -> Result<Value> { return secret; });
  EXPECT_EQ(given::woken(*role, history, {ObjectCreated{kAbc, token(kAbc)}}),
            std::vector<ObjectKey>{cluster_info_key()});
  const auto task = std::make_shared<FakeTask>(history, cluster_info_key());
  role->reconcile(task);
  EXPECT_EQ(task->observed, 1);
  const Value& data = history.state().value_of(cluster_info_key())["data"];
  EXPECT_NE(data["kubeconfig"].str().find("server: https://[fd00::1]:5443\n"), std::string::npos);
  EXPECT_EQ(data["jws-kubeconfig-abcdef"].str(), detached_signature(data["kubeconfig"].str(), "abcdef", kSecretPart));
  EXPECT_EQ(given::woken(*role, history, {DeletionRequested{kAbc}}), std::vector<ObjectKey>{cluster_info_key()});
}

TEST(BootstrapTokensRole, NothingIsDoneBeforeItsNamespaceIsThere) {
  History history;
  const auto role = make_bootstrap_tokens_role({}, {}, {});
  const ObjectKey place{type::kNamespace, "", "kube-public"};
  const auto task = std::make_shared<FakeTask>(history, cluster_info_key());
  role->reconcile(task);
  EXPECT_TRUE(task->folded.empty());
  EXPECT_EQ(task->finished, 1);
  EXPECT_EQ(given::woken(*role, history, {ObjectCreated{place, History::named(place, given::json("{}"))}}),
            std::vector<ObjectKey>{cluster_info_key()});
}

TEST(DetachedSignature, IsAsKubeadmComputesIt) {  // computed with another implementation of RFC 7515
  EXPECT_EQ(detached_signature("hello", "abcdef", kSecretPart),
            "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..MxsnbCjBaYzcbNIFa06F-wuF9LX26rhMlrL4zA1511s");
}

}  // namespace
}  // namespace shiplog::bootstrap_tokens
