#include <chrono>
#include <filesystem>
#include <optional>
#include <ostream>
#include <utility>

#include "events/base/json.h"
#include "events/codec/codec.h"
#include "services/programs/journals.h"
#include "services/programs/shiplogctl/commands.h"
#include "services/programs/shiplogctl/decoding_reader.h"
#include "services/programs/shiplogctl/replay_beginning.h"
#include "services/programs/shiplogctl/replay_with.h"
#include "services/programs/shiplogctl/verified_mark.h"
#include "services/programs/snapshot_files.h"
#include "services/programs/transfer/record_reader.h"

namespace shiplog::ctl {
namespace {

using Steady = std::chrono::steady_clock;

double replay_seconds_since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

uint64_t rate_of(uint64_t entries, double seconds) {
  return static_cast<uint64_t>(seconds > 0 ? static_cast<double>(entries) / seconds : static_cast<double>(entries));
}

/// The newest intact snapshot beside a journal file: the processes of its fleet put them there.
std::optional<VerifiedSnapshot> snapshot_beside(const std::string& journal, Offset oldest, Offset head) {
  const auto address = parse_journal(journal);
  if (!address || address.value().on_kafka()) return std::nullopt;
  const std::string folder = std::filesystem::path{address.value().sqlite_file}.parent_path().string();
  // The older one, if there are two, as more decisions are verified from there.
  std::optional<VerifiedSnapshot> found;
  for (const std::string& file : snapshots_in((folder.empty() ? "." : folder) + "/snapshots")) {
    const auto info = Projections::verify_snapshot(file);
    if (info && info.value().next >= oldest && info.value().next <= head) found = VerifiedSnapshot{file, info.value()};
  }
  return found;
}

}  // namespace

Result<Beginning> beginning_of(Journal& journal, const ReplayCommandOptions& options, std::ostream& progress) {
  SHIPLOG_TRY(const Offset oldest, journal.oldest());
  SHIPLOG_TRY(const Offset head, journal.head());
  const bool trimmed = oldest.value > 1 && oldest < head;
  Beginning beginning;
  if (options.snapshot.empty() && !trimmed) return beginning;
  std::optional<VerifiedSnapshot> snapshot;
  if (options.snapshot.empty()) {
    snapshot = snapshot_beside(options.journal, oldest, head);
  } else {
    SHIPLOG_TRY(const SnapshotInfo info, Projections::verify_snapshot(options.snapshot));
    snapshot = VerifiedSnapshot{options.snapshot, info};
  }
  if (!snapshot || snapshot->info.next < oldest) {
    return Error{ErrorCode::kGone,
                 journal.describe() + " begins at offset " + std::to_string(oldest.value) +
                     ": what was before is trimmed, and a replay needs a snapshot that reaches as far: name one with "
                     "--snapshot (a process keeps them in its --data-dir, or beside a journal file)"};
  }
  if (trimmed) progress << "the journal is trimmed and begins at offset " << oldest.value << "; ";
  progress << "starting from " << snapshot->file << ", revision " << snapshot->info.revision.value << std::endl;
  beginning.snapshot = snapshot->file;
  beginning.next = snapshot->info.next;
  SHIPLOG_TRY(beginning.state, state_of_snapshot(snapshot->file));
  return beginning;
}

namespace {

/// Reads and decodes what a replay from a snapshot does not need. How many records these are. Error: of a damaged one.
Result<uint64_t> read_before(Journal& journal, Offset end) {
  SHIPLOG_TRY(auto reader, RecordReader::open(journal, end));
  uint64_t records = 0;
  while (true) {
    SHIPLOG_TRY(const auto record, reader.next());
    if (!record) return records;
    if (const auto entry = decode(record->bytes); !entry) {
      return entry.error().context(journal.describe() + ", offset " + std::to_string(record->offset.value));
    }
    ++records;
  }
}

void print(const Replayed& replayed, bool verified, double seconds, const std::string& journal,
           const std::string& snapshot, const std::optional<uint64_t>& read_only, bool json, std::ostream& out) {
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
      value.set("unverifiable", replayed.unverifiable);
    }
    if (!snapshot.empty()) value.set("snapshot", snapshot);
    if (read_only) value.set("readBeforeSnapshot", *read_only);
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
  if (read_only) out << "read         " << *read_only << " entries before the snapshot, which are not replayed\n";
  if (verified) {
    out << "decisions    " << replayed.decisions << " run again, " << replayed.differences << " differences\n";
    if (replayed.unverifiable > 0) {
      out << "             " << replayed.unverifiable << " not run again: computed from states before the snapshot\n";
    }
  }
  out << std::flush;
}

Result<void> begins_before(const std::optional<uint64_t>& to, const Beginning& beginning) {
  if (!to || beginning.state.revision() <= Revision{*to}) return ok();
  return Error{ErrorCode::kGone, "the snapshot " + beginning.snapshot + " is of revision " +
                                     std::to_string(beginning.state.revision().value) + ", which is behind " +
                                     std::to_string(*to) + ": name an older one with --snapshot"};
}

}  // namespace

