#include "services/roles/dispatcher/work_reports.h"

#include <algorithm>
#include <utility>

namespace shiplog::dispatcher {
namespace {

constexpr size_t kMostAtOnce = 128;  // keeps an entry far below its size limit

void end(const TaskPtr& task, const Result<Revision>& appended) {
  // Refused as outdated: the change that made it so has triggered the key, and retry() runs it again at once.
  appended ? task->done() : task->retry(appended.error());
}

}  // namespace

void WorkReports::add(TaskPtr task, WorkApplied applied) {
  waiting_.push_back({std::move(task), std::move(applied)});
  send();
}

void WorkReports::send() {
  if (under_way_ || waiting_.empty()) return;
  under_way_ = true;
  const auto end_of_these = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kMostAtOnce));
  auto sent =
      std::make_shared<std::vector<Report>>(std::move_iterator{waiting_.begin()}, std::move_iterator{end_of_these});
  waiting_.erase(waiting_.begin(), end_of_these);
  Decision seen;
  for (const Report& report : *sent) seen.events.emplace_back(report.applied);
  sent->front().task->append_observation(
      std::move(seen), [self = shared_from_this(), sent](const Result<Revision>& appended) {
        self->under_way_ = false;
        const bool apart = !appended && sent->size() > 1 && appended.error().code != ErrorCode::kUnavailable &&
                           appended.error().code != ErrorCode::kIo;
        for (const Report& report : *sent) {
          if (!apart) {
            end(report.task, appended);
            continue;
          }
          report.task->append_observation({{report.applied}, {}},
                                          [task = report.task](const Result<Revision>& alone) { end(task, alone); });
        }
        self->send();
      });
}

}  // namespace shiplog::dispatcher
