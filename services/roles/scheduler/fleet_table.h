#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/explain/fact.h"
#include "events/state/state.h"
#include "services/roles/scheduler/demand.h"

namespace shiplog::scheduler {

/// Of one hash in FleetTable::follow().
inline constexpr size_t kHashBytes = 16;

/// What is left of one resource on each cluster, by its row: 0 where it is not allocatable.
struct RoomColumn {
  std::vector<int64_t> units, milli;
};

/// What the rules that read nothing but a cluster, a placement and a kind have found of each cluster, by its row.
struct StaticVerdicts {
  static constexpr uint32_t kUnknown = 0, kPasses = 1, kFirstRejection = 2;
  struct Rejection {
    size_t rule = 0;  ///< which of the rules that apply
    Fact reason;
  };
  std::vector<uint32_t> codes;        ///< kFirstRejection + place in `rejections`
  std::vector<Rejection> rejections;  ///< all different, unless there are very many
};

/// The clusters of a fleet, in the order of their names, with what placements compute of them that does not depend on
/// the binding: it is kept for the next placement, and computed again for a cluster that has changed. Threads: one.
class FleetTable {
 public:
  FleetTable() = default;
  /// Of clusters that stay where they are as long as this does.
  explicit FleetTable(const Clusters& clusters);
  FleetTable(const FleetTable&) = delete;
  FleetTable& operator=(const FleetTable&) = delete;
  ~FleetTable() = default;

  size_t size() const { return rows_.size(); }
  const Cluster& cluster(size_t row) const { return *rows_[row]; }
  /// The resources of its nodes are graded, so that columns do not say what fits.
  bool graded(size_t row) const { return !rows_[row]->grades.empty(); }
  /// Valid until follow().
  const RoomColumn& room(const std::string& resource);
  /// Under a name of all that these verdicts depend on besides the cluster. Valid until follow().
  StaticVerdicts& verdicts(const std::string& name);

  /// Each target's place, for each row; nullptr: the cluster is none. Of two for one cluster the first counts.
  std::vector<const Target*> targets_by_row(const Demand& demand) const;

  /// Makes this the table of the state's Clusters. `hashes`: those of the objects, kHashBytes each, in the order of
  /// names: a cluster whose hash is the same is the same. What is known of it stays.
  void follow(const State& state, const std::string& hashes);

 private:
  void replace(size_t row, const Cluster& cluster);

  std::vector<const Cluster*> rows_;
  std::vector<std::unique_ptr<Cluster>> own_;  // by follow(): the state may be gone when the next one is followed
  std::string hashes_;
  std::map<std::string, RoomColumn> rooms_;
  std::map<std::string, StaticVerdicts> verdicts_;
};

}  // namespace shiplog::scheduler
