#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "events/base/ids.h"
#include "events/base/result.h"

namespace shiplog {

/// What a process says of itself again and again, in a log that all candidates read: that it lives, which services it
/// leads, and which it would take over.
struct Beat {
  std::string from;                       ///< unique among processes
  std::map<std::string, int64_t> holds;   ///< by service: the offset of the beat that won it
  std::map<std::string, int64_t> claims;  ///< by service: how far the claimer had read the log
  bool leaving = false;                   ///< it ends, and lets go of everything

  bool operator==(const Beat&) const = default;
};
std::string to_text(const Beat& beat);
/// Error: kCorrupt.
Result<Beat> beat_from(std::string_view text);

/// Who leads, by the order of the beats: everybody who has read as far sees the same holders. A claim wins when nobody
/// holds the service, or when the claimer had read of the present holder's win and claims nevertheless; of two such
/// claims the first wins, as the second cannot have read of it.
///
/// There is no clock in it: a holder has fallen silent when `patience` beats of our own have come back through the log
/// without one of its in between. So an outage of the log, or a pause of our own, makes nobody silent.
class LeaseTable {
 public:
  LeaseTable(std::string self, int patience) : self_{std::move(self)}, patience_{patience} {}

  /// We want to lead for this service.
  void campaign(const std::string& service) { wanted_.insert(service); }
  void fold(Offset at, const Beat& beat);

  /// What we have to say now.
  Beat next_beat() const;
  bool leads(const std::string& service) const;
  /// Somebody does who has not fallen silent.
  bool led(const std::string& service) const;
  /// A claim is due.
  bool has_claims() const { return !next_beat().claims.empty(); }
  const std::set<std::string>& wanted() const { return wanted_; }

 private:
  struct Lease {
    std::string holder;
    int64_t won_at = -1;  // offset of the beat that won it; grows
    int silence = 0;      // beats of ours since the holder last spoke
  };

  std::string self_;
  int patience_;
  std::set<std::string> wanted_;
  std::map<std::string, Lease> leases_;
  int64_t read_to_ = -1;
};

}  // namespace shiplog
