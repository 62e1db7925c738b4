#include "services/programs/transfer/manifest.h"

#include "events/base/json.h"
#include "events/base/value.h"

namespace shiplog {
namespace {

constexpr int64_t kFormat = 1;

Value to_value(const JournalInBackup& journal) {
  return Value::object({{"firstOffset", journal.first.value},
                        {"nextOffset", journal.next.value},
                        {"entries", journal.entries},
                        {"revision", journal.revision.value},
                        {"stateHash", journal.state_hash},
                        {"lastEntry", journal.last_entry},
                        {"lastTime", rfc3339_millis(journal.last_time)},
                        {"trimmed", journal.trimmed},
                        {"sameOffsets", journal.same_offsets},
                        {"snapshot", journal.snapshot},
                        {"snapshotNextOffset", journal.snapshot_next.value}});
}

Result<JournalInBackup> journal_of(const Value& value) {
  JournalInBackup journal;
  journal.first = Offset{value["firstOffset"].as_int()};
  journal.next = Offset{value["nextOffset"].as_int()};
  journal.entries = static_cast<uint64_t>(value["entries"].as_int());
  journal.revision = Revision{static_cast<uint64_t>(value["revision"].as_int())};
  journal.state_hash = value["stateHash"].str();
  journal.last_entry = value["lastEntry"].str();
  SHIPLOG_TRY(journal.last_time, parse_rfc3339(value["lastTime"].as_string()));
  journal.trimmed = value["trimmed"].as_bool();
  journal.same_offsets = value["sameOffsets"].as_bool();
  journal.snapshot = value["snapshot"].str();
  journal.snapshot_next = Offset{value["snapshotNextOffset"].as_int()};
  return journal;
}

}  // namespace

std::string to_json(const BackupManifest& manifest) {
  Value files = Value::object();
  for (const auto& [name, checksum] : manifest.files) {
    files.set(name, Value::object({{"bytes", checksum.bytes}, {"sha256", checksum.sha256}}));
  }
  return to_pretty_json(Value::object({{"format", kFormat},
                                       {"time", rfc3339_millis(manifest.time)},
                                       {"source", manifest.source},
                                       {"journal", to_value(manifest.record)},
                                       {"ephemera", to_value(manifest.ephemera)},
                                       {"keys", manifest.keys},
                                       {"files", std::move(files)}})) +
         "\n";
}

Result<BackupManifest> parse_manifest(std::string_view json) {
  SHIPLOG_TRY(const Value value, parse_json(json));
  if (value["format"].as_int() != kFormat) {
    return Error{ErrorCode::kInvalid, "its format is " + std::to_string(value["format"].as_int()) +
                                          ", this program reads format " + std::to_string(kFormat) +
                                          ": use the version of shiplogctl that made the backup, or a later one"};
  }
  BackupManifest manifest;
  manifest.source = value["source"].str();
  SHIPLOG_TRY(manifest.time, parse_rfc3339(value["time"].as_string()));
  SHIPLOG_TRY(manifest.record, journal_of(value["journal"]));
  SHIPLOG_TRY(manifest.ephemera, journal_of(value["ephemera"]));
  manifest.keys = static_cast<uint64_t>(value["keys"].as_int());
  for (const Value::Member& file : value["files"].members()) {
    manifest.files[std::string{file.key()}] = {static_cast<uint64_t>(file.value["bytes"].as_int()),
                                               file.value["sha256"].str()};
  }
  return manifest;
}

}  // namespace shiplog
