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
  /// A process without a chance for a slot of a divided role believes for that time that it is the only candidate, and
  /// then leads for all slots while the others still do.
  bool elect(const std::string& service, const std::string& candidate, Millis later);
  /// Another process is notified to lead all that this one leads. Slots go to the others, which see it no more for that
  /// time, while it still sees itself.
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
    bool withdrawn = false;
  };
  using CandidatePtr = std::shared_ptr<Candidate>;
  /// One process that has announced a role.
  struct Announced {
    std::string identity;
    std::shared_ptr<bool> alive;
    UtcMillis known_from;    // to the others
    UtcMillis alone_until;   // it sees no others
    UtcMillis unseen_until;  // others do not see it
    bool operator==(const Announced&) const = default;
  };

  void announce(const std::string& role, const std::string& identity, std::shared_ptr<bool> alive);
  std::vector<std::string> candidates(const std::string& role, const std::string& for_whom) const;
  void withdraw(const std::string& service, const std::shared_ptr<bool>& process);
  /// Two believe to lead: this one has a wrong view, or the others do not see the one that leads.
  bool usurps(const std::string& service, const std::string& candidate) const;

  void join(const std::string& service, CandidatePtr candidate);
  void leave(const std::shared_ptr<bool>& process);
  void fill_later(const std::string& service);
  void fill(const std::string& service);
  void replace(const std::string& service, const CandidatePtr& next, Millis later);
  static void notify(const CandidatePtr& candidate, bool leads);

  Timeline& timeline_;
  Chance chance_;
  std::map<std::string, std::vector<CandidatePtr>> candidates_;  // by service
  std::map<std::string, std::vector<Announced>> announced_;      // by role
};

/// One process's view. When it is destroyed, others learn in time that the process has ended.
class SimElection final : public Election {
 public:
  SimElection(Elections& elections, Executor& executor, std::string identity);
  ~SimElection() override;
  const std::string& identity() const override { return identity_; }
  void campaign(const std::string& service, std::function<void(bool leading)> changed) override;
  void withdraw(const std::string& service) override;
  void announce(const std::string& role) override;
  std::vector<std::string> candidates(const std::string& role) override;
  void resign() override;

 private:
  Elections& elections_;
  Executor& executor_;
  std::string identity_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog::simulation
