// ServiceExports and ServiceImports (5.7.10).
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/condition.h"
#include "services/roles/multi_cluster_service/decide.h"
#include "services/roles/multi_cluster_service/kept_works.h"
#include "tests/support/given.h"

namespace shiplog::multi_cluster_service {
namespace {

using given::History;
using given::json;

const ObjectKey kImport{type::kServiceImport, "default", "web"};
const ObjectKey kExport{type::kServiceExport, "default", "web"};
const ObjectKey kDerived{"services", "default", "derived-web"};
const ExportedService kWeb{"default", "web", ExportedBy::kServiceExport};

class ServiceExports : public testing::Test {
 protected:
  ServiceExports() {
    for (const char* name : {"m1", "m2"}) {
      history_.object({type::kCluster, "", name},
                      R"({"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","status":{"conditions":[
          {"type":"Ready","status":"True"}]}})");
      history_.object({type::kNamespace, "", execution_space(name)}, R"({"apiVersion":"v1","kind":"Namespace"})");
    }
    history_.object(kExport, R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ServiceExport"})");
  }

  /// The Work by which a policy has brought the ServiceExport to the cluster.
  static ObjectKey work_of_export(const std::string& cluster) {
    return {type::kWork, execution_space(cluster), work_name("ServiceExport", "default", "web")};
  }
  void exports(const std::string& cluster, const std::string& applied = "True") {
    history_.object(work_of_export(cluster),
                    R"({"metadata":{"finalizers":["karmada.io/execution-controller"]},"spec":{"workload":{"manifests":[
        {"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ServiceExport","metadata":{"name":"web",
         "namespace":"default"}}]}},"status":{"conditions":[{"type":"Applied","status":")" +
                        applied + R"("}]}})");
    settle();
  }
  void report(const std::string& cluster, const std::vector<std::string>& names, const std::string& problem = "") {
    const Value& work = at(request_key(cluster, kWeb));
    ASSERT_FALSE(work.is_null()) << "nothing is requested of " << cluster;
    std::vector<Value> slices;
    for (const std::string& name : names) {
      slices.push_back(json(R"({"metadata":{"name":")" + name + R"(","namespace":"default","labels":{
          "kubernetes.io/service-name":"web"}},"addressType":"IPv4","endpoints":[{"addresses":["10.1.0.1"]}]})"));
    }
    CollectedSlices collected = collected_slices(slices, kWeb);
    collected.problem = problem;
    history_.accept({WorkStatusObserved{request_key(cluster, kWeb), statuses_of_slices(work, collected), 0}});
    settle();
  }
  void settle() {
    for (int round = 0; round < 2; ++round) {
      history_.settle(decide, kExport);
      for (const auto* name : {"m1", "m2"}) {
        history_.settle(decide, {type::kCluster, "", name});
        history_.settle(decide, collection_key(name, "default", "web"));
        for (const auto* slice : {"web-a", "web-b"}) history_.settle(decide, slice_key(name, "default", slice));
      }
    }
  }
  const Value& at(const ObjectKey& key) { return history_.state().value_of(key); }
  const Value& imported(const std::string& name) { return at({type::kEndpointSlice, "default", "imported-" + name}); }
  void import_web(const std::string& spec = R"({"type":"ClusterSetIP","ips":["10.9.0.1"],"ports":[{"name":"http",
      "port":80,"protocol":"TCP","appProtocol":"http"}]})") {
    history_.object(kImport,
                    R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ServiceImport","spec":)" + spec + "}");
  }
  std::string failure_of_import() {
    const auto decided = decide(history_.state(), kImport, history_.now());
    return decided ? "" : decided.error().message;
  }

  History history_;
};

