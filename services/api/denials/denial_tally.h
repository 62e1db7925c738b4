#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "events/api.h"
#include "events/base/time.h"
#include "events/entry.h"

namespace shiplog::api {

/// One refused request, as far as the audit trail needs it.
struct RefusedRequest {
  Actor actor;
  std::string verb;
  std::string path;
  Cause cause;  ///< its trace
  RequestDenied denial;
};

/// `text`, at most `longest` bytes of it plus a note of how many were cut. Never cuts inside a UTF-8 sequence.
std::string clipped(std::string_view text, size_t longest);

/// Decides which refused requests are recorded one by one and which are only counted, so that a client without rights
/// cannot make the journal grow. Per client (user and address, of IPv6 the /64) the first `burst` are recorded in full,
/// later ones as long as one token per `refill` has accumulated; the rest is counted by what they have in common and
/// becomes one entry per client and `window`. All clients together have a budget too, and beyond `clients` of them all
/// others share one, so that neither the journal nor the memory grows with their number. Pure: time is an argument.
/// Threads: one at a time.
class DenialTally {
 public:
  struct Limits {
    int64_t burst = 20;  ///< entries recorded in full, per client
    Millis refill{60'000};
    int64_t total_burst = 400;  ///< the same for all clients together
    Millis total_refill{2'000};
    Millis window{60'000};
    size_t clients = 1'000;          ///< remembered at once
    size_t entries_per_window = 20;  ///< of counted requests, for all clients together
    size_t subjects_per_client = 4;  ///< distinguished within one entry; the rest is summed up
  };

  DenialTally() : DenialTally(Limits{}) {}
  explicit DenialTally(Limits limits) : limits_{limits}, total_{limits.total_burst, {}} {}

  /// Requests of this client were refused lately: its budget is not full.
  bool suspicious(const Actor& actor, UtcMillis now) const;
  /// Takes note of a refused request that the journal holds already.
  void recorded(const Actor& actor, UtcMillis now);
  /// True: it is to be recorded in full, with clipped() texts. False: it was counted.
  bool record(const RefusedRequest& request, UtcMillis now);

  /// Nothing was counted that take() has not returned.
  bool empty() const { return counting_ == 0; }
  /// The entries, with time but without id, of everything counted since the last call.
  std::vector<Entry> take(UtcMillis now);

  size_t clients() const { return clients_.size(); }
  const Limits& limits() const { return limits_; }

 private:
  struct Tokens {
    int64_t left = 0;
    UtcMillis since;  // of the last refill
    void refill(int64_t most, Millis every, UtcMillis now);
  };
  struct Client {
    std::string key;
    Actor actor;
    Tokens tokens;
    std::vector<RequestsDenied> counted;
    int64_t count = 0;
    int64_t others = 0;  // clients that share this one; 0: it is one client
  };
  using Clients = std::list<Client>;  // the least recent first

  Client& client(const Actor& actor, UtcMillis now);
  bool spend(Client& client, UtcMillis now);
  void count(Client& client, const RefusedRequest& request, UtcMillis now);

  Limits limits_;
  Tokens total_;
  Clients clients_;
  std::map<std::string, Clients::iterator, std::less<>> by_key_;
  Client overflow_;
  size_t counting_ = 0;  // clients with something counted
};

/// The entry of one refused request, bounded in size.
Entry denial_entry(const RefusedRequest& request, UtcMillis now);

}  // namespace shiplog::api
