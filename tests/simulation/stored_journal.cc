#include "tests/simulation/stored_journal.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "tests/simulation/faulty_disk.h"

namespace shiplog::simulation {
namespace {

namespace fs = std::filesystem;

/// One transaction: how much of the clock it takes decides nothing here.
constexpr std::chrono::hours kNoTurn{24};

Result<std::vector<std::string>> read_all(embedded::OpenedFile& file, int64_t from) {
  std::vector<std::string> all;
  while (true) {
    SHIPLOG_TRY(const auto records, file.reader.read(from, 256));
    if (records.empty()) return all;
    for (const JournalRecord& record : records) all.push_back(record.bytes);
    from = records.back().offset.value + 1;
  }
}

void overwrite_some_bytes(const std::string& path, Chance& chance) {
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  const auto size = static_cast<uint64_t>(fs::file_size(path));
  if (size == 0) return;
  file.seekp(static_cast<std::streamoff>(chance.below(size)));
  for (uint64_t count = 1 + chance.below(200); count > 0; --count) file.put(static_cast<char>(chance.below(256)));
}

}  // namespace

Error without(const std::string& folder, Error error) {
  for (size_t at = error.message.find(folder); at != std::string::npos; at = error.message.find(folder)) {
    error.message.replace(at, folder.size(), "DISK");
  }
  return error;
}

StoredJournal::~StoredJournal() = default;

Error StoredJournal::without_path(Error error) const { return without(folder_, std::move(error)); }

Result<void> StoredJournal::open() {
  auto opened = embedded::open_journal_file(path(), {});
  if (!opened) return without_path(opened.error());
  if (opened.value().end) return without_path(*opened.value().end);
  if (!opened.value().writer) return without_path(opened.value().writer.error());
  file_.emplace(std::move(opened).value());
  mark_.emplace(path());
  return ok();
}

Result<int64_t> StoredJournal::store(const std::vector<std::string_view>& records) {
  auto first = file_->writer.value().store(records);
  if (!first) return without_path(first.error());
  SHIPLOG_TRY(mark_->write(first.value() + static_cast<int64_t>(records.size())));
  file_->writer.value().committed();
  return first;
}

Result<void> StoredJournal::trim(int64_t before) {
  const auto trimmed = file_->writer.value().trim_some(before, kNoTurn);
  if (!trimmed) return without_path(trimmed.error());
  return ok();
}

void StoredJournal::die_soon(Chance& chance) { FaultyDisk::get().kill_after(folder_, chance.between(1, 12)); }

Result<void> StoredJournal::restart(bool power_fails, Chance& chance) {
  FaultyDisk& disk = FaultyDisk::get();
  disk.kill(folder_);
  mark_.reset();
  file_.reset();
  if (!power_fails) {
    disk.revive(folder_);
    disk.synced(path() + "-wal");  // by sync_wal(), before SQLite opens it
    return open();
  }
  disk.lose_power(folder_, chance);
  // The mark is never synced: it is there, or a part of it, or it is not.
  const std::string mark = embedded::HeadMark::path_of(path());
  if (fs::exists(mark) && chance.permille(500)) {
    const uint64_t kept = chance.below(fs::file_size(mark) + 1);
    kept == 0 ? void(fs::remove(mark)) : fs::resize_file(mark, kept);
  }
  return open();
}

Result<std::vector<std::string>> StoredJournal::read(int64_t from) {
  auto all = read_all(*file_, from);
  if (!all) return without_path(all.error());
  return all;
}

Result<void> StoredJournal::read_damaged(Chance& chance, int64_t from, std::vector<std::string>& found) {
  const std::string copy = folder_ + "/damaged";  // a folder that FaultyDisk leaves alone
  fs::remove_all(copy);
  fs::create_directory(copy);
  for (const char* suffix : {"", "-wal", "-head"}) {
    if (fs::exists(path() + suffix)) fs::copy_file(path() + suffix, copy + "/journal.db" + suffix);
  }
  const bool wal = fs::exists(copy + "/journal.db-wal") && chance.permille(500);
  overwrite_some_bytes(copy + "/journal.db" + (wal ? "-wal" : ""), chance);
  auto opened = embedded::open_journal_file(copy + "/journal.db", {});
  if (!opened) return without_path(opened.error());
  while (true) {
    const auto records = opened.value().reader.read(from, 1);
    if (!records) return without_path(records.error());
    if (records.value().empty()) break;
    found.push_back(records.value().front().bytes);
    ++from;
  }
  if (opened.value().end) return without_path(*opened.value().end);
  if (!opened.value().writer) return without_path(opened.value().writer.error());
  return ok();
}

}  // namespace shiplog::simulation
