#include "services/programs/shiplogctl/completion.h"

#include <algorithm>
#include <ostream>
#include <set>

#include <CLI/CLI.hpp>

#include "services/programs/shiplogctl/command_line.h"
#include "services/programs/shiplogctl/resources.h"

namespace shiplog::ctl {
namespace {

constexpr Millis kPatience{3'000};
constexpr int kNoSpace = 2;
constexpr int kNoFiles = 4;

class Completer {
 public:
  Completer(const CLI::App& app, const OptionValues& values, AccessOptions access, std::string prefix)
      : app_{app}, values_{values}, access_{std::move(access)}, prefix_{std::move(prefix)} {}

  void run(const std::vector<std::string>& before, std::ostream& out) {
    const CommandLine line = read_command_line(app_, before);
    for (const auto& [option, value] : line.options) use(*option, value);
    const size_t equals = prefix_.find('=');
    if (line.pending != nullptr) {
      add_values(*line.pending);
    } else if (prefix_.starts_with("--") && equals != std::string::npos) {
      const CLI::Option* option = find_option(*line.command, prefix_.substr(0, equals));
      lead_ = prefix_.substr(0, equals + 1);
      prefix_.erase(0, equals + 1);
      if (option != nullptr) add_values(*option);
    } else if (prefix_.starts_with("-")) {
      add_options(*line.command);
    } else if (const auto commands = commands_of(*line.command); !commands.empty()) {
      for (const CLI::App* command : commands) add(command->get_name(), command->get_description());
    } else {
      add_positionals(*line.command, line.positionals);
    }
    for (const auto& [word, what] : candidates_) out << lead_ << word << (what.empty() ? "" : "\t" + what) << "\n";
    out << ":" << directive_ << std::endl;
  }

 private:
  void add(const std::string& word, const std::string& what = {}) {
    if (!word.starts_with(prefix_)) return;
    candidates_.emplace_back(word, what.substr(0, what.find('\n')));
  }

  /// The options given so far determine the server to query.
  void use(const CLI::Option& option, const std::string& value) {
    const std::string name = option.get_name();
    if (name == "--kubeconfig") access_.kubeconfig = value;
    if (name == "--context") access_.context = value;
    if (option.check_name("--namespace")) access_.ns = value;
    if (name == "--as") access_.as.user = value;
    if (name == "--as-group") access_.as.groups.push_back(value);
  }

  void add_options(const CLI::App& command) {
    for (const CLI::Option* option : options_of(command)) {
      for (const std::string& name : option->get_lnames()) add("--" + name, option->get_description());
      if (prefix_ == "-") {
        for (const std::string& name : option->get_snames()) add("-" + name, option->get_description());
      }
    }
  }

  void add_values(const CLI::Option& option) {
    const auto known = values_.find(&option);
    if (known != values_.end()) {
      for (const std::string& value : known->second) add(value);
    } else if (option.get_type_name().find("FILE") != std::string::npos) {
      directive_ = 0;
    } else if (option.check_name("--namespace") || option.check_name("--cluster-namespace")) {
      add_names("namespaces");
    } else if (option.check_name("--context")) {
      if (const auto contexts = access_.contexts()) {
        for (const std::string& context : contexts.value()) add(context);
      }
    } else if (option.check_name("--cluster") || option.check_name("--fail-cluster")) {
      add_names("clusters");
    } else if (option.check_name("--kind")) {
      add_kinds("");
    }
  }

  void add_positionals(const CLI::App& command, const std::vector<std::string>& given) {
    const std::string& name = command.get_name();
    if (name == "unjoin" || name == "unregister" || name == "rotate-credentials" || name == "cordon" ||
        name == "uncordon") {
      if (given.empty()) add_names("clusters");
    } else if (name == "taint") {
      if (given.empty()) add("clusters", "the member clusters");
      if (given.size() == 1) add_names("clusters");
    } else if (name == "interpret") {
      add_names("resourceinterpretercustomizations");
    } else if (takes_type(name)) {
      if (given.empty()) add_kinds("");
      if (given.size() == 1) add_names(given.front());
    } else if (name == "get") {
      if (given.empty()) {
        add("workloads", "workloads by cluster");
        add_kinds("");
      } else {
        add_names(given.front());
      }
    } else if (name == "history" || name == "why" || name == "tail") {
      add_object(given);
    } else if (name == "completion") {
      for (const char* shell : {"bash", "zsh", "fish"}) add(shell);
    }
  }

  /// Commands of kubectl for which a type and a name of the control plane are candidates.
  static bool takes_type(const std::string& name) {
    for (const char* one : {"describe", "edit", "delete", "patch", "label", "annotate", "explain", "promote"}) {
      if (name == one) return true;
    }
    return false;
  }

  /// KIND/NAME, or KIND and then NAME.
  void add_object(const std::vector<std::string>& given) {
    if (given.size() == 1 && given.front().find('/') == std::string::npos) return add_names(given.front());
    if (!given.empty()) return;
    const size_t slash = prefix_.find('/');
    if (slash == std::string::npos) {
      directive_ |= kNoSpace;
      return add_kinds("/");
    }
    lead_ = prefix_.substr(0, slash + 1);
    prefix_.erase(0, slash + 1);
    add_names(lead_.substr(0, slash));
  }

  void add_kinds(const std::string& behind) {
    const auto plane = connect();
    if (!plane) return;
    const auto resources = read_resources(*plane);
    if (!resources) return;
    std::set<std::string> names;
    for (const Resource& resource : resources.value()) {
      if (names.insert(resource.plural).second) add(resource.plural + behind, resource.kind);
    }
  }

  void add_names(const std::string& kind) {
    const auto plane = connect();
    if (!plane) return;
    std::string ns;
    if (const auto named = access_.namespace_or_default()) ns = named.value();
    const auto names = read_names(*plane, kind, ns);
    if (!names) return;
    for (const std::string& name : names.value()) add(name);
  }

  std::unique_ptr<ServerConnection> connect() const {
    auto plane = access_.connect();
    if (!plane) return nullptr;
    plane.value().set_patience(kPatience);
    return std::make_unique<ServerConnection>(std::move(plane).value());
  }

  const CLI::App& app_;
  const OptionValues& values_;
  AccessOptions access_;
  std::string prefix_;
  std::string lead_;  // prefix of each candidate, before the completed part
  std::vector<std::pair<std::string, std::string>> candidates_;
  int directive_ = kNoFiles;
};

constexpr const char* kBash = R"sh(# bash completion of shiplogctl:  source <(shiplogctl completion bash)
_shiplogctl() {
  local line=${COMP_LINE:0:COMP_POINT} current=${COMP_WORDS[COMP_CWORD]} out directive candidate
  local IFS=$' \t\n'
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  out=$("${words[0]}" __complete "${words[@]:1}" 2>/dev/null) || return
  directive=${out##*:}
  COMPREPLY=()
  # Bash replaces only the text after the last word break.
  local whole=${words[${#words[@]} - 1]} broken=""
  [[ $current == "=" ]] && current=""
  broken=${whole%"$current"}
  while IFS= read -r candidate; do
    [[ -n $candidate && $candidate != :* ]] || continue
    candidate=${candidate%%$'\t'*}
    COMPREPLY+=("${candidate#"$broken"}")
  done <<<"$out"
  if ((!(directive & 4))); then
    compopt -o default 2>/dev/null
    while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "$current")
  fi
  ((directive & 2)) && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _shiplogctl shiplogctl
)sh";

constexpr const char* kZsh = R"sh(#compdef shiplogctl
# zsh completion of shiplogctl:  source <(shiplogctl completion zsh)
_shiplogctl() {
  local out directive line
  local -a lines candidates more
  out=$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null) || return
  lines=("${(@f)out}")
  directive=${lines[-1]#:}
  lines=("${(@)lines[1,-2]}")
  for line in "${lines[@]}"; do
    [[ -n $line ]] || continue
    local word=${line%%$'\t'*}
    word=${word//:/\\:}
    if [[ $line == *$'\t'* ]]; then candidates+=("$word:${line#*$'\t'}"); else candidates+=("$word"); fi
  done
  if ((!(directive & 4))); then
    _files
    return
  fi
  ((directive & 2)) && more=(-S '')
  _describe -t words 'shiplogctl' candidates "${more[@]}"
}
(( $+functions[compdef] )) && compdef _shiplogctl shiplogctl
)sh";

constexpr const char* kFish = R"sh(# fish completion of shiplogctl:  shiplogctl completion fish | source
function __shiplogctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l lines ($program __complete $words "$current" 2>/dev/null)
    test (count $lines) -gt 0; or return
    set -l directive (string replace ':' '' -- $lines[-1])
    set -e lines[-1]
    test (count $lines) -gt 0; and printf '%s\n' $lines
    if test "$directive" = 0
        __fish_complete_path "$current"
    end
end
complete -c shiplogctl -f -a '(__shiplogctl_complete)'
)sh";

}  // namespace

Result<std::string> completion_script(const std::string& shell) {
  if (shell == "bash") return std::string{kBash};
  if (shell == "zsh") return std::string{kZsh};
  if (shell == "fish") return std::string{kFish};
  return Error{ErrorCode::kBadRequest, "there is no completion for \"" + shell + "\": bash, zsh and fish have one"};
}

void complete(const CLI::App& app, const OptionValues& values, AccessOptions access, std::vector<std::string> words,
              std::ostream& out) {
  std::string prefix;
  if (!words.empty()) {
    prefix = std::move(words.back());
    words.pop_back();
  }
  Completer{app, values, std::move(access), std::move(prefix)}.run(words, out);
}

}  // namespace shiplog::ctl
