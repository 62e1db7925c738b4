#include "services/programs/member/pod_exec.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "services/api/pipeline/async.h"
#include "services/api/status.h"
#include "services/programs/member/shell/terminal.h"
#include "services/runtime/log.h"

namespace shiplog::member {
namespace {

namespace asio = boost::asio;

using asio::use_awaitable;
using Token = const asio::use_awaitable_t<>;

constexpr size_t kOutputPiece = 32 * 1024;
constexpr Millis kLook{250};  // how often a command that sleeps looks whether it is to end

Value succeeded() { return Value::object({{"metadata", Value::object()}, {"status", "Success"}}); }

Value exited(int code) {
  const std::string number = std::to_string(code);
  const Value cause = Value::object({{"reason", "ExitCode"}, {"message", number}});
  return Value::object({{"metadata", Value::object()},
                        {"status", "Failure"},
                        {"message", "command terminated with non-zero exit code: exit status " + number},
                        {"reason", "NonZeroExitCode"},
                        {"details", Value::object({{"causes", Value::array({cause})}})}});
}

Value no_program(const std::string& program) {
  return api::failure_status(Error{ErrorCode::kInternal,
                                   "Internal error occurred: error executing command in container: failed to exec in "
                                   "container: exec: \"" +
                                       program +
                                       "\": executable file not found in $PATH (a trial member has sh, cat, "
                                       "echo, env, ls, tar and a few more: ls /bin)"});
}

/// Move-only completion handlers for callbacks, which are copied.
template <class Handler>
auto shared(Handler handler) {
  return std::make_shared<Handler>(std::move(handler));
}

class ExecSession final : public PodSession, public std::enable_shared_from_this<ExecSession> {
 public:
  ExecSession(PodSessions& sessions, std::shared_ptr<CommandStreams> streams, StreamChoice choice, PodCommand command)
      : sessions_{sessions},
        streams_{std::move(streams)},
        choice_{choice},
        command_{std::move(command)},
        files_{std::move(command_.image), sessions.written(command_.pod_uid, command_.container)} {
    host_.clock = &sessions_.executor();
    host_.memory = sessions_.memory();
    host_.sleep = [this](Millis time) { return sleep(time); };
    host_.stopped = [this] { return stopped(); };
  }

  void begin() {
    streams_->on_gone([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      self->gone_ = true;
      self->wake_reader();
    });
    if (choice_.tty && choice_.standard_in) pump();
    asio::co_spawn(api::inline_executor(), run(shared_from_this()), [](const std::exception_ptr& failure) {
      if (failure != nullptr) log::error("exec.failed", {log::kv("reason", "a command ended with an exception")});
    });
  }

  void end() override {
    gone_ = true;
    Value status = exited(137);  // SIGKILL, as when the containers of a pod are stopped
    streams_->finish(status);
    wake_reader();
  }

  awaitable<std::string> read() {
    if (choice_.tty) co_return co_await read_terminal();
    auto bytes = co_await read_streams();
    if (!bytes) {
      gone_ = true;
      co_return std::string{};
    }
    co_return std::move(bytes).value();
  }

  awaitable<void> write(CommandStreams::Output output, std::string bytes) {
    if (choice_.tty) bytes = LineDiscipline::shown(bytes);
    while (!bytes.empty() && !gone_) {
      std::string piece = bytes.substr(0, kOutputPiece);
      bytes.erase(0, piece.size());
      const bool written = co_await write_piece(output, std::move(piece));
      if (!written) gone_ = true;
    }
  }

 private:
  class ClientInput;
  class ClientOutput;

  bool stopped() const { return gone_ || interrupted_; }

  static awaitable<void> run(std::shared_ptr<ExecSession> self);

  awaitable<void> show_log(CommandOutput& out) {
    int64_t next = command_.log->count(sessions_.executor().now());
    while (!gone_) {
      const UtcMillis now = sessions_.executor().now();
      for (; next < command_.log->count(now); ++next) co_await out.write(command_.log->line(next).text + "\n");
      const auto then = command_.log->next(now);
      if (!then) co_return;
      interrupted_ = false;
      co_await sleep(*then - now);
    }
  }

  awaitable<void> sleep(Millis time) {
    const UtcMillis until = sessions_.executor().now() + time;
    while (!stopped()) {
      const Millis left = until - sessions_.executor().now();
      if (left.value <= 0) co_return;
      co_await wait(std::min(left, kLook));
    }
  }

  awaitable<void> wait(Millis time) {
    return asio::async_initiate<Token, void()>(
        [this, time](auto handler) {
          sessions_.executor().post_after(time, [held = shared(std::move(handler))] { std::move (*held)(); });
        },
        use_awaitable);
  }

  // Completions are posted: a callback that comes at once must not nest the commands' loops.
  awaitable<Result<std::string>> read_streams() {
    return asio::async_initiate<Token, void(Result<std::string>)>(
        [this](auto handler) {
          streams_->read(
              [&executor = sessions_.executor(), held = shared(std::move(handler))](Result<std::string> bytes) {
                executor.post([held, bytes = std::move(bytes)]() mutable { std::move (*held)(std::move(bytes)); });
              });
        },
        use_awaitable);
  }

