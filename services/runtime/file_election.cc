#include "services/runtime/file_election.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/runtime/folder_watch.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

constexpr const char* kDraft = ".draft";
/// Of a process without others beside it: one of so many looks goes to the lease files.
constexpr int kLooksAlone = 10;

/// The fold version that a living process has announced in this file; nullopt: it has ended, and so has the file.
std::optional<uint32_t> announced_in(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  if (::flock(fd, LOCK_SH | LOCK_NB) == 0) {
    ::unlink(path.c_str());
    ::close(fd);
    return std::nullopt;
  }
  char text[16] = {};
  const ssize_t size = ::read(fd, text, sizeof text);
  ::close(fd);
  uint32_t version = 0;
  if (size > 0) std::from_chars(text, text + size, version);
  return version;
}

struct Announcement {
  std::string heartbeats;
  std::set<std::string> roles;
};

/// What a living process has announced; nullopt: it has ended.
std::optional<Announcement> announcement_in(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  char text[4096];
  const bool ended = ::flock(fd, LOCK_SH | LOCK_NB) == 0;
  const ssize_t size = ended ? 0 : ::pread(fd, text, sizeof text, 0);
  ::close(fd);  // with it the lock; fold_version_of_all() removes the file
  if (ended) return std::nullopt;
  std::istringstream lines{std::string{text, static_cast<size_t>(std::max<ssize_t>(size, 0))}};
  Announcement read;
  std::string line;
  std::getline(lines, line);
  std::getline(lines, read.heartbeats);
  while (lines >> line) read.roles.insert(line);
  return read;
}

/// The N of `<service>.N`; 0 of `<service>`; nullopt: it is another service's.
std::optional<int64_t> generation_in(std::string_view name, std::string_view service) {
  if (!name.starts_with(service)) return std::nullopt;
  name.remove_prefix(service.size());
  if (name.empty()) return 0;
  if (name.front() != '.') return std::nullopt;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  return error == std::errc{} && end == name.data() + name.size() ? std::optional{number} : std::nullopt;
}

}  // namespace

struct FileElection::Impl {
  struct Lease : std::enable_shared_from_this<Lease> {
    std::string service;
    std::function<void(bool)> changed;
    int64_t generation = 0;
    int fd = -1;
    bool leading = false;
    int64_t heartbeats = 0;  // while leading: counted up in the file
    int64_t seen = -1;       // while not: the holder's at the last look
    int silence = 0;         // looks that count, since it changed
    bool complained = false;
    bool withdrawn = false;  // read and written on the executor only
  };

  /// Another process, as seen at the last look.
  struct Candidate {
    Announcement announced;
    int silence = 0;  // looks that count, since its heartbeat changed
  };

