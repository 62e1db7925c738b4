#include "services/interpreter/interpreter.h"

#include "services/interpreter/customizations.h"
#include "tests/support/given.h"
#include "tests/support/interpreting.h"

namespace shiplog::interpreter {
namespace {

using testing::kNoon;
using testing::yaml;

/// A customization of example.com/v1 Thing with these scripts.
Value customization(const std::string& name, std::vector<std::pair<std::string, std::string>> scripts,
                    const std::string& api_version = "example.com/v1", const std::string& kind = "Thing") {
  Value object =
      yaml("{apiVersion: config.karmada.io/v1alpha1, kind: ResourceInterpreterCustomization, metadata: {name: " + name +
           "}, spec: {target: {apiVersion: " + api_version + ", kind: " + kind + "}}}");
  for (const auto& [field, script] : scripts) {
    object.edit("spec").edit("customizations").edit(field).set("luaScript", script);
  }
  return object;
}

class Interpreter : public ::testing::Test {
 protected:
  void add(const Value& object) { history_.put({kCustomizationType, "", object["metadata"]["name"].str()}, object); }
  const State& state() const { return history_.state(); }

  given::History history_;
  const Value thing_ =
      yaml("{apiVersion: example.com/v1, kind: Thing, metadata: {name: t, namespace: ns}, spec: {size: 3, e: {}}}");
};

// As upstream: whatever computes requirements of a pod template names its priority class, wherever the template is in
// the object.
TEST_F(Interpreter, RequirementsNameThePriorityClassWithTheGate_L_6) {
  const Value things = yaml(R"({apiVersion: example.com/v1, kind: Thing, metadata: {name: t, namespace: ns}, spec: {
      parts: [{name: head, template: {spec: {priorityClassName: high, nodeSelector: {a: b}}}},
              {name: tail, template: {spec: {nodeSelector: {a: b}}}}]}})");
  const Value job = yaml(R"({apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: ns}, spec: {parallelism: 2,
      template: {spec: {priorityClassName: high, nodeSelector: {a: b}}}}})");
  const std::string kube = "local kube = require('kube') ";
  add(customization(
      "all",
      {{"replicaResource",
        kube + "function GetReplicas(o) return 1, kube.accuratePodRequirements(o.spec.parts[1].template) end"},
       {"componentResource",
        kube + "function GetComponents(o) local all = {} for i, part in ipairs(o.spec.parts) do all[i] = {name = "
               "part.name, replicas = 1, replicaRequirements = kube.accuratePodRequirements(part.template)} end return "
               "all end"}}));
  for (const bool on : {false, true}) {
    history_.accept(
        {FeatureGatesSet{on ? std::vector<std::string>{"ResourceQuotaEstimate"} : std::vector<std::string>{}}});
    const Value plain = yaml("{nodeClaim: {nodeSelector: {a: b}}}");
    const Value named = on ? yaml("{nodeClaim: {nodeSelector: {a: b}}, priorityClassName: high}") : plain;
    EXPECT_EQ(replicas(state(), job, kNoon).value()->requirements, named);
    EXPECT_EQ(replicas(state(), things, kNoon).value()->requirements, named);
    EXPECT_EQ(components(state(), things, kNoon).value(),
              (std::vector<WorkloadComponent>{{"head", 1, named}, {"tail", 1, plain}}));
  }
}

TEST_F(Interpreter, EveryOperationUsesTheCustomization_L_12) {  // L-1, L-16
  add(customization(
      "all",
      {{"replicaResource", "function GetReplicas(o) return o.spec.size + 0.9, {resourceRequest = {cpu = '1500m'}} end"},
       {"componentResource", "function GetComponents(o) return {{name = 'a', replicas = 2}, {name = 'b'}} end"},
       {"replicaRevision", "function ReviseReplica(o, n) o.spec.size = n return o end"},
       {"retention", "function Retain(d, o) d.spec.kept = o.spec.kept return d end"},
       {"statusAggregation",
        "function AggregateStatus(o, items) o.status = {count = items and #items or -1} return o end"},
       {"statusReflection", "function ReflectStatus(o) return {seen = o.status.x} end"},
       {"healthInterpretation", "function InterpretHealth(o) return o.status.x == 1 end"},
       {"dependencyInterpretation",
        "function GetDependencies(o) return {{apiVersion = 'v1', kind = 'Secret', namespace = 'ns', name = 'b'}, "
        "{apiVersion = 'v1', kind = 'ConfigMap', namespace = 'ns', name = 'a'}} end"}}));
  EXPECT_EQ(replicas(state(), thing_, kNoon).value(), (Replicas{3, yaml("{resourceRequest: {cpu: 1500m}}")}));
  EXPECT_EQ(components(state(), thing_, kNoon).value(), (std::vector<WorkloadComponent>{{"a", 2, {}}, {"b", 0, {}}}));
  EXPECT_EQ((*revise_replica(state(), thing_, 7, kNoon).value())["spec"], yaml("{size: 7, e: {}}"));
  EXPECT_EQ((*retain(state(), thing_, yaml("{spec: {kept: []}}"), kNoon).value())["spec"],
            yaml("{size: 3, e: {}, kept: []}"));
  EXPECT_EQ(aggregate_status(state(), thing_, yaml("[{clusterName: m1}]"), kNoon).value(), yaml("{count: 1}"));
  EXPECT_EQ(aggregate_status(state(), thing_, Value::array(), kNoon).value(), yaml("{count: -1}"))
      << "no items are nil";
  Value observed = thing_;
  observed.set("status", yaml("{x: 1, y: 2}"));
  EXPECT_EQ(reflect_status(state(), observed, kNoon).value(), yaml("{seen: 1}"));
  EXPECT_EQ(health(state(), observed, kNoon).value(), true);
  const auto found = dependencies(state(), thing_, kNoon).value().value();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].kind, "ConfigMap") << "sorted";
}

