#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/bench/scale_fleet.h"

// What scale_bench has a fleet do, and how long that takes.
namespace shiplog::bench {

/// Members that templates are placed on: groups of kCopies, spread over the fleet. The last ones of the fleet are among
/// them.
class Targets {
 public:
  static constexpr size_t kCopies = 3;
  static constexpr size_t kMost = 99;

  explicit Targets(size_t members);
  size_t groups() const { return numbers_.size() / kCopies; }
  /// Numbers of members.
  std::vector<size_t> of(size_t group) const;
  const std::vector<size_t>& all() const { return numbers_; }
  /// One policy for each group.
  void create_policies(BenchClient& client) const;

 private:
  std::vector<size_t> numbers_;
};

/// Milliseconds.
struct Latencies {
  std::vector<double> writes, reads;  ///< of the control plane's API
  std::vector<double> to_member;      ///< from the request that creates a template to the object in a member
  std::vector<double> to_status;      ///< from there to the template's status, all of its members being ready
};

/// Creates `templates` Deployments, `rate` a second, each for one group of members, and reads and writes something else
/// meanwhile. The last `hanging` members of the fleet never have them. Ends the program if one does not arrive.
Latencies run_load(ScaledFleet& fleet, const Targets& targets, const std::string& name, size_t templates, size_t rate,
                   size_t hanging);
/// Reads and writes alone.
Latencies sample_api(ScaledFleet& fleet, const std::string& name, int seconds);

}  // namespace shiplog::bench
