#include "services/roles/multi_cluster_service/decide.h"

#include <algorithm>
#include <string>
#include <utility>

#include "events/state/condition.h"
#include "services/roles/multi_cluster_service/kept_works.h"
#include "services/roles/service_clusters.h"

namespace shiplog::multi_cluster_service {
namespace {

constexpr const char* kFinalizer = "karmada.io/multiclusterservice-controller";

ExportedService service_of(const ObjectKey& key) {
  return {key.ns.str(), key.name.str(), ExportedBy::kMultiClusterService};
}

/// 5.7.2: it stays the same when the MultiClusterService is restored with another uid.
bool identify(const ObjectKey& key, const Object& mcs, DecisionBuilder& decision) {
  Value wanted = mcs.value;
  if (label_of(wanted, kMcsId).empty()) {
    wanted.edit("metadata").edit("labels").set(kMcsId, wanted["metadata"]["uid"]);
  }
  if (!has_finalizer(wanted, kFinalizer)) wanted.edit("metadata").edit("finalizers").push_back(kFinalizer);
  if (wanted == mcs.value) return false;
  decision.add(ObjectUpdated{key, std::move(wanted)}, {key, mcs.revision});
  return true;
}

bool remove_requests(const State& state, const ObjectKey& key, const std::set<std::string>& providers,
                     DecisionBuilder& decision) {
  for (const auto& [name, cluster] : state.clusters()) {
    if (providers.contains(name)) continue;
    if (!delete_object(state, request_key(name, service_of(key)), decision)) return false;
  }
  return true;
}

/// 5.7.5. What a member needs to know is which Service: nothing else of the MultiClusterService is part of it.
bool put_requests(const State& state, const ObjectKey& key, const Value& mcs, const std::set<std::string>& providers,
                  UtcMillis now, DecisionBuilder& decision) {
  const Value manifest = Value::object({{"apiVersion", mcs["apiVersion"]},
                                        {"kind", mcs["kind"]},
                                        {"metadata", Value::object({{"name", key.name}, {"namespace", key.ns}})}});
  for (const std::string& name : providers) {
    const Cluster* cluster = state.cluster(name);
    if (cluster == nullptr || !takes_slices(*cluster) || !takes_works(state, name)) continue;
    WorkForm form;
    form.labels =
        Value::object({{kMcsId, mcs["metadata"]["labels"][kMcsId]}, {kMcsNamespace, key.ns}, {kMcsName, key.name}});
    if (!put_work(state, request_key(name, service_of(key)), manifest, std::move(form), now, decision)) return false;
  }
  return true;
}

/// 5.7.9: the Service and its binding stay, as when a policy is deleted.
Decided release(const State& state, const ObjectKey& key, const Object& mcs, UtcMillis now) {
  DecisionBuilder decision;
  if (!remove_requests(state, key, {}, decision)) return std::move(decision).build_and_look_again(now);
  release_service(state, key, decision);
  Value wanted = mcs.value;
  std::erase_if(wanted.edit("metadata").edit("finalizers").edit_items(),
                [](const Value& entry) { return entry.as_string() == kFinalizer; });
  decision.add(ObjectUpdated{key, std::move(wanted)}, {key, mcs.revision});
  return std::move(decision).build();
}

std::string with_left_out(std::string message, const std::vector<LeftOut>& missing) {
  for (const LeftOut& each : missing) {
    if (message.size() > 2000) break;
    message += " " + each.message + ".";
  }
  return message;
}

/// What is missing of the slices that its providers have reported.
std::string slice_problems(const State& state, const ObjectKey& key, const std::set<std::string>& providers) {
  std::string problems;
  for (const std::string& name : providers) add_problems(state, name, service_of(key), kDispatchProblem, problems);
  return problems;
}

bool any_slice_collected(const State& state, const ObjectKey& key, const std::set<std::string>& providers) {
  return std::ranges::any_of(providers, [&](const std::string& name) {
    return !annotation_of(state.value_of(request_key(name, service_of(key))), kCollectedNames).empty();
  });
}

void set(Value& object, const char* type, bool holds, const char* reason, const std::string& message, UtcMillis now) {
  const Value& before = condition_of(object, type);
  if (before["status"].as_string() == (holds ? "True" : "False") && before["reason"].as_string() == reason &&
      before["message"].as_string() == message) {
    return;
  }
  set_condition(object, type, holds ? "True" : "False", reason, message, now);
}

/// 5.7.8.
Value with_conditions(const State& state, const ObjectKey& key, Value mcs, const std::string& of_service,
                      const std::set<std::string>& providers, UtcMillis now) {
  const auto missing = left_out(state, mcs);
  if (of_service.empty()) {
    set(mcs, kServiceApplied, true, "ServiceAppliedSucceed",
        with_left_out("Service is propagated to target clusters.", missing), now);
  } else {
    set(mcs, kServiceApplied, false, "ServiceAppliedFailed", of_service, now);
  }
  const std::string of_slices = slice_problems(state, key, providers);
  if (!of_slices.empty()) {
    set(mcs, kSlicesDispatched, false, "EndpointSliceDispatchedFailed", of_slices, now);
  } else if (!of_service.empty() && providers.empty() && !condition_of(mcs, kSlicesDispatched).is_null()) {
    set(mcs, kSlicesDispatched, false, "EndpointSliceDispatchedFailed", of_service, now);
  } else if (any_slice_collected(state, key, providers) || !condition_of(mcs, kSlicesDispatched).is_null()) {
    set(mcs, kSlicesDispatched, true, "EndpointSliceDispatchedSucceed", "EndpointSlice are dispatched successfully",
        now);
  }
  return mcs;
}

Result<Decided> decide_mcs(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* mcs = state.find(key);
  if (mcs == nullptr) {  // it had no finalizer, or lost it
    DecisionBuilder decision;
    if (!remove_requests(state, key, {}, decision)) return std::move(decision).build_and_look_again(now);
    release_service(state, key, decision);
    return std::move(decision).build();
  }
  if (deleting(mcs->value)) return has_finalizer(mcs->value, kFinalizer) ? release(state, key, *mcs, now) : Nothing{};
  if (!acts_across_clusters(state, mcs->value)) return Nothing{};
  DecisionBuilder decision;
  if (identify(key, *mcs, decision)) return std::move(decision).build_and_look_again(now);
  std::string problem = service_problem(state, key);
  std::set<std::string> providers;  // of a Service that is not propagated no slices are requested either
  if (problem.empty()) providers = named_clusters(state, mcs->value["spec"]["providerClusters"]);
  if (!remove_requests(state, key, providers, decision) ||
      !put_requests(state, key, mcs->value, providers, now, decision)) {
    return std::move(decision).build_and_look_again(now);
  }
  if (problem.empty()) problem = propagate_service(state, key, mcs->value, decision);
  Value wanted = with_conditions(state, key, mcs->value, problem, providers, now);
  if (wanted != mcs->value) {
    decision.add(StatusUpdated{key, std::move(wanted)}, {key, mcs->revision});
  } else if (!decision.empty()) {
    decision.expect({key, mcs->revision});
  }
  return std::move(decision).build();
}

}  // namespace

bool follows_services(const State& state) {
  return state.gates().multi_cluster_service && state.options().controller_on(kMultiClusterServiceController);
}

bool acts_across_clusters(const State& state, const Value& service) {
  if (!follows_services(state)) return false;
  const auto types = service["spec"]["types"].items();
  return std::ranges::any_of(types, [](const Value& type) { return type.as_string() == "CrossCluster"; });
}

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  if (key.type == type::kMultiClusterService) return decide_mcs(state, key, now);
  if (key.type == type::kCluster) {
    const std::string name = key.name.str();
    return key == consumer_key(name) ? decide_consumer(state, name, now) : decide_cluster(state, name, now);
  }
  if (key.type == type::kWork) return decide_collection(state, key, now);
  if (key.type == type::kEndpointSlice) return decide_slice(state, key, now);
  if (key.type == type::kServiceImport) return decide_import(state, key);
  if (key.type == type::kServiceExport) return decide_export(state, key, now);
  return Nothing{};
}

}  // namespace shiplog::multi_cluster_service
