#include "services/programs/shiplogctl/past_context.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "events/base/utf8.h"

namespace shiplog::ctl {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "03:12" or "03:12:30" in milliseconds since midnight.
std::optional<int64_t> time_of_day(const std::string& text) {
  unsigned hour = 0, minute = 0, second = 0;
  int read = 0;
  const bool with_seconds = text.size() == 8;
  if (with_seconds ? std::sscanf(text.c_str(), "%2u:%2u:%2u%n", &hour, &minute, &second, &read) != 3
                   : std::sscanf(text.c_str(), "%2u:%2u%n", &hour, &minute, &read) != 2) {
    return std::nullopt;
  }
  if (static_cast<size_t>(read) != text.size() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return (int64_t{hour} * 3600 + minute * 60 + second) * 1000;
}

const Value* named(const Value& content, const char* list, std::string_view name) {
  for (const Value& item : content[list].items()) {
    if (item["name"].as_string() == name) return &item;
  }
  return nullptr;
}

void put(Value& content, const char* list, const std::string& name, const char* field, Value value) {
  if (content[list].is_null()) content.set(list, Value::array());
  Value::Array& items = content.edit(list).edit_items();
  std::erase_if(items, [&](const Value& item) { return item["name"].as_string() == name; });
  items.push_back(Value::object({{"name", name}, {field, std::move(value)}}));
}

bool is_past(std::string_view server) { return server.find("/at/") != std::string_view::npos; }

std::string_view of_present(std::string_view server) {
  server = server.substr(0, server.find("/at/"));
  while (server.ends_with('/')) server.remove_suffix(1);
  return server;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

struct Found {
  const KubeconfigFile* file = nullptr;
  const Value* item = nullptr;
};

Found find(const std::vector<KubeconfigFile>& files, const char* list, std::string_view name) {
  for (const KubeconfigFile& file : files) {
    if (const Value* item = named(file.content, list, name)) return {&file, item};
  }
  return {};
}

}  // namespace

Result<std::string> moment_of(std::string_view text, UtcMillis now) {
  if (is_number(text)) return "r" + std::string{text};
  if (text.starts_with('r') && is_number(text.substr(1))) return std::string{text};
  constexpr std::string_view kAgo = "ago";
  std::string_view length = text;
  if (length.ends_with(kAgo)) length.remove_suffix(kAgo.size());
  while (length.ends_with(' ')) length.remove_suffix(1);
  if (const auto before = parse_duration(length); before && before.value().value >= 0) {
    return rfc3339(UtcMillis{now.value - before.value().value});
  }
  if (const auto time = parse_rfc3339(text)) return rfc3339_millis(time.value());
  if (const auto clock = time_of_day(std::string{text})) {
    constexpr int64_t kDay = int64_t{24} * 3600 * 1000;
    const int64_t today = now.value - now.value % kDay + *clock;
    return rfc3339(UtcMillis{today <= now.value ? today : today - kDay});
  }
  return Error{ErrorCode::kBadRequest, shiplog::quoted(text) +
                                           " is neither a revision (4711), nor a time (2024-05-01T03:12:00Z, or 03:12 "
                                           "in UTC), nor how long ago it was (2h, 1h30m)"};
}

Result<KubeconfigFile> with_past_context(const std::vector<KubeconfigFile>& files, const PastContext& past) {
  const Found context = find(files, "contexts", past.context);
  if (context.item == nullptr) {
    return Error{ErrorCode::kNotFound, "the kubeconfig has no context " + shiplog::quoted(past.context)};
  }
  const Value& of_context = (*context.item)["context"];
  const Found cluster = find(files, "clusters", of_context["cluster"].as_string());
  if (cluster.item == nullptr) {
    return Error{ErrorCode::kNotFound, "the kubeconfig has no cluster " +
                                           shiplog::quoted(of_context["cluster"].as_string()) + ", which its context " +
                                           shiplog::quoted(past.context) + " names"};
  }
  for (const char* list : {"contexts", "clusters"}) {
    const Found taken = find(files, list, past.name);
    if (taken.item == nullptr) continue;
    const Found of = list == std::string_view{"clusters"}
                         ? taken
                         : find(files, "clusters", (*taken.item)["context"]["cluster"].as_string());
    if (taken.file == context.file && of.item != nullptr && is_past((*of.item)["cluster"]["server"].as_string()))
      continue;
    return Error{ErrorCode::kConflict, taken.file->path + " has " + shiplog::quoted(past.name) + " among its " + list +
                                           ", which is not of the past: choose another name with --name"};
  }
  Value of_cluster = (*cluster.item)["cluster"];
  of_cluster.set("server", std::string{of_present(of_cluster["server"].as_string())} + past.prefix);
  const std::string authority = of_cluster["certificate-authority"].str();
  if (!authority.empty() && !authority.starts_with('/') && cluster.file != context.file) {
    of_cluster.set("certificate-authority", folder_of(cluster.file->path) + authority);
  }
  KubeconfigFile changed = *context.file;
  put(changed.content, "clusters", past.name, "cluster", std::move(of_cluster));
  Value new_context = of_context;
  new_context.set("cluster", past.name);
  put(changed.content, "contexts", past.name, "context", std::move(new_context));
  return changed;
}

}  // namespace shiplog::ctl
