#include "services/roles/federated_hpa/replicas_field.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/apply/managed_fields.h"
#include "tests/support/given.h"

namespace shiplog::federated_hpa {
namespace {

using given::History;
using given::json;

const Served kDeployment{"apps", "v1", "deployments", true, ".spec.replicas"};

TEST(ReplicasField, BelongsToTheRoleAfterARescale_SSA_6) {
  const Value applied = json(R"({"metadata":{"name":"web","managedFields":[
      {"manager":"kubectl","operation":"Apply","apiVersion":"apps/v1","time":"2026-01-01T00:00:00Z",
       "fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{},"f:paused":{}}}},
      {"manager":"other","operation":"Update","apiVersion":"apps/v1","fieldsType":"FieldsV1",
       "fieldsV1":{"f:spec":{"f:replicas":{}}}}]},"spec":{"replicas":3,"paused":false}})");
  const Value scaled = with_replicas(applied, kDeployment, 8, given::kNoon);
  EXPECT_EQ(scaled["spec"], json(R"({"replicas":8,"paused":false})"));
  EXPECT_EQ(to_json(scaled["metadata"]["managedFields"]), to_json(json(R"([
      {"manager":"kubectl","operation":"Apply","apiVersion":"apps/v1","time":"2026-01-01T00:00:00Z",
       "fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:paused":{}}}},
      {"manager":"federated-hpa","operation":"Update","apiVersion":"apps/v1","subresource":"scale",
       "time":"2026-01-02T12:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}])")));
  const Value again = with_replicas(scaled, kDeployment, 9, given::kNoon + Millis{60'000});
  EXPECT_EQ(again["metadata"]["managedFields"].size(), 2U);
  EXPECT_EQ(again["metadata"]["managedFields"][1]["time"].as_string(), "2026-01-02T12:01:00Z");
}

TEST(ReplicasField, AnApplyWithoutItKeepsWhatWasScaled_SSA_8) {
  const Kind& kind = *Kinds::compiled().find_type("deployments.apps");
  const api::FieldWriter kubectl{"kubectl", "apps/v1", "", given::kNoon};
  const auto applied = [&](const Value& live, const std::string& spec) {
    const Value patch =
        json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":)" + spec + "}");
    return api::apply_fields(kubectl, kind, live, patch, false).value();
  };
  const Value made = applied(Value{}, R"({"replicas":3,"paused":true})").object;
  const Value scaled = with_replicas(made, kDeployment, 8, given::kNoon);
  EXPECT_EQ(applied(scaled, R"({"paused":true})").object["spec"]["replicas"], Value{8});
  const auto again = applied(scaled, R"({"replicas":3,"paused":true})");
  ASSERT_EQ(again.conflicts.size(), 1U);
  EXPECT_EQ(again.conflicts[0].field, ".spec.replicas");
  EXPECT_EQ(again.conflicts[0].manager, R"("federated-hpa" with subresource "scale" using apps/v1)");
}

TEST(ReplicasField, AnObjectWithoutManagersGetsNone) {
  EXPECT_EQ(with_replicas(json(R"({"spec":{"replicas":3}})"), kDeployment, 8, given::kNoon),
            json(R"({"spec":{"replicas":8}})"));
}

TEST(ReplicasField, TheSchemaOfACustomResourceLimitsIt) {
  History history;
  const ObjectKey definition{type::kCustomResourceDefinition, "", "shops.example.org"};
  history.object(definition, R"({"spec":{"group":"example.org","names":{"kind":"Shop","plural":"shops"},
      "scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,
      "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
        "size":{"type":"integer","maximum":5}}}}}},
      "subresources":{"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size"}}}]}})");
  const Served shop{"example.org", "v1", "shops", true, ".spec.size"};
  EXPECT_EQ(replicas_refusal(history.state(), shop, 5), "");
  EXPECT_EQ(replicas_refusal(history.state(), shop, 8),
            "spec.size: Invalid value: 8: spec.size in body should be less than or equal to 5");
  EXPECT_EQ(replicas_refusal(history.state(), kDeployment, 1'000'000), "");
}

}  // namespace
}  // namespace shiplog::federated_hpa
