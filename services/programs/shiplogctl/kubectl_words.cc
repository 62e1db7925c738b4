#include "services/programs/shiplogctl/kubectl_words.h"

#include <algorithm>
#include <string_view>

namespace shiplog::ctl {
namespace {

/// An option that is read here, and whether it has a value.
struct ReadOption {
  const char* long_name;
  char short_name;
  bool global;
  bool has_value = true;
};

constexpr ReadOption kOptions[] = {
    {"--kubeconfig", 0, true},
    {"--context", 0, true},
    {"--karmada-context", 0, true},
    {"--namespace", 'n', true},
    {"--as", 0, true},
    {"--as-group", 0, true},
    {"--as-uid", 0, true},
    {"--cluster", 'C', false},
    {"--clusters", 'C', false},
    {"--operation-scope", 's', false},
    {"--all-clusters", 0, false, false},
};

/// The short options of kubectl's commands that have no value, and can stand before another in one word: "-it", "-fC".
std::string_view short_flags(const std::string& command) {
  if (command == "logs") return "fp";
  if (command == "exec" || command == "attach") return "itq";
  return command == "delete" ? "AiR" : "AR";
}

/// "-fC" as "-f", "-C": flags before one of our options become a word of their own.
std::vector<std::string> without_groups(const std::string& command, const std::string& word) {
  if (!word.starts_with('-') || word.starts_with("--")) return {word};
  size_t at = 1;
  while (at < word.size() && short_flags(command).find(word[at]) != std::string_view::npos) ++at;
  const auto ours = [&](const ReadOption& option) { return option.short_name != 0 && option.short_name == word[at]; };
  if (at == 1 || at == word.size() || std::ranges::none_of(kOptions, ours)) return {word};
  return {word.substr(0, at), "-" + word.substr(at)};
}

const ReadOption* option_called(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  for (const ReadOption& option : kOptions) {
    if (name == option.long_name) return &option;
    const bool is_short = word.size() > 1 && word[0] == '-' && word[1] == option.short_name;
    if (option.short_name != 0 && is_short) return &option;
  }
  return nullptr;
}

/// The value within the word: "--a=b", "-ab", "-a=b".
std::optional<std::string> own_value(const std::string& word) {
  const size_t equals = word.find('=');
  if (word.starts_with("--"))
    return equals == std::string::npos ? std::nullopt : std::optional{word.substr(equals + 1)};
  if (word.size() == 2) return std::nullopt;
  return word.substr(word[2] == '=' ? 3 : 2);
}

void split_into(std::vector<std::string>& list, const std::string& text) {
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) list.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

Result<void> use(KubectlCommand& command, const ReadOption& option, const std::string& value) {
  const std::string name = option.long_name;
  if (name == "--all-clusters") {
    command.all_clusters = value.empty() || value == "true";
  } else if (name == "--cluster" || name == "--clusters") {
    const size_t before = command.clusters.size();
    split_into(command.clusters, value);
    // An empty variable must not turn a command for a member into one for the control plane.
    if (command.clusters.size() == before) {
      return Error{ErrorCode::kBadRequest, "-C needs the name of a member cluster: \"" + value + "\" has none"};
    }
  } else if (name == "--operation-scope") {
    if (value != "karmada" && value != "members") {
      return Error{ErrorCode::kBadRequest, "not support operation scope: " + value};
    }
    command.scope = value;
  } else {
    if (name == "--kubeconfig") command.kubeconfig = value;
    if (name.ends_with("context")) command.context = value;
    command.globals.push_back((name == "--karmada-context" ? "--context" : name) + "=" + value);
  }
  return ok();
}

}  // namespace

const std::vector<KubectlCommandName>& kubectl_commands() {
  static const std::vector<KubectlCommandName> commands = {
      {"describe", "Describe objects of the control plane or of a member"},
      {"explain", "Explain the fields of a kind"},
      {"api-resources", "List the resources of the control plane or of a member"},
      {"api-versions", "List the API versions of the control plane or of a member"},
      {"create", "Create objects"},
      {"edit", "Edit an object"},
      {"delete", "Delete objects"},
      {"patch", "Change fields of an object"},
      {"label", "Change labels of objects"},
      {"annotate", "Change annotations of objects"},
      {"apply", "Apply objects, with a policy that places each on clusters"},
      {"logs", "Print the log of a pod of a member", true},
      {"exec", "Run a command in a container of a member", true},
      {"attach", "Attach to a container of a member", true},
      {"cp", "Copy files to and from a container of a member", true},
      {"port-forward", "Forward local ports to a pod of a member", true},
  };
  return commands;
}

Result<std::optional<KubectlCommand>> read_kubectl_command(const std::vector<std::string>& words) {
  KubectlCommand command;
  for (size_t i = 0; i < words.size(); ++i) {
    const auto parts = without_groups(command.name, words[i]);
    if (parts.size() > 1) command.words.push_back(parts.front());
    const std::string& word = parts.back();
    if (word == "--" && !command.name.empty()) {
      command.rest.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    if (word == "--help" || word == "-h") command.help = true;
    const ReadOption* option = word.starts_with("-") ? option_called(word) : nullptr;
    if (option != nullptr && (option->global || !command.name.empty())) {
      auto value = own_value(word);
      if (!value && option->has_value) {
        if (i + 1 == words.size()) return Error{ErrorCode::kBadRequest, word + " needs a value"};
        value = words[++i];
      }
      SHIPLOG_TRY(use(command, *option, value.value_or("")));
      continue;
    }
    if (!command.name.empty()) {
      command.words.push_back(word);
      continue;
    }
    const auto known = [&](const KubectlCommandName& one) { return word == one.name; };
    if (std::ranges::none_of(kubectl_commands(), known)) return std::optional<KubectlCommand>{};
    command.name = word;
  }
  if (command.name.empty()) return std::optional<KubectlCommand>{};
  return std::optional{std::move(command)};
}

std::vector<std::string> kubectl_words(const KubectlCommand& command, const std::string& server,
                                       const std::string& tls_server_name) {
  std::vector<std::string> words{"kubectl", command.name};
  words.insert(words.end(), command.globals.begin(), command.globals.end());
  if (!server.empty()) words.push_back("--server=" + server);
  // With --server, kubectl no longer uses the one of the kubeconfig.
  if (!server.empty() && !tls_server_name.empty()) words.push_back("--tls-server-name=" + tls_server_name);
  words.insert(words.end(), command.words.begin(), command.words.end());
  words.insert(words.end(), command.rest.begin(), command.rest.end());
  return words;
}

}  // namespace shiplog::ctl
