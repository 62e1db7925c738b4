#include "services/programs/snapshot_files.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

#include <signal.h>
#include <unistd.h>

#include "services/runtime/log.h"

namespace shiplog {
namespace {

constexpr std::chrono::minutes kAbandonedAfter{1};

/// The PID of "KIND-PID.db" and of files beside it; nullopt: it is no draft.
std::optional<pid_t> writer_of_draft(std::string_view name) {
  if (name.starts_with("revision-")) return std::nullopt;
  const size_t dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  pid_t pid = 0;
  const auto [end, failed] = std::from_chars(name.data() + dash + 1, name.data() + name.size(), pid);
  const std::string_view rest = name.substr(static_cast<size_t>(end - name.data()));
  if (failed != std::errc{} || pid <= 0 || !rest.starts_with(".db")) return std::nullopt;
  return pid;
}

}  // namespace

std::string snapshot_draft(const std::string& folder, const std::string& kind) {
  return folder + "/" + kind + "-" + std::to_string(::getpid()) + ".db";
}

void remove_abandoned_drafts(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code none;
  for (const auto& file : fs::directory_iterator(folder, none)) {
    const auto pid = writer_of_draft(file.path().filename().string());
    if (!pid || ::kill(*pid, 0) == 0 || errno != ESRCH) continue;
    std::error_code vanished;
    const auto written = fs::last_write_time(file.path(), vanished);
    if (vanished || fs::file_time_type::clock::now() - written < kAbandonedAfter) continue;
    fs::remove(file.path(), vanished);
  }
}

std::string snapshot_file_name(Revision revision) {
  std::string digits = std::to_string(revision.value);
  return "revision-" + std::string(20 - digits.size(), '0') + digits + ".db";
}

// Names carry the revision with leading zeros.
std::vector<std::string> snapshots_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(folder, none)) {
    const std::string name = file.path().filename().string();
    if (name.starts_with("revision-") && name.ends_with(".db")) files.push_back(file.path().string());
  }
  std::ranges::sort(files, std::ranges::greater{});
  return files;
}

std::optional<VerifiedSnapshot> newest_intact_snapshot(const std::string& folder, Offset from, Offset to) {
  for (const std::string& file : snapshots_in(folder)) {
    const auto info = Projections::verify_snapshot(file);
    if (!info) {
      log::warn("snapshot.unusable", {log::kv("file", file), log::kv("reason", info.error().message)});
      continue;
    }
    if (info.value().next >= from && info.value().next <= to) return VerifiedSnapshot{file, info.value()};
  }
  return std::nullopt;
}

Result<State> state_of_snapshot(const std::string& file) {
  SHIPLOG_TRY(Restored restored, Projections::read_snapshot(file));
  State state;
  if (State::restore(restored.meta, std::move(restored.objects), std::move(restored.seen), state)) return state;
  return Error{ErrorCode::kCorrupt, "snapshot " + file + ": its objects do not hash to what it recorded"};
}

}  // namespace shiplog
