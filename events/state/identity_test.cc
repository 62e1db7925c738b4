#include "events/state/identity.h"

#include <gtest/gtest.h>

#include "events/base/yaml.h"

namespace shiplog {
namespace {

Value yaml(const char* text) { return parse_yaml(text).value(); }

std::string difference(const char* result) {
  const Value object = yaml("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop, name: web}, data: {a: b}}");
  const auto same = same_identity(object, yaml(result));
  return same ? "" : same.error().message;
}

TEST(StateIdentity, AResultMayChangeEverythingButWhichObjectItIs) {
  EXPECT_EQ(difference("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop, name: web, labels: {a: b}}}"),
            "");
  EXPECT_EQ(difference("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: web}}"),
            "the result is another object than ConfigMap web: it changes apiVersion, kind, metadata.namespace");
  EXPECT_EQ(difference("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: kube-system, name: other}}"),
            "the result is another object than ConfigMap web: it changes metadata.namespace, metadata.name");
  EXPECT_EQ(difference("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: [shop], name: web}}"),
            "the result is another object than ConfigMap web: it changes metadata.namespace");
}

TEST(StateIdentity, AResultWithoutMetadataIsRefused) {
  EXPECT_EQ(difference("{apiVersion: v1, kind: ConfigMap}"), "the result has no metadata");
  EXPECT_EQ(difference("{apiVersion: v1, kind: ConfigMap, metadata: []}"), "the result has no metadata");
  EXPECT_EQ(difference("[]"), "the result is not an object");
}

TEST(StateIdentity, ClusterScopedObjectsHaveNoNamespace) {
  const Value object = yaml("{apiVersion: v1, kind: Namespace, metadata: {name: web}}");
  EXPECT_TRUE(same_identity(object, yaml("{apiVersion: v1, kind: Namespace, metadata: {namespace: '', name: web}}")));
  EXPECT_FALSE(same_identity(object, yaml("{apiVersion: v1, kind: Namespace, metadata: {namespace: a, name: web}}")));
}

}  // namespace
}  // namespace shiplog
