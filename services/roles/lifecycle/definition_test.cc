#include <gtest/gtest.h>

#include "events/state/condition.h"
#include "services/roles/lifecycle/role.h"
#include "tests/support/given.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using testing::Stage;

class LifecycleOfDefinitions : public ::testing::Test {
 protected:
  LifecycleOfDefinitions() { stage.add(make_lifecycle_role()); }
  bool exists(const ObjectKey& key) { return stage.state().find(key) != nullptr; }

  Stage stage;
};

TEST_F(LifecycleOfDefinitions, EndsWithTheLastOfTheirObjects_CRD_13) {
  const ObjectKey definition{type::kCustomResourceDefinition, "", "sofas.example.com"};
  const ObjectKey sofa{"sofas.example.com", "default", "red"};
  const auto object = [](const char* name, const char* finalizer) {
    return Value::object({{"metadata", Value::object({{"name", name}, {"finalizers", Value::array({finalizer})}})}});
  };
  stage.put(definition, object("sofas.example.com", "customresourcecleanup.apiextensions.k8s.io"));
  stage.put(sofa, object("red", "example.com/mine"));
  stage.put({"sofas.example.com", "default", "blue"}, Value::object({{"metadata", Value::object({{"name", "blue"}})}}));
  ASSERT_FALSE(stage.write({DeletionRequested{.object = definition, .propagation = "Background"}}).refusal);
  stage.run(Millis{1000});
  EXPECT_FALSE(exists({"sofas.example.com", "default", "blue"}));
  EXPECT_TRUE(deleting(stage.state().value_of(sofa)));
  EXPECT_TRUE(exists(definition)) << "one of its objects is held";
  const ObjectKey late{"sofas.example.com", "default", "late"};
  stage.put(late, Value::object({{"metadata", Value::object({{"name", "late"}})}}));
  stage.run(Millis{1000});
  EXPECT_FALSE(exists(late)) << "a server that lags has created it";
  EXPECT_TRUE(exists(definition));

  stage.write({ObjectRemoved{sofa}});
  stage.run(Millis{1000});
  EXPECT_FALSE(exists(definition));
}

TEST_F(LifecycleOfDefinitions, AnOwnerIsOfTheDefinitionThatHasTheKind_DEL_12) {
  const auto define = [&](const char* plural, const char* established) {
    stage.put({type::kCustomResourceDefinition, "", std::string{plural} + ".example.com"},
              given::json(R"({"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":")" +
                          std::string{plural} + R"(","kind":"Sofa"},"versions":[{"name":"v1","served":true}]},)" +
                          R"("status":{"conditions":[{"type":"Established","status":")" + established + "\"}]}}"));
  };
  stage.write({FoldVersionActivated{10}});
  define("aaas", "False");
  define("sofas", "True");
  const ObjectKey owner{"sofas.example.com", "default", "red"}, dependent{"configmaps", "default", "cushion"};
  stage.put(owner, Value::object({{"metadata", Value::object({{"name", "red"}})}}));
  Value owned = testing::config_map("default", "cushion", "x");
  owned.edit("metadata")
      .set("ownerReferences", Value::array({Value::object({{"apiVersion", "example.com/v1"},
                                                           {"kind", "Sofa"},
                                                           {"name", "red"},
                                                           {"uid", uid_of(stage.state().value_of(owner))}})}));
  stage.put(dependent, owned);
  stage.run(Millis{1000});
  EXPECT_TRUE(exists(dependent));
  stage.write({ObjectRemoved{owner}});
  stage.run(Millis{1000});
  EXPECT_FALSE(exists(dependent));
}

TEST_F(LifecycleOfDefinitions, NamesThatBecomeFreeGoToOneThatWaitsForThem_CRD_3) {
  const auto key_of = [](const std::string& plural) {
    return ObjectKey{type::kCustomResourceDefinition, "", plural + ".example.com"};
  };
  const auto define = [&](const std::string& plural, bool established) {
    Value names =
        Value::object({{"plural", plural}, {"singular", plural}, {"kind", "Sofa"}, {"listKind", plural + "s"}});
    const Value spec = Value::object({{"group", "example.com"}, {"scope", "Namespaced"}, {"names", names}});
    if (!established) names.erase("kind");
    Value conditions = Value::array();
    for (const char* type : {"NamesAccepted", "Established"}) {
      conditions.push_back(Value::object({{"type", type}, {"status", established ? "True" : "False"}}));
    }
    stage.put(key_of(plural),
              Value::object({{"metadata", Value::object({{"name", plural + ".example.com"}})},
                             {"spec", spec},
                             {"status", Value::object({{"acceptedNames", names}, {"conditions", conditions}})}}));
  };
  const auto condition = [&](const char* plural, const char* type) {
    return condition_of(stage.state().value_of(key_of(plural)), type);
  };
  define("sofas", true);
  define("settees", false);
  define("couches", false);
  stage.run(Millis{1000});
  for (const char* plural : {"settees", "couches"}) {
    EXPECT_EQ(condition(plural, "NamesAccepted")["message"].str(), R"("Sofa" is already in use by sofas.example.com)");
  }
  stage.write({ObjectRemoved{key_of("sofas")}});
  stage.run(Millis{1000});
  EXPECT_EQ(condition("couches", "NamesAccepted")["reason"].str(), "NoConflicts");
  EXPECT_EQ(condition("couches", "Established")["status"].str(), "True");
  EXPECT_EQ(stage.state().value_of(key_of("couches"))["status"]["acceptedNames"]["kind"].str(), "Sofa");
  EXPECT_EQ(condition("settees", "NamesAccepted")["message"].str(),
            R"("Sofa" is already in use by couches.example.com)");
  EXPECT_EQ(condition("settees", "Established")["status"].str(), "False");
}

}  // namespace
}  // namespace shiplog
