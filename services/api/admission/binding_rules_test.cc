#include "tests/support/admit.h"

namespace shiplog::api {
namespace {

const char* const kBindings = "resourcebindings.work.karmada.io";
const char* const kClusterBindings = "clusterresourcebindings.work.karmada.io";
const char* const kWorks = "works.work.karmada.io";
const char* const kBindingId = "resourcebinding.karmada.io/permanent-id";

Value written(const char* name, std::string_view spec) {
  return Value::object({{"metadata", Value::object({{"name", name}})}, {"spec", json(spec)}});
}

Value binding_of(std::string_view resource) { return written("b", "{\"resource\":" + std::string{resource} + "}"); }

TEST(BindingAdmission, BindingsWrittenByHand) {  // KIND-9
  Value object = written("b", R"({"resource":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}})");
  EXPECT_TRUE(create(kBindings, object).has_value());
  object.edit("metadata").edit("annotations").set("resourcebinding.karmada.io/dependencies", "{");
  const auto refused = create(kBindings, object);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kForbidden);
}

TEST(BindingAdmission, ComponentsOfABindingHaveNamesOfTheirOwn_M_7) {
  const auto with = [](const char* components) {
    return fields_of(
        create(kBindings, written("b", R"({"resource":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},
                                           "components":)" +
                                           std::string{components} + "}")));
  };
  EXPECT_EQ(with(R"([{"name":"a","replicas":1},{"name":"b","replicas":1}])"), "no error");
  EXPECT_EQ(with(R"([{"name":"a","replicas":1},{"name":"a","replicas":1}])"), "spec.components[1].name");
  EXPECT_EQ(with(R"([{"name":"","replicas":1}])"), "spec.components[0].name");
}

TEST(BindingAdmission, WorksWrittenByHandArePrunedAndMarked_B_14_B_23) {
  const auto made =
      create(kWorks, written("w", R"({"workload":{"manifests":[{"apiVersion":"v1","kind":"ConfigMap","metadata":
      {"name":"c","uid":"u","resourceVersion":"7","finalizers":["x"],"labels":{"a":"b"}},"status":{"x":1}}]}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  const std::string id = made.value()["metadata"]["labels"]["work.karmada.io/permanent-id"].str();
  EXPECT_EQ(id.size(), 36U);
  EXPECT_EQ(to_json(made.value()["spec"]["workload"]["manifests"]),
            R"([{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{)"
            R"("resourcetemplate.karmada.io/managed-annotations":"resourcetemplate.karmada.io/managed-annotations,)"
            R"(resourcetemplate.karmada.io/managed-labels","resourcetemplate.karmada.io/managed-labels":)"
            R"("a,work.karmada.io/permanent-id"},"labels":{"a":"b","work.karmada.io/permanent-id":")" +
                id + R"("},"name":"c"}}])");
  Value old = made.value();
  old.edit("metadata").set("resourceVersion", "7");
  Value bare = old;
  bare.edit("metadata").erase("labels");
  const auto again = update(kWorks, old, bare);
  ASSERT_TRUE(again.has_value()) << message_of(again);
  EXPECT_EQ(again.value()["metadata"]["labels"]["work.karmada.io/permanent-id"].str(), id) << "it keeps its id";
  EXPECT_EQ(again.value()["spec"], old["spec"]) << "once is enough";
}

