#include "projections/audit/outcome_query.h"

#include "events/sqlite/connection.h"
#include "projections/store/checked_table.h"

namespace shiplog {

Result<std::vector<EntryOutcome>> OutcomeQuery::from(Offset from, size_t limit) const {
  SHIPLOG_TRY(auto row, view_.connection().prepare(
                            "SELECT e.offset, e.revision, e.families, e.refusal IS NULL AND NOT e.duplicate "
                            "FROM entry e WHERE e.offset >= ? AND " +
                            store::entry_table().intact("e") + " ORDER BY e.offset LIMIT ?"));
  row.bind_all(from.value, static_cast<int64_t>(limit));
  std::vector<EntryOutcome> outcomes;
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return outcomes;
    outcomes.push_back({Offset{row.integer(0)}, Revision{static_cast<uint64_t>(row.integer(1))},
                        static_cast<uint64_t>(row.integer(2)), row.integer(3) != 0});
  }
}

Result<Revision> OutcomeQuery::revision_before(Offset offset) const {
  SHIPLOG_TRY(auto row,
              view_.connection().prepare("SELECT e.revision FROM entry e WHERE e.offset < ? AND " +
                                         store::entry_table().intact("e") + " ORDER BY e.offset DESC LIMIT 1"));
  row.bind(1, offset.value);
  SHIPLOG_TRY(const bool found, row.next());
  return found ? Revision{static_cast<uint64_t>(row.integer(0))} : Revision{};
}

Result<Offset> OutcomeQuery::reaching(Revision revision) const {
  // Revisions never decrease from one entry to the next, so a binary search over the offsets needs no index.
  SHIPLOG_TRY(auto probe,
              view_.connection().prepare("SELECT e.offset, e.revision FROM entry e WHERE e.offset >= ? AND " +
                                         store::entry_table().intact("e") + " ORDER BY e.offset LIMIT 1"));
  const auto wanted = static_cast<int64_t>(revision.value);
  int64_t low = 0;
  int64_t high = view_.next().value;  // the result is in [low, high]
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    probe.reset();
    probe.bind(1, middle);
    SHIPLOG_TRY(const bool found, probe.next());
    if (!found || probe.integer(1) >= wanted) {
      high = middle;
    } else {
      low = probe.integer(0) + 1;
    }
  }
  return Offset{low};
}

}  // namespace shiplog
