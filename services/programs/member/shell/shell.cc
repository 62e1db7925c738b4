#include "services/programs/member/shell/shell.h"

#include <algorithm>
#include <utility>

#include "services/programs/member/shell/commands.h"

namespace shiplog::member {
namespace {

constexpr size_t kLongestValue = 64 * 1024;
constexpr size_t kMostArgumentBytes = 256 * 1024;
constexpr size_t kMostEnvironmentBytes = 256 * 1024;
constexpr int kDeepest = 8;

constexpr int kNotFound = 127;
constexpr int kUsage = 2;

Error too_long() { return {ErrorCode::kTooLarge, "Argument list too long"}; }

/// Writes to a file; what has no room is an error of the command's last write.
class FileOutput final : public CommandOutput {
 public:
  FileOutput(Shell& shell, std::string path, std::shared_ptr<CommandOutput> error)
      : shell_{shell}, path_{std::move(path)}, error_{std::move(error)} {}
  awaitable<void> write(std::string bytes) override {
    const auto written = shell_.files().append(path_, bytes, shell_.now_seconds());
    if (!written && !std::exchange(failed_, true)) {
      co_await error_->write("sh: " + path_ + ": " + written.error().message + "\n");
    }
  }

 private:
  Shell& shell_;
  std::string path_;
  std::shared_ptr<CommandOutput> error_;
  bool failed_ = false;
};

}  // namespace

/// Counts how deep scripts run scripts.
class Shell::Nested {
 public:
  explicit Nested(Shell& shell) : shell_{shell} { ++shell_.depth_; }
  ~Nested() { --shell_.depth_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  bool too_deep() const { return shell_.depth_ > kDeepest; }

 private:
  Shell& shell_;
};

Shell::Shell(ShellContainer container, FileSystem& files, const ShellHost& host)
    : container_{std::move(container)}, files_{files}, host_{host} {}

Shell Shell::child() const {
  Shell started{container_, files_, host_};
  started.depth_ = depth_;
  return started;
}

bool Shell::knows(std::string_view program) { return find_command(program) != nullptr; }

awaitable<int> Shell::run_program(std::vector<std::string> words, Streams streams) {
  const CommandFunction command = find_command(words.front());
  if (command == nullptr) {
    co_await streams.error->write("sh: " + words.front() + ": not found\n");
    co_return kNotFound;
  }
  Invocation invocation{*this, std::move(words), std::move(streams)};
  co_return co_await command(invocation);
}

awaitable<int> Shell::run_script(std::string script, Streams streams) {
  const Nested nested{*this};
  if (nested.too_deep()) {
    co_await streams.error->write("sh: scripts are nested too deeply\n");
    co_return last_ = kUsage;
  }
  const auto parsed = parse_script(script);
  if (!parsed) {
    co_await streams.error->write("sh: " + parsed.error().message + "\n");
    co_return last_ = kUsage;
  }
  for (const CommandPipeline& pipeline : parsed.value()) {
    if (leaving_ || host_.stopped()) break;
    if (pipeline.when == CommandPipeline::When::kAfterSuccess && last_ != 0) continue;
    if (pipeline.when == CommandPipeline::When::kAfterFailure && last_ == 0) continue;
    const int code = co_await run_pipeline(pipeline, streams);
    if (!leaving_) last_ = pipeline.negated ? (code == 0 ? 1 : 0) : code;
  }
  co_return last_;
}

awaitable<int> Shell::run_interactive(Streams streams, bool prompt) {
  LineReader lines{*streams.in};
  std::string line;
  while (!leaving_) {
    if (prompt) co_await streams.error->write(container_.directory + (container_.user == 0 ? " # " : " $ "));
    const bool more = co_await lines.next(line);
    if (!more) break;
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    co_await run_script(line, streams);
  }
  co_return last_;
}

awaitable<int> Shell::run_pipeline(const CommandPipeline& pipeline, Streams streams) {
  int code = 0;
  for (size_t index = 0; index < pipeline.commands.size(); ++index) {
    if (host_.stopped()) break;
    if (index + 1 == pipeline.commands.size()) {
      code = co_await run_simple(pipeline.commands[index], streams);
      break;
    }
    // One after the other: what a command writes is held until it has ended.
    const auto between = std::make_shared<TextOutput>(host_.memory);
    const Streams piped{streams.in, between, streams.error};  // no temporary: see tar.cc
    co_await run_simple(pipeline.commands[index], piped);
    if (between->truncated()) co_await streams.error->write("sh: a pipe in a trial member holds 1 MiB: cut off\n");
    streams.in = std::make_shared<TextInput>(between->take());
  }
  co_return code;
}

awaitable<int> Shell::run_simple(const SimpleCommand& command, Streams streams) {
  auto redirected = co_await redirect(command, streams);
  if (!redirected) {
    co_await streams.error->write("sh: " + redirected.error().message + "\n");
    co_return 1;
  }
  std::vector<std::string> words;
  size_t bytes = 0;
  for (const Word& word : command.words) {
    auto expanded = co_await expand(word, streams);
    for (const std::string& each : expanded ? expanded.value() : std::vector<std::string>{}) bytes += each.size();
    if (!expanded || bytes > kMostArgumentBytes) {
      co_await streams.error->write("sh: " + too_long().message + "\n");
      co_return 1;
    }
    std::ranges::move(expanded.value(), std::back_inserter(words));
  }
  const auto before = container_.environment;
  auto assigned = co_await assign(command, streams);
  if (!assigned) {
    co_await streams.error->write("sh: " + assigned.error().message + "\n");
    co_return 1;
  }
  if (words.empty()) co_return 0;
  const bool changes_environment = words.front() == "export" || words.front() == "unset";
  const int code = co_await run_program(std::move(words), streams);
  // Assignments in front of a command are the command's alone.
  if (!command.assignments.empty() && !changes_environment) container_.environment = before;
  co_return code;
}

bool Shell::set_variable(const std::string& name, std::string value) {
  size_t bytes = name.size() + value.size();
  for (const auto& [each, text] : container_.environment) bytes += each.size() + text.size() + 64;
  if (bytes > kMostEnvironmentBytes) return false;
  container_.environment[name] = std::move(value);
  return true;
}

awaitable<Result<void>> Shell::assign(const SimpleCommand& command, const Streams& streams) {
  for (const auto& [name, word] : command.assignments) {
    auto value = co_await expand_one(word, streams);
    if (!value) co_return value.error();
    if (!set_variable(name, std::move(value).value())) co_return too_long();
  }
  co_return ok();
}

awaitable<Result<std::string>> Shell::value_of(const WordPart& part, Streams streams) {
  if (part.kind == WordPart::Kind::kText) co_return part.text;
  if (part.kind == WordPart::Kind::kCommand) {
    const auto output = std::make_shared<TextOutput>(host_.memory);
    const Streams captured{streams.in, output, streams.error};  // no temporary: see tar.cc
    co_await run_script(part.text, captured);
    std::string text = output->take();
    while (text.ends_with('\n')) text.pop_back();
    co_return text;
  }
  if (part.text == "?") co_return std::to_string(last_);
  if (part.text == "$") co_return std::string{"1"};
  if (part.text == "#") co_return std::string{"0"};
  const auto found = container_.environment.find(part.text);
  if (found == container_.environment.end() || found->second.empty()) co_return part.fallback;
  co_return found->second;
}

awaitable<Result<std::string>> Shell::expand_one(const Word& word, Streams streams) {
  std::string value;
  for (const WordPart& part : word) {
    auto next = co_await value_of(part, streams);
    if (!next) co_return next.error();
    value += next.value();
    if (value.size() > kLongestValue) co_return too_long();
  }
  co_return value;
}

awaitable<Result<std::vector<std::string>>> Shell::expand(const Word& word, Streams streams) {
  std::vector<std::string> fields;
  std::string field;
  bool any = false;  // the field exists, even if it is empty
  size_t bytes = 0;
  for (const WordPart& part : word) {
    auto next = co_await value_of(part, streams);
    if (!next) co_return next.error();
    bytes += next.value().size();
    if (bytes > kLongestValue) co_return too_long();
    if (part.quoted || part.kind == WordPart::Kind::kText) {
      any = true;
      field += next.value();
      continue;
    }
    for (const char c : next.value()) {
      if (c != ' ' && c != '\t' && c != '\n') {
        any = true;
        field += c;
      } else if (any) {
        fields.push_back(std::exchange(field, {}));
        any = false;
      }
    }
  }
  if (any) fields.push_back(std::move(field));
  co_return fields;
}

awaitable<Result<void>> Shell::redirect(const SimpleCommand& command, Streams& streams) {
  const Streams outer = streams;
  for (const Redirection& redirection : command.redirections) {
    if (redirection.kind == Redirection::Kind::kErrorToOutput) {
      streams.error = streams.out;
      continue;
    }
    if (redirection.kind == Redirection::Kind::kOutputToError) {
      streams.out = streams.error;
      continue;
    }
    auto name = co_await expand_one(redirection.file, outer);
    if (!name) co_return name.error();
    const std::string file = path(name.value());
    const bool appends =
        redirection.kind == Redirection::Kind::kAppend || redirection.kind == Redirection::Kind::kErrorAppend;
    const bool errors =
        redirection.kind == Redirection::Kind::kErrorOutput || redirection.kind == Redirection::Kind::kErrorAppend;
    if (redirection.kind == Redirection::Kind::kInput) {
      const auto readable = files_.read(file, 0, 0);
      if (!readable) co_return readable.error().context(name.value());
      streams.in = std::make_shared<FileInput>(files_, file);
      continue;
    }
    std::shared_ptr<CommandOutput> output = std::make_shared<TextOutput>(host_.memory);  // /dev/null: what is dropped
    if (file != "/dev/null") {
      auto opened = appends ? files_.append(file, "", now_seconds()) : files_.write(file, "", now_seconds());
      if (!opened) co_return opened.error().context(name.value());
      output = std::make_shared<FileOutput>(*this, file, outer.error);
    }
    (errors ? streams.error : streams.out) = std::move(output);
  }
  co_return ok();
}

awaitable<bool> LineReader::next(std::string& line) {
  while (true) {
    const size_t end = std::min(held_.find('\n'), kLongestLine);
    if (end < held_.size()) {
      line = held_.substr(0, end);
      held_.erase(0, held_[end] == '\n' ? end + 1 : end);
      co_return true;
    }
    if (ended_) {
      line = std::exchange(held_, {});
      co_return !line.empty();
    }
    std::string more = co_await input_.read();
    ended_ = more.empty();
    held_ += more;
  }
}

}  // namespace shiplog::member
