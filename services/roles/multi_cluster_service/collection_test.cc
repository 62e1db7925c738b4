// What reports lead to, and what they may cost.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "services/roles/multi_cluster_service/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/multi_cluster_services.h"

namespace shiplog::multi_cluster_service {
namespace {

class CollectedServices : public MultiClusterServices {};

Value large_slice(const std::string& name, int number) {
  Value slice = json(R"({"metadata":{"name":")" + name +
                     R"(","namespace":"default","labels":{"kubernetes.io/service-name":"web"}},"addressType":"IPv4",
      "ports":[{"port":80}]})");
  for (int endpoint = 0; endpoint < 1000; ++endpoint) {
    const std::string address =
        "10." + std::to_string(number) + "." + std::to_string(endpoint / 250) + "." + std::to_string(endpoint % 250);
    slice.edit("endpoints")
        .push_back(Value::object({{"addresses", Value::array({address})}, {"nodeName", std::string(100, 'n')}}));
  }
  return slice;
}

/// Renderings that the key leads to now.
size_t rendered(History& history, const ObjectKey& key) {
  size_t count = 0;
  const auto decided = decide(history.state(), key, history.now());
  if (const Decision* decision = decision_of(decided)) {
    for (const Event& event : decision->events) count += std::holds_alternative<WorkRendered>(event) ? 1U : 0U;
    history.accept(*decision);
  }
  return count;
}

