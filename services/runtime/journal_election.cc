#include "services/runtime/journal_election.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "services/runtime/lease_table.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

using Steady = std::chrono::steady_clock;

// So many records determine the present leaders: some seconds' worth in a large fleet.
constexpr int64_t kLookBack = 1'000;
constexpr size_t kBatch = 256;
constexpr auto kElectionPause = std::chrono::milliseconds{200};
// A farewell that takes longer is not worth waiting for: the others notice.
constexpr auto kFarewell = std::chrono::seconds{1};
constexpr auto kRepeatComplaint = std::chrono::seconds{60};

/// Of the heartbeat that was published last. The journal may answer after the election's end.
struct HeartbeatAnswer {
  std::atomic<bool> awaited{false};
  std::mutex mutex;
  std::string failure;  // empty: stored; guarded by mutex
};

}  // namespace

struct JournalElection::Impl {
  Options options;

  std::mutex mutex;  // guards table, notified, changed and heard_at
  LeaseTable table;
  std::map<std::string, bool> notified;
  std::map<std::string, std::function<void(bool)>> changed;
  Steady::time_point heard_at = Steady::now();  // when a heartbeat of our own was read last

  std::atomic<bool> stopping{false};
  std::shared_ptr<HeartbeatAnswer> answer = std::make_shared<HeartbeatAnswer>();
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);  // read and written on the executor only
  std::unique_ptr<Journal::Tail> tail;
  Offset caught_up_at;
  Offset read_to;
  std::map<std::string_view, Steady::time_point> complained;  // about what, and when; on the thread only
  std::thread thread;

  explicit Impl(Options all)
      : options{std::move(all)}, table{options.identity, options.patience, options.fold_version} {}

  /// About the same at most once a minute.
  void complain(std::string_view about, const std::string& reason) {
    const auto now = Steady::now();
    const auto [last, first] = complained.try_emplace(about, now);
    if (!first && now - last->second < kRepeatComplaint) return;
    last->second = now;
    log::warn("election.troubled", {log::kv("journal", options.heartbeats->describe()), log::kv("reason", reason)});
  }

  /// Without the reason, which names brokers: everyone may ask for the health of a process.
  std::string trouble() {
    const std::lock_guard lock{mutex};
    const auto silent = std::chrono::floor<std::chrono::milliseconds>(Steady::now() - heard_at);
    if (silent.count() < options.unheard_after.value) return "";
    return "this process has read no heartbeat of its own for " +
           std::to_string(std::chrono::ceil<std::chrono::seconds>(silent).count()) +
           " s; the log has the reason (election.troubled)";
  }

  /// So that the log says it, too, once it has lasted as long as for trouble().
  void complain_if_unheard() {
    if (trouble().empty()) return;
    const std::lock_guard lock{answer->mutex};
    complain("unheard", answer->failure.empty() ? "no heartbeat of this process is read" : answer->failure);
  }

  /// Opens the tail. False: not now.
  bool connect() {
    const auto head = options.heartbeats->head();
    const auto oldest = options.heartbeats->oldest();
    if (!head || !oldest) {
      complain("opening", (head ? oldest.error() : head.error()).message);
      return false;
    }
    caught_up_at = head.value();
    read_to = Offset{std::max(oldest.value().value, head.value().value - kLookBack)};
    auto opened = options.heartbeats->tail(read_to);
    if (!opened) {
      complain("opening", opened.error().message);
      return false;
    }
    const std::lock_guard lock{mutex};
    tail.swap(opened.value());  // the one before is closed without the lock
    if (stopping) tail->stop();
    return true;
  }

  /// The log was lost, and another one stands in its place: who leads is decided anew.
  void forget() {
    {
      const std::lock_guard lock{mutex};
      table.forget();
    }
    notify();
  }

  Heartbeat next_heartbeat() {
    const std::lock_guard lock{mutex};
    return table.next_heartbeat();
  }

  void publish(const Heartbeat& next, std::function<void()> then = {}) {
    answer->awaited = true;
    // An answer of any kind: what counts is whether the heartbeat is read from the log.
    options.heartbeats->append(to_text(next), [to = answer, then = std::move(then)](const Result<Offset>& stored) {
      {
        const std::lock_guard lock{to->mutex};
        to->failure = stored ? "" : stored.error().message;
      }
      to->awaited = false;
      if (then) then();
    });
  }

  void fold(const std::vector<JournalRecord>& records) {
    for (const JournalRecord& record : records) {
      read_to = Offset{record.offset.value + 1};
      auto heartbeat = heartbeat_from(record.bytes);
      if (!heartbeat) {
        complain("record", heartbeat.error().message);
        continue;
      }
      const std::lock_guard lock{mutex};
      if (heartbeat.value().from == options.identity) heard_at = Steady::now();
      table.fold(record.offset, heartbeat.value());
    }
    notify();
  }

  void notify() {
    const std::lock_guard lock{mutex};
    for (auto& [service, leading] : notified) {
      if (table.leads(service) == leading) continue;
      leading = !leading;
      options.executor->post([this, alive_then = alive, name = service, now_leading = leading] {
        if (!*alive_then) return;
        std::function<void(bool)> call;
        {
          const std::lock_guard inner{mutex};
          if (const auto found = changed.find(name); found != changed.end()) call = found->second;
        }
        if (call) call(now_leading);
      });
    }
  }

  bool is_urgent() {
    const std::lock_guard lock{mutex};
    return table.is_urgent();
  }

  /// For how long to wait for records. What has to come before the next heartbeat, the answer to the last one or the
  /// records that were there before, may take until long after `due`.
  Millis patience_until(Steady::time_point due) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Steady::now());
    if (left.count() > 0) return Millis{left.count()};
    return Millis{answer->awaited || read_to < caught_up_at ? kElectionPause.count() : 0};
  }

  void run() {
    while (!stopping && !connect()) std::this_thread::sleep_for(kElectionPause);
    auto due = Steady::now();
    while (!stopping) {
      auto records = tail->next(kBatch, patience_until(due));
      if (stopping) return;
      if (!records) {
        const ErrorCode code = records.error().code;
        complain(code == ErrorCode::kCorrupt ? "loss" : "reading", records.error().message);
        if (code == ErrorCode::kCorrupt) forget();
        // Trimmed while we looked away, or replaced: the present is all that counts.
        if (code == ErrorCode::kGone || code == ErrorCode::kCorrupt) connect();
        complain_if_unheard();
        std::this_thread::sleep_for(kElectionPause);
        continue;
      }
      fold(records.value());
      complain_if_unheard();
      if (answer->awaited || read_to < caught_up_at) continue;
      const auto now = Steady::now();
      const bool early = now < due;
      if (early && !is_urgent()) continue;
      Heartbeat next = next_heartbeat();
      next.early = early;
      publish(next);
      if (!early) due = now + std::chrono::milliseconds{options.heartbeat_every.value};
    }
  }
};

