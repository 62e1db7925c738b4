#include "events/state/definition_status.h"

#include <gtest/gtest.h>

#include "events/state/condition.h"
#include "tests/support/given.h"

namespace shiplog {
namespace {

using given::json;

const UtcMillis kSettled = parse_rfc3339("2026-01-02T03:04:05Z").value();

Value stools(const std::string& short_names = "[]", const std::string& kind = "Stool") {
  return json(R"({"metadata":{"name":"stools.example.com"},"spec":{"group":"example.com","versions":[{"name":"v1",)"
              R"("served":true}],"names":{"plural":"stools","singular":"stool","kind":")" +
              kind + R"(","listKind":"StoolList","shortNames":)" + short_names + "}}}");
}

NamesInUse chairs() {
  NamesInUse names;
  names.add(json(R"({"plural":"chairs","singular":"chair","kind":"Chair","listKind":"ChairList","shortNames":["ch"]})"),
            "chairs.example.com");
  return names;
}

Value settled(Value definition, const Value& before, const NamesInUse& others) {
  settle_definition(definition, before, others, kSettled);
  return definition;
}

std::string shown_condition(const Value& definition, const char* type) {
  const Value& condition = condition_of(definition, type);
  return condition["status"].str() + " " + condition["reason"].str() + ": " + condition["message"].str();
}

TEST(DefinitionStatus, ADefinitionWhoseNamesAreFreeIsEstablished) {  // CRD-2
  const Value made = settled(stools(), {}, chairs());
  EXPECT_EQ(made["status"]["acceptedNames"], made["spec"]["names"]);
  EXPECT_EQ(shown_condition(made, "NamesAccepted"), "True NoConflicts: no conflicts found");
  EXPECT_EQ(shown_condition(made, "Established"), "True InitialNamesAccepted: the initial names have been accepted");
  EXPECT_TRUE(serves_kinds(made));
  EXPECT_FALSE(waits_for_names(made));
}

TEST(DefinitionStatus, NamesOfOthersAreNotAccepted) {  // CRD-3
  struct Case {
    Value definition;
    std::string condition;
    const char* refused;
  };
  const Case cases[] = {
      {stools(R"(["st","ch"])"), R"(ShortNamesConflict: "ch" is already in use by chairs.example.com)", "shortNames"},
      {stools(R"(["ch","chair"])"),
       R"(ShortNamesConflict: ["ch" is already in use by chairs.example.com, "chair" is already in use by )"
       R"(chairs.example.com])",
       "shortNames"},
      {stools("[]", "ChairList"), R"(KindConflict: "ChairList" is already in use by chairs.example.com)", "kind"},
      {stools("[]", "Chair"), R"(KindConflict: "Chair" is already in use by chairs.example.com)", "kind"},
  };
  for (const Case& each : cases) {
    const Value made = settled(each.definition, {}, chairs());
    EXPECT_EQ(shown_condition(made, "NamesAccepted"), "False " + each.condition);
    EXPECT_EQ(shown_condition(made, "Established"), "False NotAccepted: not all names are accepted");
    EXPECT_EQ(made["status"]["acceptedNames"].find(each.refused), nullptr) << each.condition;
    EXPECT_EQ(made["status"]["acceptedNames"]["plural"].str(), "stools");
    EXPECT_TRUE(waits_for_names(made));
    const Value later = settled(made, made, NamesInUse{});
    EXPECT_EQ(later["status"]["acceptedNames"], later["spec"]["names"]) << "the names are free now";
    EXPECT_TRUE(condition_holds(later, "Established"));
  }
}

TEST(DefinitionStatus, WhatIsServedKeepsItsNames) {  // CRD-3
  const Value before = settled(stools(R"(["st"])"), {}, chairs());
  Value changed = before;
  changed.edit("spec").edit("names").set("shortNames", json(R"(["st","ch"])"));
  const Value after = settled(changed, before, chairs());
  EXPECT_TRUE(condition_holds(after, "Established"));
  EXPECT_FALSE(condition_holds(after, "NamesAccepted"));
  EXPECT_EQ(accepted_names(after), before["spec"]["names"]);
  NamesInUse late = chairs();
  late.add(before["spec"]["names"], "others.example.com");
  EXPECT_TRUE(condition_holds(settled(before, before, late), "NamesAccepted")) << "it had them first";
}