  Options options;
  std::mutex mutex;  // guards what follows
  std::vector<std::shared_ptr<Lease>> leases;
  std::set<std::string> roles;       // announced
  int64_t announced_heartbeats = 0;  // in the file that announces them
  std::map<std::string, Candidate> others;
  bool closing = false;
  std::unique_ptr<FolderWatch> arrivals;                       // of other processes
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);  // read and written on the executor only
  std::thread thread;
  int announced = -1;

  explicit Impl(Options given) : options{std::move(given)} {
    std::error_code failed;
    std::filesystem::create_directories(processes(), failed);  // a failure shows when the first lease is opened
    arrivals = std::make_unique<FolderWatch>(processes());
    announce();
  }

  std::string processes() const { return options.folder + "/processes"; }

  /// The file gets its name once it is locked and whole: one that is not locked is of a process that has ended.
  void announce() {
    const std::string path = processes() + "/" + options.identity;
    const std::string draft = path + kDraft;
    const std::string text = announcement();
    announced = ::open(draft.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (announced >= 0 && ::flock(announced, LOCK_EX | LOCK_NB) == 0 &&
        ::write(announced, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        ::rename(draft.c_str(), path.c_str()) == 0) {
      return;
    }
    log::error("election.failed", {log::kv("file", path), log::kv("reason", std::strerror(errno))});
  }

  std::string announcement() const {
    std::string number = std::to_string(announced_heartbeats);
    number.insert(0, 20 - number.size(), '0');  // so that the file keeps its size
    std::string text = std::to_string(options.fold_version) + "\n" + number + "\n";
    for (const std::string& role : roles) text += role + "\n";
    return text;
  }

  void renew_announcement() {
    if (announced < 0) return;
    ++announced_heartbeats;
    const std::string text = announcement();
    if (::pwrite(announced, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
      log::error("election.failed",
                 {log::kv("file", processes() + "/" + options.identity), log::kv("reason", std::strerror(errno))});
  }

  void look_for_others(bool counts) {
    std::map<std::string, Candidate> now;
    std::error_code trouble;
    for (const auto& file : std::filesystem::directory_iterator{processes(), trouble}) {
      const std::string name = file.path().filename().string();
      if (name == options.identity || name.ends_with(kDraft)) continue;
      auto read = announcement_in(file.path().string());
      if (!read || read->roles.empty()) continue;
      const auto before = others.find(name);
      const bool silent = before != others.end() && before->second.announced.heartbeats == read->heartbeats;
      now[name] = {std::move(*read), silent ? before->second.silence + (counts ? 1 : 0) : 0};
    }
    if (!trouble) others = std::move(now);
  }

  /// No other process has announced itself. Each does so before it looks at its first lease.
  bool alone() const {
    std::error_code trouble;
    for (const auto& file : std::filesystem::directory_iterator{processes(), trouble}) {
      const std::string name = file.path().filename().string();
      if (name != options.identity && !name.ends_with(kDraft) && announced_in(file.path().string())) return false;
    }
    return !trouble;
  }

  void withdraw() {
    if (announced < 0) return;
    ::unlink((processes() + "/" + options.identity).c_str());
    ::close(announced);
    announced = -1;
  }

  std::string path_of(const Lease& lease, int64_t generation) const {
    const std::string plain = options.folder + "/" + lease.service;
    return generation == 0 ? plain : plain + "." + std::to_string(generation);
  }

  int64_t newest(const Lease& lease) const {
    int64_t found = 0;
    std::error_code trouble;
    for (const auto& file : std::filesystem::directory_iterator{options.folder, trouble}) {
      if (const auto number = generation_in(file.path().filename().string(), lease.service))
        found = std::max(found, *number);
    }
    return found;
  }

  void complain(Lease& lease, const char* doing) const {
    const int cause = errno;
    if (std::exchange(lease.complained, true)) return;
    log::error("election.failed", {log::kv("file", path_of(lease, lease.generation)),
                                   log::kv("reason", std::string{doing} + ": " + std::strerror(cause))});
  }

  /// The file is still the newest one of its service.
  bool current(const Lease& lease) const {
    struct stat status = {};
    if (::fstat(lease.fd, &status) != 0 || status.st_nlink == 0) return false;
    return ::access(path_of(lease, lease.generation + 1).c_str(), F_OK) != 0;
  }

  static void let_go(Lease& lease) {
    if (lease.fd >= 0) ::close(lease.fd);  // releases the lock
    lease.fd = -1;
    lease.seen = -1;
    lease.silence = 0;
  }

  /// 0: there is no heartbeat, as of a holder that is about to write its first one, or of an older build.
  static int64_t heartbeat_in(const Lease& lease) {
    int64_t heartbeats = 0;
    return ::pread(lease.fd, &heartbeats, sizeof heartbeats, 0) == sizeof heartbeats ? heartbeats : 0;
  }

  void write_beat(Lease& lease) const {
    ++lease.heartbeats;
    if (::pwrite(lease.fd, &lease.heartbeats, sizeof lease.heartbeats, 0) != sizeof lease.heartbeats)
      complain(lease, "cannot write");
  }

  bool try_lock(Lease& lease) const {
    if (::flock(lease.fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) complain(lease, "cannot lock");
      return false;
    }
    if (!current(lease)) {  // replaced while its holder was frozen, and that has ended now
      let_go(lease);
      return false;
    }
    lease.leading = true;
    lease.heartbeats = std::max<int64_t>(heartbeat_in(lease), 0);
    write_beat(lease);
    for (int64_t older = lease.generation - 1; older >= 0; --older) {
      if (::unlink(path_of(lease, older).c_str()) != 0) break;
    }
    notify(lease);
    return true;
  }

  void open(Lease& lease) const {
    lease.generation = newest(lease);
    lease.fd = ::open(path_of(lease, lease.generation).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lease.fd < 0) complain(lease, "cannot open");
  }

  /// Its holder is frozen: the first process to make the next file is the one to replace it.
  void replace_holder(Lease& lease) const {
    const std::string next = path_of(lease, lease.generation + 1);
    const int made = ::open(next.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made < 0 && errno != EEXIST) return complain(lease, "cannot make the next one");
    if (made < 0) return let_go(lease);
    log::warn("election.holder_silent",
              {log::kv("service", lease.service), log::kv("looks", lease.silence), log::kv("file", next)});
    let_go(lease);
    ++lease.generation;
    lease.fd = made;
    try_lock(lease);
  }

  /// `counts`: a holder whose heartbeat is still the same has missed one.
  void look(Lease& lease, bool counts) const {
    if (lease.fd >= 0 && !current(lease)) {
      const bool led = std::exchange(lease.leading, false);
      let_go(lease);
      if (led) notify(lease);
    }
    if (lease.leading) return write_beat(lease);
    if (lease.fd < 0) open(lease);
    if (lease.fd < 0 || try_lock(lease) || lease.fd < 0) return;
    const int64_t heartbeats = heartbeat_in(lease);
    lease.silence = heartbeats == 0 || heartbeats != lease.seen ? 0 : lease.silence + (counts ? 1 : 0);
    lease.seen = heartbeats;
    if (lease.silence >= options.patience) replace_holder(lease);
  }

  void notify(const Lease& lease) const {
    options.executor->post([alive_then = alive, noted = lease.shared_from_this(), leading = lease.leading] {
      if (*alive_then && !noted->withdrawn) noted->changed(leading);
    });
  }

  /// Heartbeats are for others. A process that is alone leaves most of them out, as they are writes to a disk: the
  /// first look at another one resumes them, long before that one loses its patience. It looks when another one
  /// arrives, and else more seldom, but often enough for that one's patience in case that the kernel did not report it.
  /// After a pause of the process others may have come and gone. A look that an arrival or a campaign brought about is
  /// there for leases that are free: it does not count, or many of them at once would make others silent.
  void run() {
    const std::chrono::milliseconds usual{options.poll_every.value};
    const auto alone_for = usual * std::max(options.patience * 3 / 5, 1);
    std::chrono::milliseconds pause = usual;
    auto last = std::chrono::steady_clock::now();
    auto counted = last - usual;
    int looks = 0;
    std::unique_lock lock{mutex};
    while (!closing) {
      const auto now = std::chrono::steady_clock::now();
      const bool paused = now - std::exchange(last, now) > pause + usual * (options.patience / 2);
      const bool counts = now - counted >= usual;
      if (counts) counted = now;
      const bool leads_all = std::ranges::all_of(leases, [](const auto& lease) { return lease->leading; });
      const bool at_rest = leads_all && alone();
      if (paused || !at_rest || ++looks % kLooksAlone == 0) {
        for (const auto& lease : leases) look(*lease, counts);
        if (!roles.empty()) {
          renew_announcement();
          look_for_others(counts);
        }
      }
      pause = at_rest && arrivals->watches() ? alone_for : usual;
      lock.unlock();
      arrivals->wait(pause);
      lock.lock();
    }
  }

  void stop() {
    {
      const std::lock_guard lock{mutex};
      closing = true;
    }
    arrivals->wake();
    if (thread.joinable()) thread.join();
    for (const auto& lease : leases) let_go(*lease);
    leases.clear();
    withdraw();
  }
};

FileElection::FileElection(Options options) : impl_{std::make_unique<Impl>(std::move(options))} {
  impl_->thread = std::thread{[impl = impl_.get()] { impl->run(); }};
}

FileElection::~FileElection() {
  impl_->stop();
  *impl_->alive = false;
}

const std::string& FileElection::identity() const { return impl_->options.identity; }

void FileElection::campaign(const std::string& service, std::function<void(bool leading)> changed) {
  auto lease = std::make_shared<Impl::Lease>();
  lease->service = service;
  lease->changed = std::move(changed);
  const std::lock_guard lock{impl_->mutex};
  impl_->leases.push_back(lease);
  impl_->look(*lease, false);
  if (!lease->leading) impl_->arrivals->wake();  // it looks again soon
}

void FileElection::withdraw(const std::string& service) {
  const std::lock_guard lock{impl_->mutex};
  std::erase_if(impl_->leases, [&](const auto& lease) {
    if (lease->service != service) return false;
    lease->withdrawn = true;
    Impl::let_go(*lease);
    return true;
  });
}

void FileElection::announce(const std::string& role) {
  const std::lock_guard lock{impl_->mutex};
  impl_->roles.insert(role);
  impl_->renew_announcement();
  impl_->look_for_others(false);
}

std::vector<std::string> FileElection::candidates(const std::string& role) {
  const std::lock_guard lock{impl_->mutex};
  std::vector<std::string> names;
  if (impl_->roles.contains(role)) names.push_back(impl_->options.identity);
  for (const auto& [name, other] : impl_->others) {
    if (other.silence < impl_->options.patience && other.announced.roles.contains(role)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::optional<bool> FileElection::led(const std::string& service) {
  Impl::Lease probe;
  probe.service = service;
  {
    const std::lock_guard lock{impl_->mutex};
    for (const auto& lease : impl_->leases) {
      if (lease->service == service && lease->leading) return true;
    }
  }
  probe.generation = impl_->newest(probe);
  const int fd = ::open(impl_->path_of(probe, probe.generation).c_str(), O_RDONLY | O_CLOEXEC);
  // A file that this process cannot open it cannot lead by either; without descriptors it does not know.
  if (fd < 0) return errno == EMFILE || errno == ENFILE ? std::nullopt : std::optional{false};
  // A shared lock for a moment: a candidate that meets it looks again soon.
  const bool free = ::flock(fd, LOCK_SH | LOCK_NB) == 0;
  const bool held = !free && errno == EWOULDBLOCK;
  ::close(fd);
  if (!free && !held) return std::nullopt;
  return held;
}

std::optional<uint32_t> FileElection::fold_version_of_all() {
  uint32_t lowest = impl_->options.fold_version;
  std::error_code trouble;
  for (const auto& file : std::filesystem::directory_iterator{impl_->processes(), trouble}) {
    const std::string name = file.path().filename().string();
    if (name == impl_->options.identity || name.ends_with(kDraft)) continue;
    if (const auto other = announced_in(file.path().string())) lowest = std::min(lowest, *other);
  }
  if (trouble) return std::nullopt;
  return lowest;
}

void FileElection::resign() {
  *impl_->alive = false;
  impl_->stop();
}

}  // namespace shiplog
