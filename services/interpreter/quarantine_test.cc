#include "services/interpreter/quarantine.h"

#include "events/state/work.h"
#include "services/interpreter/customizations.h"
#include "services/interpreter/interpreter.h"
#include "services/interpreter/scripts.h"
#include "tests/support/given.h"
#include "tests/support/interpreting.h"

namespace shiplog::interpreter {
namespace {

using testing::kNoon;
using testing::yaml;

constexpr const char* kDeployments = R"({apiVersion: config.karmada.io/v1alpha1, kind: ResourceInterpreterCustomization,
  metadata: {name: c, uid: u1, generation: 2}, spec: {target: {apiVersion: apps/v1, kind: Deployment}, customizations: {
  replicaResource: {luaScript: "function GetReplicas() return 9 end"},
  healthInterpretation: {luaScript: "function InterpretHealth() return false end"}}}})";

Overrun overrun(const char* ns) { return {"InterpretReplica", ns, "StepLimitExceeded", "stopped"}; }

TEST(Quarantine, ConcernsOneFunctionAndOneNamespace) {
  Value customization = yaml(kDeployments);
  EXPECT_FALSE(quarantined(customization, "InterpretReplica", "shop"));
  customization = with_quarantine(customization, overrun("shop"), kNoon);
  EXPECT_TRUE(quarantined(customization, "InterpretReplica", "shop"));
  EXPECT_FALSE(quarantined(customization, "InterpretReplica", "bank"));
  EXPECT_FALSE(quarantined(customization, "InterpretHealth", "shop"));
  const Value& condition = condition_of(customization, kQuarantined);
  EXPECT_EQ(condition["status"].as_string(), "True");
  EXPECT_EQ(condition["reason"].as_string(), "StepLimitExceeded");
  EXPECT_EQ(condition["message"].as_string(), "Not run until the spec changes: GetReplicas. GetReplicas: stopped");
  EXPECT_EQ(with_quarantine(customization, overrun("shop"), kNoon + Millis{5}), customization) << "recorded once";
}

TEST(Quarantine, InManyNamespacesItIsForAll) {
  Value customization = yaml(kDeployments);
  for (const char* ns : {"a", "b", "c"}) customization = with_quarantine(customization, overrun(ns), kNoon);
  EXPECT_FALSE(quarantined(customization, "InterpretReplica", "d"));
  customization = with_quarantine(customization, overrun("e"), kNoon);
  EXPECT_TRUE(quarantined(customization, "InterpretReplica", "d"));
}

TEST(Quarantine, EndsWithTheNextSpec) {
  Value customization = with_quarantine(yaml(kDeployments), overrun("shop"), kNoon);
  EXPECT_FALSE(quarantine_is_over(customization));
  customization.edit("metadata").set("generation", 3);
  EXPECT_FALSE(quarantined(customization, "InterpretReplica", "shop"));
  EXPECT_TRUE(quarantine_is_over(customization));
  EXPECT_FALSE(quarantined(with_quarantine(customization, overrun("bank"), kNoon), "InterpretReplica", "shop"));
  customization = without_quarantine(customization, kNoon);
  EXPECT_FALSE(quarantine_is_over(customization));
  EXPECT_EQ(condition_of(customization, kQuarantined)["status"].as_string(), "False");
}

TEST(Quarantine, TheNextLevelInterpretsInstead) {
  given::History history;
  const Value web =
      yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 2}}");
  history.put({kCustomizationType, "", "c"}, yaml(kDeployments));
  EXPECT_EQ(replicas(history.state(), web, kNoon).value()->count, 9);
  given::History later;
  later.put({kCustomizationType, "", "c"}, with_quarantine(yaml(kDeployments), overrun("shop"), kNoon));
  EXPECT_EQ(replicas(later.state(), web, kNoon).value()->count, 2) << "native";
  EXPECT_EQ(health(later.state(), web, kNoon).value(), false) << "the other function still runs";

  Change change;
  change.object = {kCustomizationType, "", "c"};
  change.before = yaml(kDeployments);
  change.after = with_quarantine(change.before, overrun("shop"), kNoon);
  EXPECT_EQ(concerned(later.state(), change), (std::vector<InterpretedKind>{{"apps/v1", "Deployment"}}))
      << "interpreted again";
}

