#include "tests/simulation/election.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "events/slots.h"

namespace shiplog::simulation {

void Elections::notify(const CandidatePtr& candidate, bool leads) {
  if (!*candidate->alive || candidate->leads == leads) return;
  candidate->leads = leads;
  candidate->executor->post([candidate, leads] {
    if (*candidate->alive && !candidate->withdrawn) candidate->changed(leads);
  });
}

void Elections::join(const std::string& service, CandidatePtr candidate) {
  candidates_[service].push_back(candidate);
  if (usurps(service, candidate->identity)) {
    replace(service, candidate, Millis{chance_.between(0, 4000)});
  } else {
    fill_later(service);
  }
}

bool Elections::usurps(const std::string& service, const std::string& candidate) const {
  const auto role = announced_.find(std::string{role_of_lease(service)});
  if (!slot_of_lease(service) || role == announced_.end()) return false;
  const UtcMillis now = timeline_.now();
  return std::ranges::any_of(role->second, [&](const Announced& one) {
    return one.identity == candidate ? one.alone_until > now : one.unseen_until > now;
  });
}

void Elections::withdraw(const std::string& service, const std::shared_ptr<bool>& process) {
  std::erase_if(candidates_[service], [&](const CandidatePtr& one) {
    if (one->alive != process) return false;
    one->withdrawn = true;
    return true;
  });
  fill_later(service);
}

void Elections::announce(const std::string& role, const std::string& identity, std::shared_ptr<bool> alive) {
  announced_[role].push_back({identity, std::move(alive), timeline_.now() + Millis{chance_.between(0, 800)}, {}, {}});
}

std::vector<std::string> Elections::candidates(const std::string& role, const std::string& for_whom) const {
  std::vector<std::string> seen;
  const auto found = announced_.find(role);
  if (found == announced_.end()) return seen;
  const UtcMillis now = timeline_.now();
  const auto self = std::ranges::find(found->second, for_whom, &Announced::identity);
  const bool alone = self != found->second.end() && self->alone_until > now;
  for (const Announced& one : found->second) {
    const bool known = !alone && one.known_from <= now && one.unseen_until <= now;
    if (one.identity == for_whom || known) seen.push_back(one.identity);
  }
  std::ranges::sort(seen);
  return seen;
}

void Elections::leave(const std::shared_ptr<bool>& process) {
  for (auto& [service, candidates] : candidates_) {
    std::erase_if(candidates, [&](const CandidatePtr& one) { return one->alive == process; });
    fill_later(service);
  }
  // The others notice after a while that it has ended.
  timeline_.after(Millis{chance_.between(0, 800)}, [this, process] {
    for (auto& [role, announced] : announced_) {
      std::erase_if(announced, [&](const Announced& one) { return one.alive == process; });
    }
  });
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
  for (Announced& one : announced_[service]) {
    if (!one.identity.starts_with(candidate) || !*one.alive) continue;
    one.alone_until = timeline_.now() + later;
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
  for (auto& [role, announced] : announced_) {
    for (Announced& one : announced) {
      if (one.identity == identity) one.unseen_until = timeline_.now() + later;
    }
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
  for (auto& [role, announced] : announced_) {
    for (Announced& one : announced) one.alone_until = one.unseen_until = UtcMillis{};
  }
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
                               Elections::Candidate{identity_, &executor_, std::move(changed), alive_, false, false}));
}

void SimElection::withdraw(const std::string& service) { elections_.withdraw(service, alive_); }

void SimElection::announce(const std::string& role) { elections_.announce(role, identity_, alive_); }

std::vector<std::string> SimElection::candidates(const std::string& role) {
  return elections_.candidates(role, identity_);
}

void SimElection::resign() {
  if (!std::exchange(*alive_, false)) return;
  elections_.leave(alive_);
}

}  // namespace shiplog::simulation
