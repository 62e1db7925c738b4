#include "services/programs/transfer/fleet_storage.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <sys/stat.h>

#include "services/adapters/vault/journal_key_store.h"
#include "services/http/private_file.h"

namespace shiplog {
namespace {

namespace fs = std::filesystem;

Result<void> make_private_folder(const std::string& path) {
  std::error_code failed;
  if (fs::create_directories(path, failed)) ::chmod(path.c_str(), 0700);
  if (failed) return Error{ErrorCode::kIo, "cannot make the folder " + path + ": " + failed.message()};
  return ok();
}

/// fleet.key and the files of pki, as names below the folder, sorted.
std::vector<std::string> key_files_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code none;
  if (fs::exists(folder + "/fleet.key", none)) names.emplace_back("fleet.key");
  for (const auto& file : fs::directory_iterator(folder + "/pki", none)) {
    if (file.is_regular_file(none)) names.push_back("pki/" + file.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

Result<std::unique_ptr<KeyStore>> open_key_file(const std::string& file, bool create) {
  std::error_code none;
  if (!create && !fs::exists(file, none)) return std::unique_ptr<KeyStore>{};
  SHIPLOG_TRY(auto store, open_sqlite_key_store(file));
  return std::unique_ptr<KeyStore>{std::move(store)};
}

}  // namespace

Result<FleetStorage> open_fleet_storage(const FleetPlace& place) {
  SHIPLOG_TRY(const JournalAddress address, parse_journal(place.journal.journal));
  FleetStorage storage;
  storage.keys_dir = place.keys_dir;
  if (!address.on_kafka()) {
    std::string folder = fs::path{address.sqlite_file}.parent_path().string();
    if (folder.empty()) folder = ".";
    if (storage.keys_dir.empty()) storage.keys_dir = folder;
    if (place.journal.create) {
      SHIPLOG_TRY(make_private_folder(folder));
      SHIPLOG_TRY(make_private_folder(storage.keys_dir));
    }
  }
  SHIPLOG_TRY(FleetJournals journals, open_kept_journals(address, place.journal));
  storage.record = std::move(journals.record);
  storage.ephemera = std::move(journals.ephemera);
  if (!address.on_kafka()) {
    SHIPLOG_TRY(storage.keys, open_key_file(storage.keys_dir + "/keys.db", place.journal.create));
  } else if (journals.keys) {
    SHIPLOG_TRY(storage.keys, JournalKeyStore::open(std::move(journals.keys)));
  }
  return storage;
}

Result<size_t> copy_keys(KeyStore& from, KeyStore& to) {
  SHIPLOG_TRY(const std::string fingerprint, from.fingerprint());
  SHIPLOG_TRY(const auto wanted, from.list());
  if (!fingerprint.empty()) {
    SHIPLOG_TRY(to.adopt(fingerprint));
  }
  std::map<std::string, std::string> there;
  SHIPLOG_TRY(const auto found, to.list());
  for (const StoredKey& key : found) there[key.id] = key.wrapped;
  size_t added = 0;
  for (const StoredKey& key : wanted) {
    const auto same = there.find(key.id);
    if (same == there.end()) {
      SHIPLOG_TRY(to.add(key.id, key.object, key.wrapped));
      ++added;
      continue;
    }
    if (same->second != key.wrapped) {
      return Error{ErrorCode::kConflict, to.describe() + " holds another key under the id of one of " +
                                             from.describe() + ": name an empty target"};
    }
    there.erase(same);
  }
  // Destroyed in the source since an interrupted copy.
  std::vector<std::string> gone;
  for (const auto& [id, wrapped] : there) gone.push_back(id);
  if (!gone.empty()) {
    SHIPLOG_TRY(to.destroy(gone));
  }
  return added;
}

Result<std::vector<std::string>> copy_key_files(const std::string& from, const std::string& to) {
  SHIPLOG_TRY(make_private_folder(to));
  const std::vector<std::string> names = key_files_in(from);
  for (const std::string& name : names) {
    SHIPLOG_TRY(const std::string bytes, read_file(from + "/" + name));
    const auto there = read_file(to + "/" + name);
    if (there && there.value() == bytes) continue;
    if (there) {
      return Error{ErrorCode::kConflict,
                   to + "/" + name + " is another file than " + from + "/" + name + ": name another folder"};
    }
    if (there.error().code != ErrorCode::kNotFound) return there.error();
    if (name != "fleet.key") {
      SHIPLOG_TRY(make_private_folder(to + "/pki"));
    }
    SHIPLOG_TRY(write_private_file(to + "/" + name, bytes));
  }
  return names;
}

}  // namespace shiplog
