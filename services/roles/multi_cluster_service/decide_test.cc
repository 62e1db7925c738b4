#include "services/roles/multi_cluster_service/decide.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/multi_cluster_services.h"

namespace shiplog::multi_cluster_service {
namespace {

TEST_F(MultiClusterServices, TheServiceIsClaimedAndBoundToProvidersAndConsumers_5_7_2_5_7_3_5_7_4) {
  mcs(kFirst, kSecond);
  EXPECT_FALSE(label_of(at(kMcs), kMcsId).empty());
  EXPECT_TRUE(has_finalizer(at(kMcs), "karmada.io/multiclusterservice-controller"));
  EXPECT_EQ(to_json(at(kService)["metadata"]["annotations"]),
            R"({"multiclusterservice.karmada.io/name":"web","multiclusterservice.karmada.io/namespace":"default"})");
  EXPECT_EQ(label_of(at(kService), "resourcetemplate.karmada.io/claimed-by"), "MultiClusterService");
  EXPECT_EQ(label_of(at(kService), label::kPolicyId), "") << "the policy's claim is gone";
  EXPECT_EQ(label_of(at(kService), "app"), "web");
  const Value& binding = at(kBinding);
  EXPECT_EQ(to_json(binding["spec"]["placement"]), R"({"clusterAffinity":{"clusterNames":["m1","m2"]}})");
  EXPECT_EQ(label_of(binding, "binding.karmada.io/managed-by"), "MultiClusterService");
  EXPECT_EQ(label_of(binding, kMcsId), label_of(at(kMcs), kMcsId));
  EXPECT_EQ(binding["metadata"]["ownerReferences"][0]["name"], "web");
  EXPECT_EQ(binding["spec"]["conflictResolution"], "Abort") << "decision 0161: what a member has of its own stays";
  EXPECT_EQ(condition(kServiceApplied)["message"], "Service is propagated to target clusters.");
  EXPECT_EQ(condition(kServiceApplied)["reason"], "ServiceAppliedSucceed");
  EXPECT_TRUE(condition(kSlicesDispatched).is_null()) << "there is nothing to dispatch yet";
}

TEST_F(MultiClusterServices, WhatTheSchedulerHasPlacedStaysInTheBinding_5_7_4) {
  mcs(kFirst, kSecond);
  history_.edit(kBinding,
                [](Value& binding) { binding.edit("spec").set("clusters", json(R"([{"name":"m1"},{"name":"m2"}])")); });
  mcs(kFirst, R"([{"name":"m3"}])");
  EXPECT_EQ(to_json(at(kBinding)["spec"]["placement"]), R"({"clusterAffinity":{"clusterNames":["m1","m3"]}})");
  EXPECT_EQ(at(kBinding)["spec"]["clusters"].size(), 2U);
}

TEST_F(MultiClusterServices, SlicesOfProvidersAreRequestedByKeptWorks_5_7_5) {
  mcs(kFirst, kSecond);
  const Value& work = at(request("m1"));
  EXPECT_EQ(to_string(request_key("m1", {"default", "serve", ExportedBy::kMultiClusterService})),
            "works.work.karmada.io/karmada-es-m1/serve-549cc78557");  // N-4
  EXPECT_TRUE(only_kept(work));
  EXPECT_EQ(label_of(work, kMcsName), "web");
  EXPECT_EQ(label_of(work, kMcsNamespace), "default");
  EXPECT_TRUE(at(request("m2")).is_null()) << "a consumer is not asked";
}

TEST_F(MultiClusterServices, SlicesOfAProviderReachItsConsumersAndNobodyElse_5_7_6_5_7_7) {
  mcs(kFirst, R"([{"name":"m1"},{"name":"m2"}])");
  report("m1", {slice("web-a", "10.1.0.1")});
  const Value& collected = at(collected_key("m1", "default", "web-a"));
  EXPECT_TRUE(only_kept(collected));
  EXPECT_EQ(label_of(collected, kCollectedFor), "MultiClusterService");
  const Value& work = copy("m2", "m1-web-a");
  EXPECT_FALSE(work["spec"]["suspendDispatching"].as_bool());
  EXPECT_TRUE(has_finalizer(work, finalizer::kWork));
  EXPECT_EQ(annotation_of(work, kProvider), "m1");
  const Value& manifest = manifest_of(work);
  EXPECT_EQ(manifest["metadata"]["name"], "m1-web-a");
  EXPECT_EQ(label_of(manifest, label::kServiceName), "web");
  EXPECT_EQ(label_of(manifest, label::kSliceManagedBy), kDispatchedSlices);
  EXPECT_EQ(annotation_of(manifest, kProvider), "m1");
  EXPECT_EQ(manifest["endpoints"][0]["addresses"][0], "10.1.0.1");
  EXPECT_TRUE(copy("m1", "m1-web-a").is_null()) << "not its own";
  EXPECT_TRUE(copy("m3", "m1-web-a").is_null()) << "not a consumer";
  EXPECT_EQ(condition(kSlicesDispatched)["reason"], "EndpointSliceDispatchedSucceed");

  report("m1", {slice("web-a", "10.1.0.2"), slice("web-b", "10.1.0.3")});
  EXPECT_EQ(manifest_of(copy("m2", "m1-web-a"))["endpoints"][0]["addresses"][0], "10.1.0.2");
  EXPECT_FALSE(copy("m2", "m1-web-b").is_null());
  report("m1", {slice("web-b", "10.1.0.3")});
  EXPECT_TRUE(at(collected_key("m1", "default", "web-a")).is_null());
  EXPECT_TRUE(deleting(copy("m2", "m1-web-a"))) << "the dispatcher deletes it in the member first";
}

TEST_F(MultiClusterServices, SlicesOfTheSameNameInTwoProvidersAreBothThere) {
  mcs(R"([{"name":"m1"},{"name":"m2"}])", R"([{"name":"m1"},{"name":"m2"},{"name":"m3"}])");
  report("m1", {slice("web-a", "10.1.0.1")});
  report("m2", {slice("web-a", "10.2.0.1")});
  EXPECT_EQ(manifest_of(copy("m3", "m1-web-a"))["endpoints"][0]["addresses"][0], "10.1.0.1");
  EXPECT_EQ(manifest_of(copy("m3", "m2-web-a"))["endpoints"][0]["addresses"][0], "10.2.0.1");
  EXPECT_EQ(manifest_of(copy("m2", "m1-web-a"))["endpoints"][0]["addresses"][0], "10.1.0.1");
  EXPECT_EQ(manifest_of(at(collected_key("m2", "default", "web-a")))["endpoints"][0]["addresses"][0], "10.2.0.1");
}

TEST_F(MultiClusterServices, OtherProvidersAndConsumersTakeEffect) {
  mcs(kFirst, kSecond);
  report("m1", {slice("web-a", "10.1.0.1")});
  mcs(kFirst, R"([{"name":"m3"}])");
  EXPECT_TRUE(deleting(copy("m2", "m1-web-a")));
  EXPECT_FALSE(copy("m3", "m1-web-a").is_null());
  mcs(kSecond, R"([{"name":"m3"}])");
  EXPECT_TRUE(at(request("m1")).is_null());
  EXPECT_FALSE(at(request("m2")).is_null());
  EXPECT_TRUE(at(collected_key("m1", "default", "web-a")).is_null());
  EXPECT_TRUE(deleting(copy("m3", "m1-web-a")));
}

TEST_F(MultiClusterServices, EmptyListsMeanAllClustersAlsoThoseThatJoinLater_5_7_1) {
  mcs("[]", "[]");
  EXPECT_EQ(at(kBinding)["spec"]["placement"]["clusterAffinity"]["clusterNames"].size(), 3U);
  report("m1", {slice("web-a", "10.1.0.1")});
  EXPECT_FALSE(copy("m3", "m1-web-a").is_null());
  join("m4");
  settle();
  EXPECT_EQ(at(kBinding)["spec"]["placement"]["clusterAffinity"]["clusterNames"].size(), 4U);
  EXPECT_FALSE(copy("m4", "m1-web-a").is_null());
}

TEST_F(MultiClusterServices, AClusterThatIsNotReadyKeepsWhatItHasAndIsNamed_5_7_5_5_7_6) {
  mcs(kFirst, R"([{"name":"m2"},{"name":"m3"}])");
  report("m1", {slice("web-a", "10.1.0.1")});
  join("m2", "False");
  report("m1", {slice("web-a", "10.1.0.2"), slice("web-b", "10.1.0.3")});
  EXPECT_EQ(manifest_of(copy("m2", "m1-web-a"))["endpoints"][0]["addresses"][0], "10.1.0.1");
  EXPECT_TRUE(copy("m2", "m1-web-b").is_null());
  EXPECT_FALSE(copy("m3", "m1-web-b").is_null());
  EXPECT_NE(condition(kServiceApplied)["message"].str().find(
                "Consumer cluster m2 is not ready, skip to propagate EndpointSlice"),
            std::string::npos);
  join("m2");
  settle();
  EXPECT_EQ(manifest_of(copy("m2", "m1-web-a"))["endpoints"][0]["addresses"][0], "10.1.0.2");
  EXPECT_FALSE(copy("m2", "m1-web-b").is_null());
  EXPECT_EQ(condition(kServiceApplied)["message"], "Service is propagated to target clusters.");
  mcs(R"([{"name":"nowhere"}])", kSecond);
  EXPECT_NE(condition(kServiceApplied)["message"].str().find("Provider cluster nowhere is not found"),
            std::string::npos);
}

TEST_F(MultiClusterServices, WithoutTheServiceItFailsUntilThereIsOne_5_7_8) {
  const Value service = at(kService);
  history_.remove(kService);
  mcs(kFirst, kSecond);
  EXPECT_EQ(condition(kServiceApplied)["status"], "False");
  EXPECT_EQ(condition(kServiceApplied)["reason"], "ServiceAppliedFailed");
  EXPECT_EQ(condition(kServiceApplied)["message"], R"(Service "web" not found)");
  EXPECT_TRUE(at(kBinding).is_null());
  history_.put(kService, History::named(kService, json(R"({"apiVersion":"v1","kind":"Service"})")));
  settle();
  EXPECT_EQ(condition(kServiceApplied)["status"], "True");
}

TEST_F(MultiClusterServices, DeletedItReleasesTheServiceAndTakesTheSlicesBack_5_7_9) {
  mcs(kFirst, kSecond);
  report("m1", {slice("web-a", "10.1.0.1")});
  history_.remove(kMcs);
  settle();
  EXPECT_TRUE(at(kMcs).is_null());
  EXPECT_EQ(to_json(at(kService)["metadata"]["labels"]), R"({"app":"web"})");
  EXPECT_FALSE(at(kBinding).is_null()) << "the Service stays in the members";
  EXPECT_EQ(label_of(at(kBinding), "binding.karmada.io/managed-by"), "");
  EXPECT_TRUE(at(request("m1")).is_null());
  EXPECT_TRUE(at(collected_key("m1", "default", "web-a")).is_null());
  EXPECT_TRUE(deleting(copy("m2", "m1-web-a")));
}

TEST_F(MultiClusterServices, DoNothingWithoutTheFeatureGateOrOfTypeLoadBalancer_5_7) {
  mcs(kFirst, kSecond, "LoadBalancer");
  EXPECT_TRUE(at(kBinding).is_null());
  EXPECT_TRUE(at(request("m1")).is_null());
  EXPECT_TRUE(at(kMcs)["status"].is_null());
  history_.remove(kMcs);
  history_.accept({FeatureGatesSet{{}}});
  mcs(kFirst, kSecond);
  EXPECT_TRUE(at(kBinding).is_null());
  history_.accept(
      {FeatureGatesSet{{"MultiClusterService"}}, OptionsSet{{{"controllers", {"*", "-multiclusterservice"}}}}});
  settle();
  EXPECT_TRUE(at(kBinding).is_null());
  history_.accept({OptionsSet{{{"controllers", {"*"}}}}});
  settle();
  EXPECT_FALSE(at(kBinding).is_null());
  history_.accept({FeatureGatesSet{{}}});
  history_.remove(kMcs);
  settle();
  EXPECT_TRUE(at(kMcs).is_null()) << "one that is deleted is never held";
}

TEST_F(MultiClusterServices, WhatHasItsSlicesNamesStaysAndIsReported) {
  mcs(kFirst, kSecond);
  // Of a binding: a user propagates an EndpointSlice of that name.
  const ObjectKey theirs = dispatched_key("m2", "default", "m1-web-a");
  history_.object(theirs, R"({"spec":{"workload":{"manifests":[{"kind":"EndpointSlice"}]}}})");
  const ObjectKey kept = collected_key("m1", "default", "web-b");
  history_.object(kept, R"({"spec":{"workload":{"manifests":[{"kind":"EndpointSlice"}]}}})");
  const Value before = at(theirs);
  report("m1", {slice("web-a", "10.1.0.1"), slice("web-b", "10.1.0.2")});
  EXPECT_EQ(at(theirs), before);
  EXPECT_EQ(label_of(at(kept), kCollectedFor), "");
  EXPECT_EQ(condition(kSlicesDispatched)["status"], "False");
  const std::string message = condition(kSlicesDispatched)["message"].str();
  EXPECT_NE(message.find("cluster m2 has another EndpointSlice m1-web-a"), std::string::npos) << message;
  EXPECT_NE(message.find("EndpointSlice web-b was put there by the control plane"), std::string::npos) << message;
  mcs(kFirst, R"([{"name":"m3"}])");
  EXPECT_FALSE(deleting(at(theirs)));
}

TEST_F(MultiClusterServices, AProvidersLimitIsSeenAtTheMultiClusterService) {
  mcs(kFirst, kSecond);
  report("m1", {slice("web-a", "10.1.0.1")}, "the first 100 of 5000 EndpointSlices are collected");
  EXPECT_EQ(condition(kSlicesDispatched)["reason"], "EndpointSliceDispatchedFailed");
  EXPECT_EQ(condition(kSlicesDispatched)["message"], "cluster m1: the first 100 of 5000 EndpointSlices are collected");
  EXPECT_FALSE(copy("m2", "m1-web-a").is_null()) << "what was collected is dispatched";
}

TEST_F(MultiClusterServices, AMemberCannotSendSlicesThatNobodyRequested) {
  mcs(kFirst, kSecond);
  // As if its agent could write whole Works: labels alone do not make a cluster a provider.
  const ObjectKey forged = collected_key("m3", "default", "web-m");
  Value work = json(R"({"metadata":{"labels":{"multiclusterservice.karmada.io/name":"web",
      "multiclusterservice.karmada.io/namespace":"default","endpointslice.karmada.io/managed-by":"MultiClusterService"}},
      "spec":{"suspendDispatching":true,"workload":{"manifests":[]}}})");
  work.edit("spec").edit("workload").edit("manifests").push_back(slice("web-m", "10.3.0.1"));
  history_.put(forged, History::named(forged, work));
  history_.settle(decide, slice_key("m3", "default", "web-m"));
  EXPECT_TRUE(copy("m2", "m3-web-m").is_null());
  settle();
  EXPECT_TRUE(at(forged).is_null()) << "it belongs to no request";
}

