#pragma once

#include <string>

#include "services/programs/shiplogd/options.h"

namespace CLI {
class App;
}

// What several subcommands of shiplogd have in common.
namespace shiplog {

/// Upstream's names (OBS-12). `default_health`: as --help shows it.
void add_probes(CLI::App& app, ProbeOptions& options, const std::string& default_health);

/// When a Pull cluster counts as silent; upstream's names (1.13).
void add_cluster_monitor(CLI::App& app, cluster_monitor::Periods& periods);

/// When changes of what is counted of nodes and pods are reported.
void add_summary_thresholds(CLI::App& app, collector::SummaryThresholds& thresholds);

void add_logging(CLI::App& app, log::Format& format, log::Level& level);

/// Prints what is wrong with the command line, and returns the exit code for that.
int usage_error(const std::string& message);

}  // namespace shiplog
