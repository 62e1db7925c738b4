#pragma once

#include <functional>
#include <string>

#include "tests/simulation/world.h"

namespace shiplog::simulation {

/// The users of the fleet: they create, scale, relabel and delete, put policies and quotas in place, take clusters in
/// and let them go. Each request goes to a process of chance and is computed from what that one has folded, as an API
/// server does it.
class SimulatedUsers {
 public:
  explicit SimulatedUsers(World& world) : world_{world} {}

  /// What every fleet begins with.
  void begin();
  /// One request: about a "template", "policy", "override", "quota", "cluster", "namespace" or "work", or a "rush" of
  /// several.
  void act(const std::string& about, uint64_t seed);

 private:
  void create(SimulatedProcess& process, const ObjectKey& key, Value object);
  void change(SimulatedProcess& process, const ObjectKey& key, const std::function<void(Value&)>& edit, int tries = 3);
  void remove(SimulatedProcess& process, const ObjectKey& key);
  void put(SimulatedProcess& process, const ObjectKey& key, Value object);

  void change_and_back(SimulatedProcess& process, const ObjectKey& key);
  void on_template(SimulatedProcess& process);
  void on_policy(SimulatedProcess& process);
  void on_override(SimulatedProcess& process);
  void on_quota(SimulatedProcess& process);
  void on_cluster(SimulatedProcess& process);
  void on_grant(SimulatedProcess& process);
  void on_namespace(SimulatedProcess& process);
  void on_work(SimulatedProcess& process);
  void on_rush();
  void switch_on(SimulatedProcess& process);

  std::string ns();
  std::string app();

  World& world_;
  Chance chance_{0};  // of the request at hand
};

/// Words of --eviction-budget; none: there is no budget.
std::vector<std::string> some_budget(Chance chance);

}  // namespace shiplog::simulation
