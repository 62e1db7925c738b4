#include "services/api/auditing/rotating_file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/http/gzip.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDay = 24LL * 3600 * 1000;
constexpr std::string_view kGzip = ".gz";

Error io_error(const std::string& path, const char* doing) {
  return Error{ErrorCode::kIo, path + ": " + doing + ": " + std::strerror(errno)};
}

/// "2006-01-02T15-04-05.000"
std::string stamp_of(UtcMillis at) {
  std::string stamp = rfc3339_millis(at);
  stamp.pop_back();
  std::ranges::replace(stamp, ':', '-');
  return stamp;
}

/// nullopt: not written by stamp_of().
std::optional<UtcMillis> time_of_stamp(std::string stamp) {
  if (stamp.size() != 23) return std::nullopt;
  stamp[13] = stamp[16] = ':';
  const auto time = parse_rfc3339(stamp + "Z");
  if (!time) return std::nullopt;
  return time.value();
}

/// Of "DIR/audit.log": "audit-" and ".log".
struct BackupNames {
  fs::path folder;
  std::string prefix, extension;

  explicit BackupNames(const std::string& path) {
    const fs::path file{path};
    folder = file.parent_path().empty() ? fs::path{"."} : file.parent_path();
    extension = file.extension().string();
    prefix = file.stem().string() + "-";
  }
  fs::path at(UtcMillis time) const { return folder / (prefix + stamp_of(time) + extension); }
  std::optional<UtcMillis> time_of(std::string name) const {
    if (name.ends_with(kGzip)) name.resize(name.size() - kGzip.size());
    if (!name.starts_with(prefix) || !name.ends_with(extension)) return std::nullopt;
    if (name.size() < prefix.size() + extension.size()) return std::nullopt;
    return time_of_stamp(name.substr(prefix.size(), name.size() - prefix.size() - extension.size()));
  }
};

struct Backup {
  UtcMillis time;
  fs::path path;
};

/// Newest first.
std::vector<Backup> backups_of(const BackupNames& names) {
  std::vector<Backup> backups;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator{names.folder, failed}) {
    if (const auto time = names.time_of(entry.path().filename().string())) backups.push_back({*time, entry.path()});
  }
  std::ranges::sort(backups, [](const Backup& a, const Backup& b) { return a.time > b.time; });
  return backups;
}

/// A file of several gzip members, each of a part: any reader of gzip takes them for one text.
Result<void> compress_file(const fs::path& path) {
  constexpr size_t kPart = 4 * 1024 * 1024;
  const std::string target = path.string() + std::string{kGzip};
  const std::string unfinished = target + ".tmp";
  std::ifstream in{path, std::ios::binary};
  const int out = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (!in || out < 0) return io_error(unfinished, "cannot be written");
  std::string part(kPart, '\0');
  bool good = true;
  while (good && (in.read(part.data(), kPart) || in.gcount() > 0)) {
    const std::string packed = gzip(std::string_view{part.data(), static_cast<size_t>(in.gcount())});
    good = ::write(out, packed.data(), packed.size()) == static_cast<ssize_t>(packed.size());
  }
  good = ::fsync(out) == 0 && good;
  ::close(out);
  if (!good || ::rename(unfinished.c_str(), target.c_str()) != 0) {
    Error error = io_error(unfinished, "cannot be written");
    ::unlink(unfinished.c_str());
    return error;
  }
  ::unlink(path.c_str());
  return ok();
}

}  // namespace

struct RotatingFile::Impl {
  Options options;
  BackupNames names;
  int file = -1;
  uint64_t size = 0;
  bool regular = true;  ///< a pipe or a device is not renamed
  std::thread tidying;
  std::atomic<bool> tidies{false};

  explicit Impl(Options given) : options{std::move(given)}, names{options.path} {}
  ~Impl() {
    if (tidying.joinable()) tidying.join();
    if (file >= 0) ::close(file);
  }

  Result<void> open_file() {
    std::error_code failed;
    fs::create_directories(names.folder, failed);  // as kube-apiserver does
    if (failed) {
      const std::string reason = names.folder.string() + ": " + failed.message();
      return Error{ErrorCode::kIo, options.path + ": its folder cannot be made: " + reason};
    }
    file = ::open(options.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return io_error(options.path, "cannot be opened");
    struct stat about = {};
    if (::fstat(file, &about) != 0) return io_error(options.path, "cannot be read");
    regular = S_ISREG(about.st_mode);
    size = regular ? static_cast<uint64_t>(about.st_size) : 0;
    return ok();
  }

  Result<void> rotate() {
    UtcMillis now = options.clock->now();
    while (fs::exists(names.at(now)) || fs::exists(names.at(now).string() + std::string{kGzip})) ++now.value;
    if (::rename(options.path.c_str(), names.at(now).c_str()) != 0) return io_error(options.path, "cannot be renamed");
    ::close(file);
    file = -1;
    SHIPLOG_TRY(open_file());
    tidy();
    return ok();
  }

  /// Deletes and compresses backups on a thread of its own, as that takes its time. One that is still busy is left to
  /// it: the next rotation does the rest.
  void tidy() {
    if (tidies.exchange(true)) return;
    if (tidying.joinable()) tidying.join();
    tidying = std::thread{[this, now = options.clock->now()] {
      tidy_backups(now);
      tidies = false;
    }};
  }

  void tidy_backups(UtcMillis now) const {
    size_t kept = 0;
    for (const Backup& backup : backups_of(names)) {
      const bool too_many = options.most_backups > 0 && kept >= options.most_backups;
      const bool too_old = options.most_days > 0 && now - backup.time > Millis{options.most_days * kDay};
      if (too_many || too_old) {
        std::error_code failed;
        fs::remove(backup.path, failed);
        if (failed) report(Error{ErrorCode::kIo, backup.path.string() + ": " + failed.message()});
        continue;
      }
      ++kept;
      if (!options.compress || backup.path.extension() == kGzip) continue;
      if (const auto compressed = compress_file(backup.path); !compressed) report(compressed.error());
    }
  }

  static void report(const Error& error) { log::error("audit.rotation_failed", {log::kv("reason", error.message)}); }
};

RotatingFile::RotatingFile(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
RotatingFile::~RotatingFile() = default;

Result<std::unique_ptr<RotatingFile>> RotatingFile::open(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  SHIPLOG_TRY(impl->open_file());
  impl->tidy();
  return std::unique_ptr<RotatingFile>{new RotatingFile{std::move(impl)}};
}

Result<void> RotatingFile::append(std::string_view lines) {
  Impl& own = *impl_;
  if (own.file < 0) {
    SHIPLOG_TRY(own.open_file());
  }
  if (own.regular && own.size > 0 && own.size + lines.size() > own.options.most_bytes) {
    // Better a long file than a lost event.
    if (const auto rotated = own.rotate(); !rotated) Impl::report(rotated.error());
    if (own.file < 0) return io_error(own.options.path, "cannot be opened");
  }
  std::string_view left = lines;
  while (!left.empty()) {
    const ssize_t written = ::write(own.file, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const Error error = io_error(own.options.path, "cannot be written");
      // Not half a line: it would spoil the next one.
      if (left.size() < lines.size() && ::ftruncate(own.file, static_cast<off_t>(own.size)) != 0) {
        Impl::report(io_error(own.options.path, "cannot be cut"));
      }
      return error;
    }
    left.remove_prefix(static_cast<size_t>(written));
  }
  own.size += lines.size();
  return ok();
}

}  // namespace shiplog::api
