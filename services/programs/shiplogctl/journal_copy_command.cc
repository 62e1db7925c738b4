#include <algorithm>
#include <chrono>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "services/programs/shiplogctl/commands.h"
#include "services/programs/transfer/fleet_storage.h"
#include "services/programs/transfer/journal_copy.h"

namespace shiplog::ctl {
namespace {

using Steady = std::chrono::steady_clock;

double seconds_since(Steady::time_point start) { return std::chrono::duration<double>(Steady::now() - start).count(); }

/// "1234 entries, 5.6 MB, 7890 entries/s, 12.3 MB/s"
std::string amount(const CopyProgress& progress, double seconds) {
  const double rate = 1 / std::max(seconds, 1e-3);
  const double megabytes = static_cast<double>(progress.bytes) / 1e6;
  std::ostringstream text;
  text << progress.entries << " entries, " << std::fixed << std::setprecision(1) << megabytes << " MB, "
       << static_cast<uint64_t>(static_cast<double>(progress.entries) * rate) << " entries/s, " << megabytes * rate
       << " MB/s";
  return text.str();
}

Result<void> copy_one(const std::string& name, Journal& from, Journal& to, const JournalCopyOptions& options,
                      std::ostream& out, std::ostream& progress) {
  const auto start = Steady::now();
  auto report_at = start + std::chrono::seconds{1};
  CopyOptions copying;
  copying.progress = [&](const CopyProgress& so_far) {
    if (Steady::now() < report_at) return;
    report_at = Steady::now() + std::chrono::seconds{1};
    progress << name << ": at offset " << so_far.at.value << " of " << so_far.end.value << ", "
             << amount(so_far, seconds_since(start)) << std::endl;
  };
  auto done = copy_records(from, to, copying);
  if (!done && done.error().code != ErrorCode::kConflict && done.error().code != ErrorCode::kGone) {
    return done.error().context(
        "the copy is incomplete; run the same command again, and it continues where this one stopped");
  }
  SHIPLOG_TRY(const CopyProgress copied, std::move(done));
  if (copied.found > 0) {
    out << name << ": continued after " << copied.found << " entries, which the target held and which are the same\n";
  }
  out << name << ": copied " << amount(copied, seconds_since(start)) << std::endl;
  if (options.no_verify) return ok();
  const auto verifying = Steady::now();
  SHIPLOG_TRY(const JournalDigest digest, verify_copy(from, to, {.end = copied.end}));
  out << name << ": verified " << digest.entries << " entries in " << std::fixed << std::setprecision(1)
      << seconds_since(verifying) << " s: revision " << digest.revision.value << ", state hash "
      << to_string(digest.state) << ", last entry " << (digest.entries == 0 ? "none" : to_string(digest.last_id))
      << std::endl;
  return ok();
}

Result<void> copy_all_keys(FleetStorage& from, FleetStorage& to, std::ostream& out) {
  if (!from.keys) {
    out << "keys: the source has none" << std::endl;
    return ok();
  }
  SHIPLOG_TRY(const size_t added, copy_keys(*from.keys, *to.keys));
  out << "keys: copied " << added << ", wrapped as they were" << std::endl;
  if (!from.keys_dir.empty() && !to.keys_dir.empty()) {
    SHIPLOG_TRY(const auto names, copy_key_files(from.keys_dir, to.keys_dir));
    for (const std::string& name : names) out << "copied " << to.keys_dir << "/" << name << "\n";
    out << std::flush;
    return ok();
  }
  const std::string folder = from.keys_dir.empty() ? "the --keys-dir of a process of the fleet" : from.keys_dir;
  out << "Not copied: fleet.key, without which no Secret can be read, and pki. Copy both from " << folder
      << (to.keys_dir.empty() ? " to the --keys-dir of every process with the role api, dispatcher or collector"
                              : " to " + to.keys_dir)
      << std::endl;
  return ok();
}

}  // namespace

Result<void> copy_journals(const JournalCopyOptions& options, std::ostream& out, std::ostream& progress) {
  const auto place = [&](const std::string& journal, const std::string& keys_dir, bool create) -> Result<FleetPlace> {
    SHIPLOG_TRY(const JournalAddress address, parse_journal(journal));
    FleetPlace found{{.journal = journal, .kafka_replicas = options.kafka_replicas, .create = create}, keys_dir};
    if (address.on_kafka()) found.journal.kafka = options.kafka;
    return found;
  };
  SHIPLOG_TRY(const FleetPlace source, place(options.from, options.from_keys_dir, false));
  SHIPLOG_TRY(const FleetPlace target, place(options.to, options.to_keys_dir, true));
  SHIPLOG_TRY(FleetStorage from, open_fleet_storage(source));
  SHIPLOG_TRY(FleetStorage to, open_fleet_storage(target));
  SHIPLOG_TRY(copy_one("journal", *from.record, *to.record, options, out, progress));
  SHIPLOG_TRY(copy_one("ephemera", *from.ephemera, *to.ephemera, options, out, progress));
  return copy_all_keys(from, to, out);
}

}  // namespace shiplog::ctl
