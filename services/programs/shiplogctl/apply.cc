#include "services/programs/shiplogctl/apply.h"

#include <algorithm>

#include "events/base/json.h"
#include "services/http/http.h"
#include "services/programs/shiplogctl/child_process.h"
#include "services/programs/shiplogctl/join.h"
#include "services/programs/shiplogctl/policies.h"

namespace shiplog::ctl {
namespace {

/// "-f", "--filename" ...: a word that selects objects, and whether the next word is its value.
struct ObjectOption {
  const char* long_name;
  char short_name;
  bool has_value;
};
constexpr ObjectOption kObjectOptions[] = {
    {"--filename", 'f', true}, {"--kustomize", 'k', true}, {"--selector", 'l', true}, {"--recursive", 'R', false}};

const ObjectOption* object_option(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  for (const ObjectOption& option : kObjectOptions) {
    if (name == option.long_name) return &option;
    if (word.size() > 1 && word[0] == '-' && word[1] == option.short_name) return &option;
  }
  return nullptr;
}

Result<void> check_clusters(ServerConnection& plane, const std::vector<std::string>& clusters) {
  std::string missing;
  for (const std::string& name : clusters) {
    const auto cluster = plane.get(std::string{kClusters} + "/" + percent_encode(name));
    if (cluster) continue;
    if (cluster.error().code != ErrorCode::kNotFound) return cluster.error();
    missing += (missing.empty() ? "" : ", ") + std::string{"cluster "} + name + " does not exist";
  }
  if (missing.empty()) return ok();
  return Error{ErrorCode::kNotFound, missing};
}

std::vector<std::string> joined(std::vector<std::string> words, std::initializer_list<std::vector<std::string>> more) {
  for (const auto& some : more) words.insert(words.end(), some.begin(), some.end());
  return words;
}

}  // namespace

ApplyWords split_apply_words(const std::vector<std::string>& words) {
  ApplyWords split;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const ObjectOption* option = object_option(word);
    if (option == nullptr) {
      split.prunes = split.prunes || word == "--prune" || word == "--prune=true";
      split.others.push_back(word);
      continue;
    }
    split.selects = split.selects || option->short_name == 'l' || word.starts_with("-Rl");
    split.objects.push_back(word);
    // "-Rf FOLDER" is -R and -f.
    const bool combined = word == "-Rf" || word == "-Rk" || word == "-Rl";
    const bool value_follows = combined || (option->has_value && (word == option->long_name || word.size() == 2));
    if (value_follows && i + 1 < words.size()) split.objects.push_back(words[++i]);
  }
  return split;
}

Result<std::vector<Value>> split_documents(const std::string& text) {
  std::vector<Value> documents;
  size_t begin = 0;
  while (begin < text.size()) {
    // kubectl indents: only the end of a document is a brace at the beginning of a line.
    size_t end = text.find("\n}", begin);
    end = end == std::string::npos ? text.size() : end + 2;
    const std::string document = text.substr(begin, end - begin);
    begin = end;
    if (document.find_first_not_of(" \r\n\t") == std::string::npos) continue;
    auto parsed = parse_json(document);
    if (!parsed) return Error{ErrorCode::kCorrupt, "kubectl has printed what is not JSON: " + parsed.error().message};
    if (parsed.value()["kind"].as_string() == "List") {
      for (const Value& item : parsed.value()["items"].items()) documents.push_back(item);
    } else {
      documents.push_back(std::move(parsed).value());
    }
  }
  return documents;
}

Value with_policies(const std::vector<Value>& objects, const std::vector<std::string>& clusters) {
  Value items = Value::array();
  for (const Value& object : objects) {
    items.push_back(object);
    const Value& metadata = object["metadata"];
    items.push_back(applied_policy({.api_version = object["apiVersion"].str(),
                                    .kind = object["kind"].str(),
                                    .ns = metadata["namespace"].str(),
                                    .name = metadata["name"].str()},
                                   clusters));
  }
  return Value::object({{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}});
}

Result<int> apply_with_policies(const KubectlCommand& command, const AccessOptions& access) {
  if (command.all_clusters && !command.clusters.empty()) {
    return Error{ErrorCode::kBadRequest, "--all-clusters and --cluster cannot be used together"};
  }
  if (!command.all_clusters && command.clusters.empty()) {
    return become(kubectl_words(command, "", "")).context("shiplogctl apply runs kubectl");
  }
  const ApplyWords words = split_apply_words(command.words);
  if (words.prunes && words.selects) {
    return Error{ErrorCode::kBadRequest,
                 "--prune with a selector would remove the policies, which do not have its labels: use --prune --all"};
  }
  SHIPLOG_TRY(auto plane, access.connect());
  SHIPLOG_TRY(check_clusters(plane, command.clusters));
  // kubectl reads files, folders, addresses and kustomizations, and knows which kinds have a namespace.
  const auto read = run_child(joined({"kubectl", "create", "--dry-run=client", "--validate=false", "-o", "json"},
                                     {command.globals, words.objects}),
                              {.capture = true});
  if (!read) return read.error().context("shiplogctl apply runs kubectl");
  if (read.value().code != 0) return read.value().code;
  SHIPLOG_TRY(const auto objects, split_documents(read.value().out));
  const std::string text = to_json(with_policies(objects, command.clusters));
  SHIPLOG_TRY(const auto applied,
              run_child(joined({"kubectl", "apply", "-f", "-"}, {command.globals, words.others}), {.input = text}));
  return applied.code;
}

}  // namespace shiplog::ctl
