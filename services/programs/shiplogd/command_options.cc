#include "services/programs/shiplogd/command_options.h"

#include <cstdio>
#include <map>

#include <CLI/CLI.hpp>

#include "events/base/time.h"

namespace shiplog {
namespace {

constexpr Millis kShortestPeriod{1000};

/// Why a text is no address for probes, for CLI11; "" if it is one.
std::string error_of_address(const std::string& text) {
  if (text.empty() || text == "0") return "";
  const auto address = parse_host_port(text);
  return address ? "" : address.error().message;
}

}  // namespace

void add_probes(CLI::App& app, ProbeOptions& options, const std::string& default_health) {
  app.add_option("--health-probe-bind-address", options.health,
                 "Serve /healthz, /livez and /readyz here without TLS; 0: do not [" + default_health + "]")
      ->type_name("HOST:PORT")
      ->check(error_of_address);
  app.add_option("--metrics-bind-address", options.metrics,
                 "Serve /metrics here without TLS and authentication; 0: do not [0]")
      ->type_name("HOST:PORT")
      ->check(error_of_address);
}

void add_cluster_monitor(CLI::App& app, cluster_monitor::Periods& periods) {
  const auto add = [&](const char* flag, Millis& period, const char* by_default, const std::string& what) {
    const auto read = [flag, &period](const std::string& text) {
      const auto parsed = parse_duration(text);
      if (!parsed || parsed.value() < kShortestPeriod) {
        throw CLI::ValidationError{flag, "a duration of at least 1s is expected, not \"" + text + "\""};
      }
      period = parsed.value();
    };
    app.add_option_function<std::string>(flag, read, what + " [" + by_default + "]")->type_name("DURATION");
  };
  add("--cluster-monitor-period", periods.monitor, "5s", "How often Pull clusters are looked at");
  add("--cluster-monitor-grace-period", periods.grace, "40s",
      "How long the agent of a Pull cluster may be silent before Ready becomes Unknown; agents report every 10s");
  add("--cluster-startup-grace-period", periods.startup_grace, "1m",
      "The same, from its creation on, for a cluster whose agent has never reported");
}

void add_summary_thresholds(CLI::App& app, collector::SummaryThresholds& thresholds) {
  app.add_option(
         "--cluster-summary-change-percent", thresholds.percent,
         "Nodes and resources of a cluster are reported at once if so many percent more or less of a resource are "
         "free; 0: if anything has changed")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  const auto read = [&thresholds](const std::string& text) {
    const auto parsed = parse_duration(text);
    if (!parsed || parsed.value().value < 0) {
      throw CLI::ValidationError{"--cluster-summary-interval", "a duration is expected, not \"" + text + "\""};
    }
    thresholds.at_latest = parsed.value();
  };
  app.add_option_function<std::string>("--cluster-summary-interval", read,
                                       "So long smaller changes of them may wait [2m]")
      ->type_name("DURATION");
}

void add_logging(CLI::App& app, log::Format& format, log::Level& level) {
  app.add_option("--logging-format", format, "Format of log lines")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, log::Format>{{"text", log::Format::kText}, {"json", log::Format::kJson}}))
      ->default_str("text");
  app.add_option("--log-level", level, "Lowest level that is logged")
      ->transform(CLI::CheckedTransformer(std::map<std::string, log::Level>{{"debug", log::Level::kDebug},
                                                                            {"info", log::Level::kInfo},
                                                                            {"warn", log::Level::kWarn},
                                                                            {"error", log::Level::kError}}))
      ->default_str("info");
}

int usage_error(const std::string& message) {
  std::fprintf(stderr, "shiplogd: %s\n", message.c_str());
  return 2;
}

}  // namespace shiplog
