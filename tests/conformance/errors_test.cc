// The Status body (ERR-1 to ERR-8).
#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

TEST(Errors, ERR_01_every_error_is_a_status) {
  const std::string ns = own_namespace();
  const std::string deployments = in(ns, "deployments", "apps/v1");
  const Answer missing = api().get(deployments + "/none");
  EXPECT_EQ(missing.json, json(R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
      "message":"deployments.apps \"none\" not found","reason":"NotFound",
      "details":{"name":"none","group":"apps","kind":"deployments"},"code":404})"));
  EXPECT_EQ(missing.headers.get("Content-Type"), "application/json");
  const Answer core = api().get(in(ns, "configmaps") + "/none");
  EXPECT_FALSE(core.json["details"].contains("group")) << core;
}

TEST(Errors, ERR_02_causes_have_a_reason_a_message_and_a_field) {
  Value wrong = deployment("wrong");
  wrong.edit("spec").set("replicas", -1);
  const Answer answer = api().post(in(own_namespace(), "deployments", "apps/v1"), wrong);
  expect_failure(answer, 422, "Invalid");
  const Value& cause = answer.json["details"]["causes"][0];
  EXPECT_EQ(cause["reason"].str(), "FieldValueInvalid");
  EXPECT_EQ(cause["field"].str(), "spec.replicas");
  EXPECT_FALSE(cause["message"].str().empty());
  EXPECT_FALSE(cause.contains("type"));
}

