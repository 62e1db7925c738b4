#include "services/runtime/journal_outage.h"

namespace shiplog {
namespace {

using std::chrono::seconds;

constexpr seconds kTellEvery{60};
constexpr seconds kReportedAfter{30};

seconds between(JournalOutage::Time from, JournalOutage::Time to) { return std::chrono::floor<seconds>(to - from); }

}  // namespace

bool JournalOutage::failed(Time now) {
  const std::lock_guard lock{mutex_};
  if (since_ && now - told_ < kTellEvery) return false;
  if (!since_) since_ = now;
  told_ = now;
  return true;
}

std::optional<seconds> JournalOutage::ended(Time now) {
  const std::lock_guard lock{mutex_};
  if (!since_) return std::nullopt;
  const seconds lasted = between(*since_, now);
  since_.reset();
  return lasted;
}

seconds JournalOutage::so_far(Time now) const {
  const std::lock_guard lock{mutex_};
  return since_ ? between(*since_, now) : seconds{0};
}

std::string JournalOutage::describe(Time now) const {
  const seconds lasted = so_far(now);
  if (lasted < kReportedAfter) return "";
  return "it could not be read for " + std::to_string(lasted.count()) +
         " s; the log has the reason (journal.read_failed)";
}

}  // namespace shiplog
