#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "services/adapters/members/members.h"
#include "services/runtime/executor.h"
#include "tests/simulation/timeline.h"

namespace shiplog::simulation {

class World;

/// How often, of a thousand requests to members, the network does its worst.
struct NetworkFaults {
  uint64_t lost_request = 0;
  uint64_t lost_answer = 0;  ///< the member has acted
  uint64_t held_up = 0;      ///< arrives seconds later
  /// Processes that do not reach a member which others reach, and until when.
  std::map<std::pair<std::string, std::string>, UtcMillis> apart;
};

/// The members as one life of one process reaches them: through a network that loses things. What it sent before it
/// died still arrives.
class SimMembers final : public Members {
 public:
  SimMembers(World& world, Chance& chance, Executor& executor, std::string who);
  ~SimMembers() override;

  void request(const std::string& cluster, MemberRequest request,
               std::function<void(Result<MemberResponse>)> done) override;
  std::unique_ptr<MemberWatch> watch(const std::string& cluster, std::string path,
                                     std::function<void(const Value&)> on_event,
                                     std::function<void(Result<void>)> on_end) override;

 private:
  bool apart_from(const std::string& cluster) const;

  World& world_;
  Chance& chance_;
  Executor& executor_;
  std::string who_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog::simulation
