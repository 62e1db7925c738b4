#include "services/roles/federated_hpa/member_reads.h"

#include <utility>

namespace shiplog::federated_hpa {

void MemberReads::enter(const std::string& cluster, std::function<void()> begin) {
  queues_[cluster].waiting.push_back(std::move(begin));
  give_turn(cluster);
  begin_next();
}

void MemberReads::leave(const std::string& cluster) {
  --queues_[cluster].under_way;
  --under_way_;
  give_turn(cluster);
  begin_next();
}

void MemberReads::give_turn(const std::string& cluster) {
  if (!std::exchange(queues_[cluster].has_turn, true)) turns_.push_back(cluster);
}

void MemberReads::begin_next() {
  // What begins may end at once: one loop, or the calls would nest as deep as the queue is long.
  if (std::exchange(beginning_, true)) return;
  while (!turns_.empty() && under_way_ < kMostTogether) {
    const std::string cluster = std::move(turns_.front());
    turns_.pop_front();
    ReadingQueue& queue = queues_[cluster];
    queue.has_turn = false;
    if (queue.may_begin()) {
      const auto begin = std::move(queue.waiting.front());
      queue.waiting.pop_front();
      ++queue.under_way;
      ++under_way_;
      if (queue.may_begin()) give_turn(cluster);
      begin();
    } else if (queue.under_way == 0 && queue.waiting.empty()) {
      queues_.erase(cluster);
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
