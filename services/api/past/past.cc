#include "services/api/past/past.h"

#include <algorithm>
#include <utility>

#include "events/base/json.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "services/api/insight/as_of.h"

namespace shiplog::api {
namespace {

/// Each holds the roles and the kinds of a fleet.
constexpr size_t kMostKept = 8;

Result<void> visit(const View& view, const char* type, Revision at,
                   const std::function<void(const ObjectKey&, const Value&)>& take) {
  std::optional<Error> failed;
  SHIPLOG_TRY(ObjectQuery{view}.visit({.type = type, .at = at}, [&](const ObjectRowView& row) {
    auto object = parse_stored_json(row.json);
    if (!object) {
      failed = object.error();
      return false;
    }
    take({type, std::string{row.ns}, std::string{row.name}}, object.value());
    return true;
  }));
  if (failed) return *failed;
  return ok();
}

Result<std::shared_ptr<const RbacPolicy>> policy_at(const View& view, Revision at) {
  auto policy = std::make_shared<RbacPolicy>();
  for (const char* type : {rbac::kRole, rbac::kClusterRole, rbac::kRoleBinding, rbac::kClusterRoleBinding}) {
    SHIPLOG_TRY(visit(view, type, at, [&](const ObjectKey& key, const Value& object) { policy->put(key, object); }));
  }
  return std::shared_ptr<const RbacPolicy>{std::move(policy)};
}

Result<std::shared_ptr<const Kinds>> kinds_at(const View& view, Revision at, Kinds kinds) {
  SHIPLOG_TRY(visit(view, type::kCustomResourceDefinition, at, [&](const ObjectKey&, const Value& definition) {
    if (auto with = with_definition(kinds, definition)) kinds = std::move(with).value();
  }));
  return std::make_shared<const Kinds>(std::move(kinds));
}

}  // namespace

UtcMillis replayed_until(const PastView& view, Millis elapsed, UtcMillis present) {
  if (view.speed == 0) return present;
  const double until = static_cast<double>(view.past->time.value) + static_cast<double>(elapsed.value) * view.speed;
  return until < static_cast<double>(present.value) ? UtcMillis{static_cast<int64_t>(until)} : present;
}

Result<PastView> PastReader::open(const PastPath& path, UtcMillis now) {
  SHIPLOG_TRY(auto found, read(path, now));
  std::shared_ptr<const Past> past;
  {
    const std::lock_guard lock{mutex_};
    const auto known = std::ranges::find_if(latest_, [&](const std::shared_ptr<const Past>& one) {
      return one->record == found->record && one->ephemera == found->ephemera && one->time == found->time;
    });
    if (known != latest_.end()) {
      latest_.splice(latest_.begin(), latest_, known);
      past = latest_.front();
    }
  }
  if (past == nullptr) {
    SHIPLOG_TRY(record_.read([&](const View& view) -> Result<void> {
      SHIPLOG_TRY(found->policy, policy_at(view, found->record));
      SHIPLOG_TRY(found->kinds, kinds_at(view, found->record, now_.compiled()));
      return ok();
    }));
    past = std::move(found);
    const std::lock_guard lock{mutex_};
    latest_.push_front(past);
    if (latest_.size() > kMostKept) latest_.pop_back();
  }
  return PastView{std::move(past), path.speed, "/at/" + path.options};
}

/// The moment, without kinds and policy.
Result<std::shared_ptr<Past>> PastReader::read(const PastPath& path, UtcMillis now) const {
  auto past = std::make_shared<Past>();
  const bool by_revision = path.moment.starts_with('r');
  const std::string_view text = std::string_view{path.moment}.substr(by_revision ? 1 : 0);
  SHIPLOG_TRY(record_.read([&](const View& view) -> Result<void> {
    SHIPLOG_TRY(past->record, revision_of(view, "/at/", text, now));
    if (!by_revision) {
      past->time = parse_rfc3339(path.moment).value();
      return ok();
    }
    SHIPLOG_TRY(const auto version, HistoryQuery{view}.version(past->record));
    past->time = version ? version->entry.time : now;
    return ok();
  }));
  past->ephemera = past->record;
  if (&ephemera_ == &record_) return past;
  SHIPLOG_TRY(ephemera_.read([&](const View& view) -> Result<void> {
    SHIPLOG_TRY(past->ephemera, HistoryQuery{view}.revision_at(past->time));
    SHIPLOG_TRY(const Revision oldest, HistoryQuery{view}.oldest());
    if (past->ephemera < oldest) past->ephemera = Revision{};
    return ok();
  }));
  return past;
}

}  // namespace shiplog::api