Result<State> state_of_journal(const Backing& backing, const ReplayCommandOptions& options, std::ostream& progress) {
  SHIPLOG_TRY(const auto journal, backing.open_journal(options.journal, options.kafka));
  SHIPLOG_TRY(Beginning beginning, beginning_of(*journal, options, progress));
  SHIPLOG_TRY(begins_before(options.to, beginning));
  ReplayOptions replaying;
  if (options.to) replaying.to = Revision{*options.to};
  const auto open = [&, from = beginning.next] { return read_decoded(*journal, from); };
  SHIPLOG_TRY(const Replayed replayed, replay(open, replaying, beginning.state));
  if (replayed.stop) return Error{ErrorCode::kCorrupt, *replayed.stop};
  return std::move(beginning.state);
}

Result<bool> replay_journal(const Backing& backing, const ReplayCommandOptions& options, std::ostream& out,
                            std::ostream& progress) {
  SHIPLOG_TRY(const auto journal, backing.open_journal(options.journal, options.kafka));
  SHIPLOG_TRY(Beginning beginning, beginning_of(*journal, options, progress));
  SHIPLOG_TRY(begins_before(options.to, beginning));
  SHIPLOG_TRY(const Offset head, journal->head());
  const bool json = options.output == "json";
  ReplayOptions replaying;
  if (options.to) replaying.to = Revision{*options.to};
  if (options.verify) replaying.verify = &backing.decides;
  if (!options.incremental.empty()) {
    SHIPLOG_TRY(replaying.verified, read_verified_mark(options.incremental));
    // A snapshot of later covers what was verified.
    if (replaying.verified && replaying.verified->next < beginning.next) replaying.verified = std::nullopt;
    if (replaying.verified) progress << "verified before: up to offset " << replaying.verified->next.value << std::endl;
  }
  const auto start = Steady::now();
  auto report_at = start + std::chrono::seconds{1};
  replaying.progress = [&](const Replayed& so_far) {
    if (Steady::now() < report_at) return;
    report_at += std::chrono::seconds{1};
    progress << "replayed " << so_far.entries << " of about " << head.value << " entries, revision "
             << so_far.revision.value << ", " << rate_of(so_far.entries, replay_seconds_since(start)) << " entries/s"
             << std::endl;
  };
  replaying.differs = [&](const Difference& difference) {
    std::ostream& to = json ? progress : out;
    to << "DIFFERENT at offset " << difference.offset.value << ", decided as of revision " << difference.as_of.value
       << ": " << difference.service << " about " << difference.key << "\n  recorded:   " << difference.recorded
       << "\n  recomputed: " << difference.recomputed << std::endl;
  };
  std::optional<uint64_t> read_only;
  if (options.verify && !beginning.snapshot.empty() && !replaying.verified) {
    SHIPLOG_TRY(read_only, read_before(*journal, beginning.next));
  }
  State& state = beginning.state;
  SharedWork work;
  replaying.work = &work;
  replaying.journal = journal->describe();
  DecodingOptions decoding;
  decoding.work = &work;
  if (options.verify) decoding.undecoded_from = replaying.verified ? replaying.verified->next : Offset{0};
  const auto open = [&, from = beginning.next] { return read_decoded(*journal, from, decoding); };
  SHIPLOG_TRY(const Replayed replayed, replay(open, replaying, state));
  print(replayed, options.verify, replay_seconds_since(start), journal->describe(), beginning.snapshot, read_only, json,
        out);
  if (replayed.stop) {
    return Error{ErrorCode::kCorrupt,
                 "the replay stopped at offset " + std::to_string(replayed.last.value) + ": " + *replayed.stop};
  }
  if (!options.incremental.empty() && replayed.differences == 0) {
    SHIPLOG_TRY(write_verified_mark(options.incremental,
                                    {Offset{replayed.last.value + 1}, state.revision(), to_string(replayed.hash)}));
  }
  if (options.with.empty()) return replayed.differences == 0;
  SHIPLOG_TRY(const bool other_same, replay_with(options.with, options, beginning.snapshot, json ? progress : out));
  return replayed.differences == 0 && other_same;
}

}  // namespace shiplog::ctl