TEST(Errors, ERR_03_codes_and_reasons) {
  const std::string ns = own_namespace();
  const std::string maps = in(ns, "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  expect_failure(api().call("POST", maps, "{"), 400, "BadRequest");
  expect_failure(api().post(maps, json(R"({"apiVersion":"v2","metadata":{"name":"x"}})")), 400, "BadRequest");
  expect_failure(api().post(maps, json(R"({"kind":"Secret","metadata":{"name":"x"}})")), 400, "BadRequest");
  expect_failure(api().put(maps + "/a", config_map("b")), 400, "BadRequest");
  expect_failure(api().get(maps + "?labelSelector=%3D%3D"), 400, "BadRequest");
  expect_failure(api().get(maps + "?fieldSelector=data.a%3D1"), 400, "BadRequest");
  expect_failure(api().get(maps + "?continue=nonsense"), 400, "BadRequest");
  const Answer forbidden = as("nobody", "GET", maps + "/a");
  expect_failure(
      forbidden, 403, "Forbidden",
      R"(configmaps "a" is forbidden: User "nobody" cannot get resource "configmaps" in API group "" in the )"
      R"(namespace ")" +
          ns + "\"");
  EXPECT_EQ(forbidden.json["details"], json(R"({"name":"a","kind":"configmaps"})"));
  expect_failure(
      as("nobody", "GET", "/api/v1/nodes"), 403, "Forbidden",
      R"(nodes is forbidden: User "nobody" cannot list resource "nodes" in API group "" at the cluster scope)");
  expect_failure(as("nobody", "GET", "/metrics"), 403, "Forbidden",
                 R"(forbidden: User "nobody" cannot get path "/metrics")");
  const Answer nowhere = api().post(in("nowhere", "configmaps"), config_map("a"));
  expect_failure(nowhere, 404, "NotFound", R"(namespaces "nowhere" not found)");
  EXPECT_EQ(nowhere.json["details"]["kind"].str(), "namespaces") << nowhere;
  EXPECT_EQ(nowhere.json["details"]["name"].str(), "nowhere") << nowhere;
  const Answer exists = api().post(maps, config_map("a"));
  expect_failure(exists, 409, "AlreadyExists", R"(configmaps "a" already exists)");
  EXPECT_EQ(exists.json["details"]["name"].str(), "a");
  Value held = config_map("held");
  held.edit("metadata").set("finalizers", json(R"(["example.com/keep"])"));
  ASSERT_EQ(api().post(maps, held).status, 201);
  ASSERT_EQ(api().remove(maps + "/held").status, 200);
  expect_failure(api().post(maps, config_map("held")), 409, "AlreadyExists",
                 "object is being deleted: configmaps \"held\"");
  EXPECT_EQ(api().patch(maps + "/held", "merge", json(R"({"metadata":{"finalizers":null}})")).status, 200);
  Value stale = config_map("a");
  stale.edit("metadata").set("resourceVersion", "1");
  expect_failure(api().put(maps + "/a", stale), 409, "Conflict",
                 R"(Operation cannot be fulfilled on configmaps "a": the object has been modified)");
  expect_failure(api().call("PATCH", maps + "/a", "{}", {{"Content-Type", "text/plain"}}), 415, "UnsupportedMediaType",
                 "application/merge-patch+json");
  const Answer future = api().get(maps + "?resourceVersion=999999999");
  expect_failure(future, 504, "Timeout", "Timeout: Too large resource version");
  EXPECT_EQ(future.json["details"]["causes"][0]["reason"].str(), "ResourceVersionTooLarge") << future;
  EXPECT_EQ(future.json["details"]["retryAfterSeconds"].as_int(), 1);
}

TEST(Errors, ERR_04_only_retryable_errors_have_retry_after) {
  const std::string maps = in(own_namespace(), "configmaps");
  for (const Answer& answer : {api().get(maps + "?resourceVersion=999999999"), api().get(maps + "/none"),
                               api().post(maps, config_map("Wrong")), api().put(maps + "/none", config_map("none"))}) {
    EXPECT_GE(answer.status, 400);
    EXPECT_FALSE(answer.headers.contains("Retry-After")) << answer;
  }
}

TEST(Errors, ERR_05_all_invalid_fields_are_reported_together) {
  const std::string ns = own_namespace();
  Value wrong = deployment("wrong");
  wrong.edit("spec").set("replicas", -1);
  wrong.edit("spec").erase("selector");
  wrong.edit("spec").edit("template").edit("spec").edit("containers").edit_items()[0].erase("image");
  const Answer answer = api().post(in(ns, "deployments", "apps/v1"), wrong);
  expect_failure(answer, 422, "Invalid", R"(Deployment.apps "wrong" is invalid: [)");
  const Names fields = fields_of(answer);
  for (const char* field : {"spec.replicas", "spec.selector", "spec.template.spec.containers[0].image"}) {
    EXPECT_TRUE(std::ranges::find(fields, field) != fields.end()) << field << answer;
  }
  EXPECT_EQ(answer.json["details"]["kind"].str(), "Deployment");
  EXPECT_EQ(answer.json["details"]["group"].str(), "apps");
  const auto reason = [&](const std::string& field) {
    return named(answer.json["details"]["causes"], field, "field")["reason"].str();
  };
  EXPECT_EQ(reason("spec.replicas"), "FieldValueInvalid");
  EXPECT_EQ(reason("spec.selector"), "FieldValueRequired");
  const Answer invalid = api().post(in(ns, "configmaps"), config_map("Wrong"));
  EXPECT_TRUE(invalid.message().starts_with(R"(ConfigMap "Wrong" is invalid: metadata.name: Invalid value: "Wrong": )"))
      << invalid;
  const std::string widgets = widgets_in(ns);
  const Answer enumerated = api().post(widgets, widget("w", R"({"colour":"blue"})"));
  EXPECT_EQ(enumerated.json["details"]["causes"][0]["reason"].str(), "FieldValueNotSupported") << enumerated;
  EXPECT_EQ(api().post(widgets, widget("w", R"({"size":"big"})")).json["details"]["causes"][0]["reason"].str(),
            "FieldValueTypeInvalid");
}

TEST(Errors, ERR_06_errors_contain_no_markup) {
  const Answer answer = as("<b>&nobody", "GET", "/api/v1/nodes");
  expect_failure(answer, 403, "Forbidden", "&lt;b&gt;&amp;nobody");
  for (const Answer& failure : {answer, api().get("/nowhere"), api().get("/api/v1/namespaces/none")}) {
    EXPECT_EQ(failure.headers.get("X-Content-Type-Options"), "nosniff") << failure;
  }
}

TEST(Errors, ERR_07_an_error_within_a_watch_is_an_event) {
  const auto watch = api().watch(in(own_namespace(), "configmaps") +
                                 "?watch=1&resourceVersion=999999999&sendInitialEvents=true&"
                                 "resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  ASSERT_TRUE(watch->wait_for(1));
  const Value event = watch->events()[0];
  EXPECT_EQ(event["type"].str(), "ERROR") << to_json(event);
  EXPECT_EQ(event["object"]["kind"].str(), "Status");
  EXPECT_EQ(event["object"]["code"].as_int(), 504);
}

TEST(Errors, ERR_08_a_deletion_is_a_success_with_the_uid) {
  const std::string deployments = in(own_namespace(), "deployments", "apps/v1");
  const Answer made = api().post(deployments, deployment("web"));
  ASSERT_EQ(made.status, 201) << made;
  const Answer removed = api().remove(deployments + "/web");
  EXPECT_EQ(removed.json["details"],
            Value::object({{"name", "web"}, {"group", "apps"}, {"kind", "deployments"}, {"uid", uid_of(made)}}))
      << removed;
  EXPECT_EQ(removed.json["status"].str(), "Success");
  EXPECT_FALSE(removed.json.contains("reason"));
}

}  // namespace
}  // namespace shiplog::e2e
