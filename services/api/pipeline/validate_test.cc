// What the author of an object is warned of.
#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/pipeline/codecs/codecs.h"
#include "tests/support/manual_server.h"

namespace shiplog::api {
namespace {

class ValidateWarningsTest : public testing::Test {
 protected:
  /// The warnings about a new policy, one a line.
  std::string warnings(const std::string& spec) {
    const auto context =
        server_.context("POST", "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies");
    const auto write = decode(server_.server(), *context,
                              R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{
        "name":"p"},"spec":{"resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap","name":"a"}])" +
                                  spec + "}}");
    if (!write) return "not decoded: " + write.error().error.message;
    Lane lane = server_.lane();
    auto current = server_.finish(read_current(server_.server(), *context, write.value(), lane));
    Proposal proposal = write.value().propose(std::move(current.value().object)).value();
    const auto validated = server_.finish(validate(server_.server(), *context, write.value(), lane, proposal));
    if (!validated) return "refused: " + validated.error().error.message;
    std::string text;
    for (const std::string& warning : validated.value().warnings) text += warning + "\n";
    return text;
  }

  ManualServer server_;
};

const std::string kApart = R"(,"placement":{"workloadAffinity":{"antiAffinity":{"groupByLabelKey":"tier"}}})";

TEST_F(ValidateWarningsTest, AFieldWhoseFeatureGateIsOffIsStoredWithAWarning_D_29) {
  EXPECT_EQ(warnings(R"(,"placement":{})"), "");
  EXPECT_EQ(warnings(kApart),
            "spec.placement.workloadAffinity is stored, but has no effect: the feature gate WorkloadAffinity is off "
            "(shiplogd serve --feature-gates=WorkloadAffinity=true)\n");
  EXPECT_EQ(warnings(R"(,"preemption":"Always")"),
            "spec.preemption Always is stored, but has no effect: the feature gate PropagationPolicyPreemption is off "
            "(shiplogd serve --feature-gates=PropagationPolicyPreemption=true)\n");
  server_.put(FeatureGatesSet{{"PropagationPolicyPreemption", "WorkloadAffinity"}});
  EXPECT_EQ(warnings(kApart), "");
  EXPECT_EQ(warnings(R"(,"preemption":"Always")"), "");
}

}  // namespace
}  // namespace shiplog::api
