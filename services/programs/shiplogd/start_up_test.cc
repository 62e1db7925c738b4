#include "services/programs/shiplogd/start_up.h"

#include "events/fold/fold.h"
#include "services/runtime/manual_executor.h"
#include "tests/support/given.h"

namespace shiplog {
namespace {

using given::History;

size_t objects_in(const State& state) {
  size_t count = 0;
  for (const std::string& type : state.types()) {
    for ([[maybe_unused]] const auto& object : state.objects(type)) ++count;
  }
  return count;
}

StartUp start_up(std::string ip = "10.1.2.3") {
  return {.feature_gates = {{"MultiplePodTemplatesScheduling", true}},
          .fleet_options = {{"service-cluster-ip-range", {"10.7.0.0/24"}}},
          .fold_version_of_all = kFoldVersion,
          .server = [ip] {
            return kubernetes_service::ServerAddress{ip, 6443};
          }};
}

/// Folds what the steps decide, as append_in_turn() appends it. How many were decisions.
int run(const std::vector<DecisionStep>& steps, History& history) {
  int decisions = 0;
  for (const DecisionStep& step : steps) {
    const Decided decided = step.decide(history.state());
    if (const auto* decision = std::get_if<Decision>(&decided)) {
      EXPECT_FALSE(history.fold(decision->events, decision->expects).refusal) << step.name;
      ++decisions;
    }
  }
  return decisions;
}

TEST(StartUp, ASecondStartOfTheSameProcessDecidesNothing) {
  ManualExecutor clock;
  History history;
  EXPECT_EQ(run(start_up_steps(start_up(), clock), history), 7);
  EXPECT_EQ(history.state().fold_version(), kFoldVersion);
  EXPECT_TRUE(history.state().gates().multiple_pod_templates);
  for (const auto& [name, value] :
       {std::pair{"system-node-critical", 2'000'001'000}, {"system-cluster-critical", 2'000'000'000}}) {
    EXPECT_EQ(history.state().value_of({"priorityclasses.scheduling.k8s.io", "", name})["value"].as_int(), value);
  }
  const Revision revision = history.state().revision();
  EXPECT_EQ(run(start_up_steps(start_up(), clock), history), 0);
  EXPECT_EQ(history.state().revision(), revision);
}

TEST(StartUp, AFoldVersionIsActivatedOnceAllProcessesSupportIt) {
  const auto activates = [](const State& state, std::optional<uint32_t> of_all) {
    const Decided decided = decide_fold_version(state, of_all);
    const auto* decision = std::get_if<Decision>(&decided);
    return decision != nullptr && decision->events == std::vector<Event>{FoldVersionActivated{kFoldVersion}};
  };
  History history;
  EXPECT_TRUE(activates(State{}, std::nullopt)) << "nothing has been folded in a new fleet";
  ASSERT_FALSE(history.fold({FoldVersionActivated{kFoldVersion - 1}}).refusal);
  EXPECT_FALSE(activates(history.state(), std::nullopt));
  EXPECT_FALSE(activates(history.state(), kFoldVersion - 1));
  EXPECT_TRUE(activates(history.state(), kFoldVersion));
  EXPECT_TRUE(activates(history.state(), kFoldVersion + 1)) << "the others are newer";
  ASSERT_FALSE(history.fold({FoldVersionActivated{kFoldVersion}}).refusal);
  EXPECT_FALSE(activates(history.state(), kFoldVersion));
}

TEST(StartUp, ProcessesThatStartAtOnceWriteEveryObjectOnce) {
  ManualExecutor clock;
  History history;
  const auto first = start_up_steps(start_up(), clock);
  const auto second = start_up_steps(start_up(), clock);
  for (size_t index = 0; index < first.size(); ++index) {
    const Decided ours = first[index].decide(history.state());
    const Decided theirs = second[index].decide(history.state());
    ASSERT_TRUE(std::holds_alternative<Decision>(ours)) << first[index].name;
    history.accept(std::get<Decision>(ours));
    const Revision revision = history.state().revision();
    const auto& late = std::get<Decision>(theirs);
    const Folded folded = history.fold(late.events, late.expects);
    EXPECT_EQ(folded.refusal.has_value(), index > 0) << first[index].name << ": a fold version has no expectation";
    EXPECT_EQ(history.state().revision(), revision) << first[index].name << " was written twice";
    EXPECT_TRUE(std::holds_alternative<Nothing>(second[index].decide(history.state()))) << "decided again";
  }
  EXPECT_EQ(history.state().revision().value, objects_in(history.state())) << "no object was written twice";
}

TEST(StartUp, SettingsOfTwoProcessesAreMerged) {  // KIND-21
  ManualExecutor clock;
  History history;
  StartUp other;
  other.feature_gates = {{"SchedulingOvercommitProtection", true}};
  const Decided ours = start_up_steps(start_up(), clock)[1].decide(history.state());
  const auto theirs = start_up_steps(other, clock);
  const Decided late = theirs[1].decide(history.state());
  history.accept(std::get<Decision>(ours));
  EXPECT_TRUE(history.fold(std::get<Decision>(late).events, std::get<Decision>(late).expects).refusal);
  history.accept(std::get<Decision>(theirs[1].decide(history.state())));
  EXPECT_TRUE(history.state().gates().multiple_pod_templates) << "what the first one set stays";
  EXPECT_TRUE(history.state().gates().overcommit_protection);
}

TEST(StartUp, AProcessWithoutAnApiServerWritesWhatEveryControlPlaneHas) {
  ManualExecutor clock;
  History history;
  const auto steps = start_up_steps({}, clock);
  run(steps, history);
  EXPECT_NE(history.state().find({type::kNamespace, "", "karmada-system"}), nullptr);
  EXPECT_EQ(history.state().find(kubernetes_service::kubernetes_service_key()), nullptr);
}

TEST(StartUp, TheServiceGetsItsAddressFromTheRangeThatTheOptionsSet) {
  ManualExecutor clock;
  History history;
  run(start_up_steps(start_up(), clock), history);
  EXPECT_EQ(history.state().value_of(kubernetes_service::kubernetes_service_key())["spec"]["clusterIP"].str(),
            "10.7.0.1");
}

TEST(ExtensionAuthentication, SeveralProcessesAreAllTrusted) {
  const auto data = [](const History& history) {
    return history.state().value_of({"configmaps", "kube-system", "extension-apiserver-authentication"})["data"];
  };
  const auto start = [](History& history, const ExtensionAuthentication& own) {
    const Decided decided = decide_extension_authentication(history.state(), own);
    const auto* decision = std::get_if<Decision>(&decided);
    if (decision != nullptr) history.accept(*decision);
    return decision != nullptr;
  };
  History history;
  history.object({type::kNamespace, "", "kube-system"}, "{}");
  EXPECT_TRUE(start(history, {"client-1\n", "front-1\n", {"front-proxy-client"}}));
  EXPECT_EQ(data(history)["requestheader-allowed-names"].as_string(), R"(["front-proxy-client"])");
  EXPECT_EQ(data(history)["requestheader-username-headers"].as_string(), R"(["X-Remote-User"])");
  EXPECT_FALSE(start(history, {"client-1\n", "front-1\n", {"front-proxy-client"}})) << "it is there";

  EXPECT_TRUE(start(history, {"client-1\n", "front-2\n", {"aggregator"}}));
  EXPECT_EQ(data(history)["client-ca-file"].as_string(), "client-1\n");
  EXPECT_EQ(data(history)["requestheader-client-ca-file"].as_string(), "front-1\nfront-2\n");
  EXPECT_EQ(data(history)["requestheader-allowed-names"].as_string(), R"(["front-proxy-client","aggregator"])");
  EXPECT_TRUE(start(history, {"client-1\n", "front-2\n", {}}));
  EXPECT_EQ(data(history)["requestheader-allowed-names"].as_string(), "[]") << "any name";
}

}  // namespace
}  // namespace shiplog
