#include "tests/simulation/election.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace shiplog::simulation {

void Elections::notify(const CandidatePtr& candidate, bool leads) {
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
  notify(chance_.one_of(candidates), true);
}

bool Elections::elect(const std::string& service, const std::string& candidate, Millis later) {
  for (const CandidatePtr& one : candidates_[service]) {
    if (!one->identity.starts_with(candidate) || one->leads) continue;
    replace(service, one, later);
    return true;
  }
  return false;
}

void Elections::depose(const std::string& identity, Millis later) {
  for (const auto& [service, candidates] : candidates_) {
    const auto is = [&](const CandidatePtr& one) { return one->identity == identity; };
    const auto old = std::ranges::find_if(candidates, is);
    if (old == candidates.end() || !(*old)->leads) continue;
    std::vector<CandidatePtr> others;
    std::ranges::remove_copy_if(candidates, std::back_inserter(others), is);
    if (!others.empty()) replace(service, chance_.one_of(others), later);
  }
}

void Elections::replace(const std::string& service, const CandidatePtr& next, Millis later) {
  for (const CandidatePtr& one : candidates_[service]) {
    if (one == next || !one->leads) continue;
    timeline_.after(later, [this, one, service] {
      notify(one, false);
      fill(service);
    });
  }
  notify(next, true);
}

void Elections::settle() {
  for (auto& [service, candidates] : candidates_) {
    bool taken = false;
    for (const CandidatePtr& one : candidates) {
      if (taken) notify(one, false);
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
