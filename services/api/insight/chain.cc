#include "services/api/insight/chain.h"

#include <algorithm>
#include <optional>

#include "events/base/json.h"
#include "events/state/work.h"
#include "projections/history/history_query.h"
#include "services/api/insight/attribution.h"

namespace shiplog::api {
namespace {

constexpr size_t kLongestChain = 200;
// A member reports the same object again and again: how many such versions to step over at most.
constexpr size_t kVersionsLookedAt = 200;

bool has_event(const AuditRow& entry, const std::string& kind) {
  return std::ranges::any_of(entry.events, [&](const AuditEvent& event) { return event.kind == kind; });
}

bool follows_from_a_deletion(const AuditRow& entry) {
  return std::ranges::any_of(entry.events, [](const AuditEvent& event) { return !event.because.empty(); });
}

// The status of many objects is recorded in one entry, and so are the deletions that follow from one: most events
// of such an entry belong to other stories.
bool is_gathered(const AuditRow& entry) {
  return entry.events.size() > 1 && !is_scheduled_run(entry) &&
         (entry.cause.entry_id.empty() || follows_from_a_deletion(entry));
}

bool in_story(const std::vector<ObjectKey>& story, const ObjectKey& key) {
  return std::ranges::find(story, key) != story.end();
}

// The object is in the story, or is the Work of a binding in it.
Result<bool> belongs(const View& view, const ObjectKey& key, Revision upto, const std::vector<ObjectKey>& story) {
  if (in_story(story, key)) return true;
  if (key.type != type::kWork) return false;
  SHIPLOG_TRY(const ObjectKey binding, binding_of_work(view, key, upto));
  return !binding.empty() && in_story(story, binding);
}

// Adds what the entry is about; of a gathered entry only what belongs to the story so far.
Result<void> follow(const View& view, AuditRow& entry, std::vector<ObjectKey>& story) {
  if (is_gathered(entry)) {
    std::vector<AuditEvent> ours;
    for (const AuditEvent& event : entry.events) {
      SHIPLOG_TRY(const bool belongs_here, belongs(view, event.subject, entry.revision, story));
      if (belongs_here) ours.push_back(event);
    }
    if (!ours.empty()) entry.events = std::move(ours);
  }
  for (const AuditEvent& event : entry.events) story.push_back(event.subject);
  return ok();
}

// What happened before to what this entry is about, in another way: the newest older version of its subject that
// another kind of event made.
Result<std::optional<AuditRow>> step_before(const View& view, const AuditRow& entry) {
  for (const AuditEvent& event : entry.events) {
    if (event.subject.empty() || (is_scheduled_run(entry) && event.kind != "StatusUpdated")) continue;
    // The entry may have made several revisions; all up to its last one are read, itself excepted.
    SHIPLOG_TRY(auto versions, HistoryQuery{view}.versions(event.subject, true, kVersionsLookedAt, entry.revision));
    for (VersionRow& version : versions) {
      if (version.entry.offset >= entry.offset || has_event(version.entry, event.kind)) continue;
      return std::optional{std::move(version.entry)};
    }
  }
  return std::nullopt;
}

/// The entry that deleted what this entry's deletions follow from: the newest one before it.
Result<std::optional<AuditRow>> deletion_before(const View& view, const AuditRow& entry,
                                                const std::vector<ObjectKey>& story) {
  for (const AuditEvent& event : entry.events) {
    if (event.because.empty() || !in_story(story, event.subject)) continue;
    SHIPLOG_TRY(auto versions, HistoryQuery{view}.versions(event.because, true, kVersionsLookedAt, entry.revision));
    std::optional<AuditRow> found;
    for (VersionRow& version : versions) {
      if (version.entry.offset >= entry.offset) continue;
      if (version.operation != VersionOperation::kRemoved) {
        SHIPLOG_TRY(const Value value, parse_stored_json(version.json));
        if (!deleting(value)) break;
      }
      found = std::move(version.entry);
    }
    if (found) return found;
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
Result<void> add_beside(const View& view, const ObjectKey& key, std::vector<ObjectKey>& story,
                        std::vector<AuditRow>& chain) {
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
  for (size_t added = causes.size(); added < chain.size(); ++added) {
    SHIPLOG_TRY(follow(view, chain[added], story));
  }
  return ok();
}

}  // namespace

Result<std::vector<AuditRow>> chain_of(const View& view, const ObjectKey& key, std::optional<Revision> at,
                                       bool causes_only) {
  std::vector<AuditRow> chain;
  SHIPLOG_TRY(auto versions, HistoryQuery{view}.versions(key, true, 1, at));
  if (versions.empty()) return chain;
  chain.push_back(std::move(versions.front().entry));
  std::vector<ObjectKey> story{key};
  SHIPLOG_TRY(follow(view, chain.back(), story));
  const AuditQuery audit{view};
  while (chain.size() < kLongestChain && !is_request(chain.back())) {
    SHIPLOG_TRY(auto before, deletion_before(view, chain.back(), story));
    if (!before && is_probe(chain.back())) break;  // an observation: it follows from nothing that is recorded
    if (!before && names_cause(chain.back())) {
      SHIPLOG_TRY(before, audit.cause(chain.back().cause));
    }
    // A cause is older than what it caused; anything else would be a forged entry, and could go round in circles.
    if (!before || before->offset >= chain.back().offset) {
      SHIPLOG_TRY(before, step_before(view, chain.back()));
    }
    if (!before) break;
    chain.push_back(std::move(*before));
    SHIPLOG_TRY(follow(view, chain.back(), story));
  }
  // Of a deletion that follows from another, and of what was found when a cluster was probed, earlier requests about
  // the object are no cause.
  const bool cascades = std::ranges::any_of(chain, follows_from_a_deletion);
  if (!causes_only && !is_request(chain.front()) && !is_probe(chain.front()) && !cascades) {
    SHIPLOG_TRY(add_beside(view, key, story, chain));
  }
  std::ranges::sort(chain, {}, &AuditRow::offset);
  return chain;
}

}  // namespace shiplog::api
