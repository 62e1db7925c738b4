#include "tests/crash/story.h"

#include "events/codec/codec.h"
#include "events/fold/fold.h"
#include "tests/crash/workload.h"

namespace shiplog::crash {
namespace {

Version version_of(const Change& change, const Entry& entry) {
  const Value& object = change.latest();
  return {.revision = change.revision.value,
          .kind = change.created()   ? Version::Kind::kCreated
                  : change.removed() ? Version::Kind::kRemoved
                                     : Version::Kind::kUpdated,
          .object = change.object.name,
          .uid = object["metadata"]["uid"].str(),
          .value = object["data"]["value"].str(),
          .by_client = !entry.actor.user.starts_with("system:shiplog")};
}

}  // namespace

Result<Story> read_story(Journal& journal) {
  SHIPLOG_TRY(const Offset head, journal.head());
  SHIPLOG_TRY(const auto tail, journal.tail(Offset{}));
  Story story;
  State state;
  while (story.next < head) {
    SHIPLOG_TRY(const auto records, tail->next(512, Millis{500}));
    if (records.empty()) break;  // offsets have gaps: a journal may end before its head
    for (const JournalRecord& record : records) {
      SHIPLOG_TRY(const Entry entry, decode(record.bytes));
      const Folded folded = fold(state, entry);
      if (folded.stop) return Error{ErrorCode::kInternal, *folded.stop};
      story.next = Offset{record.offset.value + 1};
      for (const Change& change : folded.changes) {
        if (change.object.type == "configmaps" && Workload::is_own(change.object.name)) {
          story.versions.push_back(version_of(change, entry));
        }
      }
    }
  }
  story.state_hash = to_string(state.hash());
  story.revision = state.revision();
  return story;
}

}  // namespace shiplog::crash
