#pragma once

#include <string>
#include <vector>

#include "events/state/object.h"
#include "services/roles/recorder/event_drafts.h"

namespace shiplog::recorder {

/// The Events about a MultiClusterService whose conditions have changed (5.7.8), about a ServiceExport whose slices are
/// missing, and about the ServiceImport of a derived Service. `state`: with the change.
void add_service_events(const State& state, const Change& change, std::vector<EventDraft>& drafts);
/// A ServiceImport whose Service could not be derived.
std::vector<EventDraft> import_failure(const Value& service_import, const std::string& error);

}  // namespace shiplog::recorder
