#include "services/roles/federated_hpa/member_reads.h"

#include <utility>

namespace shiplog::federated_hpa {

void MemberReads::enter(const std::string& cluster, std::function<void()> begin) {
  lines_[cluster].waiting.push_back(std::move(begin));
  give_turn(cluster);
  begin_next();
}

void MemberReads::leave(const std::string& cluster) {
  --lines_[cluster].under_way;
  --under_way_;
  give_turn(cluster);
  begin_next();
}

void MemberReads::give_turn(const std::string& cluster) {
  if (!std::exchange(lines_[cluster].has_turn, true)) turns_.push_back(cluster);
}

void MemberReads::begin_next() {
  // What begins may end at once: one loop, or the calls would nest as deep as the line is long.
  if (std::exchange(beginning_, true)) return;
  while (!turns_.empty() && under_way_ < kMostTogether) {
    const std::string cluster = std::move(turns_.front());
    turns_.pop_front();
    ReadingLine& line = lines_[cluster];
    line.has_turn = false;
    if (line.may_begin()) {
      const auto begin = std::move(line.waiting.front());
      line.waiting.pop_front();
      ++line.under_way;
      ++under_way_;
      if (line.may_begin()) give_turn(cluster);
      begin();
    } else if (line.under_way == 0 && line.waiting.empty()) {
      lines_.erase(cluster);
    }
  }
  beginning_ = false;
}

void MemberReads::silence(const std::string& what, UtcMillis now) {
  std::erase_if(silent_, [&](const auto& each) { return now >= each.second; });
  silent_.insert_or_assign(what, now + kSilentFor);
}

bool MemberReads::silent(const std::string& what, UtcMillis now) const {
  const auto found = silent_.find(what);
  return found != silent_.end() && now < found->second;
}

}  // namespace shiplog::federated_hpa
