#include "services/api/auth/rbac/attributes.h"

#include <algorithm>

#include "events/base/ascii.h"
#include "events/base/utf8.h"
#include "services/api/status.h"

namespace shiplog::api {
namespace {

constexpr std::string_view kProxy = "proxy";

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) parts.emplace_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

std::string quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return quoted + '"';
}

std::string_view query_value(const std::vector<std::pair<std::string, std::string>>& query, std::string_view key) {
  for (const auto& [name, value] : query) {
    if (name == key) return value;
  }
  return {};
}

/// The name in "metadata.name=N", when that is requested: a role may be about that one object.
std::string name_in(std::string_view field_selector) {
  while (!field_selector.empty()) {
    const size_t comma = std::min(field_selector.find(','), field_selector.size());
    std::string_view term = field_selector.substr(0, comma);
    field_selector.remove_prefix(std::min(comma + 1, field_selector.size()));
    constexpr std::string_view kName = "metadata.name=";
    if (!term.starts_with(kName)) continue;
    term.remove_prefix(kName.size());
    if (term.starts_with('=')) term.remove_prefix(1);
    return std::string{term};
  }
  return {};
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  std::string decoded;
  for (size_t position = 0; position < text.size(); ++position) {
    const bool escape = text[position] == '%' && position + 2 < text.size() && digit(text[position + 1]) >= 0 &&
                        digit(text[position + 2]) >= 0;
    if (!escape) {
      decoded += text[position];
      continue;
    }
    decoded += static_cast<char>(digit(text[position + 1]) * 16 + digit(text[position + 2]));
    position += 2;
  }
  return decoded;
}

Attributes impersonate(const char* group, const char* resource, std::string name) {
  Attributes wanted;
  wanted.verb = "impersonate";
  wanted.group = group;
  wanted.resource = resource;
  wanted.name = std::move(name);
  return wanted;
}

}  // namespace

std::string resource_of(std::string_view type) { return std::string{type.substr(0, type.find('.'))}; }

Attributes attributes_of(std::string_view method, std::string_view path,
                         const std::vector<std::pair<std::string, std::string>>& query) {
  Attributes wanted;
  const std::vector<std::string> parts = parts_of(path);
  const bool core = !parts.empty() && parts[0] == "api";
  const size_t begin = core ? 2 : 3;
  if (parts.size() <= begin || (!core && parts[0] != "apis")) {
    wanted.is_resource = false;
    wanted.path = path;
    wanted.verb = lower_case(method);
    return wanted;
  }
  if (!core) wanted.group = parts[1];
  size_t position = begin;
  if (parts[position] == "namespaces" && parts.size() > position + 1) {
    // The namespace itself is authorized from within: a RoleBinding there may grant it.
    wanted.ns = parts[position + 1];
    if (parts.size() > position + 2 && parts[position + 2] != "status" && parts[position + 2] != "finalize")
      position += 2;
  }
  wanted.resource = parts[position];
  if (parts.size() > position + 1) wanted.name = parts[position + 1];
  for (size_t rest = position + 2; rest < parts.size(); ++rest) {
    wanted.subresource += (wanted.subresource.empty() ? "" : "/") + parts[rest];
    if (wanted.subresource == kProxy) break;  // what follows is a path of another server
  }

  // As kube-apiserver names it, so that a rule can: what follows is the path that is searched.
  if (wanted.group == "search.karmada.io" && wanted.resource == "search" && parts.size() > position + 2) {
    wanted.subresource = parts[position + 2];
  }

  const bool named = !wanted.name.empty();
  const std::string_view watch = query_value(query, "watch");
  const bool proxied = wanted.subresource == kProxy;
  const bool watches = !proxied && std::ranges::any_of(query, [](const auto& each) { return each.first == "watch"; }) &&
                       watch != "0" && lower_case(watch) != "false";
  if (method == "POST") {
    wanted.verb = "create";
  } else if (method == "PUT") {
    wanted.verb = "update";
  } else if (method == "PATCH") {
    wanted.verb = "patch";
  } else if (method == "DELETE") {
    wanted.verb = named ? "delete" : "deletecollection";
  } else if (method == "GET" || method == "HEAD") {
    wanted.verb = watches ? "watch" : named ? "get" : "list";
  } else {
    wanted.verb = lower_case(method);
  }
  if (!named && wanted.verb != "create") wanted.name = name_in(query_value(query, "fieldSelector"));
  return wanted;
}

