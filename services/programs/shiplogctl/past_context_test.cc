#include "services/programs/shiplogctl/past_context.h"

#include <gtest/gtest.h>

#include "events/base/yaml.h"

namespace shiplog::ctl {
namespace {

const UtcMillis kTypedAt = parse_rfc3339("2026-11-20T12:00:00Z").value();

TEST(PastMoment, IsARevisionOrATime) {
  const auto moment = [](const char* text) { return moment_of(text, kTypedAt).value(); };
  EXPECT_EQ(moment("4711"), "r4711");
  EXPECT_EQ(moment("r4711"), "r4711");
  EXPECT_EQ(moment("2h"), "2026-11-20T10:00:00Z");
  EXPECT_EQ(moment("1h30m ago"), "2026-11-20T10:30:00Z");
  EXPECT_EQ(moment("2026-11-20T03:12:00.5+01:00"), "2026-11-20T02:12:00.500Z");
  EXPECT_EQ(moment("03:12"), "2026-11-20T03:12:00Z");
  EXPECT_EQ(moment("12:00:00"), "2026-11-20T12:00:00Z");
  EXPECT_EQ(moment("12:00:01"), "2026-11-19T12:00:01Z") << "yesterday: today it has not been yet";
  for (const char* text : {"", "yesterday", "3:1:2", "24:00", "03:60", "03:12:", "03:12:3", "r", "-1h", "1.5"}) {
    EXPECT_FALSE(moment_of(text, kTypedAt)) << text;
  }
}

KubeconfigFile file(const std::string& path, const char* yaml) { return {path, parse_yaml(yaml).value()}; }

const KubeconfigFile kMine = file("/home/me/.kube/config", R"(apiVersion: v1
kind: Config
current-context: fleet
clusters:
  - {name: fleet, cluster: {server: "https://host:6443/", certificate-authority-data: Q0E=}}
contexts:
  - {name: fleet, context: {cluster: fleet, user: me, namespace: shop}}
users:
  - {name: me, user: {token: secret}}
)");

std::string server(const KubeconfigFile& file, const std::string& name) {
  for (const Value& item : file.content["clusters"].items()) {
    if (item["name"].as_string() == name) return item["cluster"]["server"].str();
  }
  return "";
}

TEST(PastContext, IsTheSameServerUserAndNamespaceBelowThePrefix) {
  const auto changed = with_past_context({kMine}, {"fleet@03:12", "fleet", "/at/r4711"}).value();
  EXPECT_EQ(changed.path, kMine.path);
  EXPECT_EQ(server(changed, "fleet@03:12"), "https://host:6443/at/r4711");
  EXPECT_EQ(server(changed, "fleet"), "https://host:6443/");
  const Value& context = changed.content["contexts"][1]["context"];
  EXPECT_EQ(context["user"].str(), "me");
  EXPECT_EQ(context["namespace"].str(), "shop");
  EXPECT_EQ(changed.content["current-context"].str(), "fleet");
  EXPECT_EQ(changed.content["users"], kMine.content["users"]);
}

TEST(PastContext, IsReplacedByAnotherOneOfItsName) {
  const auto once = with_past_context({kMine}, {"past", "fleet", "/at/r1"}).value();
  const auto twice = with_past_context({once}, {"past", "fleet", "/at/r2"}).value();
  EXPECT_EQ(server(twice, "past"), "https://host:6443/at/r2");
  EXPECT_EQ(twice.content["clusters"].size(), 2U);
  EXPECT_EQ(twice.content["contexts"].size(), 2U);
  const auto from_past = with_past_context({twice}, {"older", "past", "/at/r1"}).value();
  EXPECT_EQ(server(from_past, "older"), "https://host:6443/at/r1") << "of the server itself, not of its past";
}

TEST(PastContext, DoesNotTakeTheNameOfAnother) {
  const auto taken = with_past_context({kMine}, {"fleet", "fleet", "/at/r1"});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kConflict);
  EXPECT_FALSE(with_past_context({kMine}, {"past", "nowhere", "/at/r1"}));
  EXPECT_FALSE(with_past_context({}, {"past", "fleet", "/at/r1"}));
}

TEST(PastContext, FindsTheClusterInAnotherFile) {
  const KubeconfigFile contexts = file("/a/contexts", "contexts: [{name: fleet, context: {cluster: c, user: me}}]\n");
  const KubeconfigFile clusters =
      file("/b/clusters", "clusters: [{name: c, cluster: {server: 'https://h', certificate-authority: ca.crt}}]\n");
  const auto changed = with_past_context({contexts, clusters}, {"past", "fleet", "/at/r1"}).value();
  EXPECT_EQ(changed.path, "/a/contexts");
  EXPECT_EQ(changed.content["clusters"][0]["cluster"]["certificate-authority"].str(), "/b/ca.crt");
}

}  // namespace
}  // namespace shiplog::ctl
