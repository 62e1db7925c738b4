#include "services/programs/shiplogctl/debug_dap.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <thread>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include "events/base/json.h"
#include "services/debugger/dap/adapter.h"
#include "services/debugger/dap/frames.h"
#include "services/programs/shiplogctl/debug.h"
#include "services/programs/shiplogd/fleet_options.h"

namespace shiplog::ctl {
namespace {

constexpr size_t kMostWaiting = 1000;  // messages that were not answered yet

/// A message; nullopt: there are no more, for the reason `error` if there is one.
struct ReceivedFrame {
  std::optional<std::string> message;
  std::optional<Error> error;
};

/// Whether a message may be one that ends what runs. The request itself is answered in its turn, and until then the
/// interrupt holds.
bool may_interrupt(const std::string& message) {
  const auto has = [&](const char* word) { return message.find(word) != std::string::npos; };
  return has("\"pause\"") || has("\"disconnect\"") || has("\"terminate\"");
}

/// Reads standard input on a thread of its own, so that `pause` and `disconnect` are seen while the journal is read.
class Receiver {
 public:
  explicit Receiver(std::function<void()> interrupt) : interrupt_{std::move(interrupt)} {
    if (::pipe(wake_) != 0) wake_[0] = wake_[1] = -1;
    thread_ = std::thread{[this] { read_all(); }};
  }
  ~Receiver() {
    {
      const std::lock_guard lock{mutex_};
      ended_ = true;
    }
    changed_.notify_all();
    if (wake_[1] >= 0) ::close(wake_[1]);
    thread_.join();
    if (wake_[0] >= 0) ::close(wake_[0]);
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  ReceivedFrame next() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !received_.empty(); });
    ReceivedFrame first = std::move(received_.front());
    received_.pop_front();
    changed_.notify_all();
    return first;
  }

 private:
  void put(ReceivedFrame received) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return received_.size() < kMostWaiting || ended_; });
    received_.push_back(std::move(received));
    changed_.notify_all();
  }

  /// 0: the end, or the receiver is to end.
  ssize_t read_some(char* into, size_t size) const {
    pollfd wait[2] = {{STDIN_FILENO, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    while (::poll(wait, 2, -1) < 0 && errno == EINTR) {
    }
    if (wait[1].revents != 0) return 0;
    ssize_t got = -1;
    while ((got = ::read(STDIN_FILENO, into, size)) < 0 && errno == EINTR) {
    }
    return got;
  }

  void read_all() {
    debugger::FrameReader frames;
    char buffer[65536];
    while (true) {
      const ssize_t got = read_some(buffer, sizeof buffer);
      if (got <= 0) break;
      frames.feed({buffer, static_cast<size_t>(got)});
      while (true) {
        auto message = frames.next();
        if (!message) return end(message.error());
        if (!message.value()) break;
        if (may_interrupt(*message.value())) interrupt_();
        put({std::move(message).value(), std::nullopt});
      }
    }
    end(std::nullopt);
  }
  void end(std::optional<Error> error) {
    interrupt_();
    put({std::nullopt, std::move(error)});
  }

  const std::function<void()> interrupt_;
  int wake_[2] = {-1, -1};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ReceivedFrame> received_;
  bool ended_ = false;
  std::thread thread_;
};

/// The journal options of a launch: what it names, and the command line for all else.
Result<ReplayCommandOptions> launch_options(ReplayCommandOptions options, const Value& arguments) {
  if (const std::string journal = arguments["journal"].str(); !journal.empty()) options.journal = journal;
  if (const std::string snapshot = arguments["snapshot"].str(); !snapshot.empty()) options.snapshot = snapshot;
  for (const Value& setting : arguments["kafkaOptions"].items()) options.kafka.push_back(setting.str());
  if (options.journal.empty()) {
    return Error{ErrorCode::kBadRequest,
                 "launch names no journal: set \"journal\" in its arguments, or start the adapter with --journal"};
  }
  SHIPLOG_TRY(options.journal, journal_address(options.journal));
  return options;
}

}  // namespace

Result<int> debug_dap(const Backing& backing, const ReplayCommandOptions& journal, const Output& to) {
  const auto send = [&to](const Value& message) { to.out << debugger::frame(to_json(message)) << std::flush; };
  const auto open = [&](const Value& arguments) -> Result<std::unique_ptr<debugger::Session>> {
    SHIPLOG_TRY(const auto options, launch_options(journal, arguments));
    return open_session(backing, options, to.err);
  };
  debugger::ConsoleHooks hooks;
  hooks.parse_option = parse_fleet_option;
  debugger::DebugAdapter adapter{open, send, backing.decides, std::move(hooks)};
  Receiver receiver{[&adapter] { adapter.interrupt(); }};
  while (!adapter.finished()) {
    const ReceivedFrame received = receiver.next();
    if (!received.message) {
      if (!received.error) return 0;
      return Error{ErrorCode::kBadRequest, "standard input: " + received.error->message};
    }
    const auto message = parse_json(*received.message);
    if (message) {
      adapter.handle(message.value());
    } else {
      adapter.handle_unreadable(message.error().message);
    }
    if (may_interrupt(*received.message)) adapter.clear_interrupt();
    if (!to.out) return Error{ErrorCode::kIo, "standard output is closed"};
  }
  return 0;
}

}  // namespace shiplog::ctl
