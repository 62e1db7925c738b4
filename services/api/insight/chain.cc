#include "services/api/insight/chain.h"

#include <algorithm>
#include <optional>

#include "projections/history/history_query.h"

namespace shiplog::api {
namespace {

constexpr size_t kLongestChain = 200;
// A member reports the same object again and again: how many such versions to step over at most.
constexpr size_t kVersionsLookedAt = 200;

// Somebody asked for it: the chain ends here.
bool is_request(const AuditRow& entry) { return entry.actor.service.empty() || entry.actor.service == "api"; }

bool has_event(const AuditRow& entry, const std::string& kind) {
  return std::ranges::any_of(entry.events, [&](const AuditEvent& event) { return event.kind == kind; });
}

// What happened before to what this entry is about, in another way: the newest older version of its subject that
// another kind of event made.
Result<std::optional<AuditRow>> step_before(const View& view, const AuditRow& entry) {
  for (const AuditEvent& event : entry.events) {
    if (event.subject.empty()) continue;
    // The entry may have made several revisions; anything up to its last one is looked at, itself stepped over.
    SHIPLOG_TRY(auto versions, HistoryQuery{view}.versions(event.subject, true, kVersionsLookedAt, entry.revision));
    for (VersionRow& version : versions) {
      if (version.entry.offset >= entry.offset || has_event(version.entry, event.kind)) continue;
      return std::optional{std::move(version.entry)};
    }
  }
  return std::nullopt;
}

bool holds(const std::vector<AuditRow>& entries, Offset offset) {
  return std::ranges::any_of(entries, [&](const AuditRow& entry) { return entry.offset == offset; });
}

// Of the versions of `key` after `after` and before `end`, the newest one whose entry is wanted: that entry is added.
template <class Wanted>
Result<void> add_newest(const View& view, const ObjectKey& key, Offset after, const AuditRow& end,
                        std::vector<AuditRow>& entries, Wanted wanted) {
  SHIPLOG_TRY(auto versions, HistoryQuery{view}.versions(key, true, kVersionsLookedAt, end.revision));
  for (VersionRow& version : versions) {
    if (version.entry.offset >= end.offset || !wanted(version.entry)) continue;
    if (version.entry.offset > after && !holds(entries, version.entry.offset))
      entries.push_back(std::move(version.entry));
    break;
  }
  return ok();
}

// What belongs to the story though it caused none of its steps. `chain` is newest first.
Result<void> add_beside(const View& view, const ObjectKey& key, std::vector<AuditRow>& chain) {
  const std::vector<AuditRow> causes = chain;
  const AuditRow& end = causes.front();
  SHIPLOG_TRY(add_newest(view, key, Offset{-1}, end, chain, is_request));
  for (const AuditRow& entry : causes) {
    for (const AuditEvent& event : entry.events) {
      if (event.kind != "WorkRendered") continue;
      SHIPLOG_TRY(add_newest(view, event.subject, entry.offset, end, chain, [](const AuditRow& taken) {
        return has_event(taken, "WorkApplied") || has_event(taken, "WorkApplyFailed");
      }));
    }
  }
  return ok();
}

}  // namespace

Result<std::vector<AuditRow>> chain_of(const View& view, const ObjectKey& key, std::optional<Revision> at) {
  std::vector<AuditRow> chain;
  SHIPLOG_TRY(auto versions, HistoryQuery{view}.versions(key, true, 1, at));
  if (versions.empty()) return chain;
  chain.push_back(std::move(versions.front().entry));
  const AuditQuery audit{view};
  while (chain.size() < kLongestChain && !is_request(chain.back())) {
    SHIPLOG_TRY(auto before, audit.cause(chain.back().cause));
    // A cause is older than what it caused; anything else would be a forged entry, and could go round in circles.
    if (!before || before->offset >= chain.back().offset) {
      SHIPLOG_TRY(before, step_before(view, chain.back()));
    }
    if (!before) break;
    chain.push_back(std::move(*before));
  }
  if (!is_request(chain.front())) {
    SHIPLOG_TRY(add_beside(view, key, chain));
  }
  std::ranges::sort(chain, {}, &AuditRow::offset);
  return chain;
}

}  // namespace shiplog::api
