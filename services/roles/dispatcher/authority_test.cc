#include "services/roles/dispatcher/authority.h"

#include <gtest/gtest.h>

#include "tests/support/literals.h"

namespace shiplog::dispatcher {
namespace {

using test::json;

Value config() {
  return json(R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"},
                  "data": {"k": "v"}})");
}

Value of_rbac(const char* kind) {
  return json(std::string{R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": ")"} + kind + R"(",
      "metadata": {"name": "r", "namespace": "default", "labels": {"app": "web"}},
      "roleRef": {"kind": "Role", "name": "reader"}, "subjects": [{"kind": "User", "name": "ann"}],
      "rules": [{"verbs": ["get"], "resources": ["pods"]}]})");
}

std::string refusal(const Value& object, const Value& manifest) {
  const auto checked = check_authority(object, manifest);
  if (checked) return "";
  return checked.error().message;
}

TEST(CheckAuthority, ContentMayDiffer) {
  Value changed = config();
  changed.edit("data").set("k", "other");
  changed.edit("metadata").edit("labels").set("tier", "prod");
  EXPECT_EQ(refusal(config(), changed), "");
}

TEST(CheckAuthority, IdentityIsThatOfTheTemplate) {
  Value changed = config();
  changed.set("apiVersion", "rbac.authorization.k8s.io/v1");
  changed.set("kind", "ClusterRoleBinding");
  changed.edit("metadata").erase("namespace");
  EXPECT_EQ(refusal(config(), changed),
            "the result is another object than ConfigMap c: it changes apiVersion, kind, metadata.namespace");
}

TEST(CheckAuthority, RightsAreThoseOfTheTemplate) {
  for (const char* field : {"roleRef", "subjects", "rules", "aggregationRule"}) {
    Value changed = of_rbac("RoleBinding");
    changed.set(field, json(R"([{"kind": "Group", "name": "system:masters"}])"));
    EXPECT_EQ(refusal(of_rbac("RoleBinding"), changed),
              "/" + std::string{field} +
                  " of a RoleBinding must stay as in the template: the rights it grants were checked there");
  }
  Value labelled = of_rbac("ClusterRole");
  labelled.edit("metadata").edit("labels").set("app", "other");
  EXPECT_EQ(refusal(of_rbac("ClusterRole"), labelled), "");
  labelled.edit("metadata").edit("labels").set("rbac.authorization.k8s.io/aggregate-to-view", "true");
  EXPECT_TRUE(refusal(of_rbac("ClusterRole"), labelled).starts_with("/metadata/labels of a ClusterRole must stay"));
}

}  // namespace
}  // namespace shiplog::dispatcher
