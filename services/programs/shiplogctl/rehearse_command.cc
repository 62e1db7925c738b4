#include <CLI/CLI.hpp>

#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {

void Program::add_rehearse() {
  auto* sub = add(*app_, "rehearse", "Show what would happen if clusters failed; the fleet is not affected",
                  [this]() -> Result<int> {
                    usage_ = true;
                    SHIPLOG_TRY(rehearsal_options(rehearse_));
                    usage_ = false;
                    const bool from_files = !rehearse_.journal.empty() || !rehearse_.snapshot.empty();
                    State state;
                    if (from_files) {
                      SHIPLOG_TRY(state, state_of_files(backing_, rehearse_, err_));
                    } else {
                      SHIPLOG_TRY(auto plane, access_.connect());
                      SHIPLOG_TRY(state, state_of_server(plane, rehearse_.at));
                    }
                    SHIPLOG_TRY(rehearse_and_print(state, rehearse_, to_));
                    return 0;
                  });
  sub->add_option("--fail-cluster", rehearse_.fail_clusters, "This cluster stops answering; can be repeated")
      ->type_name("NAME");
  sub->add_option("--fail-region", rehearse_.fail_regions,
                  "All clusters of this region stop answering; can be repeated")
      ->type_name("REGION");
  sub->add_option("--taint", rehearse_.taints, "A cluster gets this taint; can be repeated")
      ->type_name("CLUSTER=KEY[=VALUE]:EFFECT");
  sub->add_option("--for", rehearse_.length, "For so long at most")->capture_default_str()->type_name("DURATION");
  sub->add_option("--ready-after", rehearse_.ready_after, "How long a workload takes in a member until it is ready")
      ->capture_default_str()
      ->type_name("DURATION");
  sub->add_option("--at", rehearse_.at, "From this revision on; without --journal also from a time on [now]")
      ->type_name("REVISION|TIME");
  sub->add_option("--set", rehearse_.settings,
                  "With another value of an option of shiplogd that decisions read; can be repeated")
      ->type_name("OPTION=VALUE");
  sub->add_option("--feature-gates", rehearse_.gates, "With these feature gates on or off")
      ->type_name("NAME=true|false,...");
  sub->add_option("--toleration-seconds", rehearse_.toleration_seconds,
                  "With this instead of each tolerationSeconds of all placements")
      ->type_name("SECONDS");
  sub->add_option("--journal", rehearse_.journal, "Read a journal (it may be in use) instead of asking the server")
      ->type_name("sqlite:FILE|kafka:BROKER,.../FLEET");
  sub->add_option("--kafka-option", rehearse_.kafka, "A setting of librdkafka; can be repeated")
      ->type_name("KEY=VALUE");
  sub->add_option("--snapshot", rehearse_.snapshot,
                  "Start from this snapshot: alone, or to read a journal on from there")
      ->type_name("FILE");
  sub->add_option("--limit", rehearse_.limit, "List so many workloads; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_output(*sub, rehearse_.output, {"json", "svg"});
}

}  // namespace shiplog::ctl