TEST_F(ServiceExports, SlicesOfClustersThatExportAreImportedIntoTheControlPlane_5_7_10) {
  exports("m1");
  EXPECT_TRUE(only_kept(at(request_key("m1", kWeb))));
  EXPECT_TRUE(at(request_key("m2", kWeb)).is_null());
  report("m1", {"web-a"});
  const Value& collected = at(collected_key("m1", "default", "web-a"));
  EXPECT_TRUE(only_kept(collected));
  EXPECT_EQ(label_of(collected, kCollectedFor), "ServiceExport");
  EXPECT_EQ(label_of(collected, kExportName), "web");
  EXPECT_EQ(label_of(collected, kExportNamespace), "default");
  const Value& slice = imported("m1-web-a");
  EXPECT_EQ(slice["endpoints"][0]["addresses"][0], "10.1.0.1");
  EXPECT_EQ(label_of(slice, label::kServiceName), "derived-web");
  EXPECT_EQ(label_of(slice, label::kSliceManagedBy), kImportedSlices);
  EXPECT_EQ(label_of(slice, label::kWorkId), label_of(collected, label::kWorkId));
  EXPECT_EQ(annotation_of(slice, annotation::kWorkNamespace), "karmada-es-m1");
  report("m1", {"web-b"});
  EXPECT_TRUE(imported("m1-web-a").is_null());
  EXPECT_FALSE(imported("m1-web-b").is_null());
  history_.accept({ObjectRemoved{work_of_export("m1")}});
  settle();
  EXPECT_TRUE(at(request_key("m1", kWeb)).is_null());
  EXPECT_TRUE(imported("m1-web-b").is_null());
}

TEST_F(ServiceExports, OneThatIsNotAppliedYetExportsNothing) {
  exports("m1", "False");
  EXPECT_TRUE(at(request_key("m1", kWeb)).is_null());
}

TEST_F(ServiceExports, OneThatCannotBeAppliedOnceMoreStillExports_5_7_10) {
  exports("m1");
  report("m1", {"web-a"});
  history_.accept({WorkApplyFailed{work_of_export("m1"), 1, "AppliedFailed", "timeout", "timeout"}});
  settle();
  EXPECT_FALSE(at(request_key("m1", kWeb)).is_null()) << "it is in the member as before";
  EXPECT_FALSE(imported("m1-web-a").is_null());
}

TEST_F(ServiceExports, WhatTheMemberNamesLikeAnotherSliceDoesNotReplaceIt) {
  const ObjectKey theirs{type::kEndpointSlice, "default", "imported-m1-web-a"};
  history_.object(theirs, R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","addressType":"IPv4"})");
  const Value before = at(theirs);
  exports("m1");
  report("m1", {"web-a"});
  EXPECT_EQ(at(theirs), before);
  report("m1", {});
  EXPECT_EQ(at(theirs), before);
}

TEST_F(ServiceExports, MissingSlicesAreAConditionOfTheServiceExport) {
  exports("m1");
  report("m1", {"web-a"});
  EXPECT_TRUE(at(kExport)["status"].is_null()) << "as upstream, while nothing is wrong";
  report("m1", {"web-a"}, "the first 100 of 5000 EndpointSlices are collected");
  EXPECT_EQ(condition_of(at(kExport), kSlicesCollected)["status"], "False");
  EXPECT_EQ(condition_of(at(kExport), kSlicesCollected)["message"],
            "cluster m1: the first 100 of 5000 EndpointSlices are collected");
  report("m1", {"web-a"});
  EXPECT_EQ(condition_of(at(kExport), kSlicesCollected)["status"], "True");
}

TEST_F(ServiceExports, WithoutTheControllerNothingChanges) {
  exports("m1");
  report("m1", {"web-a"});
  history_.accept({OptionsSet{{{"controllers", {"*", "-serviceExport"}}}}});
  exports("m2");
  report("m1", {"web-a", "web-b"});
  EXPECT_TRUE(at(request_key("m2", kWeb)).is_null());
  EXPECT_TRUE(imported("m1-web-b").is_null());
  EXPECT_FALSE(at(request_key("m1", kWeb)).is_null());
  history_.accept({ObjectRemoved{work_of_export("m1")}});
  settle();
  EXPECT_FALSE(imported("m1-web-a").is_null());
  history_.accept({OptionsSet{{{"controllers", {"*"}}}}});
  settle();
  EXPECT_TRUE(imported("m1-web-a").is_null());
  EXPECT_FALSE(at(request_key("m2", kWeb)).is_null());
}

