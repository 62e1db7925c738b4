#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "events/base/time.h"

namespace shiplog::federated_hpa {

/// Which members are read, and how many of them at once. The requests of one reading follow each other, so that this
/// also bounds the requests under way: those of other roles to the same member do not wait behind hundreds of reads,
/// and the answers fit into memory together. Members take turns.
class MemberReads {
 public:
  static constexpr size_t kMostOfMember = 4;
  static constexpr size_t kMostTogether = 32;
  /// How long a member or an API that did not answer in time is not asked again.
  static constexpr Millis kSilentFor{30'000};

  /// Calls `begin` when the member has a free place: within this call or later. leave() follows when that reading has
  /// ended, which may be within `begin`.
  void enter(const std::string& cluster, std::function<void()> begin);
  void leave(const std::string& cluster);

  /// `what`: a cluster, or a part of its API.
  void silence(const std::string& what, UtcMillis now);
  bool silent(const std::string& what, UtcMillis now) const;
  /// All are asked again.
  void forget_silence() { silent_.clear(); }

 private:
  struct ReadingQueue {
    size_t under_way = 0;
    std::deque<std::function<void()>> waiting;
    bool has_turn = false;
    bool may_begin() const { return !waiting.empty() && under_way < kMostOfMember; }
  };
  void give_turn(const std::string& cluster);
  void begin_next();

  std::map<std::string, ReadingQueue> queues_;
  std::deque<std::string> turns_;  ///< members that may have one to begin
  size_t under_way_ = 0;
  bool beginning_ = false;
  std::map<std::string, UtcMillis> silent_;  ///< until when
};

}  // namespace shiplog::federated_hpa