TEST_F(CollectedServices, ReportsAreNotRenderedFasterThanTheirCopiesAllow) {
  constexpr size_t kClusters = 40;
  for (size_t number = 4; number <= kClusters; ++number) join("m" + std::to_string(number));
  mcs(kFirst, "[]");
  const ObjectKey key = collection_key("m1", "default", "web");
  const auto says = [&](int number) {
    const Value& work = at(request("m1"));
    const auto slices =
        collected_slices({large_slice("web-a", number)}, {"default", "web", ExportedBy::kServiceExport});
    ASSERT_EQ(slices.slices.size(), 1U) << slices.problem;
    history_.accept({WorkStatusObserved{request("m1"), statuses_of_slices(work, slices), 0}});
  };
  says(0);
  EXPECT_EQ(rendered(history_, key), 2U) << "the slice, and the request that remembers it";
  const UtcMillis begin = history_.now();
  size_t renderings = 0, reports = 0;
  // As an agent would that sends reports endlessly: one for each entry, which is a second.
  for (; history_.now() < begin + Millis{60'000}; ++reports) {
    says(static_cast<int>(reports) % 200 + 1);
    renderings += rendered(history_, key);
  }
  EXPECT_GE(reports, 30U);
  const size_t bytes = to_json(manifest_of(at(collected_key("m1", "default", "web-a")))).size() * (2 + kClusters);
  EXPECT_LE(renderings / 2 * bytes, size_t{60} * 2 * 1024 * 1024) << "2 MiB each second";
  EXPECT_GE(renderings / 2, 10U);
  const auto waits = decide(history_.state(), key, UtcMillis{history_.now().value - 5000});
  ASSERT_TRUE(waits && std::holds_alternative<LookAgain>(waits.value())) << "it tells when it is to be asked again";
}

TEST_F(CollectedServices, TheNextReportWaitsASecondAndTheNewestCounts) {
  mcs(kFirst, kSecond);
  const ObjectKey key = collection_key("m1", "default", "web");
  const Value& work = at(request("m1"));
  const auto statuses = [&](const char* address) {
    return statuses_of_slices(
        work, collected_slices({slice("web-a", address)}, {"default", "web", ExportedBy::kMultiClusterService}));
  };
  history_.accept({WorkStatusObserved{request("m1"), statuses("10.1.0.1"), 0}});
  const UtcMillis first = history_.now();
  history_.accept(*decision_of(decide(history_.state(), key, first)));
  history_.accept({WorkStatusObserved{request("m1"), statuses("10.1.0.2"), 0},
                   WorkStatusObserved{request("m1"), statuses("10.1.0.3"), 0}});
  EXPECT_EQ(decide(history_.state(), key, first + Millis{999}).value(), Decided{LookAgain{first + Millis{1000}}});
  const auto next = decide(history_.state(), key, first + Millis{1000});
  ASSERT_TRUE(decision_of(next));
  history_.accept(*decision_of(next));
  EXPECT_EQ(manifest_of(at(collected_key("m1", "default", "web-a")))["endpoints"][0]["addresses"][0], "10.1.0.3");
}

TEST_F(CollectedServices, SlicesThatComeAndGoWaitLikeThoseThatChange) {
  mcs(kFirst, kSecond);
  report("m1", {slice("web-a", "10.1.0.1")});
  const ObjectKey key = collection_key("m1", "default", "web");
  history_.accept({WorkStatusObserved{request("m1"), statuses_of_slices(at(request("m1")), CollectedSlices{}), 0}});
  const UtcMillis gone = history_.now();
  history_.accept(*decision_of(decide(history_.state(), key, gone)));
  const auto again = decide(history_.state(), key, gone + Millis{1});
  EXPECT_EQ(again.value(), Decided{LookAgain{gone + Millis{1000}}});
}

TEST_F(CollectedServices,
       ASliceOfOneServiceIsNotTakenForAnother_5_7_6) {  // decision 0161: of that namespace and Service
  mcs(kFirst, kSecond);
  const ExportedService db{"default", "db", ExportedBy::kServiceExport};
  const ObjectKey work = request_key("m1", db);
  history_.object({type::kWork, execution_space("m1"), work_name("ServiceExport", "default", "db")},
                  R"({"metadata":{"finalizers":["karmada.io/execution-controller"]},"spec":{"workload":{"manifests":[
      {"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ServiceExport","metadata":{"name":"db",
       "namespace":"default"}}]}},"status":{"conditions":[{"type":"Applied","status":"True"}]}})");
  report("m1", {slice("a", "10.1.0.1")});
  Value theirs = slice("a", "10.1.0.1");
  theirs.edit("metadata").edit("labels").set("kubernetes.io/service-name", "db");
  history_.accept({WorkStatusObserved{work, statuses_of_slices(at(work), collected_slices({theirs}, db)), 0}});
  history_.settle(decide, collection_key("m1", "default", "db"));
  history_.settle(decide, slice_key("m1", "default", "a"));
  const Value& collected = at(collected_key("m1", "default", "a"));
  EXPECT_EQ(label_of(collected, kCollectedFor), "MultiClusterService");
  EXPECT_EQ(service_of_collected(collected), "web");
  EXPECT_TRUE(at({type::kEndpointSlice, "default", "imported-m1-a"}).is_null());
  EXPECT_EQ(annotation_of(at(work), kCollectProblem), "EndpointSlice a is reported for Service web, too");
  // It is taken once the first no longer has it.
  const auto waits = decide(history_.state(), collection_key("m1", "default", "db"), history_.now());
  ASSERT_TRUE(waits && std::holds_alternative<LookAgain>(waits.value()));
  history_.accept({WorkStatusObserved{request("m1"), statuses_of_slices(at(request("m1")), CollectedSlices{}), 0}});
  history_.settle(decide, collection_key("m1", "default", "web"));
  history_.settle(decide, collection_key("m1", "default", "db"));
  EXPECT_EQ(service_of_collected(at(collected_key("m1", "default", "a"))), "db");
}

