#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/condition.h"
#include "events/state/feature_gates.h"
#include "services/roles/multi_cluster_service/decide.h"
#include "services/roles/multi_cluster_service/kept_works.h"
#include "tests/support/given.h"

namespace shiplog::multi_cluster_service {

using given::History;
using given::json;

inline const ObjectKey kMcs{type::kMultiClusterService, "default", "web"};
inline const ObjectKey kService{"services", "default", "web"};
inline const ObjectKey kBinding{type::kResourceBinding, "default", "web-service"};
inline constexpr const char* kFirst = R"([{"name":"m1"}])";
inline constexpr const char* kSecond = R"([{"name":"m2"}])";

/// Three clusters and a Service of a policy.
class MultiClusterServices : public testing::Test {
 protected:
  MultiClusterServices() {
    history_.accept({FeatureGatesSet{{"MultiClusterService"}}});
    for (const char* name : {"m1", "m2", "m3"}) join(name);
    history_.object(kService, R"({"apiVersion":"v1","kind":"Service","metadata":{"labels":{"app":"web",
        "propagationpolicy.karmada.io/permanent-id":"p"},"annotations":{"propagationpolicy.karmada.io/name":"p",
        "propagationpolicy.karmada.io/namespace":"default"}},"spec":{"selector":{"app":"web"},"ports":[{"port":80}]}})");
  }

  void join(const std::string& name, const std::string& ready = "True") {
    history_.object({type::kCluster, "", name},
                    R"({"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","spec":{"syncMode":"Push"},
        "status":{"conditions":[{"type":"Ready","status":")" +
                        ready + R"("}],"apiEnablements":[{"groupVersion":"discovery.k8s.io/v1","resources":[
        {"kind":"EndpointSlice","name":"endpointslices"}]}]}})");
    const ObjectKey space{type::kNamespace, "", execution_space(name)};
    if (history_.state().find(space) == nullptr) history_.object(space, R"({"apiVersion":"v1","kind":"Namespace"})");
  }
  void mcs(const std::string& providers, const std::string& consumers, const std::string& type = "CrossCluster") {
    Value value =
        json(R"({"apiVersion":"networking.karmada.io/v1alpha1","kind":"MultiClusterService","spec":{"types":[")" +
             type + R"("],"providerClusters":)" + providers + R"(,"consumerClusters":)" + consumers + "}}");
    if (const Object* present = history_.state().find(kMcs)) {
      Value updated = present->value;
      updated.set("spec", value["spec"]);
      history_.accept({ObjectUpdated{kMcs, updated}});
    } else {
      history_.put(kMcs, History::named(kMcs, value));
    }
    settle();
  }
  /// All keys, as often as changes trigger them.
  void settle() {
    for (int round = 0; round < 3; ++round) {
      history_.settle(decide, kMcs);
      for (const auto& name : {"m1", "m2", "m3", "m4", "m1-web"}) {
        history_.settle(decide, {type::kCluster, "", name});
        for (const auto* service : {"web", "db"}) history_.settle(decide, collection_key(name, "default", service));
        for (const auto* slice : {"web-a", "web-b", "web-m", "a"})
          history_.settle(decide, slice_key(name, "default", slice));
      }
    }
  }
  ObjectKey request(const std::string& cluster, ExportedBy by = ExportedBy::kMultiClusterService) {
    return request_key(cluster, {"default", "web", by});
  }
  static Value slice(const std::string& name, const std::string& address) {
    return json(R"({"metadata":{"name":")" + name +
                R"(","namespace":"default","labels":{"kubernetes.io/service-name":"web"}},"addressType":"IPv4",
        "endpoints":[{"addresses":[")" +
                address + R"("]}],"ports":[{"port":80}]})");
  }
  void report(const std::string& cluster, const std::vector<Value>& slices, const std::string& problem = "",
              ExportedBy by = ExportedBy::kMultiClusterService) {
    const Value& work = history_.state().value_of(request(cluster, by));
    ASSERT_FALSE(work.is_null()) << "nothing is requested of " << cluster;
    CollectedSlices collected = collected_slices(slices, {"default", "web", by});
    if (!problem.empty()) collected.problem = problem;
    history_.accept({WorkStatusObserved{request(cluster, by), statuses_of_slices(work, collected), 0}});
    settle();
  }
  const Value& at(const ObjectKey& key) { return history_.state().value_of(key); }
  const Value& copy(const std::string& consumer, const std::string& name) {
    return at(dispatched_key(consumer, "default", name));
  }
  Value condition(const char* type) { return condition_of(at(kMcs), type); }

  History history_;
};

}  // namespace shiplog::multi_cluster_service
