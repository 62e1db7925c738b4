#include "services/api/aggregation/remote_discovery.h"

#include <algorithm>
#include <map>
#include <vector>

#include "events/base/json.h"
#include "events/base/utf8.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostResources = 5000;
constexpr size_t kMostWords = 100;  // verbs, short names and categories of one resource
constexpr size_t kLongestWord = 253;

/// What names and verbs consist of; a slash where `path`: "pods/status".
bool is_word(std::string_view text, bool path = false) {
  return !text.empty() && text.size() <= kLongestWord && std::ranges::all_of(text, [&](char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
           each == '-' || each == '.' || each == '_' || each == '*' || (path && each == '/');
  });
}

void copy_words(Value& to, const Value& from, const char* field) {
  Value words = Value::array();
  for (const Value& word : from[field].items().subspan(0, std::min(from[field].size(), kMostWords))) {
    if (is_word(word.as_string())) words.push_back(word);
  }
  if (words.size() > 0) to.set(field, std::move(words));
}

/// Null: it is no APIResource.
Value read_resource(const Value& from) {
  const std::string_view name = from["name"].as_string();
  if (!is_word(name, true) || name.starts_with('/') || name.ends_with('/')) return {};
  if (!is_word(from["kind"].as_string())) return {};
  Value to = Value::object({{"name", from["name"]},
                            {"singularName", ""},
                            {"namespaced", from["namespaced"].as_bool()},
                            {"kind", from["kind"]},
                            {"verbs", Value::array()}});
  for (const char* field : {"singularName", "group", "version", "storageVersionHash"}) {
    const std::string_view text = from[field].as_string();
    const bool is_hash = std::string_view{field} == "storageVersionHash" && text.size() <= kLongestWord;
    if (is_word(text) || (is_hash && !text.empty())) to.set(field, from[field]);
  }
  for (const char* field : {"verbs", "shortNames", "categories"}) copy_words(to, from, field);
  return to;
}

Value response_kind(const Value& resource, std::string_view group, std::string_view version) {
  return Value::object({{"group", resource["group"].as_string(group)},
                        {"version", resource["version"].as_string(version)},
                        {"kind", resource["kind"]}});
}

}  // namespace

Result<Value> read_resource_list(std::string_view body, std::string_view group, std::string_view version) {
  const auto parsed = parse_json(body);
  if (!parsed) return Error{ErrorCode::kUnavailable, "the answer is no JSON: " + parsed.error().message};
  const Value& list = parsed.value();
  const std::string wanted = std::string{group} + "/" + std::string{version};
  if (list["kind"].as_string() != "APIResourceList" || list["groupVersion"].as_string() != wanted) {
    return Error{ErrorCode::kUnavailable, "the answer is no APIResourceList of " + wanted + ": kind is " +
                                              quoted(list["kind"].as_string()) + ", groupVersion is " +
                                              quoted(list["groupVersion"].as_string())};
  }
  if (list["resources"].size() > kMostResources) {
    return Error{ErrorCode::kUnavailable,
                 "the answer lists more than " + std::to_string(kMostResources) + " resources"};
  }
  Value resources = Value::array();
  for (const Value& each : list["resources"].items()) {
    if (Value resource = read_resource(each); !resource.is_null()) resources.push_back(std::move(resource));
  }
  return resources;
}

Value aggregated_resources(const Value& resources, std::string_view group, std::string_view version) {
  Value::Array found;
  std::map<std::string, size_t, std::less<>> by_name;
  const auto place_of = [&](std::string_view name) -> Value& {
    const auto [place, is_new] = by_name.try_emplace(std::string{name}, found.size());
    if (is_new) found.push_back(Value::object({{"resource", name}}));
    return found[place->second];
  };
  for (const Value& resource : resources.items()) {
    const std::string_view name = resource["name"].as_string();
    const size_t slash = name.find('/');
    if (name.empty() || slash == 0) continue;
    Value& entry = place_of(name.substr(0, slash));
    if (slash != std::string_view::npos) {
      entry.edit("subresources")
          .push_back(Value::object({{"subresource", name.substr(slash + 1)},
                                    {"responseKind", response_kind(resource, group, version)},
                                    {"verbs", resource["verbs"]}}));
      continue;
    }
    entry.set("responseKind", response_kind(resource, group, version));
    entry.set("scope", resource["namespaced"].as_bool() ? "Namespaced" : "Cluster");
    entry.set("singularResource", resource["singularName"]);
    for (const char* field : {"verbs", "shortNames", "categories"}) {
      if (resource.contains(field)) entry.set(field, resource[field]);
    }
  }
  // Of a resource of which only a subresource is listed nothing is known but that.
  for (Value& entry : found) {
    if (entry.contains("verbs")) continue;
    entry.set("scope", "Namespaced");
    entry.set("singularResource", "");
    entry.set("verbs", Value::array());
  }
  return Value::array(std::move(found));
}

}  // namespace shiplog::api
