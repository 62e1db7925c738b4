#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "events/state/state.h"
#include "services/programs/shiplogctl/commands.h"
#include "services/rehearsal/rehearsal.h"

namespace shiplog::ctl {

struct RehearseCommandOptions {
  std::vector<std::string> fail_clusters = {}, fail_regions = {};
  std::vector<std::string> taints = {};            ///< "member1=key=value:NoExecute"
  std::vector<std::string> settings = {};          ///< "graceful-eviction-timeout=1m"
  std::string gates = {};                          ///< "Failover=true,WorkloadAffinity=false"
  std::optional<int64_t> toleration_seconds = {};  ///< nullopt: as they are
  std::string length = "30m", ready_after = "30s";
  std::string at = {};                  ///< a revision; with a server also a time
  std::string journal = {};             ///< empty: the server
  std::vector<std::string> kafka = {};  ///< settings of the Kafka client, KEY=VALUE
  std::string snapshot = {};            ///< to start from; without a journal, what is rehearsed
  std::string output = {};              ///< "", "json", "svg"
  int64_t limit = 40;                   ///< workloads listed; 0: all
};

/// What the options say. Error: kBadRequest, naming the option and what it expects.
Result<RehearsalOptions> rehearsal_options(const RehearseCommandOptions& options);

/// The state as of `at`, read from a server page by page; what the hash of the newest revision shows to be damaged on
/// the way is refused. Errors: those of the server; kCorrupt.
Result<State> state_of_server(ServerConnection& plane, const std::string& at);
/// The state as of `at`, from a journal (and a snapshot), or from a snapshot alone.
Result<State> state_of_files(const Backing& backing, const RehearseCommandOptions& options, std::ostream& progress);

/// Rehearses on the state, and prints the report.
Result<void> rehearse_and_print(State& state, const RehearseCommandOptions& options, const Output& to);

}  // namespace shiplog::ctl
