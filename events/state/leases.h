#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace shiplog {

/// Who decides for a role, by the newest LeaseTaken.
struct Lease {
  std::string holder;
  uint64_t epoch = 0;
  bool operator==(const Lease&) const = default;
};

/// The leases of all roles and slots, by name. Copies share one map: each folded batch has a copy, and few change a
/// lease.
class Leases {
 public:
  using Map = std::map<std::string, Lease>;

  Leases() : map_{std::make_shared<const Map>()} {}
  explicit Leases(Map leases) : map_{std::make_shared<const Map>(std::move(leases))} {}

  const Map& all() const { return *map_; }
  /// Other copies keep what they have.
  void set(const std::string& name, Lease lease) {
    Map changed = *map_;
    changed[name] = std::move(lease);
    map_ = std::make_shared<const Map>(std::move(changed));
  }
  /// False does not say that they differ.
  bool shares_with(const Leases& other) const { return map_ == other.map_; }
  bool operator==(const Leases& other) const { return shares_with(other) || *map_ == *other.map_; }

 private:
  std::shared_ptr<const Map> map_;
};

}  // namespace shiplog