  awaitable<bool> write_piece(CommandStreams::Output output, std::string piece) {
    return asio::async_initiate<Token, void(bool)>(
        [this, output](auto handler, std::string bytes) {
          streams_->write(
              output, std::move(bytes),
              [&executor = sessions_.executor(), held = shared(std::move(handler))](const Result<void>& done) {
                executor.post([held, written = done.has_value()] { std::move (*held)(written); });
              });
        },
        use_awaitable, std::move(piece));
  }

  /// Takes in keys all the time: ^C must reach a command that reads nothing.
  void pump() {
    if (gone_ || pumping_ || terminal_.held_bytes() > LineDiscipline::kMostHeld) return;
    pumping_ = true;
    streams_->read([weak = weak_from_this()](const Result<std::string>& keys) {
      const auto self = weak.lock();
      if (self == nullptr) return;
      self->pumping_ = false;
      if (!keys || keys.value().empty()) {
        self->typing_ended_ = true;
        self->gone_ = self->gone_ || !keys;
        return self->wake_reader();
      }
      self->typed(keys.value());
    });
  }

  void typed(std::string_view keys) {
    std::string echo = terminal_.type(keys);
    if (terminal_.take_interrupt()) interrupted_ = true;
    wake_reader();
    // The next keys are taken when the echo is on its way: a client that reads nothing types nothing.
    streams_->write(CommandStreams::Output::kStandardOut, std::move(echo),
                    [weak = weak_from_this(), &executor = sessions_.executor()](const Result<void>& written) {
                      executor.post([weak, done = written.has_value()] {
                        const auto self = weak.lock();
                        if (self == nullptr) return;
                        if (done) return self->pump();
                        self->gone_ = true;
                        self->wake_reader();
                      });
                    });
  }

  awaitable<std::string> read_terminal() {
    while (!gone_) {
      interrupted_ = false;  // what was interrupted has ended
      std::string lines = terminal_.take();
      if (!lines.empty()) {
        pump();
        co_return lines;
      }
      if (typing_ended_ || terminal_.ended() || !choice_.standard_in) co_return std::string{};
      co_await wait_for_keys();
      if (interrupted_ && !gone_) co_return std::string{"\n"};  // an interrupted line is an empty one
    }
    co_return std::string{};
  }

  awaitable<void> wait_for_keys() {
    return asio::async_initiate<Token, void()>(
        [this](auto handler) { wake_ = [held = shared(std::move(handler))] { std::move (*held)(); }; }, use_awaitable);
  }

  void wake_reader() {
    if (auto wake = std::exchange(wake_, nullptr)) sessions_.executor().post(std::move(wake));
  }

  PodSessions& sessions_;
  std::shared_ptr<CommandStreams> streams_;
  StreamChoice choice_;
  PodCommand command_;
  FileSystem files_;
  ShellHost host_;
  LineDiscipline terminal_;
  std::function<void()> wake_;
  bool gone_ = false;
  bool interrupted_ = false;
  bool typing_ended_ = false;
  bool pumping_ = false;
};

class ExecSession::ClientInput final : public CommandInput {
 public:
  explicit ClientInput(std::shared_ptr<ExecSession> session) : session_{std::move(session)} {}
  awaitable<std::string> read() override { return session_->read(); }

 private:
  std::shared_ptr<ExecSession> session_;
};

class ExecSession::ClientOutput final : public CommandOutput {
 public:
  ClientOutput(std::shared_ptr<ExecSession> session, CommandStreams::Output output)
      : session_{std::move(session)}, output_{output} {}
  awaitable<void> write(std::string bytes) override { return session_->write(output_, std::move(bytes)); }

 private:
  std::shared_ptr<ExecSession> session_;
  CommandStreams::Output output_;
};

awaitable<void> ExecSession::run(std::shared_ptr<ExecSession> self) {
  const Streams streams{std::make_shared<ClientInput>(self),
                        std::make_shared<ClientOutput>(self, CommandStreams::Output::kStandardOut),
                        std::make_shared<ClientOutput>(self, CommandStreams::Output::kStandardError)};
  Value status;
  if (self->command_.log) {
    co_await self->show_log(*streams.out);
    status = succeeded();
  } else if (!Shell::knows(self->command_.words.front())) {
    status = no_program(self->command_.words.front());
  } else {
    Shell shell{self->command_.shell, self->files_, self->host_};
    const int code = co_await shell.run_program(self->command_.words, streams);
    status = code == 0 ? succeeded() : exited(code);
  }
  self->streams_->finish(status);
  self->gone_ = true;
  self->sessions_.leave(self->command_.pod_uid, self.get());
}

}  // namespace

void run_command(PodSessions& sessions, std::shared_ptr<CommandStreams> streams, StreamChoice choice,
                 PodCommand command) {
  const std::string uid = command.pod_uid;
  const auto session = std::make_shared<ExecSession>(sessions, streams, choice, std::move(command));
  if (auto entered = sessions.enter(uid, session); !entered)
    return streams->finish(api::failure_status(entered.error()));
  session->begin();
}

}  // namespace shiplog::member
