#include "services/roles/dispatcher/work_reports.h"

#include <algorithm>
#include <utility>

namespace shiplog::dispatcher {
namespace {

constexpr size_t kMostAtOnce = 128;  // keeps an entry far below its size limit
/// From so many pending reports on the next ones are held: with fewer, each is of use as soon as possible.
constexpr size_t kMany = 8;
/// A member's event of a write arrives with the answer to it, or some milliseconds later; the collector reports what
/// has arrived every 20 ms.
constexpr Millis kHeld{100};

void end(const TaskPtr& task, const Result<Revision>& appended) {
  // Refused as outdated: the change that made it so has triggered the key, and retry() runs it again at once.
  appended ? task->done() : task->retry(appended.error());
}

}  // namespace

void WorkReports::add(TaskPtr task, WorkApplied applied) {
  if (!holds_ || under_way_ + waiting_.size() + held_.size() < kMany)
    return append(std::move(task), std::move(applied));
  held_[applied.work] = applied.generation;
  task->done(kHeld);
}

void WorkReports::append(TaskPtr task, WorkApplied applied) {
  waiting_.push_back({std::move(task), std::move(applied)});
  send();
}

bool WorkReports::take_held(const ObjectKey& work, int64_t generation) {
  const auto held = held_.find(work);
  if (held == held_.end()) return false;
  const bool same = held->second == generation;
  held_.erase(held);
  return same;
}

void WorkReports::send() {
  if (under_way_ > 0 || waiting_.empty()) return;
  const auto end_of_these = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kMostAtOnce));
  auto sent =
      std::make_shared<std::vector<Report>>(std::move_iterator{waiting_.begin()}, std::move_iterator{end_of_these});
  waiting_.erase(waiting_.begin(), end_of_these);
  under_way_ = sent->size();
  Decision seen;
  for (const Report& report : *sent) seen.events.emplace_back(report.applied);
  sent->front().task->append_observation(
      std::move(seen), [self = shared_from_this(), sent](const Result<Revision>& appended) {
        self->under_way_ = 0;
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
