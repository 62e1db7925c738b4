#pragma once

#include <memory>

#include "services/runtime/metrics.h"

namespace shiplog {

/// What every process exports while it lives: `process_*` as Prometheus' client libraries do, `karmada_build_info`, the
/// heap, and log lines that were dropped.
std::unique_ptr<metrics::ScrapeHook> export_process_metrics();

}  // namespace shiplog