TEST_F(CollectedServices, ClustersWhoseNamesArePrefixesAreReportedAndTakeTurns_5_7_7) {
  join("m1-web");
  mcs(R"([{"name":"m1"},{"name":"m1-web"}])", kSecond);
  report("m1", {slice("web-a", "10.1.0.1")});
  report("m1-web", {slice("a", "10.2.0.1")});
  EXPECT_EQ(annotation_of(copy("m2", "m1-web-a"), kProvider), "m1") << "both have this name";
  EXPECT_EQ(condition(kSlicesDispatched)["message"], "cluster m2 has another EndpointSlice m1-web-a");
  const auto waits = decide(history_.state(), slice_key("m1-web", "default", "a"), history_.now());
  ASSERT_TRUE(waits && std::holds_alternative<LookAgain>(waits.value())) << "of the other no change triggers this one";
  report("m1", {});
  history_.accept({WorkRemoved{dispatched_key("m2", "default", "m1-web-a")}});
  settle();
  EXPECT_EQ(annotation_of(copy("m2", "m1-web-a"), kProvider), "m1-web");
  EXPECT_EQ(condition(kSlicesDispatched)["status"], "True");
}

TEST_F(CollectedServices, AListOfVeryManyNamesIsReadToItsLimit) {
  std::string names;
  for (int number = 0; number < 5000; ++number) {
    names += (names.empty() ? "" : ",") + std::string{R"({"name":"c)"} + std::to_string(number) + R"("})";
  }
  mcs(kFirst, "[" + names + R"(,{"name":"m2"}])");
  EXPECT_EQ(at(kBinding)["spec"]["placement"]["clusterAffinity"]["clusterNames"].size(), kMostNamedClusters + 1);
  EXPECT_EQ(left_out(history_.state(), at(kMcs)).size(), 30U);
  EXPECT_EQ(to_json(manifest_of(at(request("m1")))["metadata"]["name"]), R"("web")");
  EXPECT_TRUE(manifest_of(at(request("m1")))["spec"].is_null()) << "the lists are not copied for each provider";
}

TEST_F(CollectedServices, AConsumerThatIsReadyAgainGetsAllSlices_5_7_6) {
  mcs(kFirst, R"([{"name":"m2"},{"name":"m3"}])");
  join("m2", "False");
  report("m1", {slice("web-a", "10.1.0.1"), slice("web-b", "10.1.0.2")});
  ASSERT_TRUE(copy("m2", "m1-web-a").is_null());
  join("m2");
  EXPECT_EQ(rendered(history_, consumer_key("m2")), 2U);
  EXPECT_FALSE(copy("m2", "m1-web-b").is_null());
  EXPECT_EQ(rendered(history_, consumer_key("m1")), 0U) << "it is no consumer";
}

/// What a change makes the role visit.
class SliceTriggers : public MultiClusterServices {
 protected:
  std::vector<ObjectKey> woken(std::vector<Event> events) { return given::woken(*role_, history_, std::move(events)); }
  static size_t of_type(const std::vector<ObjectKey>& keys, const char* type) {
    return static_cast<size_t>(std::ranges::count_if(keys, [&](const ObjectKey& key) { return key.type == type; }));
  }
  const std::unique_ptr<Role> role_ = make_multi_cluster_service_role();
};

TEST_F(SliceTriggers, AReportVisitsItsOwnServiceAlone) {
  mcs("[]", "[]");
  report("m1", {slice("web-a", "10.1.0.1")});
  report("m2", {slice("web-b", "10.2.0.1")});
  const Value statuses = statuses_of_slices(
      at(request("m1")),
      collected_slices({slice("web-a", "10.1.0.2")}, {"default", "web", ExportedBy::kMultiClusterService}));
  EXPECT_EQ(woken({WorkStatusObserved{request("m1"), statuses, 0}}),
            (std::vector<ObjectKey>{collection_key("m1", "default", "web")}));
  // Its rendering: that slice, and not its MultiClusterService, as the same slices are there.
  std::vector<ObjectKey> keys;
  const auto decided = decide(history_.state(), collection_key("m1", "default", "web"), history_.now());
  ASSERT_TRUE(decision_of(decided));
  keys = woken(decision_of(decided)->events);
  EXPECT_EQ(of_type(keys, type::kMultiClusterService), 0U);
  EXPECT_EQ(of_type(keys, type::kEndpointSlice), 1U);
  EXPECT_EQ(of_type(keys, type::kCluster), 0U);
}

TEST_F(SliceTriggers, WhatConsumersReportOfACopyVisitsNothing) {
  mcs(kFirst, kSecond);
  report("m1", {slice("web-a", "10.1.0.1")});
  const ObjectKey dispatched = dispatched_key("m2", "default", "m1-web-a");
  EXPECT_TRUE(woken({WorkApplied{.work = dispatched, .generation = 1, .message = ""}}).empty());
  EXPECT_TRUE(woken({WorkStatusObserved{dispatched, json("[{}]"), 1}}).empty());
  EXPECT_EQ(woken({WorkRemoved{dispatched}}), (std::vector<ObjectKey>{slice_key("m1", "default", "web-a")}));
}

TEST_F(SliceTriggers, StatusOfAMultiClusterServiceAndApisOfAMemberVisitNoSlices) {
  mcs(kFirst, kSecond);
  report("m1", {slice("web-a", "10.1.0.1")});
  Value changed = at(kMcs);
  changed.edit("status").set("loadBalancer", Value::object());
  EXPECT_EQ(woken({StatusUpdated{kMcs, changed}}), (std::vector<ObjectKey>{kMcs}));
  const ObjectKey member{type::kCluster, "", "m1"};
  Value cluster = at(member);
  cluster.edit("status").edit("apiEnablements").push_back(json(R"({"groupVersion":"example.com/v1","resources":[]})"));
  EXPECT_TRUE(woken({StatusUpdated{member, cluster}}).empty()) << "it serves EndpointSlices as before";
  cluster.edit("status").set("apiEnablements", json("[]"));
  const auto keys = woken({StatusUpdated{member, cluster}});
  EXPECT_EQ(of_type(keys, type::kMultiClusterService), 1U);
  EXPECT_EQ(of_type(keys, type::kEndpointSlice), 0U) << "consumer_key() has them";
}

TEST_F(SliceTriggers, AChangeOfTheFeatureGateOrTheControllersVisitsAll) {
  history_.accept({FeatureGatesSet{{}}});
  mcs(kFirst, kSecond);
  const auto visits = [&](const Event& event) { return of_type(woken({event}), type::kMultiClusterService); };
  EXPECT_EQ(visits(FeatureGatesSet{{"MultiClusterService"}}), 1U);
  EXPECT_EQ(visits(OptionsSet{{{"controllers", {"*", "-multiclusterservice"}}}}), 1U);
}

TEST_F(SliceTriggers, WhatIsChangedOnAWorkByOthersIsUndone) {
  mcs(kFirst, kSecond);
  report("m1", {slice("web-a", "10.1.0.1")});
  const ObjectKey collected = collected_key("m1", "default", "web-a");
  Value forged = at(collected);
  forged.edit("spec").edit("workload").edit("manifests").edit_items()[0].set("endpoints", Value::array());
  const auto keys = woken({ObjectUpdated{collected, forged}});
  EXPECT_TRUE(std::ranges::find(keys, collection_key("m1", "default", "web")) != keys.end());
  settle();
  EXPECT_EQ(manifest_of(copy("m2", "m1-web-a"))["endpoints"][0]["addresses"][0], "10.1.0.1");
  Value erased = at(request("m1"));
  erased.edit("metadata").erase("annotations");
  EXPECT_TRUE(
      std::ranges::count(woken({ObjectUpdated{request("m1"), erased}}), collection_key("m1", "default", "web")));
  settle();
  EXPECT_EQ(collected_names(at(request("m1"))), (std::vector<std::string>{"web-a"}));
  EXPECT_FALSE(copy("m2", "m1-web-a").is_null());
  Value odd = at(request("m1"));
  odd.edit("metadata").edit("finalizers").push_back(finalizer::kWork);  // no request any more
  const auto after = woken({ObjectUpdated{request("m1"), odd}});
  EXPECT_TRUE(std::ranges::find(after, kMcs) != after.end());
  EXPECT_TRUE(std::ranges::find(after, slice_key("m1", "default", "web-a")) != after.end());
}

}  // namespace
}  // namespace shiplog::multi_cluster_service
