#include "services/debugger/dap/adapter.h"

#include <algorithm>
#include <limits>

#include "events/base/utf8.h"
#include "events/base/yaml.h"
#include "events/explain/json.h"
#include "services/debugger/entry_view.h"

namespace shiplog::debugger {
namespace {

constexpr int64_t kThread = 1;

size_t size_from(const Value& value) { return static_cast<size_t>(std::max<int64_t>(value.as_int(), 0)); }

Value unverified(const std::string& why) { return Value::object({{"verified", false}, {"message", why}}); }

const char* text_of(Stop::Reason reason) {
  switch (reason) {
    case Stop::Reason::kBeginning:
      return "the beginning is reached";
    case Stop::Reason::kEnd:
      return "the end of the journal is reached";
    case Stop::Reason::kInterrupted:
      return "interrupted";
    case Stop::Reason::kMoved:
    case Stop::Reason::kCondition:
      break;
  }
  return "";
}

}  // namespace

DebugAdapter::DebugAdapter(Open open, Send send, const Decides& decides, ConsoleHooks hooks)
    : open_{std::move(open)}, send_{std::move(send)}, decides_{decides}, hooks_{std::move(hooks)} {}

const std::vector<DebugAdapter::Request>& DebugAdapter::requests() {
  static const std::vector<Request> all = {{"initialize", &DebugAdapter::initialize, false},
                                           {"launch", &DebugAdapter::launch, false},
                                           {"attach", &DebugAdapter::launch, false},
                                           {"configurationDone", &DebugAdapter::configuration_done, true},
                                           {"setBreakpoints", &DebugAdapter::set_breakpoints, true},
                                           {"setFunctionBreakpoints", &DebugAdapter::set_function_breakpoints, true},
                                           {"setExceptionBreakpoints", &DebugAdapter::set_exception_breakpoints, true},
                                           {"threads", &DebugAdapter::threads, false},
                                           {"stackTrace", &DebugAdapter::stack_trace, true},
                                           {"scopes", &DebugAdapter::scopes, true},
                                           {"variables", &DebugAdapter::variables, true},
                                           {"source", &DebugAdapter::source, true},
                                           {"evaluate", &DebugAdapter::evaluate, true},
                                           {"continue", &DebugAdapter::resume, true},
                                           {"reverseContinue", &DebugAdapter::resume_back, true},
                                           {"next", &DebugAdapter::next, true},
                                           {"stepIn", &DebugAdapter::step_in, true},
                                           {"stepOut", &DebugAdapter::step_out, true},
                                           {"stepBack", &DebugAdapter::step_back, true},
                                           {"pause", &DebugAdapter::pause, true},
                                           {"disconnect", &DebugAdapter::disconnect, false},
                                           {"terminate", &DebugAdapter::disconnect, false}};
  return all;
}

void DebugAdapter::interrupt() {
  if (Session* session = running_.load()) session->interrupt();
}

void DebugAdapter::clear_interrupt() {
  if (session_ != nullptr) session_->clear_interrupt();
}

void DebugAdapter::send(Value message) {
  message.set("seq", ++seq_);
  send_(message);
}

void DebugAdapter::event(const std::string& name, Value body) {
  send(Value::object({{"type", "event"}, {"event", name}, {"body", std::move(body)}}));
}

void DebugAdapter::respond(const Value& request, const Result<Value>& result) {
  Value response = Value::object({{"type", "response"},
                                  {"request_seq", request["seq"].as_int()},
                                  {"command", request["command"].str()},
                                  {"success", result.has_value()}});
  if (result) {
    response.set("body", result.value());
  } else {
    const std::string message = without_controls(result.error().message);
    response.set("message", message);
    // The braces of a format string are not ours to give.
    response.set("body", Value::object({{"error", Value::object({{"id", 1},
                                                                 {"format", "{reason}"},
                                                                 {"variables", Value::object({{"reason", message}})},
                                                                 {"showUser", true}})}}));
  }
  send(std::move(response));
}

void DebugAdapter::handle_unreadable(const std::string& why) {
  respond(Value{}, Error{ErrorCode::kBadRequest, "the message is no JSON: " + why});
}

void DebugAdapter::handle(const Value& request) {
  if (request["type"].as_string() != "request" || !request["command"].is_string()) {
    return respond(request, Error{ErrorCode::kBadRequest, "the message is not a request with a command"});
  }
  const std::string command = request["command"].str();
  const auto found = std::ranges::find_if(requests(), [&](const Request& each) { return command == each.command; });
  if (found == requests().end()) {
    return respond(request, Error{ErrorCode::kBadRequest, "the request " + quoted(command) + " is not supported"});
  }
  if (found->needs_session && session_ == nullptr) {
    return respond(request, Error{ErrorCode::kBadRequest, "no journal is open: send launch first"});
  }
  then_ = nullptr;
  respond(request, (this->*found->handler)(request["arguments"]));
  if (then_) std::exchange(then_, nullptr)();
}

Result<Value> DebugAdapter::initialize(const Value& /*arguments*/) {
  const auto filter = [](const char* name, const char* label, const char* what) {
    return Value::object({{"filter", name}, {"label", label}, {"description", what}, {"default", false}});
  };
  return Value::object(
      {{"supportsConfigurationDoneRequest", true},
       {"supportsFunctionBreakpoints", true},
       {"supportsStepBack", true},
       {"supportsEvaluateForHovers", true},
       {"supportsTerminateRequest", true},
       {"exceptionBreakpointFilters",
        Value::array({filter("refused", "Refused entries", "Stop at entries that the fold has refused"),
                      filter("denied", "Denied requests", "Stop at requests that were denied"),
                      filter("decision", "Decisions", "Stop at every decision")})}});
}

Result<Value> DebugAdapter::launch(const Value& arguments) {
  if (session_ != nullptr) return Error{ErrorCode::kBadRequest, "a journal is open already"};
  SHIPLOG_TRY(session_, open_(arguments));
  running_ = session_.get();
  console_ = std::make_unique<Console>(*session_, decides_, hooks_);
  then_ = [this] { event("initialized", Value::object()); };
  return Value::object();
}

Result<Value> DebugAdapter::configuration_done(const Value& /*arguments*/) {
  then([this] { return session_->step(1); }, "entry");
  return Value::object();
}

void DebugAdapter::then(std::function<Result<Stop>()> move, const char* reason) {
  then_ = [this, move = std::move(move), reason] { report(move(), reason); };
}

void DebugAdapter::report(const Result<Stop>& stop, const char* reason) {
  variables_.clear();
  Value body = Value::object({{"threadId", kThread}, {"allThreadsStopped", true}});
  if (!stop) {
    const std::string message = without_controls(stop.error().message);
    event("output", Value::object({{"category", "stderr"}, {"output", message + "\n"}}));
    body.set("reason", "exception");
    body.set("description", "the journal cannot be read on");
    body.set("text", message);
  } else if (stop.value().reason == Stop::Reason::kCondition) {
    Value hit = Value::array();
    bool function = stop.value().breakpoints.empty();
    bool exception = false;
    for (const int number : stop.value().breakpoints) {
      hit.push_back(number);
      const auto known = std::ranges::find(breakpoints_, number, &std::pair<std::string, int>::second);
      function = function || known == breakpoints_.end() || known->first != "exception";
      exception = exception || (known != breakpoints_.end() && known->first == "exception");
    }
    const bool stepped = stop.value().breakpoints.empty();
    body.set("reason", stepped ? reason : (exception && !function ? "exception" : "function breakpoint"));
    if (!stepped) body.set("hitBreakpointIds", std::move(hit));
  } else {
    body.set("reason", stop.value().reason == Stop::Reason::kMoved ? reason : "pause");
    const std::string description = text_of(stop.value().reason);
    if (!description.empty()) body.set("description", description);
  }
  event("stopped", std::move(body));
}

Result<Value> DebugAdapter::replace_breakpoints(const char* group, const std::vector<Value>& wanted) {
  std::erase_if(breakpoints_, [&](const auto& each) {
    const bool drop = each.first == group;
    if (drop) session_->delete_breakpoint(each.second);
    return drop;
  });
  Value list = Value::array();
  for (const Value& text : wanted) {
    auto condition = BreakCondition::parse(text.as_string());
    if (!condition) {
      list.push_back(unverified(without_controls(condition.error().message)));
      continue;
    }
    const int number = session_->add_breakpoint(std::move(condition).value());
    breakpoints_.emplace_back(group, number);
    list.push_back(Value::object({{"id", number}, {"verified", true}}));
  }
  return Value::object({{"breakpoints", std::move(list)}});
}

Result<Value> DebugAdapter::set_breakpoints(const Value& arguments) {
  const int64_t reference = arguments["source"]["sourceReference"].as_int();
  if (reference < 1 || static_cast<size_t>(reference) > session_->timeline().known()) {
    Value list = Value::array();
    for (size_t index = 0; index < arguments["breakpoints"].items().size(); ++index) {
      list.push_back(unverified("only entries of the journal have breakpoints; conditions are function breakpoints"));
    }
    return Value::object({{"breakpoints", std::move(list)}});
  }
  const Offset offset = session_->timeline().mark(static_cast<size_t>(reference)).offset;
  const std::string group = "entry " + std::to_string(reference);
  // Every line of an entry stops at the entry.
  std::vector<Value> wanted(arguments["breakpoints"].items().size(), "offset == " + std::to_string(offset.value));
  return replace_breakpoints(group.c_str(), wanted);
}

Result<Value> DebugAdapter::set_function_breakpoints(const Value& arguments) {
  std::vector<Value> wanted;
  for (const Value& each : arguments["breakpoints"].items()) {
    const std::string also = each["condition"].str();
    const std::string name = each["name"].str();
    wanted.emplace_back(also.empty() ? name : "(" + name + ") and (" + also + ")");
  }
  return replace_breakpoints("function", wanted);
}

Result<Value> DebugAdapter::set_exception_breakpoints(const Value& arguments) {
  std::vector<Value> wanted;
  for (const Value& filter : arguments["filters"].items()) wanted.push_back(filter);
  return replace_breakpoints("exception", wanted);
}

Result<Value> DebugAdapter::threads(const Value& /*arguments*/) {
  return Value::object({{"threads", Value::array({Value::object({{"id", kThread}, {"name", "journal"}})})}});
}

Result<Value> DebugAdapter::at_position(size_t position, const std::function<Value()>& look) {
  JournalTimeline& timeline = session_->timeline();
  const size_t here = timeline.position();
  SHIPLOG_TRY(timeline.go(position));
  Value value = look();
  SHIPLOG_TRY(timeline.go(here));
  return value;
}

Result<Value> DebugAdapter::stack_trace(const Value& arguments) {
  Value frames = Value::array();
  JournalTimeline& timeline = session_->timeline();
  if (timeline.position() == 0) {
    return Value::object(
        {{"stackFrames",
          Value::array({Value::object({{"id", 0}, {"name", "before the first entry"}, {"line", 0}, {"column", 0}})})},
         {"totalFrames", 1}});
  }
  SHIPLOG_TRY(const auto chain, console_->causes());
  const size_t start = size_from(arguments["startFrame"]);
  const size_t levels = size_from(arguments["levels"]);
  const size_t end = levels == 0 ? chain.size() : std::min(chain.size(), start + std::min(levels, chain.size()));
  for (size_t index = start; index < end; ++index) {
    const size_t position = chain[index];
    SHIPLOG_TRY(
        Value frame, at_position(position, [&] {
          const std::string offset = std::to_string(timeline.mark(position).offset.value);
          return Value::object(
              {{"id", position},
               {"name", without_controls(entry_line(position, timeline.moment()))},
               {"line", 1},
               {"column", 1},
               {"source", Value::object({{"name", "offset-" + offset + ".yaml"}, {"sourceReference", position}})}});
        }));
    frames.push_back(std::move(frame));
  }
  return Value::object({{"stackFrames", std::move(frames)}, {"totalFrames", chain.size()}});
}

Result<Value> DebugAdapter::scopes(const Value& arguments) {
  Value scopes = Value::array();
  JournalTimeline& timeline = session_->timeline();
  const size_t position = size_from(arguments["frameId"]);
  if (position > timeline.known()) return Error{ErrorCode::kNotFound, "there is no such frame"};
  const auto add = [&](const char* name, int64_t reference, bool expensive) {
    if (reference == 0) return;
    scopes.push_back(Value::object({{"name", name}, {"variablesReference", reference}, {"expensive", expensive}}));
  };
  if (position > 0) {
    Value explanations = Value::object();
    SHIPLOG_TRY(const Value entry, at_position(position, [&] {
                  for (const Event& event : timeline.record().entry->events) {
                    const Explanation* why = explanation_of(event);
                    if (why != nullptr) explanations.set(std::string{name_of(event)}, to_value(*why));
                  }
                  return entry_value(position, timeline.moment());
                }));
    Value rest = entry;
    rest.erase("events");
    rest.erase("changes");
    add("Entry", variables_.add(rest), false);
    add("Events", variables_.add(entry["events"]), false);
    add("Changes", variables_.add(entry["changes"]), false);
    add("Explanation", variables_.add(explanations), false);
  }
  // Of the cursor, also for the entries that led to it.
  add("State at the cursor", variables_.add_state(), true);
  return Value::object({{"scopes", std::move(scopes)}});
}

Result<Value> DebugAdapter::variables(const Value& arguments) {
  SHIPLOG_TRY(auto list, variables_.children(arguments["variablesReference"].as_int(), size_from(arguments["start"]),
                                             size_from(arguments["count"]), session_->state()));
  return Value::object({{"variables", std::move(list)}});
}

Result<Value> DebugAdapter::source(const Value& arguments) {
  int64_t reference = arguments["source"]["sourceReference"].as_int();
  if (reference == 0) reference = arguments["sourceReference"].as_int();
  JournalTimeline& timeline = session_->timeline();
  if (reference < 1 || static_cast<size_t>(reference) > timeline.known()) {
    return Error{ErrorCode::kNotFound, "there is no source " + std::to_string(reference)};
  }
  const auto position = static_cast<size_t>(reference);
  SHIPLOG_TRY(Value text, at_position(position, [&] {
                return Value{without_controls(to_yaml(entry_value(position, timeline.moment())))};
              }));
  return Value::object({{"content", std::move(text)}, {"mimeType", "text/x-yaml"}});
}

Result<Value> DebugAdapter::evaluate(const Value& arguments) {
  const std::string expression = arguments["expression"].str();
  std::string text;
  if (arguments["context"].as_string() != "repl") {
    // A condition holds or not; anything else is what `get` shows.
    if (const auto condition = BreakCondition::parse(expression)) {
      text = condition.value().holds(session_->timeline().moment()) ? "true" : "false";
      return Value::object({{"result", text}, {"variablesReference", 0}});
    }
    SHIPLOG_TRY(const Reply reply, console_->run("get " + expression));
    return Value::object({{"result", reply.text}, {"variablesReference", 0}});
  }
  const size_t here = session_->timeline().position();
  SHIPLOG_TRY(const Reply reply, console_->run(expression));
  if (session_->timeline().position() != here) then([] { return Result<Stop>{Stop{}}; }, "goto");
  if (reply.quit) {
    then_ = [this] { event("terminated", Value::object()); };
    finished_ = true;
  }
  return Value::object({{"result", reply.text}, {"variablesReference", 0}});
}

Result<Value> DebugAdapter::resume(const Value& /*arguments*/) {
  then([this] { return session_->resume(true); }, "breakpoint");
  return Value::object({{"allThreadsContinued", true}});
}

Result<Value> DebugAdapter::resume_back(const Value& /*arguments*/) {
  then([this] { return session_->resume(false); }, "breakpoint");
  return Value::object();
}

Result<Value> DebugAdapter::next(const Value& /*arguments*/) {
  then([this] { return session_->step(1); }, "step");
  return Value::object();
}

Result<Value> DebugAdapter::step_in(const Value& /*arguments*/) {
  SHIPLOG_TRY(BreakCondition decision, BreakCondition::parse("decision"));
  then([this, decision = std::move(decision)] { return session_->resume_until(decision, true); }, "step");
  return Value::object();
}

Result<Value> DebugAdapter::step_out(const Value& /*arguments*/) {
  SHIPLOG_TRY(BreakCondition request, BreakCondition::parse("service api"));
  then([this, request = std::move(request)] { return session_->resume_until(request, true); }, "step");
  return Value::object();
}

Result<Value> DebugAdapter::step_back(const Value& /*arguments*/) {
  then([this] { return session_->step_back(1); }, "step");
  return Value::object();
}

Result<Value> DebugAdapter::pause(const Value& /*arguments*/) {
  then([] { return Result<Stop>{Stop{Stop::Reason::kInterrupted, {}}}; }, "pause");
  return Value::object();
}

Result<Value> DebugAdapter::disconnect(const Value& /*arguments*/) {
  finished_ = true;
  then_ = [this] { event("terminated", Value::object()); };
  return Value::object();
}

}  // namespace shiplog::debugger
