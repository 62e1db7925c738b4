#include "services/roles/federated_hpa/replicas_field.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
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
