#include "services/api/proxy/proxy_headers.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "events/base/ascii.h"

namespace shiplog::api {
namespace {

/// RFC 9110, 7.6.1, and what its predecessors named.
constexpr std::array kHopByHop = {
    "connection", "keep-alive",          "proxy-connection", "proxy-authenticate", "te",   "transfer-encoding",
    "trailer",    "proxy-authorization", "upgrade",          "content-length",     "host", "expect"};
/// Set here, or statements about the client that only the server before the member may make.
constexpr std::array kOfRequest = {"authorization", "forwarded",  "x-real-ip", "audit-id",
                                   "traceparent",   "tracestate", "via",       "http2-settings"};
constexpr std::array kOfRequestPrefixes = {"impersonate-", "x-remote-", "x-forwarded-"};
constexpr std::array kOfResponse = {"audit-id", "set-cookie", "set-cookie2",     "strict-transport-security",
                                    "alt-svc",  "date",       "clear-site-data", "public-key-pins"};

template <size_t Count>
bool contains(const std::array<const char*, Count>& names, std::string_view name) {
  return std::ranges::any_of(names, [&](std::string_view each) { return each == name; });
}

/// The names in Connection headers, lower case.
std::vector<std::string> named_by_connection(const HttpHeaders& headers) {
  std::vector<std::string> names;
  for (const auto& [name, value] : headers.all()) {
    if (!equal_ignoring_case(name, "Connection")) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      std::string each = lower_case(rest.substr(0, comma));
      std::erase_if(each, [](char c) { return c == ' ' || c == '\t'; });
      if (!each.empty()) names.push_back(std::move(each));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return names;
}

bool dropped(const std::string& name, const std::vector<std::string>& by_connection) {
  return contains(kHopByHop, name) || std::ranges::find(by_connection, name) != by_connection.end();
}

bool is_header_value(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
  });
}

Result<void> add_identity(const User& user, HttpHeaders& headers) {
  if (!is_header_value(user.name)) {
    return Error{ErrorCode::kBadRequest, "the user's name cannot be passed on to a member: it has control characters"};
  }
  headers.add("Impersonate-User", user.name);
  for (const std::string& group : user.groups) {
    if (group == kAuthenticatedGroup || group == kUnauthenticatedGroup) continue;
    if (!is_header_value(group)) {
      return Error{ErrorCode::kBadRequest,
                   "a group of the user cannot be passed on to a member: it is empty or has "
                   "control characters"};
    }
    headers.add("Impersonate-Group", group);
  }
  return ok();
}

}  // namespace

Result<HttpHeaders> headers_to_member(const HttpHeaders& headers, const ProxiedRequest& proxied,
                                      const ProxiedIdentity& identity) {
  HttpHeaders passed;
  const auto by_connection = named_by_connection(headers);
  for (const auto& [field, value] : headers.all()) {
    const std::string name = lower_case(field);
    const bool prefixed =
        std::ranges::any_of(kOfRequestPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
    if (dropped(name, by_connection) || contains(kOfRequest, name) || prefixed) continue;
    passed.add(field, value);
  }
  SHIPLOG_TRY(add_identity(identity.user, passed));
  passed.add("X-Forwarded-For", identity.client_address);
  passed.add("Audit-Id", identity.audit_id);
  passed.add("Traceparent", identity.traceparent);
  if (!identity.tracestate.empty()) passed.add("Tracestate", identity.tracestate);
  if (!proxied.protocol.empty()) {
    passed.add("Connection", "Upgrade");
    passed.add("Upgrade", proxied.protocol);
  }
  return passed;
}

Result<HttpHeaders> headers_from_member(const HttpResponse& head, const ProxiedRequest& proxied) {
  HttpHeaders passed;
  const auto by_connection = named_by_connection(head.headers);
  for (const auto& [field, value] : head.headers.all()) {
    const std::string name = lower_case(field);
    if (name == "upgrade" && head.status == 101) {
      passed.add(field, value);
      continue;
    }
    if (dropped(name, by_connection) || contains(kOfResponse, name)) continue;
    if (name != "location" && name != "content-location") {
      passed.add(field, value);
      continue;
    }
    const bool within = value.starts_with('/') && !value.starts_with("//") && value.find('\\') == std::string::npos;
    if (within) {
      passed.add(field, "/apis/cluster.karmada.io/v1alpha1/clusters/" + proxied.cluster + "/proxy" + value);
    } else if (head.status / 100 == 3) {
      return Error{ErrorCode::kUnavailable,
                   "cluster " + proxied.cluster + ": the member redirects to another server, which is not followed"};
    }
  }
  return passed;
}

}  // namespace shiplog::api