/// Returns the results that the test has stored.
class StoredScriptResults final : public ScriptResults {
 public:
  StoredScriptResults() { run_scripts_elsewhere(this); }
  ~StoredScriptResults() override { run_scripts_elsewhere(nullptr); }
  std::optional<Result<Value>> find(const std::string& basis, UtcMillis) override {
    const auto known = known_.find(basis);
    return known == known_.end() ? std::nullopt : std::optional<Result<Value>>{known->second};
  }
  std::map<std::string, Result<Value>> known_;
};

TEST(ScriptsElsewhere, AreQuestionsUntilTheirResultsAreKnown) {
  given::History history;
  history.put({kCustomizationType, "", "c"}, yaml(kDeployments));
  const Value web =
      yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 2}}");
  StoredScriptResults results;
  const auto waiting = replicas(history.state(), web, kNoon);
  ASSERT_FALSE(waiting);
  ASSERT_EQ(waiting.error().questions.size(), 1U);
  const Question& question = *waiting.error().questions.front();
  EXPECT_TRUE(question.script);
  EXPECT_EQ(question.address["name"].as_string(), "c");
  EXPECT_EQ(question.address["namespace"].as_string(), "shop");
  EXPECT_EQ(question.address["generation"].as_int(),
            history.state().value_of({kCustomizationType, "", "c"})["metadata"]["generation"].as_int());
  const auto outcome = run_script(question.request, kNoon);
  EXPECT_FALSE(outcome.asked_time);
  results.known_.emplace(question.basis, outcome.results);
  EXPECT_EQ(replicas(history.state(), web, kNoon).value()->count, 9);
  results.known_.insert_or_assign(question.basis, Error{ErrorCode::kInvalid, "luaScript:1: no"});
  EXPECT_EQ(replicas(history.state(), web, kNoon).error().message,
            "ResourceInterpreterCustomization c, replicaResource: luaScript:1: no");

  const auto unwell = health(history.state(), web, kNoon);
  ASSERT_EQ(unwell.error().questions.size(), 1U);
  EXPECT_TRUE(unwell.error().questions.front()->basis.empty()) << "of a member's object: not kept";
  const auto outcome_of_health = run_script(unwell.error().questions.front()->request, kNoon);
  EXPECT_EQ(read_results(*unwell.error().questions.front(), outcome_of_health.results.value()).value(), Value{false});
}

TEST(ScriptsElsewhere, ReportWhetherTheyReadTheTime) {
  const auto asked = [](const char* script) {
    return run_script(Value::object({{"script", script}, {"function", "F"}, {"results", 1}}), kNoon).asked_time;
  };
  EXPECT_TRUE(asked("function F() return os.time() end"));
  EXPECT_FALSE(asked("function F() return os.time({year = 2024, month = 1, day = 1}) end"));
}

TEST(SealedObjects, AreInterpretedByNativeCodeOnly) {
  given::History history;
  Value thief = yaml(kDeployments);
  thief.edit("spec").set("target", yaml("{apiVersion: v1, kind: Secret}"));
  thief.edit("spec")
      .edit("customizations")
      .edit("statusReflection")
      .set("luaScript", "function ReflectStatus(o) return o.data end");
  thief.edit("spec")
      .edit("customizations")
      .edit("retention")
      .set("luaScript", "function Retain(d, o) d.metadata.annotations = o.data return d end");
  history.put({kCustomizationType, "", "c"}, thief);
  const Value secret =
      yaml("{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: shop}, data: {k: dg==}, status: {k: dg==}}");
  EXPECT_FALSE(replicas(history.state(), secret, kNoon).value());
  EXPECT_FALSE(health(history.state(), secret, kNoon).value());
  EXPECT_FALSE(dependencies(history.state(), secret, kNoon).value());
  EXPECT_TRUE(reflect_status(history.state(), secret, kNoon).value().is_null()) << "nor does a member's status count";
  const auto kept = retain(history.state(), secret, secret, kNoon).value();
  EXPECT_TRUE(!kept || (*kept)["metadata"]["annotations"].is_null());
}

}  // namespace
}  // namespace shiplog::interpreter