TEST_F(MultiClusterServices, SwitchedOffItChangesNothingButWhatBelongsToNoneAnyMore) {
  mcs(kFirst, kSecond);
  report("m1", {slice("web-a", "10.1.0.1")});
  const auto off = [&] {
    settle();
    EXPECT_FALSE(deleting(copy("m2", "m1-web-a")));
    EXPECT_FALSE(at(request("m1")).is_null());
    EXPECT_EQ(label_of(at(kService), "resourcetemplate.karmada.io/claimed-by"), "MultiClusterService");
    mcs(kFirst, R"([{"name":"m3"}])");
    EXPECT_TRUE(copy("m3", "m1-web-a").is_null());
    mcs(kFirst, kSecond);
  };
  history_.accept({OptionsSet{{{"controllers", {"*", "-multiclusterservice"}}}}});
  off();
  history_.accept({OptionsSet{{}}, FeatureGatesSet{{}}});
  off();
  history_.remove(kMcs);
  settle();
  EXPECT_TRUE(at(request("m1")).is_null());
  EXPECT_TRUE(deleting(copy("m2", "m1-web-a")));
}

TEST_F(MultiClusterServices, OneThatLosesItsFinalizerReleasesTheServiceAllTheSame_5_7_9) {
  mcs(kFirst, kSecond);
  history_.edit(kMcs, [](Value& value) { value.edit("metadata").erase("finalizers"); });
  history_.remove(kMcs);
  settle();
  EXPECT_EQ(label_of(at(kService), "resourcetemplate.karmada.io/claimed-by"), "");
  EXPECT_EQ(label_of(at(kBinding), "binding.karmada.io/managed-by"), "");
}

