#include <algorithm>
#include <charconv>
#include <ctime>

#include "events/base/time.h"
#include "services/programs/member/shell/commands.h"

namespace shiplog::member {
namespace {

awaitable<int> succeed(Invocation&) { co_return 0; }
awaitable<int> fail(Invocation&) { co_return 1; }

awaitable<int> env(Invocation& invocation) {
  std::string text;
  for (const auto& [name, value] : invocation.shell.environment()) text.append(name).append("=").append(value) += '\n';
  if (invocation.words.size() > 1) {
    const auto found = invocation.shell.environment().find(invocation.words[1]);
    if (invocation.words.front() != "printenv") {
      co_return co_await invocation.fail("arguments are not supported in a trial member");
    }
    if (found == invocation.shell.environment().end()) co_return 1;
    text = found->second + "\n";
  }
  co_await invocation.streams.out->write(std::move(text));
  co_return 0;
}

awaitable<int> export_variables(Invocation& invocation) {
  for (size_t index = 1; index < invocation.words.size(); ++index) {
    const std::string& word = invocation.words[index];
    const size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    if (!invocation.shell.set_variable(word.substr(0, equals), word.substr(equals + 1))) {
      co_return co_await invocation.fail("there is no room for more variables");
    }
  }
  co_return 0;
}

awaitable<int> unset(Invocation& invocation) {
  for (size_t index = 1; index < invocation.words.size(); ++index) {
    invocation.shell.environment().erase(invocation.words[index]);
  }
  co_return 0;
}

awaitable<int> exit(Invocation& invocation) {
  int code = invocation.shell.last_code();
  if (invocation.words.size() > 1) {
    const std::string& word = invocation.words[1];
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), code);
    if (parsed.ec != std::errc{} || parsed.ptr != word.data() + word.size()) {
      co_return co_await invocation.fail("bad number: " + word, 2);
    }
  }
  code = static_cast<int>(static_cast<unsigned>(code) & 0xffU);
  invocation.shell.leave(code);
  co_return code;
}

awaitable<int> sleep(Invocation& invocation) {
  constexpr double kLongest = 1e9;
  if (invocation.words.size() < 2) co_return co_await invocation.fail("usage: sleep SECONDS");
  double seconds = 0;
  std::string_view word = invocation.words[1];
  if (word == "infinity") {
    seconds = kLongest;
  } else {
    const double unit = word.ends_with('m') ? 60 : word.ends_with('h') ? 3600 : word.ends_with('d') ? 86400 : 1;
    if (unit > 1 || word.ends_with('s')) word.remove_suffix(1);
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), seconds);
    const bool whole = parsed.ec == std::errc{} && parsed.ptr == word.data() + word.size();
    if (!whole || !(seconds >= 0)) co_return co_await invocation.fail("invalid number '" + invocation.words[1] + "'");
    seconds *= unit;
  }
  co_await invocation.shell.host().sleep(Millis{static_cast<int64_t>(std::min(seconds, kLongest) * 1000)});
  co_return invocation.shell.host().stopped() ? 130 : 0;
}

awaitable<int> hostname(Invocation& invocation) {
  co_await invocation.streams.out->write(invocation.shell.container().host_name + "\n");
  co_return 0;
}

awaitable<int> id(Invocation& invocation) {
  const ShellContainer& container = invocation.shell.container();
  const std::string user = std::to_string(container.user) + (container.user == 0 ? "(root)" : "");
  const std::string group = std::to_string(container.group) + (container.group == 0 ? "(root)" : "");
  std::string text = "uid=" + user + " gid=" + group + " groups=" + group + "\n";
  if (invocation.words.size() > 1) {
    if (invocation.words[1] != "-u" && invocation.words[1] != "-g") co_return co_await invocation.fail("usage: id [-g|-u]");
    text = std::to_string(invocation.words[1] == "-u" ? container.user : container.group) + "\n";
  }
  co_await invocation.streams.out->write(std::move(text));
  co_return 0;
}

awaitable<int> whoami(Invocation& invocation) {
  const int64_t user = invocation.shell.container().user;
  if (user != 0) co_return co_await invocation.fail("unknown uid " + std::to_string(user));
  co_await invocation.streams.out->write("root\n");
  co_return 0;
}

awaitable<int> date(Invocation& invocation) {
  std::string format = "%a %b %e %H:%M:%S UTC %Y";
  for (size_t index = 1; index < invocation.words.size(); ++index) {
    const std::string& word = invocation.words[index];
    if (word == "-u") continue;
    if (!word.starts_with('+') || word.size() > 256) co_return co_await invocation.fail("usage: date [-u] [+FORMAT]");
    format = word.substr(1);
  }
  const std::time_t now = invocation.shell.now_seconds();
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  std::string text(4096, '\0');
  format += '\n';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  text.resize(std::strftime(text.data(), text.size(), format.c_str(), &parts));
#pragma GCC diagnostic pop
  co_await invocation.streams.out->write(std::move(text));
  co_return 0;
}

awaitable<int> uname(Invocation& invocation) {
  const bool all = invocation.words.size() > 1 && invocation.words[1] == "-a";
  std::string text = "Linux";
  if (all) text += " " + invocation.shell.container().host_name + " simulated x86_64";
  co_await invocation.streams.out->write(text + "\n");
  co_return 0;
}

awaitable<int> sh(Invocation& invocation) {
  Shell shell = invocation.shell.child();
  bool command = false;
  for (size_t index = 1; index < invocation.words.size(); ++index) {
    const std::string& word = invocation.words[index];
    if (command) co_return co_await shell.run_script(word, invocation.streams);
    if (word == "-c" || word == "-ec" || word == "-lc" || word == "-cl") {
      command = true;
    } else if (word != "-i" && word != "-l" && word != "-s" && word != "-e" && !word.starts_with("--")) {
      auto script = shell.files().read(shell.path(word), 0, LineReader::kLongestLine);
      if (!script) co_return co_await invocation.fail(word + ": " + script.error().message, 127);
      co_return co_await shell.run_script(std::move(script).value(), invocation.streams);
    }
  }
  if (command) co_return co_await invocation.fail("-c requires an argument", 2);
  const bool prompt = invocation.shell.environment().contains("TERM");
  co_return co_await shell.run_interactive(invocation.streams, prompt);
}

}  // namespace

std::vector<CommandEntry> process_commands() {
  return {{":", &succeed},      {"bash", &sh},    {"date", &date},      {"env", &env},     {"exit", &exit},
          {"export", &export_variables},          {"false", &fail},     {"hostname", &hostname},
          {"id", &id},          {"printenv", &env}, {"sh", &sh},        {"sleep", &sleep}, {"true", &succeed},
          {"uname", &uname},    {"unset", &unset}, {"whoami", &whoami}};
}

}  // namespace shiplog::member