Attributes attributes_of_get(const ObjectKey& object) {
  Attributes wanted;
  wanted.verb = "get";
  const size_t dot = std::min(object.type.find('.'), object.type.size());
  wanted.resource = object.type.substr(0, dot);
  if (dot < object.type.size()) wanted.group = object.type.substr(dot + 1);
  // The namespace itself is authorized from within.
  wanted.ns = object.type == "namespaces" ? object.name : object.ns;
  wanted.name = object.name;
  return wanted;
}

Error forbidden(const User& user, const Attributes& wanted, const std::string& reason) {
  std::string why = "User " + quote(user.name) + " cannot " + wanted.verb;
  if (!wanted.is_resource) {
    why += " path " + quote(wanted.path);
  } else {
    why += " resource " + quote(wanted.resource + (wanted.subresource.empty() ? "" : "/" + wanted.subresource)) +
           " in API group " + quote(wanted.group);
    why += wanted.ns.empty() ? " at the cluster scope" : " in the namespace " + quote(wanted.ns);
  }
  if (!reason.empty()) why += ": " + reason;
  if (!wanted.is_resource) return forbidden(StatusDetails{}, why);
  return forbidden(StatusDetails{wanted.group, "", wanted.resource, wanted.name}, why);
}

std::optional<std::pair<std::string, std::string>> service_account_of(std::string_view user) {
  if (!user.starts_with(kServiceAccountPrefix)) return std::nullopt;
  user.remove_prefix(std::string_view{kServiceAccountPrefix}.size());
  const size_t colon = user.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == user.size()) return std::nullopt;
  if (user.find(':', colon + 1) != std::string_view::npos) return std::nullopt;
  return std::pair{std::string{user.substr(0, colon)}, std::string{user.substr(colon + 1)}};
}

std::vector<std::string> service_account_groups(const std::string& ns) {
  return {"system:serviceaccounts", "system:serviceaccounts:" + ns};
}

Result<std::optional<Impersonation>> impersonation_of(const std::vector<std::pair<std::string, std::string>>& headers) {
  constexpr const char* kIdentities = "authentication.k8s.io";
  Impersonation found;
  bool any = false;
  std::vector<Attributes> needed;
  for (const auto& [field, value] : headers) {
    const std::string name = lower_case(field);
    constexpr std::string_view kBegin = "impersonate-";
    constexpr std::string_view kExtra = "impersonate-extra-";
    if (!name.starts_with(kBegin)) continue;
    any = true;
    if (!is_utf8(value) || !is_utf8(percent_decoded(field))) {
      return Error{ErrorCode::kBadRequest, "the header " + printable(field) + " is not UTF-8"};
    }
    if (name == "impersonate-user") {
      found.as.name = value;
    } else if (name == "impersonate-group") {
      found.as.groups.push_back(value);
      needed.push_back(impersonate("", "groups", value));
    } else if (name == "impersonate-uid") {
      found.as.uid = value;
      needed.push_back(impersonate(kIdentities, "uids", value));
    } else if (name.starts_with(kExtra)) {
      const std::string key = lower_case(percent_decoded(std::string_view{field}.substr(kExtra.size())));
      found.as.extra[key].push_back(value);
      needed.push_back(impersonate(kIdentities, "userextras", value));
      needed.back().subresource = key;
    } else {
      return Error{ErrorCode::kBadRequest, "the header " + field +
                                               " is not known: there are Impersonate-User, "
                                               "Impersonate-Group, Impersonate-Uid and Impersonate-Extra-*"};
    }
  }
  if (!any) return std::optional<Impersonation>{};
  if (found.as.name.empty()) {
    return Error{ErrorCode::kBadRequest, "requested groups, a uid or extras without impersonating a user name"};
  }
  const auto account = service_account_of(found.as.name);
  if (account) {
    found.needed.push_back(impersonate("", "serviceaccounts", account->second));
    found.needed.back().ns = account->first;
    if (found.as.groups.empty()) found.as.groups = service_account_groups(account->first);
  } else {
    found.needed.push_back(impersonate("", "users", found.as.name));
  }
  found.needed.insert(found.needed.end(), needed.begin(), needed.end());
  if (!in_group(found.as, kAuthenticatedGroup) && !in_group(found.as, kUnauthenticatedGroup)) {
    found.as.groups.emplace_back(found.as.name == kAnonymousUser ? kUnauthenticatedGroup : kAuthenticatedGroup);
  }
  return std::optional<Impersonation>{std::move(found)};
}

}  // namespace shiplog::api
