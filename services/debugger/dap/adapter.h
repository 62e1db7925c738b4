#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/debugger/console.h"
#include "services/debugger/dap/variables.h"
#include "services/debugger/session.h"

namespace shiplog::debugger {

/// A debug adapter: answers the requests of an editor about one journal. See the Debug Adapter Protocol,
/// https://microsoft.github.io/debug-adapter-protocol. Frames of a stack are the entries that led to the present one,
/// their sources are the entries as YAML, breakpoints on functions are conditions, and a breakpoint in a source stops
/// at its entry.
/// Threads: one, but for interrupt().
class DebugAdapter {
 public:
  /// Opens the journal that the arguments of `launch` or `attach` name.
  using Open = std::function<Result<std::unique_ptr<Session>>(const Value& arguments)>;
  /// Sends one message, which has its seq.
  using Send = std::function<void(const Value& message)>;

  DebugAdapter(Open open, Send send, const Decides& decides, ConsoleHooks hooks = {});

  /// Answers one message. What cannot be answered gets a response with success false.
  void handle(const Value& request);
  /// The bytes of a message that is no JSON.
  void handle_unreadable(const std::string& why);
  /// The editor has disconnected.
  bool finished() const { return finished_; }
  /// Makes what runs return early, until clear_interrupt(). Any thread.
  void interrupt();
  void clear_interrupt();

 private:
  using Handler = Result<Value> (DebugAdapter::*)(const Value& arguments);
  struct Request {
    const char* command;
    Handler handler;
    bool needs_session;
  };
  static const std::vector<Request>& requests();

  Result<Value> initialize(const Value& arguments);
  Result<Value> launch(const Value& arguments);
  Result<Value> configuration_done(const Value& arguments);
  Result<Value> set_breakpoints(const Value& arguments);
  Result<Value> set_function_breakpoints(const Value& arguments);
  Result<Value> set_exception_breakpoints(const Value& arguments);
  Result<Value> threads(const Value& arguments);
  Result<Value> stack_trace(const Value& arguments);
  Result<Value> scopes(const Value& arguments);
  Result<Value> variables(const Value& arguments);
  Result<Value> source(const Value& arguments);
  Result<Value> evaluate(const Value& arguments);
  Result<Value> resume(const Value& arguments);
  Result<Value> resume_back(const Value& arguments);
  Result<Value> next(const Value& arguments);
  Result<Value> step_in(const Value& arguments);
  Result<Value> step_out(const Value& arguments);
  Result<Value> step_back(const Value& arguments);
  Result<Value> pause(const Value& arguments);
  Result<Value> disconnect(const Value& arguments);

  void respond(const Value& request, const Result<Value>& result);
  void event(const std::string& name, Value body);
  void send(Value message);
  /// Runs after the response was sent, then reports where the cursor came to.
  void then(std::function<Result<Stop>()> move, const char* reason);
  void report(const Result<Stop>& stop, const char* reason);
  Result<Value> replace_breakpoints(const char* group, const std::vector<Value>& wanted);
  /// With the cursor at another entry for a while.
  Result<Value> at_position(size_t position, const std::function<Value()>& look);

  const Open open_;
  const Send send_;
  const Decides& decides_;
  const ConsoleHooks hooks_;
  std::unique_ptr<Session> session_;
  std::atomic<Session*> running_{nullptr};
  std::unique_ptr<Console> console_;
  VariableTable variables_;
  std::vector<std::pair<std::string, int>> breakpoints_;  // group and number
  std::function<void()> then_;
  int64_t seq_ = 0;
  bool finished_ = false;
};

}  // namespace shiplog::debugger
