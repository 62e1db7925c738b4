#include "services/programs/shiplogd/snapshots.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "projections/runner.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

constexpr size_t kKeep = 2;

/// Newest first: names carry the revision with leading zeros.
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

std::string name_of(Revision revision) {
  std::string digits = std::to_string(revision.value);
  return "revision-" + std::string(20 - digits.size(), '0') + digits + ".db";
}

}  // namespace

void restore_newest_snapshot(const std::string& folder, const std::string& projection) {
  if (std::filesystem::exists(projection)) return;
  for (const std::string& file : snapshots_in(folder)) {
    const auto restored = Projections::restore_snapshot(file, projection);
    if (restored) {
      log::info("snapshot.restored", {log::kv("file", file), log::kv("revision", restored.value().revision.value)});
      return;
    }
    log::warn("snapshot.unusable", {log::kv("file", file), log::kv("reason", restored.error().message)});
  }
}

Snapshots::Snapshots(Stack& stack, std::string folder, uint64_t every, Executor& executor)
    : stack_{stack}, folder_{std::move(folder)}, every_{every}, executor_{executor} {}

Snapshots::~Snapshots() {
  *alive_ = false;
  if (thread_.joinable()) thread_.join();
}

void Snapshots::on_folded(const State&, const DecodedRecord&, const Folded&) {
  if (every_ == 0 || ++entries_ < every_ || under_way_) return;
  entries_ = 0;
  under_way_ = true;
  // After this batch is in the projection.
  executor_.post([this, alive = alive_] {
    if (*alive) take();
  });
}

void Snapshots::take() {
  if (thread_.joinable()) thread_.join();
  thread_ = std::thread{[this, alive = alive_] {
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    const std::string draft = folder_ + "/draft.db";
    auto info = stack_.projections().snapshot(draft);
    std::string file;
    if (info) {
      file = name_of(info.value().revision);
      std::filesystem::rename(draft, folder_ + "/" + file, failed);
    }
    executor_.post([this, alive, info, file] {
      if (!*alive) return;
      under_way_ = false;
      if (!info) return log::warn("snapshot.failed", {log::kv("reason", info.error().message)});
      taken(info.value(), file);
    });
  }};
}

void Snapshots::taken(const SnapshotInfo& info, const std::string& file) {
  log::info("snapshot.taken", {log::kv("file", file), log::kv("revision", info.revision.value)});
  std::error_code none;
  const auto files = snapshots_in(folder_);
  for (size_t index = kKeep; index < files.size(); ++index) std::filesystem::remove(files[index], none);
  const auto hash = stack_.replica().state().hash_at(info.revision);
  if (!hash) return;  // folded on too far meanwhile to say
  Entry entry;
  entry.actor = {
      .user = "system:shiplog", .groups = {"system:shiplog"}, .service = "control", .source_ip = "", .user_agent = ""};
  entry.events = {SnapshotTaken{info.revision, *hash, file}};
  stack_.replica().append(std::move(entry), [](Result<Outcome>) {});
}

}  // namespace shiplog