TEST(BindingAdmission, ABindingIsAboutAnObjectOfItsOwnScope) {
  EXPECT_EQ(create(kBindings, binding_of(R"({"apiVersion":"v1","kind":"Secret","name":"s"})"))
                .value()["spec"]["resource"]["namespace"]
                .str(),
            "default");
  EXPECT_EQ(fields_of(create(
                kBindings, binding_of(R"({"apiVersion":"v1","kind":"Secret","name":"s","namespace":"kube-system"})"))),
            "spec.resource.namespace");
  EXPECT_EQ(fields_of(create(kBindings, binding_of(R"({"apiVersion":"rbac.authorization.k8s.io/v1",
      "kind":"ClusterRole","name":"cluster-admin"})"))),
            "spec.resource.kind");
  EXPECT_EQ(fields_of(create(kClusterBindings, binding_of(R"({"apiVersion":"rbac.authorization.k8s.io/v1",
      "kind":"ClusterRole","name":"cluster-admin"})"))),
            "no error");
  EXPECT_EQ(fields_of(create(kClusterBindings,
                             binding_of(R"({"apiVersion":"v1","kind":"Secret","name":"s","namespace":"default"})"))),
            "spec.resource.namespace,spec.resource.kind");
}

TEST(BindingAdmission, TheTemplateOfABindingIsImmutable) {
  const Value old = stored(kBindings, binding_of(R"({"apiVersion":"v1","kind":"ConfigMap","name":"c"})"));
  for (const char* field : {"name", "namespace", "kind", "apiVersion", "uid", "resourceVersion"}) {
    Value changed = old;
    changed.edit("spec").edit("resource").set(field, "other");
    const auto refused = update(kBindings, old, changed);
    EXPECT_EQ(fields_of(refused), "spec.resource") << field;
    EXPECT_NE(message_of(refused).find("field is immutable"), std::string::npos) << message_of(refused);
  }
  Value changed = old;
  changed.edit("spec").edit("suspension").set("dispatching", true);
  EXPECT_EQ(fields_of(update(kBindings, old, changed)), "no error");
}

TEST(BindingAdmission, NoTwoBindingsShareAnId) {
  Value copy = binding_of(R"({"apiVersion":"v1","kind":"ConfigMap","name":"c"})");
  copy.edit("metadata").edit("labels").set(kBindingId, "that-of-another");
  const Value old = stored(kBindings, copy);
  const std::string id = old["metadata"]["labels"][kBindingId].str();
  EXPECT_EQ(id.size(), 36U);
  Value changed = old;
  changed.edit("metadata").edit("labels").set(kBindingId, "that-of-another");
  EXPECT_EQ(fields_of(update(kBindings, old, changed)), "metadata.labels." + std::string{kBindingId});
  changed.edit("metadata").erase("labels");
  const auto kept = update(kBindings, old, changed);
  ASSERT_TRUE(kept.has_value()) << message_of(kept);
  EXPECT_EQ(kept.value()["metadata"]["labels"][kBindingId].str(), id);
}

TEST(BindingAdmission, WorksAreTiedToBindingsByTheDispatcherOnly) {
  Value work = written("w", R"({"workload":{"manifests":[]}})");
  const Value plain = stored(kWorks, work);
  work.edit("metadata").edit("labels").set(kBindingId, "x");
  work.edit("metadata").edit("annotations").set("clusterresourcebinding.karmada.io/name", "x");
  const std::string refused =
      "metadata.labels." + std::string{kBindingId} + ",metadata.annotations.clusterresourcebinding.karmada.io/name";
  EXPECT_EQ(fields_of(create(kWorks, work)), refused);
  Value changed = plain;
  changed.edit("metadata").edit("labels").set(kBindingId, "x");
  EXPECT_EQ(fields_of(update(kWorks, plain, changed)), "metadata.labels." + std::string{kBindingId});
}

TEST(BindingAdmission, TheContentOfRenderedWorksIsTheDispatchers) {
  const Value by_hand = stored(kWorks, written("w", R"({"workload":{"manifests":[{"apiVersion":"v1","kind":"ConfigMap",
      "metadata":{"name":"c","namespace":"default"}}]}})"));
  const auto with_more = [](Value work) {
    work.edit("spec")
        .edit("workload")
        .edit("manifests")
        .push_back(json(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"kube-system"}})"));
    return work;
  };
  EXPECT_EQ(fields_of(update(kWorks, by_hand, with_more(by_hand))), "no error");
  Value rendered = by_hand;
  rendered.edit("metadata").edit("labels").set(kBindingId, "x");
  EXPECT_EQ(fields_of(update(kWorks, rendered, with_more(rendered))), "spec.workload");
  Value of_namespace = by_hand;
  of_namespace.edit("metadata")
      .set("ownerReferences",
           json(R"([{"apiVersion":"v1","kind":"Namespace","name":"shop","uid":"u","controller":true}])"));
  EXPECT_EQ(fields_of(update(kWorks, of_namespace, with_more(of_namespace))), "spec.workload");
  Value released = rendered;
  released.edit("metadata").set("finalizers", Value::array());
  EXPECT_EQ(fields_of(update(kWorks, rendered, released)), "no error") << "as unjoin --force does";
}

}  // namespace
}  // namespace shiplog::api
