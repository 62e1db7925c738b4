#pragma once

#include <string>
#include <vector>

#include "services/programs/shiplogd/options.h"
#include "services/programs/shiplogd/upstream_flags.h"

namespace shiplog {

/// shiplogd estimator, with the flags of karmada-scheduler-estimator.
class EstimatorCommand {
 public:
  EstimatorCommand(CLI::App& app, std::string& config);
  bool parsed() const;
  /// Exit code.
  int run();

 private:
  Result<void> read_words();

  CLI::App& command_;
  EstimatorServerOptions options_;
  std::vector<std::string> gates_;
  int server_port_ = 0;
  UpstreamFlags upstream_{UpstreamPrograms::kEstimator, {}};
  std::vector<std::string> warnings_;
};

}  // namespace shiplog