/// Of a Service that is not propagated, no slices are collected nor dispatched.
TEST_F(MultiClusterServices, OneThatMayNotPropagateItsServiceGetsNoSlicesEither) {
  mcs(kFirst, kSecond);
  report("m1", {slice("web-a", "10.1.0.1")});
  const std::vector<std::pair<const char*, std::vector<std::string>>> refusals{
      {"enable-policy-author-check", {"true"}},
      {"namespaced-policy-apis", {"apps/v1/Deployment"}},
      {"skipped-propagating-namespaces", {"def.*"}},
      {"skipped-propagating-apis", {"v1/Service"}}};
  for (const auto& [option, words] : refusals) {
    SCOPED_TRACE(option);
    history_.accept({OptionsSet{{{option, words}}}});
    history_.settle(decide, slice_key("m1", "default", "web-a"));
    EXPECT_TRUE(deleting(copy("m2", "m1-web-a"))) << "also while the request is still there";
    settle();
    EXPECT_EQ(condition(kServiceApplied)["status"], "False");
    EXPECT_EQ(condition(kSlicesDispatched)["status"], "False");
    EXPECT_TRUE(at(request("m1")).is_null());
    EXPECT_TRUE(deleting(copy("m2", "m1-web-a")));
    history_.accept({OptionsSet{{}}, WorkRemoved{dispatched_key("m2", "default", "m1-web-a")}});
    settle();
    report("m1", {slice("web-a", "10.1.0.1")});
    EXPECT_FALSE(copy("m2", "m1-web-a").is_null());
    EXPECT_EQ(condition(kSlicesDispatched)["status"], "True");
  }
}

