#include "services/roles/recorder/service_events.h"

#include "events/state/condition.h"
#include "events/state/service_index.h"
#include "services/roles/exported_slices.h"
#include "services/roles/service_clusters.h"

namespace shiplog::recorder {
namespace {

constexpr const char* kController = "multiclusterservice-controller";
constexpr const char* kDispatchController = "endpointslice-dispatch-controller";
constexpr const char* kExportController = "service-export-controller";
constexpr const char* kImportController = "service-import-controller";

bool changed(const Change& change, const char* type) {
  const Value& before = condition_of(change.before, type);
  const Value& after = condition_of(change.after, type);
  return !after.is_null() && (before["status"] != after["status"] || before["message"] != after["message"]);
}

void add_condition(const Change& change, const char* type, const char* component, const char* good, const char* bad,
                   std::vector<EventDraft>& drafts) {
  if (!changed(change, type)) return;
  const Value& condition = condition_of(change.after, type);
  const bool holds = condition["status"].as_string() == "True";
  drafts.push_back({change.after, component, !holds, holds ? good : bad, condition["message"].str()});
}

void on_mcs(const State& state, const Change& change, std::vector<EventDraft>& drafts) {
  add_condition(change, "ServiceApplied", kController, "SyncServiceSucceed", "SyncServiceFailed", drafts);
  add_condition(change, "EndpointSliceDispatched", kDispatchController, "DispatchEndpointSliceSucceed",
                "DispatchEndpointSliceFailed", drafts);
  if (!changed(change, "ServiceApplied")) return;
  for (const LeftOut& each : left_out(state, change.after)) {
    drafts.push_back({change.after, kController, true, each.reason, each.message});
  }
}

void on_service(const State& state, const Change& change, std::vector<EventDraft>& drafts) {
  if (change.before["spec"]["ports"] == change.after["spec"]["ports"]) return;
  for (const Value& owner : change.after["metadata"]["ownerReferences"].items()) {
    if (owner["kind"].as_string() != "ServiceImport") continue;
    const Value& service_import = state.value_of({type::kServiceImport, change.object.ns, owner["name"].str()});
    if (service_import.is_null()) continue;
    drafts.push_back({service_import, kImportController, false, "SyncDerivedServiceSucceed",
                      "Sync derived service for serviceImport(" + owner["name"].str() + ") succeed."});
  }
}

}  // namespace

void add_service_events(const State& state, const Change& change, std::vector<EventDraft>& drafts) {
  if (change.removed()) return;
  const std::string_view type = change.object.type;
  if (type == type::kMultiClusterService) return on_mcs(state, change, drafts);
  if (type == type::kService) return on_service(state, change, drafts);
  if (type == type::kServiceExport) {
    add_condition(change, "EndpointSlicesCollected", kExportController, "EndpointSlicesCollected",
                  "EndpointSlicesMissing", drafts);
  }
}

std::vector<EventDraft> import_failure(const Value& service_import, const std::string& error) {
  return {{service_import, kImportController, true, "SyncDerivedServiceFailed", error}};
}

}  // namespace shiplog::recorder
