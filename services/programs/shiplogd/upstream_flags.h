#pragma once

#include <map>
#include <string>
#include <vector>

#include "events/base/result.h"

namespace CLI {
class App;
}

namespace shiplog {

/// Which of Karmada's programs a subcommand takes the place of.
enum class UpstreamPrograms {
  kControlPlane,  ///< controller manager, scheduler, descheduler and webhook; and those of the agent, to be refused
  kEstimator,     ///< scheduler-estimator
  kAgent,         ///< agent
};

/// Flags of these programs that the subcommand has no option for, so that a start script for them works here, or ends
/// with an explanation.
struct UpstreamFlags {
  UpstreamPrograms programs = UpstreamPrograms::kControlPlane;
  std::map<std::string, std::string> given;  ///< by name; boolean ones as "true" or "false"
};

/// What becomes of one of them.
struct UpstreamFlag {
  enum class Treatment {
    kIgnored,  ///< it means nothing here: a warning
    kFixed,    ///< it has one value, which is what shiplogd does; another one is an error
    kRefused,  ///< an error
  };
  std::string name;
  Treatment treatment = Treatment::kIgnored;
  std::string why;         ///< or the value of a fixed one
  bool is_switch = false;  ///< true or false, and true without a value
};
/// All of them, sorted by name.
std::vector<UpstreamFlag> upstream_flags(UpstreamPrograms programs);

/// Adds those that `command` does not have, hidden from --help.
void add_upstream_flags(CLI::App& command, UpstreamFlags& flags);

/// Error: kInvalid, one is refused or has a value that is not to be had. `warnings` gets a sentence for each that means
/// nothing.
Result<void> check_upstream_flags(const CLI::App& command, const UpstreamFlags& flags,
                                  std::vector<std::string>& warnings);

}  // namespace shiplog
