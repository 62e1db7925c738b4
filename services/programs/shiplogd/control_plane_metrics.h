#pragma once

#include <memory>

#include "services/runtime/metrics.h"

namespace shiplog {

class HttpsMembers;
class JournalOutage;
class Leaders;
class Quarantine;
class Recorder;
class Replica;
class ScriptResolver;
class ThreadLoop;
class Vault;

/// What a control plane process copies into its metrics on each scrape. Outlives the hook.
struct ControlPlaneSources {
  Replica& record;
  const JournalOutage& record_outage;
  const JournalOutage& ephemera_outage;
  const ThreadLoop& loop;
  const Quarantine& quarantine;
  const ScriptResolver& scripts;
  const HttpsMembers& members;
  const Recorder& recorder;
  const Vault* vault;                ///< may be nullptr
  const Leaders* leaders = nullptr;  ///< of the whole fleet; nullptr: another process exports them
};

std::unique_ptr<metrics::ScrapeHook> export_control_plane_metrics(const ControlPlaneSources& sources);

}  // namespace shiplog