TEST_F(ServiceExports, AnObjectThatHasTheNameOfAnImportIsACondition) {
  history_.object({type::kEndpointSlice, "default", "imported-m1-web-a"},
                  R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","addressType":"IPv4"})");
  exports("m1");
  report("m1", {"web-a"});
  EXPECT_EQ(condition_of(at(kExport), kSlicesCollected)["message"],
            "the control plane has another EndpointSlice imported-m1-web-a");
  history_.remove({type::kEndpointSlice, "default", "imported-m1-web-a"});
  settle();
  EXPECT_EQ(condition_of(at(kExport), kSlicesCollected)["status"], "True");
  EXPECT_FALSE(imported("m1-web-a").is_null());
}

TEST_F(ServiceExports, AServiceImportHasADerivedService_5_7_10) {
  import_web();
  EXPECT_EQ(history_.settle(decide, kImport), 1);
  const Value& service = at(kDerived);
  EXPECT_EQ(service["spec"]["type"], "ClusterIP");
  EXPECT_EQ(to_json(service["spec"]["ports"]),
            R"([{"appProtocol":"http","name":"http","port":80,"protocol":"TCP","targetPort":80}])");
  EXPECT_TRUE(service["spec"]["selector"].is_null());
  EXPECT_EQ(to_json(service["status"]), R"({"loadBalancer":{"ingress":[{"ip":"10.9.0.1"}]}})");
  EXPECT_EQ(service["metadata"]["ownerReferences"][0]["uid"], at(kImport)["metadata"]["uid"]);
  history_.edit(kDerived, [](Value& made) { made.edit("spec").set("clusterIP", "10.96.0.9"); });
  import_web(R"({"type":"ClusterSetIP","ports":[{"port":81}]})");
  history_.settle(decide, kImport);
  EXPECT_EQ(at(kDerived)["spec"]["ports"][0]["port"], Value{81});
  EXPECT_EQ(at(kDerived)["spec"]["clusterIP"], "10.96.0.9");
  EXPECT_EQ(to_json(at(kDerived)["status"]), R"({"loadBalancer":{}})");
}

TEST_F(ServiceExports, NodePortsOfADerivedServiceStay) {
  import_web();
  history_.settle(decide, kImport);
  history_.edit(kDerived, [](Value& made) {
    made.edit("spec").set("type", "NodePort");
    made.edit("spec").edit("ports").edit_items()[0].set("nodePort", 30080);
  });
  import_web(R"({"type":"ClusterSetIP","ports":[{"name":"web","port":80},{"name":"admin","port":81}]})");
  history_.settle(decide, kImport);
  EXPECT_EQ(at(kDerived)["spec"]["ports"][0]["name"], "web");
  EXPECT_EQ(at(kDerived)["spec"]["ports"][0]["nodePort"], Value{30080});
  EXPECT_TRUE(at(kDerived)["spec"]["ports"][1]["nodePort"].is_null());
}

TEST_F(ServiceExports, AHeadlessServiceImportHasNone) {
  import_web(R"({"type":"Headless","ports":[{"port":80}]})");
  EXPECT_EQ(history_.settle(decide, kImport), 0);
}

TEST_F(ServiceExports, AServiceOfThatNameIsNotOverwritten) {
  history_.object(kDerived,
                  R"({"apiVersion":"v1","kind":"Service","spec":{"selector":{"app":"x"},"ports":[{"port":80}]}})");
  import_web();
  const Value before = at(kDerived);
  EXPECT_EQ(failure_of_import(),
            "Service derived-web exists and was not made for this ServiceImport: delete it or rename it");
  EXPECT_EQ(at(kDerived), before);
}

TEST_F(ServiceExports, OneThatUpstreamHasDerivedIsTakenOver) {
  history_.object(kDerived,
                  R"({"apiVersion":"v1","kind":"Service","spec":{"type":"ClusterIP","ports":[{"port":80}]}})");
  import_web();
  EXPECT_EQ(history_.settle(decide, kImport), 1);
  EXPECT_EQ(at(kDerived)["metadata"]["ownerReferences"].size(), 1U);
}

}  // namespace
}  // namespace shiplog::multi_cluster_service