TEST_F(Interpreter, WhatABindingCannotHoldIsRefusedOrLeftOut_L_12) {
  const auto counted = [&](const char* returned) {
    add(customization("counts",
                      {{"replicaResource", std::string{"function GetReplicas() return "} + returned + " end"}}));
    return replicas(state(), thing_, kNoon);
  };
  EXPECT_EQ(counted("-1").error().message,
            "ResourceInterpreterCustomization counts, replicaResource: the number of replicas is negative");
  EXPECT_EQ(counted("-0.5").value()->count, 0) << "cut to a whole number first";
  EXPECT_EQ(counted("1, {size = 3, namespace = 'ns', resourceRequest = {cpu = '1'}}").value()->requirements,
            yaml("{namespace: ns, resourceRequest: {cpu: '1'}}"));
  add(customization("counts",
                    {{"componentResource", "function GetComponents() return {{name = 'a', replicas = -2}} end"}}));
  EXPECT_EQ(components(state(), thing_, kNoon).error().message,
            "ResourceInterpreterCustomization counts, componentResource: a component's number of replicas is negative");
}

TEST_F(Interpreter, AScriptCannotMakeAnotherObjectOfIt) {
  add(customization("thief", {{"replicaRevision",
                               "function ReviseReplica(o) o.apiVersion = 'rbac.authorization.k8s.io/v1' "
                               "o.kind = 'ClusterRoleBinding' o.metadata.namespace = nil return o end"},
                              {"retention", "function Retain(d) d.metadata.namespace = 'kube-system' return d end"}}));
  EXPECT_EQ(revise_replica(state(), thing_, 1, kNoon).error().message,
            "ResourceInterpreterCustomization thief, replicaRevision: the result is another object than Thing t: it "
            "changes apiVersion, kind, metadata.namespace");
  EXPECT_EQ(retain(state(), thing_, thing_, kNoon).error().message,
            "ResourceInterpreterCustomization thief, retention: the result is another object than Thing t: it changes "
            "metadata.namespace");
}

TEST_F(Interpreter, OperationsAreIndependent_L_2) {  // L-3
  add(customization("health", {{"healthInterpretation", "function InterpretHealth() return false end"}}, "apps/v1",
                    "Deployment"));
  const Value web = yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2}}");
  EXPECT_EQ(health(state(), web, kNoon).value(), false) << "before native code";
  EXPECT_EQ(replicas(state(), web, kNoon).value()->count, 2) << "native code still reports the replicas";
  EXPECT_FALSE(components(state(), web, kNoon).value());
}

TEST_F(Interpreter, CustomizationsTakePrecedenceOverBuiltInScripts_L_2) {
  const Value set = yaml(
      "{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, metadata: {name: c}, spec: {replicas: 4, template: {spec: "
      "{}}}}");
  EXPECT_EQ(replicas(state(), set, kNoon).value()->count, 4) << "built in";
  add(customization("mine", {{"replicaResource", "function GetReplicas() return 9 end"}}, "apps.kruise.io/v1alpha1",
                    "CloneSet"));
  EXPECT_EQ(replicas(state(), set, kNoon).value()->count, 9);
  EXPECT_EQ((*revise_replica(state(), set, 1, kNoon).value())["spec"]["replicas"], Value{1}) << "built in";
}

TEST_F(Interpreter, AnErrorIsFinal_L_2) {
  add(customization("broken", {{"healthInterpretation", "function InterpretHealth(o)\n  return o.a.b\nend"}}, "apps/v1",
                    "Deployment"));
  const auto healthy = health(state(), yaml("{apiVersion: apps/v1, kind: Deployment}"), kNoon);
  ASSERT_FALSE(healthy);
  EXPECT_EQ(healthy.error().message,
            "ResourceInterpreterCustomization broken, healthInterpretation: luaScript:2: attempt to index field 'a' (a "
            "nil value)");
}

