#include "services/roles/multi_cluster_service/role.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "services/roles/multi_cluster_service/decide.h"
#include "services/roles/multi_cluster_service/kept_works.h"
#include "tests/support/fake_task.h"

namespace shiplog {
namespace {

using given::History;
using given::json;
using given::woken;
using multi_cluster_service::collection_key;
using multi_cluster_service::consumer_key;
using multi_cluster_service::slice_key;
using Keys = std::vector<ObjectKey>;

const ObjectKey kMcs{type::kMultiClusterService, "default", "web"};
const ObjectKey kFirst{type::kCluster, "", "m1"};

Keys sorted(Keys keys) {
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  return keys;
}

TEST(MultiClusterServiceRole, ASliceIsTriggeredByItsWorkByItsCopiesAndByItsImport) {
  History history;
  for (const char* space : {"karmada-es-m1", "karmada-es-m2"}) {
    history.object({type::kNamespace, "", space}, R"({"apiVersion":"v1","kind":"Namespace"})");
  }
  const auto role = make_multi_cluster_service_role();
  const auto work = [](const ObjectKey& key, const char* name, const char* metadata) {
    Value value =
        json(R"({"spec":{"workload":{"manifests":[{"kind":"EndpointSlice","metadata":{"namespace":"default"}}]}}})");
    value.edit("spec").edit("workload").edit("manifests").edit_items()[0].edit("metadata").set("name", name);
    value.set("metadata", json(metadata));
    return ObjectCreated{key, History::named(key, value)};
  };
  const ObjectKey collected = multi_cluster_service::collected_key("m1", "default", "web-a");
  const ObjectKey copy = multi_cluster_service::dispatched_key("m2", "default", "m1-web-a");
  const ObjectKey other{type::kWork, "karmada-es-m1", "other"};
  EXPECT_EQ(sorted(woken(*role, history,
                         {work(collected, "web-a", R"({"labels":{"endpointslice.karmada.io/managed-by":"ServiceExport",
                    "endpointslice.karmada.io/name":"web"}})")})),
            sorted({collection_key("m1", "default", "web"), slice_key("m1", "default", "web-a")}));
  EXPECT_EQ(woken(*role, history,
                  {work(copy, "m1-web-a", R"({"annotations":{"endpointslice.karmada.io/provision-cluster":"m1"}})")}),
            (Keys{slice_key("m1", "default", "web-a")}));
  EXPECT_EQ(woken(*role, history, {work(other, "mine", "{}")}), Keys{});
  EXPECT_EQ(woken(*role, history, {ObjectRemoved{copy}}), (Keys{slice_key("m1", "default", "web-a")}));
  const ObjectKey imported{type::kEndpointSlice, "default", "imported-m1-web-a"};
  const Value slice = json(R"({"metadata":{"labels":{"endpointslice.kubernetes.io/managed-by":
      "endpointslice-controller.karmada.io"},"annotations":{"work.karmada.io/namespace":"karmada-es-m1"}}})");
  EXPECT_EQ(woken(*role, history, {ObjectCreated{imported, History::named(imported, slice)}}),
            (Keys{slice_key("m1", "default", "web-a")}));
}

TEST(MultiClusterServiceRole, AServiceTriggersItsMultiClusterServiceAndTheServiceImportItIsDerivedFrom) {
  History history;
  const auto role = make_multi_cluster_service_role();
  const ObjectKey service{"services", "default", "web"};
  const ObjectKey derived{"services", "default", "derived-web"};
  const ObjectKey service_import{type::kServiceImport, "default", "web"};
  EXPECT_EQ(woken(*role, history, {ObjectCreated{service, History::named(service, json("{}"))}}), Keys{});
  history.object(kMcs, "{}");
  history.object(service_import, "{}");
  EXPECT_EQ(woken(*role, history, {DeletionRequested{service}}), Keys{kMcs});
  EXPECT_EQ(woken(*role, history, {ObjectCreated{derived, History::named(derived, json("{}"))}}), Keys{service_import});
}

TEST(MultiClusterServiceRole, AClusterTriggersAllWhenItBecomesReadyButNotWithEachReport) {
  History history;
  const auto role = make_multi_cluster_service_role();
  history.object(kMcs, "{}");
  const auto cluster = [](const char* status) {
    return History::named(kFirst, json(std::string{R"({"status":)"} + status + "}"));
  };
  EXPECT_EQ(sorted(woken(*role, history, {ObjectCreated{kFirst, cluster("{}")}})),
            sorted({kFirst, consumer_key("m1"), kMcs}));
  EXPECT_EQ(woken(*role, history, {StatusUpdated{kFirst, cluster(R"({"kubernetesVersion":"v1.34.0"})")}}), Keys{});
  EXPECT_EQ(sorted(woken(*role, history,
                         {StatusUpdated{kFirst, cluster(R"({"conditions":[{"type":"Ready","status":"True"}]})")}})),
            sorted({kFirst, consumer_key("m1"), kMcs}));
}

}  // namespace
}  // namespace shiplog
