#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "services/runtime/election.h"
#include "services/runtime/executor.h"
#include "tests/simulation/timeline.h"

namespace shiplog::simulation {

/// Which process is notified to lead. An election may be wrong: for some time it can have notified two, or none.
class Elections {
 public:
  Elections(Timeline& timeline, Chance chance) : timeline_{timeline}, chance_{chance} {}

  /// Tells the candidate whose identity begins like this that it leads, and the one before only later. False when there
  /// is no such candidate, or it leads already.
  bool elect(const std::string& service, const std::string& candidate, Millis later);
  /// Another process is notified to lead all that this one leads.
  void depose(const std::string& identity, Millis later);
  /// From now on there is one leader for each service that has candidates.
  void settle();

 private:
  friend class SimElection;
  struct Candidate {
    std::string identity;
    Executor* executor = nullptr;
    std::function<void(bool)> changed;
    std::shared_ptr<bool> alive;
    bool leads = false;
  };
  using CandidatePtr = std::shared_ptr<Candidate>;

  void join(const std::string& service, CandidatePtr candidate);
  void leave(const std::shared_ptr<bool>& process);
  void fill_later(const std::string& service);
  void fill(const std::string& service);
  void replace(const std::string& service, const CandidatePtr& next, Millis later);
  static void notify(const CandidatePtr& candidate, bool leads);

  Timeline& timeline_;
  Chance chance_;
  std::map<std::string, std::vector<CandidatePtr>> candidates_;  // by service
};

/// One process's view. When it is destroyed, others learn in time that the process has ended.
class SimElection final : public Election {
 public:
  SimElection(Elections& elections, Executor& executor, std::string identity);
  ~SimElection() override;
  const std::string& identity() const override { return identity_; }
  void campaign(const std::string& service, std::function<void(bool leading)> changed) override;
  void resign() override;

 private:
  Elections& elections_;
  Executor& executor_;
  std::string identity_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog::simulation
