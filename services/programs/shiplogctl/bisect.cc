#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>
#include <vector>

#include "events/base/json.h"
#include "services/debugger/entry_view.h"
#include "services/debugger/words.h"
#include "services/programs/journals.h"
#include "services/programs/shiplogctl/debug.h"
#include "services/programs/shiplogctl/replay_beginning.h"
#include "services/programs/snapshot_files.h"

namespace shiplog::ctl {
namespace {

using debugger::BreakCondition;
using debugger::ConditionWatch;
using debugger::Moment;

/// Where the scan begins: the last snapshot at which the condition does not hold yet.
struct ScanBegin {
  std::string snapshot;  ///< empty: as without one
};

/// The snapshots beside a journal file that its entries continue, oldest first.
std::vector<VerifiedSnapshot> snapshots_of(const std::string& journal, Offset oldest, Offset head) {
  const auto address = parse_journal(journal);
  if (!address || address.value().on_kafka()) return {};
  const std::string folder = std::filesystem::path{address.value().sqlite_file}.parent_path().string();
  std::vector<VerifiedSnapshot> found;
  for (const std::string& file : snapshots_in((folder.empty() ? "." : folder) + "/snapshots")) {
    const auto info = Projections::verify_snapshot(file);
    if (info && info.value().next >= oldest && info.value().next <= head) found.push_back({file, info.value()});
  }
  std::ranges::reverse(found);
  return found;
}

/// Halves the snapshots until the last one without the condition is found.
Result<ScanBegin> scan_begin(const Backing& backing, const BisectOptions& options, const BreakCondition& condition,
                             const Output& to) {
  ScanBegin begin{options.journal.snapshot};
  if (options.first || options.all || !options.journal.snapshot.empty() || !condition.about_state_only()) return begin;
  SHIPLOG_TRY(const auto journal, backing.open_journal(options.journal.journal, options.journal.kafka));
  SHIPLOG_TRY(const Offset oldest, journal->oldest());
  SHIPLOG_TRY(const Offset head, journal->head());
  const auto snapshots = snapshots_of(options.journal.journal, oldest, head);
  size_t low = 0;
  size_t high = snapshots.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    SHIPLOG_TRY(const State state, state_of_snapshot(snapshots[middle].file));
    const bool holds = condition.holds({Offset{snapshots[middle].info.next.value - 1}, nullptr, nullptr, state});
    to.err << "revision " << snapshots[middle].info.revision.value << " (" << snapshots[middle].file
           << "): " << (holds ? "holds" : "does not hold") << std::endl;
    if (holds) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (low > 0) begin.snapshot = snapshots[low - 1].file;
  return begin;
}

class FoundPrinter {
 public:
  FoundPrinter(const BisectOptions& options, const Output& to) : options_{options}, to_{to} {}

  void entry(size_t number, const Moment& moment) {
    ++found_;
    if (options_.output == "json") {
      Value value = debugger::entry_value(number, moment);
      value.erase("position");  // counted from where the reading began
      found_values_.push_back(std::move(value));
    } else if (options_.all) {
      to_.out << "offset " << moment.offset.value << ", revision " << moment.state.revision().value << ", "
              << rfc3339_millis(moment.entry->time) << ", " << debugger::without_controls(moment.entry->actor.user)
              << std::endl;
    } else {
      to_.out << debugger::without_controls(debugger::entry_text(number, moment))
              << debugger::without_controls(debugger::changes_text(*moment.folded)) << std::flush;
    }
  }
  void finish() {
    if (options_.output != "json") return;
    to_.out << to_pretty_json(options_.all ? found_values_
                                           : (found_ == 0 ? Value{} : Value{found_values_.items().front()}))
            << std::endl;
  }
  uint64_t found() const { return found_; }
  bool full() const {
    if (!options_.all) return found_ > 0;
    return options_.limit > 0 && found_ >= static_cast<uint64_t>(options_.limit);
  }

 private:
  const BisectOptions& options_;
  const Output& to_;
  uint64_t found_ = 0;
  Value found_values_ = Value::array();
};

}  // namespace

Result<int> bisect(const Backing& backing, const BisectOptions& options, const Output& to) {
  SHIPLOG_TRY(BreakCondition condition, BreakCondition::parse(options.condition));
  SHIPLOG_TRY(const ScanBegin begin, scan_begin(backing, options, condition, to));
  ReplayCommandOptions journal_options = options.journal;
  journal_options.snapshot = begin.snapshot;
  SHIPLOG_TRY(const auto journal, backing.open_journal(journal_options.journal, journal_options.kafka));
  SHIPLOG_TRY(Beginning beginning, beginning_of(*journal, journal_options, to.err));
  SHIPLOG_TRY(auto reader, debugger::JournalReader::open(journal, beginning.next));
  debugger::TimelineOptions once;
  once.keep_every = SIZE_MAX;  // nothing goes back
  debugger::JournalTimeline timeline{std::move(reader), std::move(beginning.state), once};
  ConditionWatch watch{std::move(condition)};
  FoundPrinter printer{options, to};
  const Revision began = timeline.state().revision();
  const bool held = watch.begin(timeline.moment()) && watch.condition().about_state_only();
  if (held) {
    to.err << "the condition holds already at revision " << timeline.state().revision().value
           << ", with which the reading begins" << (options.all ? "" : "; an older snapshot may show where it began")
           << std::endl;
    if (!options.all && !options.first) return 1;
  }
  while (!printer.full()) {
    const auto more = timeline.forward();
    // The message may have words of the journal.
    if (!more) return Error{more.error().code, debugger::without_controls(more.error().message)};
    if (!more.value()) break;
    if (watch.stops_at(timeline.moment())) printer.entry(timeline.position(), timeline.moment());
  }
  printer.finish();
  if (printer.found() > 0) return 0;
  to.err << "error: the condition " << (held ? "begins to hold" : "holds") << " at no entry";
  if (began.value > 0) to.err << " after revision " << began.value << ", with which the reading began,";
  to.err << " up to revision " << timeline.state().revision().value;
  // The snapshots before it were looked at alone: it may have held in between.
  if (!begin.snapshot.empty() && options.journal.snapshot.empty()) {
    to.err << "; --first reads the entries before, too, as it may have held and ended";
  }
  to.err << std::endl;
  return 1;
}

}  // namespace shiplog::ctl