TEST_F(Interpreter, ResultsOfTheWrongKindAreErrors_L_12) {  // L-7
  add(customization(
      "wrong", {{"replicaResource", "function GetReplicas() return 'x' end"},
                {"healthInterpretation", "function InterpretHealth() end"},
                {"statusReflection", "function ReflectStatus() return nil end"},
                {"dependencyInterpretation", "function GetDependencies() return {{kind = 'Secret', name = 'x'}} end"},
                {"replicaRevision", "function revise() end"}}));
  EXPECT_NE(replicas(state(), thing_, kNoon).error().message.find("is a string, not a number"), std::string::npos);
  EXPECT_NE(health(state(), thing_, kNoon).error().message.find("returned a nil, not a boolean"), std::string::npos);
  EXPECT_NE(reflect_status(state(), thing_, kNoon).error().message.find("returned a nil, not an object"),
            std::string::npos);
  EXPECT_NE(dependencies(state(), thing_, kNoon).error().message.find("dependencies[0]: apiVersion is missing"),
            std::string::npos)
      << "B-31";
  EXPECT_NE(revise_replica(state(), thing_, 1, kNoon).error().message.find("not found function ReviseReplica"),
            std::string::npos);
}

TEST_F(Interpreter, SeveralCustomizationsOfOneKind_L_17) {
  const auto needs = [](const char* name) {
    return std::string{"function GetDependencies() return {{apiVersion = 'v1', kind = 'Secret', name = '"} + name +
           "'}} end";
  };
  add(customization("b", {{"healthInterpretation", "function InterpretHealth() return false end"},
                          {"dependencyInterpretation", needs("x")}}));
  add(customization("a", {{"healthInterpretation", "function InterpretHealth() return true end"},
                          {"dependencyInterpretation", needs("y")}}));
  add(customization("c", {{"dependencyInterpretation", needs("x")}}));
  add(customization("d", {{"healthInterpretation", "function InterpretHealth() return 1 end"}}, "example.com/v2"));
  EXPECT_EQ(health(state(), thing_, kNoon).value(), true) << "the first by name";
  const auto found = dependencies(state(), thing_, kNoon).value().value();
  ASSERT_EQ(found.size(), 2U) << "all of them, each dependency once";
  EXPECT_EQ(found[0].name + found[1].name, "xy");
}

TEST_F(Interpreter, AdmissionRefusesConflictsAndScriptsThatDoNotParse_L_17) {
  const char* good = "function InterpretHealth() return true end";
  const char* needs = "function GetDependencies() end";
  const std::vector<Value> others = {
      customization("first", {{"healthInterpretation", good}, {"dependencyInterpretation", needs}})};
  EXPECT_EQ(
      conflict(customization("second", {{"healthInterpretation", good}}), others),
      "conflicting with InterpreterOperation(InterpretHealth) of existing ResourceInterpreterCustomization(first)");
  EXPECT_FALSE(conflict(customization("first", {{"healthInterpretation", good}}), others)) << "itself";
  EXPECT_FALSE(conflict(customization("second", {{"healthInterpretation", good}}, "example.com/v2"), others));
  EXPECT_FALSE(conflict(customization("second", {{"dependencyInterpretation", needs}}), others));
  EXPECT_TRUE(bad_scripts(others.front()).empty());
  const auto bad = bad_scripts(customization("bad", {{"retention", "function Retain("}}));
  ASSERT_EQ(bad.size(), 1U);
  EXPECT_EQ(bad[0].field, "spec.customizations.retention.luaScript");
  EXPECT_EQ(bad[0].why, "luaScript:1: <name> or '...' expected near '<eof>'");
}

TEST_F(Interpreter, AChangeConcernsTheKindsBeforeAndAfterIt) {
  const Value before = customization("c", {{"retention", "x = 1"}});
  const Value after = customization("c", {{"retention", "x = 1"}}, "example.com/v2");
  const auto of = [](const char* type, const Value& was, const Value& is) {
    Change change;
    change.object = {type, "", "c"};
    change.before = was;
    change.after = is;
    return concerned(State{}, change);
  };
  EXPECT_EQ(of(kCustomizationType, before, after),
            (std::vector<InterpretedKind>{{"example.com/v1", "Thing"}, {"example.com/v2", "Thing"}}));
  EXPECT_EQ(of(kCustomizationType, {}, after), (std::vector<InterpretedKind>{{"example.com/v2", "Thing"}}));
  EXPECT_TRUE(of(kCustomizationType, after, after).empty());
  EXPECT_TRUE(of("configmaps", {}, after).empty());
}

TEST_F(Interpreter, UnknownKinds_L_3) {  // T-4
  EXPECT_FALSE(replicas(state(), thing_, kNoon).value());
  EXPECT_FALSE(health(state(), thing_, kNoon).value());
  EXPECT_FALSE(retain(state(), thing_, thing_, kNoon).value());
  EXPECT_FALSE(dependencies(state(), thing_, kNoon).value());
  EXPECT_TRUE(reflect_status(state(), thing_, kNoon).value().is_null());
}

}  // namespace
}  // namespace shiplog::interpreter
