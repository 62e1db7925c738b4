#include "services/binder/service.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "services/runtime/interpreter/customizations.h"
#include "tests/support/fake_task.h"

namespace shiplog {
namespace {

using given::FakeTask;
using given::History;
using given::json;

const ObjectKey kWeb{"deployments.apps", "default", "web"};
const ObjectKey kPolicy{type::kPropagationPolicy, "default", "p"};
const ObjectKey kBinding{type::kResourceBinding, "default", "web-deployment"};

constexpr const char* kDeployment =
    R"({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 1, "template": {"spec": {}}}})";
constexpr const char* kPolicyText = R"({"spec": {"resourceSelectors": [{"apiVersion": "apps/v1",
    "kind": "Deployment", "name": "web"}], "placement": {"clusterAffinity": {"clusterNames": ["m1"]}}}})";

/// Folds events and lets the service work until nothing is woken any more.
class Loop {
 public:
  Loop() : service_{make_binder_service()} {}

  History history;

  void fold(std::vector<Event> events) {
    feed(history.fold(std::move(events)));
    drain();
  }
  void create(const ObjectKey& key, const char* text) {
    Value value = History::named(key, json(text));
    value.edit("metadata").set("generation", 1);
    fold({ObjectCreated{key, std::move(value)}});
  }
  int steps() const { return steps_; }

 private:
  void feed(const Folded& folded) {
    EXPECT_FALSE(folded.refusal) << folded.refusal->reason;
    for (const Change& change : folded.changes) service_->on_change(history.state(), change, due_);
  }
  void drain() {
    while (!due_.empty()) {
      ASSERT_LT(++steps_, 200) << "the service keeps itself awake";
      const ObjectKey key = due_.front();
      std::erase(due_, key);
      auto task = std::make_shared<FakeTask>(history, key);
      service_->reconcile(task);
      EXPECT_EQ(task->finished, 1);
      for (const Folded& folded : task->folded) feed(folded);
      if (!task->folded.empty()) due_.push_back(key);  // decide_and_append looks again after a decision
    }
  }

  std::unique_ptr<Service> service_;
  std::vector<ObjectKey> due_;
  int steps_ = 0;
};

TEST(BinderService, BindsWhicheverComesFirst) {
  for (const bool policy_first : {true, false}) {
    Loop loop;
    if (policy_first) loop.create(kPolicy, kPolicyText);
    loop.create(kWeb, kDeployment);
    if (!policy_first) loop.create(kPolicy, kPolicyText);
    EXPECT_NE(loop.history.state().find(kBinding), nullptr) << policy_first;
  }
}

TEST(BinderService, APolicyEditReachesTheBinding) {
  Loop loop;
  loop.create(kPolicy, kPolicyText);
  loop.create(kWeb, kDeployment);
  Value policy = loop.history.state().value_of(kPolicy);
  policy.edit("spec").edit("placement").set("clusterAffinity", json(R"({"clusterNames": ["m2"]})"));
  loop.fold({ObjectUpdated{kPolicy, policy}});
  EXPECT_EQ(loop.history.state().value_of(kBinding)["spec"]["placement"], policy["spec"]["placement"]);
}

TEST(BinderService, ADeletedPolicyGoesOnceItsTemplatesAreReleased) {
  Loop loop;
  loop.create(kPolicy, kPolicyText);
  loop.create(kWeb, kDeployment);
  loop.fold({DeletionRequested{kPolicy}});
  EXPECT_EQ(loop.history.state().find(kPolicy), nullptr);
  EXPECT_TRUE(label_of(loop.history.state().value_of(kWeb), label::kPolicyId).empty());
  EXPECT_NE(loop.history.state().find(kBinding), nullptr);
}

TEST(BinderService, ARestoredLabelOnABindingIsPutRight) {
  Loop loop;
  loop.create(kPolicy, kPolicyText);
  loop.create(kWeb, kDeployment);
  const Value right = loop.history.state().value_of(kBinding);
  Value wrong = right;
  wrong.edit("metadata").erase("labels");
  loop.fold({ObjectUpdated{kBinding, wrong}});
  EXPECT_EQ(loop.history.state().value_of(kBinding)["metadata"]["labels"], right["metadata"]["labels"]);
}

TEST(BinderService, AStatusChangeOfATemplateWakesNothing) {  // D-5
  Loop loop;
  loop.create(kPolicy, kPolicyText);
  loop.create(kWeb, kDeployment);
  const int before = loop.steps();
  Value web = loop.history.state().value_of(kWeb);
  web.edit("status").set("readyReplicas", 1);
  loop.fold({StatusUpdated{kWeb, web}});
  EXPECT_EQ(loop.steps(), before);
}

TEST(BinderService, AChangedCustomizationGivesBindingsTheirReplicas_L_2) {
  Loop loop;
  loop.create(kWeb, kDeployment);
  loop.create(kPolicy, kPolicyText);
  ASSERT_EQ(loop.history.state().value_of(kBinding)["spec"]["replicas"], Value{1});
  loop.create({interpreter::kCustomizationType, "", "c"},
              R"({"spec": {"target": {"apiVersion": "apps/v1", "kind": "Deployment"},
      "customizations": {"replicaResource": {"luaScript": "function GetReplicas(o) return o.spec.replicas * 7 end"}}}})");
  EXPECT_EQ(loop.history.state().value_of(kBinding)["spec"]["replicas"], Value{7});
}

}  // namespace
}  // namespace shiplog
