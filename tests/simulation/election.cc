#include "tests/simulation/election.h"

#include <algorithm>
#include <utility>

namespace shiplog::simulation {

void Elections::tell(const CandidatePtr& candidate, bool leads) {
  if (!*candidate->alive || candidate->leads == leads) return;
  candidate->leads = leads;
  candidate->executor->post([candidate, leads] {
    if (*candidate->alive) candidate->changed(leads);
  });
}

void Elections::join(const std::string& service, CandidatePtr candidate) {
  candidates_[service].push_back(std::move(candidate));
  fill_later(service);
}

void Elections::leave(const std::shared_ptr<bool>& process) {
  for (auto& [service, candidates] : candidates_) {
    std::erase_if(candidates, [&](const CandidatePtr& one) { return one->alive == process; });
    fill_later(service);
  }
}

void Elections::fill_later(const std::string& service) {
  timeline_.after(Millis{chance_.between(0, 800)}, [this, service] { fill(service); });
}

void Elections::fill(const std::string& service) {
  auto& candidates = candidates_[service];
  if (candidates.empty() || std::ranges::any_of(candidates, &Candidate::leads)) return;
  tell(chance_.one_of(candidates), true);
}

void Elections::confuse() {
  if (candidates_.empty()) return;
  const auto at = std::next(candidates_.begin(), chance_.between(0, static_cast<int64_t>(candidates_.size()) - 1));
  if (at->second.empty()) return;
  const CandidatePtr next = chance_.one_of(at->second);
  for (const CandidatePtr& one : at->second) {
    if (one == next || !one->leads) continue;
    timeline_.after(Millis{chance_.between(0, 4000)}, [this, one, service = at->first] {
      tell(one, false);
      fill(service);
    });
  }
  tell(next, true);
}

void Elections::settle() {
  for (auto& [service, candidates] : candidates_) {
    bool taken = false;
    for (const CandidatePtr& one : candidates) {
      if (taken) tell(one, false);
      taken = taken || one->leads;
    }
    fill(service);
  }
}

SimElection::SimElection(Elections& elections, Executor& executor, std::string identity)
    : elections_{elections}, executor_{executor}, identity_{std::move(identity)} {}

SimElection::~SimElection() { resign(); }

void SimElection::campaign(const std::string& service, std::function<void(bool leading)> changed) {
  elections_.join(service, std::make_shared<Elections::Candidate>(
                               Elections::Candidate{identity_, &executor_, std::move(changed), alive_, false}));
}

void SimElection::resign() {
  if (!std::exchange(*alive_, false)) return;
  elections_.leave(alive_);
}

}  // namespace shiplog::simulation
