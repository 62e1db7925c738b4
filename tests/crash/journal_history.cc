#include "tests/crash/journal_history.h"

#include "events/codec/codec.h"
#include "events/fold/fold.h"
#include "tests/crash/workload.h"

namespace shiplog::crash {
namespace {

HistoryVersion version_of(const Change& change, const Entry& entry) {
  const Value& object = change.latest();
  return {.revision = change.revision.value,
          .kind = change.created()   ? HistoryVersion::Kind::kCreated
                  : change.removed() ? HistoryVersion::Kind::kRemoved
                                     : HistoryVersion::Kind::kUpdated,
          .object = change.object.name.str(),
          .uid = object["metadata"]["uid"].str(),
          .value = object["data"]["value"].str(),
          .by_client = !entry.actor.user.starts_with("system:shiplog")};
}

}  // namespace

Result<JournalHistory> read_history(Journal& journal) {
  SHIPLOG_TRY(const Offset head, journal.head());
  SHIPLOG_TRY(const auto tail, journal.tail(Offset{}));
  JournalHistory history;
  State state;
  while (history.next < head) {
    SHIPLOG_TRY(const auto records, tail->next(512, Millis{500}));
    if (records.empty()) break;  // offsets have gaps: a journal may end before its head
    for (const JournalRecord& record : records) {
      SHIPLOG_TRY(const Entry entry, decode(record.bytes));
      const Folded folded = fold(state, entry);
      if (folded.stop) return Error{ErrorCode::kInternal, *folded.stop};
      history.next = Offset{record.offset.value + 1};
      for (const Change& change : folded.changes) {
        if (change.object.type == "configmaps" && ClientWorkload::is_own(change.object.name.str())) {
          history.versions.push_back(version_of(change, entry));
        }
      }
    }
  }
  history.state_hash = to_string(state.hash());
  history.revision = state.revision();
  return history;
}

}  // namespace shiplog::crash