TEST_F(MultiClusterServices, TheApiServersOfClustersAreNotSpread) {
  const ObjectKey key{type::kMultiClusterService, "default", "kubernetes"};
  history_.object({"services", "default", "kubernetes"}, R"({"apiVersion":"v1","kind":"Service"})");
  history_.object(key, R"({"apiVersion":"networking.karmada.io/v1alpha1","kind":"MultiClusterService","spec":{
      "types":["CrossCluster"]}})");
  history_.settle(decide, key);
  EXPECT_TRUE(at(request_key("m1", {"default", "kubernetes", ExportedBy::kMultiClusterService})).is_null());
  EXPECT_EQ(condition_of(at(key), kServiceApplied)["message"],
            "Service \"kubernetes\" is not propagated: it is the API server of each cluster");
}

TEST_F(MultiClusterServices, TheAuthorOfOneMustBePermittedToGetTheServiceIfThatIsChecked) {  // decision 0028
  history_.accept({OptionsSet{{{"enable-policy-author-check", {"true"}}}}});
  mcs(kFirst, kSecond);
  EXPECT_EQ(condition(kServiceApplied)["status"], "False");
  EXPECT_TRUE(at(kBinding).is_null());
  EXPECT_EQ(label_of(at(kService), "resourcetemplate.karmada.io/claimed-by"), "");
  // No author of it is recorded: who writes this annotation chooses its text.
  history_.edit(kMcs, [](Value& value) {
    value.edit("metadata")
        .edit("annotations")
        .set("policy.shiplog.io/author", R"({"user":"x","groups":["system:masters"]})");
  });
  settle();
  EXPECT_TRUE(at(kBinding).is_null());
}

}  // namespace
}  // namespace shiplog::multi_cluster_service
