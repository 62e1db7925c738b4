#include "services/feeds/feed_reader.h"

#include <algorithm>

#include "events/base/json.h"
#include "events/codec/codec.h"
#include "events/state/object.h"
#include "projections/audit/outcome_query.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"

namespace shiplog::feeds {
namespace {

constexpr const char* kFleetNamespace = "kube-system";
/// An entry has up to 4 MB: a reader holds no more of them than it must.
constexpr size_t kRecordsAtOnce = 8;
/// The record is stored, as its entry is in the projection: this is for a slow broker.
constexpr Millis kRecordTimeout{2'000};

Error trimmed(const std::string& what) {
  return {ErrorCode::kGone, what + ": begin at a newer revision, or rebuild from a list of the objects"};
}

}  // namespace

const std::vector<Family>& all_families() {
  static const std::vector<Family> all = {Family::kApi,   Family::kScheduling, Family::kDispatch, Family::kTaint,
                                          Family::kQuota, Family::kCluster,    Family::kControl};
  return all;
}

Result<FamilySet> parse_families(std::string_view name) {
  if (name == "all") return FamilySet::all();
  std::string known;
  for (const Family family : all_families()) {
    if (name == name_of(family)) {
      FamilySet found = FamilySet::none();
      found.add(family);
      return found;
    }
    known += std::string{name_of(family)} + ", ";
  }
  return Error{ErrorCode::kNotFound, "there is no feed \"" + std::string{name} + "\": use " + known + "or all"};
}

Result<std::string> source_of_fleet(const View& view) {
  SHIPLOG_TRY(const auto row, ObjectQuery{view}.get({type::kNamespace, "", kFleetNamespace}));
  if (row) {
    SHIPLOG_TRY(const Value object, parse_stored_json(row->json));
    if (!uid_of(object).empty()) return "urn:shiplog:fleet:" + std::string{uid_of(object)};
  }
  return Error{ErrorCode::kUnavailable, "the fleet has no namespace kube-system, whose uid identifies its feeds"};
}

Result<void> FeedReader::check_retention(const View& view) const {
  SHIPLOG_TRY(const Revision oldest, HistoryQuery{view}.oldest());
  if (revision_ < oldest) {
    return trimmed("the history before revision " + std::to_string(oldest.value) + " is no longer held");
  }
  SHIPLOG_TRY(const auto first, OutcomeQuery{view}.from(next_, 1));
  if (first.empty()) return ok();
  SHIPLOG_TRY(const Offset stored, journal_.oldest());
  if (first.front().offset < stored) {
    return trimmed("the journal before offset " + std::to_string(stored.value) + " is no longer held");
  }
  return ok();
}

Result<void> FeedReader::begin_at(const View& view, Revision from) {
  // The next revision is one to wait for: a consumer that has all of them asks for it.
  if (from.value > view.revision().value + 1) {
    return Error{ErrorCode::kBadRequest, "from: revision " + std::to_string(from.value) +
                                             " is in the future, the newest is " +
                                             std::to_string(view.revision().value)};
  }
  Offset offset{0};
  if (from.value > view.revision().value) {
    offset = view.next();
  } else if (from.value > 0) {
    SHIPLOG_TRY(offset, OutcomeQuery{view}.reaching(from));
  }
  return begin_at(view, offset);
}

Result<void> FeedReader::begin_after(const View& view, const Sequence& event) {
  if (event.offset >= view.next()) {
    return Error{ErrorCode::kBadRequest, to_string(event) + " is not of this journal, which ends before offset " +
                                             std::to_string(view.next().value)};
  }
  SHIPLOG_TRY(begin_at(view, event.offset));
  after_ = event;
  return ok();
}

Result<void> FeedReader::begin_at(const View& view, Offset offset) {
  next_ = offset;
  after_ = {Offset{-1}, 0};
  tail_.reset();
  records_.clear();
  SHIPLOG_TRY(revision_, OutcomeQuery{view}.revision_before(offset));
  return check_retention(view);
}

Result<JournalRecord> FeedReader::record_at(Offset offset) {
  while (true) {
    while (!records_.empty() && records_.front().offset < offset) records_.pop_front();
    if (!records_.empty()) break;
    if (!tail_) {
      SHIPLOG_TRY(tail_, journal_.tail(offset));
    }
    SHIPLOG_TRY(auto read, tail_->next(kRecordsAtOnce, kRecordTimeout));
    if (read.empty()) {
      return Error{ErrorCode::kUnavailable,
                   journal_.describe() + " does not return the record at offset " + std::to_string(offset.value)};
    }
    std::ranges::move(read, std::back_inserter(records_));
  }
  if (records_.front().offset != offset) {
    return trimmed("the record at offset " + std::to_string(offset.value) + " is no longer held");
  }
  JournalRecord record = std::move(records_.front());
  records_.pop_front();
  return record;
}

Result<std::vector<CloudEvent>> FeedReader::events_of(const View& view, Offset offset, Revision revision) {
  SHIPLOG_TRY(const JournalRecord record, record_at(offset));
  FeedEntry of{offset, {}, revision, {}};
  SHIPLOG_TRY(of.entry, decode(record.bytes));
  if (const uint64_t changed = revision.value - revision_.value; changed > 0) {
    SHIPLOG_TRY(of.changes, HistoryQuery{view}.changes({.after = revision_, .limit = changed}));
    if (of.changes.size() != changed || of.changes.back().revision != revision) {
      return trimmed("revision " + std::to_string(revision_.value + 1) + " is no longer held");
    }
  }
  return cloud_events_of(of, source_);
}

Result<FeedReader::Batch> FeedReader::read(const View& view, const FamilySet& families, const Limits& limits) {
  Batch batch;
  SHIPLOG_TRY(const auto outcomes, OutcomeQuery{view}.from(next_, limits.entries));
  size_t bytes = 0;
  for (const EntryOutcome& outcome : outcomes) {
    if (bytes >= limits.bytes) return batch;
    if (outcome.accepted && families.meets(outcome.families)) {
      auto events = events_of(view, outcome.offset, outcome.revision);
      if (!events) {
        tail_.reset();
        records_.clear();
        // What was read so far is delivered first; the error comes again.
        if (batch.entries > 0) return batch;
        return events.error();
      }
      for (CloudEvent& event : events.value()) {
        if (!families.has(event.family) || event.sequence <= after_) continue;
        bytes += event.data.size();
        batch.events.push_back(std::move(event));
      }
    }
    revision_ = outcome.revision;
    next_ = Offset{outcome.offset.value + 1};
    ++batch.entries;
  }
  batch.caught_up = outcomes.size() < limits.entries;
  return batch;
}

}  // namespace shiplog::feeds
