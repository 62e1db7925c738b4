#include "services/api/insight/targets_changed.h"

#include <utility>
#include <vector>

#include "events/base/json.h"
#include "projections/objects/object_query.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostVersions = 500;

/// An empty list and none are the same.
bool same_targets(const Value& a, const Value& b) {
  return a["spec"]["clusters"] == b["spec"]["clusters"] ||
         (a["spec"]["clusters"].size() == 0 && b["spec"]["clusters"].size() == 0);
}

}  // namespace

std::string targets_text(const Value& targets) {
  std::string text;
  for (const Value& target : targets.items()) {
    text += (text.empty() ? "" : " ") + target["name"].str();
    if (target["replicas"].as_int() > 0) text += ":" + std::to_string(target["replicas"].as_int());
  }
  return text.empty() ? "none" : text;
}

Result<std::optional<VersionRow>> targets_changed(const View& view, const ObjectKey& key, const Value& binding,
                                                  std::optional<Revision> placed, std::optional<Revision> at) {
  Value before;
  if (placed) {
    const auto row = ObjectQuery{view}.get(key, *placed);
    if (!row && row.error().code == ErrorCode::kGone) return std::nullopt;
    if (!row) return row.error();
    if (row.value()) {
      SHIPLOG_TRY(before, parse_stored_json(row.value()->json));
    }
  }
  if (same_targets(before, binding)) return std::nullopt;
  SHIPLOG_TRY(auto versions, HistoryQuery{view}.versions(key, true, kMostVersions, at));
  std::optional<VersionRow> oldest_with_them;
  for (VersionRow& version : versions) {  // newest first
    if (version.operation == VersionOperation::kRemoved) break;
    SHIPLOG_TRY(const Value value, parse_stored_json(version.json));
    if (!same_targets(value, binding)) return oldest_with_them;
    const bool created = version.operation == VersionOperation::kCreated;
    oldest_with_them = std::move(version);
    if (created) return oldest_with_them;
  }
  return std::nullopt;
}

}  // namespace shiplog::api
