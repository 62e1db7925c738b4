#pragma once

#include <memory>
#include <vector>

#include "events/dispatch.h"
#include "services/runtime/role.h"

namespace shiplog::dispatcher {

/// Appends the results of Works to the journal. A report is appended at once while none is pending; those that arrive
/// meanwhile go together, in one entry: the busier the members, the fewer entries. A refused entry is split, so
/// that one Work that has moved on keeps back no other. Ends each task. Threads: the fold thread.
class WorkReports : public std::enable_shared_from_this<WorkReports> {
 public:
  /// The task is that of `applied.work`. When this replica stops acting, Reports and tasks are dropped together.
  void add(TaskPtr task, WorkApplied applied);

 private:
  struct Report {
    TaskPtr task;
    WorkApplied applied;
  };
  void send();

  bool under_way_ = false;
  std::vector<Report> waiting_;
};
using WorkReportsPtr = std::shared_ptr<WorkReports>;

}  // namespace shiplog::dispatcher
