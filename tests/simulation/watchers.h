#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/simulation/world.h"

namespace shiplog::simulation {

/// Clients that watch. Each has a revision and pulls what follows it from the feed of the process it is
/// connected to, as the API server's watches do; when that dies it goes on at another one. What it gets must be every
/// change of its type, once, in order, as the journal made it: across processes, crashes and snapshots.
class Watchers {
 public:
  explicit Watchers(World& world) : world_{world} {}

  void begin();
  /// At rest all have everything.
  void check_complete();

 private:
  struct Client {
    std::string name;
    std::string type;  // empty: all
    Revision at;       // all up to here has been delivered
    SimulatedProcess* process = nullptr;
    int life = 0;      // of that process
    int attempts = 0;  // to connect
    bool connected = false;
    Chance chance;
    bool started = false;
    bool skipped = false;
  };
  void next(Client& client);
  void connect(Client& client);
  void pull(Client& client);
  void deliver(Client& client, const std::vector<const Change*>& changes, Revision upto);

  World& world_;
  std::vector<Client> clients_;
};

}  // namespace shiplog::simulation