JournalElection::JournalElection(Options options) : impl_{std::make_unique<Impl>(std::move(options))} {
  impl_->thread = std::thread{[impl = impl_.get()] { impl->run(); }};
}

JournalElection::~JournalElection() {
  impl_->stopping = true;
  {
    const std::lock_guard lock{impl_->mutex};
    if (impl_->tail) impl_->tail->stop();
  }
  if (impl_->thread.joinable()) impl_->thread.join();
  *impl_->alive = false;
}

const std::string& JournalElection::identity() const { return impl_->options.identity; }

void JournalElection::campaign(const std::string& service, std::function<void(bool leading)> changed) {
  const std::lock_guard lock{impl_->mutex};
  impl_->changed[service] = std::move(changed);
  impl_->notified[service] = false;
  impl_->table.campaign(service);
}

void JournalElection::withdraw(const std::string& service) {
  const std::lock_guard lock{impl_->mutex};
  impl_->changed.erase(service);
  impl_->notified.erase(service);
  impl_->table.withdraw(service);
}

void JournalElection::announce(const std::string& role) {
  const std::lock_guard lock{impl_->mutex};
  impl_->table.announce(role);
}

std::vector<std::string> JournalElection::candidates(const std::string& role) {
  const std::lock_guard lock{impl_->mutex};
  return impl_->table.candidates(role);
}

std::optional<bool> JournalElection::led(const std::string& service) {
  const std::lock_guard lock{impl_->mutex};
  return impl_->table.led(service);
}

std::optional<uint32_t> JournalElection::fold_version_of_all() {
  const std::lock_guard lock{impl_->mutex};
  return impl_->table.fold_version_of_all();
}

std::string JournalElection::trouble() { return impl_->trouble(); }

void JournalElection::resign() {
  if (impl_->stopping.exchange(true)) return;
  {
    const std::lock_guard lock{impl_->mutex};
    impl_->changed.clear();
    if (impl_->tail) impl_->tail->stop();
  }
  // The last heartbeat: it must follow any heartbeat of the thread's.
  impl_->thread.join();
  const auto sent = std::make_shared<std::promise<void>>();
  Heartbeat last = impl_->next_heartbeat();
  last.claims.clear();
  last.leaving = true;
  impl_->publish(last, [sent] { sent->set_value(); });
  sent->get_future().wait_for(kFarewell);
}

}  // namespace shiplog
