#include "services/api/auth/rbac/rule.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "events/base/json.h"
#include "services/api/auth/text_list.h"

namespace shiplog::api {
namespace {

using Texts = std::vector<std::string>;

bool holds(const Texts& texts, std::string_view text) { return std::ranges::find(texts, text) != texts.end(); }

bool verb_covered(const Rule& held, const std::string& verb) {
  return holds(held.verbs, "*") || holds(held.verbs, verb);
}

bool resource_covered(const Rule& held, const std::string& resource) {
  if (holds(held.resources, "*") || holds(held.resources, resource)) return true;
  const size_t slash = resource.find('/');
  return slash != std::string::npos && holds(held.resources, "*" + resource.substr(slash));
}

/// `piece` has at most one of everything.
bool covers(const Rule& held, const Rule& piece) {
  if (!verb_covered(held, piece.verbs.front())) return false;
  if (!piece.non_resource_urls.empty()) {
    return std::ranges::any_of(held.non_resource_urls, [&](const std::string& url) {
      return rbac::url_matches(url, piece.non_resource_urls.front());
    });
  }
  if (!holds(held.api_groups, "*") && !holds(held.api_groups, piece.api_groups.front())) return false;
  if (!resource_covered(held, piece.resources.front())) return false;
  if (held.resource_names.empty()) return true;
  return !piece.resource_names.empty() && holds(held.resource_names, piece.resource_names.front());
}

Rules pieces_of(const Rule& rule) {
  Rules pieces;
  for (const std::string& verb : rule.verbs) {
    for (const std::string& url : rule.non_resource_urls) pieces.push_back({{verb}, {}, {}, {}, {url}});
    for (const std::string& group : rule.api_groups) {
      for (const std::string& resource : rule.resources) {
        if (rule.resource_names.empty()) pieces.push_back({{verb}, {group}, {resource}, {}, {}});
        for (const std::string& name : rule.resource_names) pieces.push_back({{verb}, {group}, {resource}, {name}, {}});
      }
    }
  }
  return pieces;
}

void print(std::string& text, const char* name, const Texts& texts) {
  if (texts.empty()) return;
  if (text.size() > 1) text += ", ";
  text += name;
  text += ":[";
  for (size_t i = 0; i < texts.size(); ++i) text += (i == 0 ? "" : " ") + to_json(Value{texts[i]});
  text += "]";
}

}  // namespace

Value to_value(const Rules& rules) {
  Value list = Value::array();
  for (const Rule& rule : rules) {
    Value item = Value::object({{"verbs", list_of(rule.verbs)}});
    if (!rule.api_groups.empty()) item.set("apiGroups", list_of(rule.api_groups));
    if (!rule.resources.empty()) item.set("resources", list_of(rule.resources));
    if (!rule.resource_names.empty()) item.set("resourceNames", list_of(rule.resource_names));
    if (!rule.non_resource_urls.empty()) item.set("nonResourceURLs", list_of(rule.non_resource_urls));
    list.push_back(std::move(item));
  }
  return list;
}

std::string to_string(const Rule& rule) {
  std::string text = "{";
  print(text, "APIGroups", rule.api_groups);
  print(text, "Resources", rule.resources);
  print(text, "NonResourceURLs", rule.non_resource_urls);
  print(text, "ResourceNames", rule.resource_names);
  print(text, "Verbs", rule.verbs);
  return text + "}";
}

size_t combinations(const Rules& rules) {
  size_t all = 0;
  for (const Rule& rule : rules) {
    const size_t named = std::max<size_t>(1, rule.resource_names.size());
    all += rule.verbs.size() * (rule.non_resource_urls.size() + rule.api_groups.size() * rule.resources.size() * named);
  }
  return all;
}

Rules not_held(const Rules& held, const Rules& wanted) {
  // Verbs of what differs in nothing else are printed together.
  std::map<std::pair<std::pair<Texts, Texts>, std::pair<Texts, Texts>>, std::set<std::string>> missing;
  for (const Rule& rule : wanted) {
    for (const Rule& piece : pieces_of(rule)) {
      if (std::ranges::any_of(held, [&](const Rule& other) { return covers(other, piece); })) continue;
      missing[{{piece.api_groups, piece.resources}, {piece.resource_names, piece.non_resource_urls}}].insert(
          piece.verbs.front());
    }
  }
  Rules rules;
  for (const auto& [about, verbs] : missing) {
    rules.push_back(
        {{verbs.begin(), verbs.end()}, about.first.first, about.first.second, about.second.first, about.second.second});
  }
  return rules;
}

}  // namespace shiplog::api
