#include "services/programs/shiplogd/journal_identity.h"

#include <string>

#include "events/codec/codec.h"

namespace shiplog {
namespace {

constexpr Millis kPatience{1'000};
constexpr int kTries = 10;

const std::string kWhatToDo =
    "If it is the right journal, restore it from a backup; if this process is to forget what it has folded, delete its "
    "projection of this journal (projection.db; ephemera-projection.db is that of the ephemera), or give it another "
    "--data-dir. Its snapshots can stay: one that does not fit the journal is not used";

/// The record at `offset`; nullopt: it was trimmed, so it is unknown.
Result<std::optional<JournalRecord>> record_at(Journal& journal, Offset offset) {
  SHIPLOG_TRY(const auto tail, journal.tail(offset));
  Error last{ErrorCode::kUnavailable, journal.describe() + ": nothing can be read at offset " +
                                          std::to_string(offset.value) + ", where it has an entry"};
  for (int tries = 0; tries < kTries; ++tries) {
    auto records = tail->next(1, kPatience);
    if (records && !records.value().empty()) return std::move(records.value().front());
    if (records) continue;
    if (records.error().code == ErrorCode::kGone) return std::nullopt;
    last = std::move(records).error();
    if (last.code != ErrorCode::kIo && last.code != ErrorCode::kUnavailable) break;
  }
  return last;
}

}  // namespace

Result<void> check_same_journal(Journal& journal, const std::optional<std::pair<Offset, EntryId>>& last) {
  if (!last) return ok();
  const auto& [offset, id] = *last;
  SHIPLOG_TRY(const Offset head, journal.head());
  if (head <= offset) {
    return Error{ErrorCode::kCorrupt, journal.describe() +
                                          " is shorter than what this process has folded: it ends before offset " +
                                          std::to_string(head.value) + ", and entries " + std::to_string(head.value) +
                                          " to " + std::to_string(offset.value) + " are missing. " + kWhatToDo};
  }
  SHIPLOG_TRY(const auto record, record_at(journal, offset));
  if (!record) return ok();
  SHIPLOG_TRY(const Entry entry, decode(record->bytes));
  if (record->offset == offset && entry.id == id) return ok();
  return Error{ErrorCode::kCorrupt, journal.describe() + " holds entry " + to_string(entry.id) + " at offset " +
                                        std::to_string(record->offset.value) + ", but this process has folded entry " +
                                        to_string(id) + " at offset " + std::to_string(offset.value) +
                                        ": it is another journal, or entries were lost from its end and others written "
                                        "in their place. " +
                                        kWhatToDo};
}

}  // namespace shiplog
