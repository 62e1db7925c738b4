#include "services/api/insight/resource.h"

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

std::string type_of(const char* word) {
  const auto found = find_resource(Kinds::compiled(), word);
  return found ? found.value()->type() : found.error().message;
}

TEST(InsightResource, AcceptsEveryNameThatKubectlAccepts) {
  for (const char* word : {"deployment", "deployments", "deploy", "Deployment", "deployments.apps", "deploy.apps"}) {
    EXPECT_EQ(type_of(word), "deployments.apps") << word;
  }
  EXPECT_EQ(type_of("cm"), "configmaps");
  EXPECT_EQ(type_of("rb"), "resourcebindings.work.karmada.io");
  EXPECT_EQ(type_of("pp"), "propagationpolicies.policy.karmada.io");
  EXPECT_EQ(type_of("cluster"), "clusters.cluster.karmada.io");
}

TEST(InsightResource, UnknownNameIsNotFoundWithKubectlsMessage) {
  EXPECT_EQ(type_of("spaceship"), "the server doesn't have a resource type \"spaceship\"");
  EXPECT_EQ(type_of("deployments.nowhere"), "the server doesn't have a resource type \"deployments.nowhere\"");
  EXPECT_EQ(find_resource(Kinds::compiled(), "").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace shiplog::api