TEST(DefinitionStatus, AnInvalidBundleKeepsADefinitionFromBeingServed) {  // CRD-2
  const auto with_bundle = [](const char* bundle) {
    Value definition = stools();
    Value& client = definition.edit("spec").edit("conversion").edit("webhook").edit("clientConfig");
    client.set("caBundle", bundle);
    return definition;
  };
  const Value made = settled(with_bundle("Cg=="), {}, chairs());
  EXPECT_TRUE(condition_holds(made, "NamesAccepted"));
  EXPECT_EQ(shown_condition(made, "Established"), "False InvalidCABundle: The conversion webhook CABundle is invalid");
  Value mended = with_bundle("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==");
  mended.set("status", made["status"]);
  EXPECT_TRUE(condition_holds(settled(mended, made, chairs()), "Established"));
}

TEST(DefinitionStatus, WhatIsNotServedDoesNotKeepItsNames) {  // CRD-3
  NamesInUse taken;
  taken.add(stools()["spec"]["names"], "others.example.com");
  Value bad_bundle = stools();
  bad_bundle.edit("spec").edit("conversion").edit("webhook").edit("clientConfig").set("caBundle", "Cg==");
  Value retired = stools();
  retired.edit("spec").edit("versions").edit_items()[0].set("served", false);
  for (const Value& before : {settled(bad_bundle, {}, chairs()), settled(retired, {}, chairs())}) {
    Value again = stools();
    again.set("status", before["status"]);
    EXPECT_TRUE(waits_for_names(settled(again, before, taken)));
    EXPECT_FALSE(serves_kinds(settled(again, before, taken)));
    EXPECT_TRUE(serves_kinds(settled(again, before, chairs())));
  }
}

TEST(DefinitionStatus, OnlyWhatChangesGetsANewTime) {
  Value before = settled(stools(), {}, chairs());
  for (Value& each : before.edit("status").edit("conditions").edit_items()) {
    each.set("lastTransitionTime", "2020-01-01T00:00:00Z");
  }
  Value lost = before;
  lost.edit("status").set("conditions", json(R"([{"type":"x","status":"True"}])"));
  const Value after = settled(lost, before, chairs());
  EXPECT_EQ(after["status"]["conditions"].size(), 3U);
  for (const char* type : {"NamesAccepted", "Established"})
    EXPECT_EQ(condition_of(after, type), condition_of(before, type));
}

TEST(DefinitionStatus, GroupsOfKubernetesNeedApproval) {  // CRD-4
  const std::string needed = R"(protected groups must have approval annotation "api-approved.kubernetes.io")";
  const std::string link = ", see https://github.com/kubernetes/enhancements/pull/1111";
  const std::string wrong = needed + R"( with either a URL or a reason starting with "unapproved")" + link;
  const std::pair<const char*, std::string> cases[] = {
      {"https://github.com/kubernetes/kubernetes/pull/79724",
       "True ApprovedAnnotation: approved in https://github.com/kubernetes/kubernetes/pull/79724"},
      {"unapproved, x", R"(False UnapprovedAnnotation: not approved: "unapproved, x")"},
      {"", "False MissingAnnotation: " + needed + link},
      {"yes", "False InvalidAnnotation: " + wrong},
      {"https://", "False InvalidAnnotation: " + wrong},
      {"/path", "False InvalidAnnotation: " + wrong},
  };
  for (const auto& [annotation, expected] : cases) {
    Value definition = stools();
    definition.edit("spec").set("group", "sigs.k8s.io");
    definition.edit("metadata").edit("annotations").set(kApiApproved, annotation);
    EXPECT_EQ(shown_condition(settled(definition, {}, NamesInUse{}), "KubernetesAPIApprovalPolicyConformant"),
              expected);
  }
  for (const char* group : {"x-k8s.io", "gateway.networking.x-k8s.io", "example.com"}) {
    EXPECT_FALSE(needs_api_approval(group)) << group;
  }
}

}  // namespace
}  // namespace shiplog
