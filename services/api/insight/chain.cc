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
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace shiplog::api
