#include <chrono>
#include <deque>
#include <ostream>

#include "events/base/json.h"
#include "events/codec/codec.h"
#include "services/programs/shiplogctl/commands.h"

namespace shiplog::ctl {
namespace {

using Steady = std::chrono::steady_clock;

constexpr size_t kBatch = 512;
constexpr Millis kPatience{500};

double seconds_since(Steady::time_point start) { return std::chrono::duration<double>(Steady::now() - start).count(); }

uint64_t rate_of(uint64_t entries, double seconds) {
  return static_cast<uint64_t>(seconds > 0 ? static_cast<double>(entries) / seconds : static_cast<double>(entries));
}

/// Reads up to what was the journal's end at the start, so that a journal that is written to has an end too.
Result<Records> read_all(Journal& journal) {
  SHIPLOG_TRY(const Offset head, journal.head());
  SHIPLOG_TRY(auto opened, journal.tail(Offset{0}));
  const std::shared_ptr<Journal::Tail> tail = std::move(opened);
  const auto waiting = std::make_shared<std::deque<JournalRecord>>();
  const auto at = std::make_shared<Offset>();
  return Records{[&journal, head, tail, waiting, at]() -> Result<std::optional<ReplayRecord>> {
    if (waiting->empty() && *at < head) {
      SHIPLOG_TRY(auto more, tail->next(kBatch, kPatience));
      for (JournalRecord& record : more) waiting->push_back(std::move(record));
    }
    // Offsets have gaps: a journal may end before its head.
    if (waiting->empty() || waiting->front().offset >= head) return std::nullopt;
    const JournalRecord record = std::move(waiting->front());
    waiting->pop_front();
    *at = Offset{record.offset.value + 1};
    auto entry = decode(record.bytes);
    if (!entry) return entry.error().context(journal.describe() + ", offset " + std::to_string(record.offset.value));
    return std::optional{ReplayRecord{record.offset, std::move(entry).value()}};
  }};
}

void print(const Replayed& replayed, bool verified, double seconds, const std::string& journal, bool json,
           std::ostream& out) {
  const uint64_t rate = rate_of(replayed.entries, seconds);
  if (json) {
    Value value = Value::object({{"journal", journal},
                                 {"entries", replayed.entries},
                                 {"accepted", replayed.accepted},
                                 {"refused", replayed.refused},
                                 {"duplicates", replayed.duplicates},
                                 {"seconds", seconds},
                                 {"entriesPerSecond", rate},
                                 {"objects", replayed.objects},
                                 {"revision", replayed.revision.value},
                                 {"stateHash", to_string(replayed.hash)}});
    if (verified) {
      value.set("decisions", replayed.decisions);
      value.set("differences", replayed.differences);
    }
    if (replayed.stop) value.set("stopped", *replayed.stop);
    out << to_pretty_json(value) << std::endl;
    return;
  }
  out << "journal      " << journal << "\n"
      << "entries      " << replayed.entries << " (" << replayed.accepted << " accepted, " << replayed.refused
      << " refused, " << replayed.duplicates << " duplicates)\n"
      << "rate         " << rate << " entries/s\n"
      << "objects      " << replayed.objects << "\n"
      << "revision     " << replayed.revision.value << "\n"
      << "state hash   " << to_string(replayed.hash) << "\n";
  if (verified) {
    out << "decisions    " << replayed.decisions << " run again, " << replayed.differences << " differences\n";
  }
  out << std::flush;
}

}  // namespace

Result<bool> replay_journal(const Backing& backing, const ReplayCommandOptions& options, std::ostream& out,
                            std::ostream& progress) {
  SHIPLOG_TRY(const auto journal, backing.open_journal(options.journal, options.kafka));
  SHIPLOG_TRY(const Offset oldest, journal->oldest());
  SHIPLOG_TRY(const Offset head, journal->head());
  if (oldest.value > 1 && oldest < head) {
    return Error{ErrorCode::kGone, journal->describe() + " begins at offset " + std::to_string(oldest.value) +
                                       ": what was before is trimmed, and a replay needs the first entry"};
  }
  const bool json = options.output == "json";
  ReplayOptions replaying;
  if (options.to) replaying.to = Revision{*options.to};
  if (options.verify) replaying.verify = &backing.decides;
  const auto start = Steady::now();
  auto report_at = start + std::chrono::seconds{1};
  replaying.progress = [&](const Replayed& so_far) {
    if (Steady::now() < report_at) return;
    report_at += std::chrono::seconds{1};
    progress << "replayed " << so_far.entries << " of about " << head.value << " entries, revision "
             << so_far.revision.value << ", " << rate_of(so_far.entries, seconds_since(start)) << " entries/s"
             << std::endl;
  };
  replaying.differs = [&](const Difference& difference) {
    std::ostream& to = json ? progress : out;
    to << "DIFFERENT at offset " << difference.offset.value << ": " << difference.service << " about " << difference.key
       << "\n  recorded:   " << difference.recorded << "\n  recomputed: " << difference.recomputed << std::endl;
  };
  State state;
  SHIPLOG_TRY(const Replayed replayed, replay([&] { return read_all(*journal); }, replaying, state));
  print(replayed, options.verify, seconds_since(start), journal->describe(), json, out);
  if (replayed.stop) {
    return Error{ErrorCode::kCorrupt,
                 "the replay stopped at offset " + std::to_string(replayed.last.value) + ": " + *replayed.stop};
  }
  return replayed.differences == 0;
}

}  // namespace shiplog::ctl
