#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "events/base/ids.h"
#include "events/dispatch.h"
#include "services/runtime/role.h"

namespace shiplog::dispatcher {

/// Appends the results of Works to the journal. A report is appended at once while none is pending; those that arrive
/// meanwhile go together, in one entry. While many are pending, a report is held for a moment: the collector is about
/// to report the status of the same Work, and then reports in the same change that it is applied. A refused entry is
/// split, so that one Work that has moved on keeps back no other. Ends each task. Threads: the fold thread.
class WorkReports : public std::enable_shared_from_this<WorkReports> {
 public:
  /// `holds`: reports may be held, since a collector also reports which Works are applied.
  explicit WorkReports(bool holds) : holds_{holds} {}

  /// The task is that of `applied.work`. When this replica stops acting, Reports and tasks are dropped together.
  void add(TaskPtr task, WorkApplied applied);
  /// As add(), without holding it: it was held, or the collector may have nothing to report.
  void append(TaskPtr task, WorkApplied applied);
  /// True if a report of this generation of the Work is held. It is no longer held then: the caller appends it.
  bool take_held(const ObjectKey& work, int64_t generation);
  /// The Work is gone.
  void forget(const ObjectKey& work) { held_.erase(work); }

 private:
  struct Report {
    TaskPtr task;
    WorkApplied applied;
  };
  void send();

  const bool holds_;
  size_t under_way_ = 0;  // reports in the entry that is being appended
  std::vector<Report> waiting_;
  std::unordered_map<ObjectKey, int64_t> held_;  // the generations that the held reports are of, by Work
};
using WorkReportsPtr = std::shared_ptr<WorkReports>;

}  // namespace shiplog::dispatcher
