#include "tests/bench/recorded_fleet.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "events/base/json.h"
#include "events/fold/fold.h"
#include "services/roles/binder/role.h"
#include "services/roles/collector/role.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/lifecycle/role.h"
#include "services/roles/scheduler/role.h"
#include "services/roles/taint/role.h"
#include "tests/bench/figures.h"

namespace shiplog::bench {
namespace {

constexpr const char* kPolicy = R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy",
    "metadata":{"name":"all","namespace":"default","generation":1},"spec":{"resourceSelectors":[{"apiVersion":"apps/v1",
    "kind":"Deployment"}],"placement":{"replicaScheduling":{"replicaSchedulingType":"Duplicated"},
    "spreadConstraints":[{"spreadByField":"cluster","minGroups":2,"maxGroups":2}]}}})";

}  // namespace

RecordedFleet::RecordedFleet() {
  stage_.write({FoldVersionActivated{kFoldVersion}});
  for (const char* role : {"binder", "scheduler", "dispatcher", "collector", "taint", "lifecycle"}) {
    stage_.write({LeaseTaken{role, "bench", 1}});
  }
  stage_.add(make_lifecycle_role());
  stage_.add(make_binder_role());
  stage_.add(make_scheduler_role());
  stage_.add(make_dispatcher_role(stage_.members()));
  stage_.add(make_collector_role(stage_.members()));
  stage_.add(make_taint_role());
  for (const char* name : {"m1", "m2", "m3"}) {
    stage_.members().member(name).ready_after = Millis{500};
    put(testing::cluster_key(name), testing::cluster_object(name));
  }
  stage_.run(Millis{2'000});
  put({type::kPropagationPolicy, "default", "all"}, or_exit(parse_json(kPolicy)));
}

void RecordedFleet::create(size_t deployments) {
  for (size_t number = 0; number < deployments; ++number) {
    const std::string name = "web-" + std::to_string(number);
    put({"deployments.apps", "default", name}, testing::deployment("default", name, 2));
    pass(number);
  }
  stage_.run(Millis{10'000});
}

void RecordedFleet::edit(size_t deployments, size_t round) {
  for (size_t number = 0; number < deployments; ++number) {
    const ObjectKey key{"deployments.apps", "default", "web-" + std::to_string(number)};
    Value edited = stage_.state().value_of(key);
    edited.edit("spec").set("replicas", static_cast<int64_t>(2 + (round % 2)));
    put(key, std::move(edited));
    pass(number);
  }
  stage_.run(Millis{10'000});
}

std::vector<Entry> RecordedFleet::entries() const {
  std::vector<Entry> entries;
  for (const auto& [entry, folded] : stage_.history()) {
    entries.push_back(entry);
    if (entry.request.verb == "decide") entries.back().fence = {entry.actor.service, 1};
  }
  return entries;
}

void RecordedFleet::pass(size_t number) {
  if (number % 20 == 19) stage_.run(Millis{100});
}

void RecordedFleet::put(const ObjectKey& key, Value value) {
  const Folded folded = stage_.put(key, std::move(value));
  if (!folded.refusal) return;
  std::fprintf(stderr, "%s\n", folded.refusal->reason.c_str());
  std::exit(1);
}

}  // namespace shiplog::bench
