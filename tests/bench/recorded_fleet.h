#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "events/base/value.h"
#include "events/entry.h"
#include "tests/support/stage.h"

namespace shiplog::bench {

/// A fleet whose roles really run, in virtual time: Deployments on two of three members, edited again and again. What
/// the roles and the users append is recorded, as if each role had the lease of its name.
class RecordedFleet {
 public:
  RecordedFleet();
  void create(size_t deployments);
  /// Changes the replicas of each.
  void edit(size_t deployments, size_t round);
  std::vector<Entry> entries() const;

 private:
  void pass(size_t number);
  void put(const ObjectKey& key, Value value);
  testing::Stage stage_;
};

}  // namespace shiplog::bench
