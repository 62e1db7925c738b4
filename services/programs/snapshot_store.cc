#include "services/programs/snapshot_store.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "events/base/json.h"
#include "events/base/value.h"
#include "services/http/private_file.h"
#include "services/programs/file_checksum.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPartBytes = 8 * 1024 * 1024;
constexpr size_t kKeep = 2;

std::string part_name(const std::string& journal, const std::string& name, size_t part) {
  std::string digits = std::to_string(part);
  return journal + "/" + name + ".part-" + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

}  // namespace

struct SnapshotStore::Entry {
  std::string name;
  Offset next;
  Revision revision;
  std::string hash;
  std::vector<std::string> parts;  ///< their SHA-256

  Value to_value() const {
    Value sums = Value::array();
    for (const std::string& part : parts) sums.push_back(part);
    return Value::object({{"name", name},
                          {"nextOffset", next.value},
                          {"revision", revision.value},
                          {"stateHash", hash},
                          {"parts", std::move(sums)}});
  }
  static Entry from(const Value& value) {
    Entry entry;
    entry.name = value["name"].str();
    entry.next = Offset{value["nextOffset"].as_int()};
    entry.revision = Revision{static_cast<uint64_t>(value["revision"].as_int())};
    entry.hash = value["stateHash"].str();
    for (const Value& part : value["parts"].items()) entry.parts.push_back(part.str());
    return entry;
  }
  /// A name of ours: what another wrote into the manifest leads to no other file.
  bool named_well() const { return name == snapshot_file_name(revision); }
};

Result<std::vector<SnapshotStore::Entry>> SnapshotStore::list(const std::string& journal) {
  const auto text = blobs_->get(journal + "/manifest.json");
  if (!text && text.error().code == ErrorCode::kNotFound) return std::vector<Entry>{};
  if (!text) return text.error();
  SHIPLOG_TRY(const Value manifest, parse_json(text.value()));
  std::vector<Entry> entries;
  for (const Value& value : manifest["snapshots"].items()) {
    if (Entry entry = Entry::from(value); entry.named_well()) entries.push_back(std::move(entry));
  }
  std::ranges::sort(entries, std::ranges::greater{}, &Entry::next);
  return entries;
}

Result<void> SnapshotStore::publish(const std::string& journal, const VerifiedSnapshot& snapshot) {
  const std::lock_guard lock{mutex_};
  SHIPLOG_TRY(auto entries, list(journal));
  if (!entries.empty() && entries.front().next >= snapshot.info.next) return ok();
  Entry entry{snapshot_file_name(snapshot.info.revision),
              snapshot.info.next,
              snapshot.info.revision,
              to_string(snapshot.info.hash),
              {}};
  std::ifstream file{snapshot.file, std::ios::binary};
  for (std::string bytes(kPartBytes, '\0'); file.read(bytes.data(), kPartBytes) || file.gcount() > 0;) {
    std::string part = bytes.substr(0, static_cast<size_t>(file.gcount()));
    entry.parts.push_back(sha256(part));
    SHIPLOG_TRY(blobs_->put(part_name(journal, entry.name, entry.parts.size() - 1), std::move(part)));
  }
  if (!file.eof()) return Error{ErrorCode::kIo, "cannot read " + snapshot.file};
  // Another snapshot of the same revision is replaced: its parts are.
  std::erase_if(entries, [&](const Entry& other) { return other.name == entry.name; });
  entries.insert(entries.begin(), std::move(entry));
  std::vector<Entry> dropped;
  while (entries.size() > kKeep) {
    dropped.push_back(std::move(entries.back()));
    entries.pop_back();
  }
  Value all = Value::array();
  for (const Entry& kept : entries) all.push_back(kept.to_value());
  SHIPLOG_TRY(blobs_->put(journal + "/manifest.json", to_pretty_json(Value::object({{"snapshots", std::move(all)}}))));
  for (const Entry& old : dropped) {
    for (size_t part = 0; part < old.parts.size(); ++part) blobs_->remove(part_name(journal, old.name, part));
  }
  return ok();
}

Result<VerifiedSnapshot> SnapshotStore::fetch_one(const std::string& journal, const Entry& entry,
                                                  const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  const std::string draft = snapshot_draft(folder, "fetched");
  fs::remove(draft, failed);
  {
    std::ofstream file{draft, std::ios::binary};
    ::chmod(draft.c_str(), 0600);
    for (size_t part = 0; part < entry.parts.size(); ++part) {
      SHIPLOG_TRY(const std::string bytes, blobs_->get(part_name(journal, entry.name, part)));
      if (sha256(bytes) != entry.parts[part]) {
        return Error{ErrorCode::kCorrupt, part_name(journal, entry.name, part) + " does not match its SHA-256"};
      }
      file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    file.flush();
    if (!file) return Error{ErrorCode::kIo, "cannot write " + draft};
  }
  SHIPLOG_TRY(const SnapshotInfo info, Projections::verify_snapshot(draft));
  if (info.next != entry.next || to_string(info.hash) != entry.hash) {
    return Error{ErrorCode::kCorrupt, entry.name + " is another snapshot than the manifest names"};
  }
  VerifiedSnapshot fetched{folder + "/" + entry.name, info};
  SHIPLOG_TRY(sync_file(draft));
  fs::rename(draft, fetched.file, failed);
  if (failed) return Error{ErrorCode::kIo, "cannot rename " + draft + ": " + failed.message()};
  SHIPLOG_TRY(sync_folder(folder));
  return fetched;
}

Result<std::optional<VerifiedSnapshot>> SnapshotStore::fetch(const std::string& journal, const std::string& folder,
                                                             Offset from, Offset to) {
  const std::lock_guard lock{mutex_};
  SHIPLOG_TRY(const auto entries, list(journal));
  for (const Entry& entry : entries) {
    if (entry.next < from || entry.next > to) continue;
    auto fetched = fetch_one(journal, entry, folder);
    if (fetched) return std::optional{std::move(fetched).value()};
    log::warn("snapshot.unusable",
              {log::kv("journal", journal), log::kv("name", entry.name), log::kv("reason", fetched.error().message)});
  }
  return std::optional<VerifiedSnapshot>{};
}

}  // namespace shiplog
