#include "tests/support/admit.h"

// Kinds of storage, and definitions of kinds, as Kubernetes 1.33 to 1.36 judge them.

namespace shiplog::api {
namespace {

Value named_object(const char* parts) {
  Value object = json(R"({"metadata":{"name":"a"}})");
  const Value members = json(parts);
  for (const auto& member : members.members()) object.set(member.key(), member.value);
  return object;
}

std::string warned(const char* type, const Value* old, const Value& object) {
  Admission admission = admission_for(type, object["metadata"]["name"].str());
  const auto written = old == nullptr ? admit_create(admission, object) : admit_update(admission, *old, object);
  EXPECT_TRUE(written.has_value()) << message_of(written);
  std::string all;
  for (const std::string& each : admission.warnings) all += (all.empty() ? "" : "\n") + each;
  return all;
}

TEST(StorageRules, TokensOfDriversBelongInSecrets) {  // CRU-9
  const char* type = "csidrivers.storage.k8s.io";
  EXPECT_EQ(fields_of(create(type, named_object(R"({"spec":{"serviceAccountTokenInSecrets":true,
      "nodeAllocatableUpdatePeriodSeconds":9}})"))),
            "spec.nodeAllocatableUpdatePeriodSeconds,spec.serviceAccountTokenInSecrets");
  const Value plain = named_object(R"({"spec":{"tokenRequests":[{"audience":"a"}]}})");
  EXPECT_EQ(warned(type, nullptr, plain),
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent "
            "possible logging of tokens in volume attributes");
  const Value old = stored(type, plain);
  EXPECT_EQ(warned(type, &old, old), "");
  EXPECT_EQ(warned(type, nullptr, named_object(R"({"spec":{"tokenRequests":[{"audience":"a"}],
      "serviceAccountTokenInSecrets":false}})")),
            "");
}

TEST(StorageRules, HowManyVolumesANodeTakesMayChange) {
  const char* type = "csinodes.storage.k8s.io";
  const Value old = stored(type, named_object(R"({"spec":{"drivers":[{"name":"a.io","nodeID":"i","allocatable":
      {"count":3}}]}})"));
  Value counted = old;
  counted.edit("spec").edit("drivers").edit_items()[0].edit("allocatable").set("count", 4);
  EXPECT_EQ(message_of(update(type, old, counted)), "no error");
}

TEST(StorageRules, AttachmentsNameADriverAndAVolume) {  // CRU-9
  const char* type = "volumeattachments.storage.k8s.io";
  EXPECT_EQ(fields_of(create(type, named_object(R"({"spec":{"attacher":"a b","nodeName":"n","source":
      {"persistentVolumeName":"A_"}}})"))),
            "spec.attacher,spec.source.persistentVolumeName");
}

TEST(StorageRules, ClassesOfAttributesStay) {  // CRU-9
  const char* type = "persistentvolumeclaims";
  const Value claim = named_object(R"({"spec":{"accessModes":["ReadWriteOnce"],"volumeAttributesClassName":"fast",
      "resources":{"requests":{"storage":"1Gi"}}}})");
  Value old = stored(type, claim);
  old.set("status", json(R"({"phase":"Bound"})"));
  Value without = old;
  without.edit("spec").erase("volumeAttributesClassName");
  EXPECT_EQ(message_of(update(type, old, without)), "no error") << "it was never applied";
  old.edit("status").set("currentVolumeAttributesClassName", "fast");
  without.set("status", old["status"]);
  EXPECT_EQ(fields_of(update(type, old, without)), "spec.volumeAttributesClassName");
  EXPECT_NE(message_of(update(type, old, without)).find("update to nil is forbidden when"), std::string::npos);
  EXPECT_EQ(fields_of(create("persistentvolumes", named_object(R"({"spec":{"accessModes":["ReadWriteOnce"],"capacity":
      {"storage":"1Gi"},"hostPath":{"path":"/a"},"volumeAttributesClassName":"fast"}})"))),
            "spec.csi");
}

TEST(StorageRules, HandlersAndExemptLevelsAreNamed) {  // CRU-9
  EXPECT_NE(message_of(create("runtimeclasses.node.k8s.io", named_object("{}"))).find("handler: Required value"),
            std::string::npos);
  const auto level =
      create("prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", named_object(R"({"spec":{"type":"Exempt"}})"));
  EXPECT_EQ(fields_of(level), "spec.type");
  EXPECT_NE(message_of(level).find("must be 'Exempt' if and only if `name` is 'exempt'"), std::string::npos);
}

TEST(DefinitionWarnings, FormatsThatNoServerChecksAreReported) {
  const auto definition = [](const char* properties) {
    return json(
        R"({"metadata":{"name":"foos.a.io"},"spec":{"group":"a.io","scope":"Namespaced","names":{"plural":"foos",
        "kind":"Foo"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
        "properties":{"spec":{"type":"object","properties":)" +
        std::string{properties} + "}}}}}]}}");
  };
  const char* type = "customresourcedefinitions.apiextensions.k8s.io";
  EXPECT_EQ(warned(type, nullptr, definition(R"({"a":{"type":"string","format":"date-time"},"b":{"type":"integer",
      "format":"int64"},"c":{"type":"string","format":"k8s-short-name"},"d":{"type":"number","format":"double"}})")),
            "");
  const Value odd =
      definition(R"({"a":{"type":"string","format":"semver"},"b":{"type":"array","items":{"type":"integer",
      "format":"uint8"}}})");
  EXPECT_EQ(warned(type, nullptr, odd), "unrecognized format \"semver\"\nunrecognized format \"uint8\"");
  const Value old = stored(type, odd);
  Value more = old;
  more.set("spec",
           definition(R"({"a":{"type":"string","format":"semver"},"b":{"type":"boolean","format":"x"}})")["spec"]);
  EXPECT_EQ(warned(type, &old, more), "unrecognized format \"x\"") << "only what is new";
}

}  // namespace
}  // namespace shiplog::api
