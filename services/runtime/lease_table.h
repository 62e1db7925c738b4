#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"

namespace shiplog {

/// What a process publishes periodically, in a log that all candidates read: that it is alive, which services it
/// leads, and which it would take over.
struct Heartbeat {
  std::string from;                       ///< unique among processes
  std::map<std::string, int64_t> holds;   ///< by service: the offset of the heartbeat that won it
  std::map<std::string, int64_t> claims;  ///< by service: how far the claimer had read the log
  bool leaving = false;                   ///< it ends, and releases all leases
  uint32_t fold_version = 0;              ///< the newest it supports; 0: its build is older than the announcement
  std::set<std::string> releases = {};    ///< services that it led, and gives up
  std::set<std::string> roles = {};       ///< divided roles that it would take slots of
  bool early = false;                     ///< published before its time, for its claims or releases

  bool operator==(const Heartbeat&) const = default;
};
std::string to_text(const Heartbeat& heartbeat);
/// Error: kCorrupt.
Result<Heartbeat> heartbeat_from(std::string_view text);

/// The leaders, by the order of the heartbeats: all that read as far see the same holders. A claim wins when no one
/// holds the service, or when the claimer had read of the present holder's win and claims nevertheless; of two such
/// claims the first wins, as the second cannot have read of it.
///
/// There is no clock in it: a holder has fallen silent when `patience` heartbeats of our own have been read from the
/// log without one of its in between. So an outage of the log, or a pause of our own, silences no holder. Early ones do
/// not count, as the holder sends none meanwhile.
class LeaseTable {
 public:
  LeaseTable(std::string self, int patience, uint32_t fold_version = 0)
      : self_{std::move(self)}, patience_{patience}, fold_version_{fold_version} {}

  /// We want to lead for this service.
  void campaign(const std::string& service) { wanted_.insert(service); }
  /// We do not any more.
  void withdraw(const std::string& service) { wanted_.erase(service); }
  /// We are a candidate for slots of the role.
  void announce(const std::string& role) { roles_.insert(role); }
  void fold(Offset at, const Heartbeat& heartbeat);
  /// The log was replaced by another one. What was read of it counts nothing any more; what we want stays.
  void forget();

  /// The heartbeat to publish now.
  Heartbeat next_heartbeat() const;
  bool leads(const std::string& service) const;
  /// A process that has not fallen silent leads.
  bool led(const std::string& service) const;
  /// The newest fold version that all processes support which have not been silent for long; nullopt: no heartbeat of
  /// our own has been read yet, so others may not have been either.
  std::optional<uint32_t> fold_version_of_all() const;
  /// Which processes that have not fallen silent have announced the role; sorted.
  std::vector<std::string> candidates(const std::string& role) const;
  /// A claim or a release is due.
  bool is_urgent() const;
  const std::set<std::string>& wanted() const { return wanted_; }

 private:
  struct Lease {
    std::string holder;
    int64_t won_at = -1;  // offset of the heartbeat that won it; grows
    int silence = 0;      // heartbeats of ours since the holder's last one
  };

  struct Process {
    uint32_t fold_version = 0;
    int silence = 0;  // heartbeats of ours since its last one
    std::set<std::string> roles;
  };

  std::string self_;
  int patience_;
  uint32_t fold_version_;
  std::set<std::string> wanted_, roles_;
  std::map<std::string, Lease> leases_;
  std::map<std::string, Process> processes_;  // by identity, this one included
  int64_t read_to_ = -1;
};

}  // namespace shiplog
