#include "services/roles/recorder/service_events.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/roles/exported_slices.h"
#include "tests/support/given.h"

namespace shiplog::recorder {
namespace {

using given::History;
using given::json;

const ObjectKey kMcs{type::kMultiClusterService, "default", "web"};

std::vector<std::string> events_of(const History& history, const Change& change) {
  std::vector<EventDraft> drafts;
  add_service_events(history.state(), change, drafts);
  std::vector<std::string> texts;
  for (const EventDraft& draft : drafts) {
    texts.push_back(std::string{draft.warning ? "Warning " : "Normal "} + draft.reason + ": " + draft.message);
  }
  return texts;
}

Value with_conditions(const ObjectKey& key, const std::string& conditions) {
  return History::named(key,
                        json(R"({"spec":{"providerClusters":[{"name":"nowhere"}],"consumerClusters":[{"name":"m1"}]},
      "status":{"conditions":)" +
                             conditions + "}}"));
}

using Texts = std::vector<std::string>;

TEST(ServiceEvents, ConditionsOfAMultiClusterServiceAreReportedWhenTheyChange_5_7_8) {
  History history;
  history.object({type::kCluster, "", "m1"}, R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})");
  const Value none = with_conditions(kMcs, "[]");
  const Value applied = with_conditions(kMcs, R"([{"type":"ServiceApplied","status":"True","message":"ok"}])");
  EXPECT_EQ(events_of(history, {kMcs, {}, none, applied, {}}),
            (Texts{"Normal SyncServiceSucceed: ok",
                   "Warning SyncServiceFailed: Consumer cluster m1 is not ready, skip to "
                   "propagate EndpointSlice",
                   "Warning ClusterNotFound: Provider cluster nowhere is not found"}));
  EXPECT_EQ(events_of(history, {kMcs, {}, applied, applied, {}}), Texts{});
  const Value failed = with_conditions(kMcs, R"([{"type":"ServiceApplied","status":"True","message":"ok"},
      {"type":"EndpointSliceDispatched","status":"False","message":"why"}])");
  EXPECT_EQ(events_of(history, {kMcs, {}, applied, failed, {}}), Texts{"Warning DispatchEndpointSliceFailed: why"});
}

TEST(ServiceEvents, ADerivedServiceIsReportedAtItsServiceImport) {
  History history;
  const ObjectKey service_import{type::kServiceImport, "default", "web"};
  history.object(service_import, "{}");
  const ObjectKey key{"services", "default", "derived-web"};
  const Value service =
      History::named(key, json(R"({"metadata":{"ownerReferences":[{"kind":"ServiceImport","name":"web"}]},
      "spec":{"ports":[{"port":80}]}})"));
  EXPECT_EQ(events_of(history, {key, {}, {}, service, {}}),
            Texts{"Normal SyncDerivedServiceSucceed: Sync derived service for serviceImport(web) succeed."});
}

}  // namespace
}  // namespace shiplog::recorder
