#pragma once

#include <memory>
#include <vector>

#include "events/dispatch.h"
#include "services/runtime/role.h"

namespace shiplog::dispatcher {

/// What came of Works, on its way into the journal. A report goes at once while none is under way; those that come
/// meanwhile go together, in one entry: the busier the members, the fewer entries. A refused entry is taken apart, so
/// that one Work that has moved on keeps back no other. Ends each task. Threads: the fold thread.
class Reports : public std::enable_shared_from_this<Reports> {
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
using ReportsPtr = std::shared_ptr<Reports>;

}  // namespace shiplog::dispatcher
