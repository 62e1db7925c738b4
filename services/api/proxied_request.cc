#include "services/api/proxied_request.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "services/api/request.h"

namespace shiplog::api {
namespace {

constexpr std::string_view kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters/";
constexpr std::string_view kProxy = "/proxy";

Error ambiguous(const std::string& why) { return {ErrorCode::kBadRequest, "the path of a proxied request " + why}; }

/// Cuts `kClusters` NAME `kProxy` off the undecoded path.
Result<std::string> take_cluster(std::string_view& raw) {
  const Error malformed = ambiguous("must begin with " + std::string{kClusters} + "NAME/proxy, without escapes");
  if (!raw.starts_with(kClusters)) return malformed;
  raw.remove_prefix(kClusters.size());
  const size_t slash = raw.find('/');
  if (slash == std::string_view::npos) return malformed;
  const std::string_view escaped = raw.substr(0, slash);
  raw.remove_prefix(slash);
  if (!raw.starts_with(kProxy) || (raw.size() > kProxy.size() && raw[kProxy.size()] != '/')) return malformed;
  raw.remove_prefix(kProxy.size());
  if (escaped == "%2A" || escaped == "%2a") return std::string{kAllClusters};
  if (escaped.empty() || escaped.find('%') != std::string_view::npos) return malformed;
  return std::string{escaped};
}

/// Appends one segment of the path in both forms.
Result<void> append_segment(std::string_view raw, ProxiedRequest& into) {
  const auto unescaped = percent_decode(raw, false);
  if (!unescaped) return unescaped.error();
  const std::string_view decoded = unescaped.value();
  if (decoded == "." || decoded == "..") return ambiguous("must have no segment \".\" or \"..\"");
  if (decoded.find_first_of("/\\") != std::string_view::npos)
    return ambiguous("must have no escaped slash or backslash");
  const bool has_control = std::ranges::any_of(
      decoded, [](char c) { return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f; });
  if (has_control) return ambiguous("must have no control characters");
  into.path += '/';
  into.path += decoded;
  into.target += '/';
  into.target += raw;
  return ok();
}

std::string_view header_token(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool connection_names_upgrade(const HttpHeaders& headers) {
  for (const auto& [name, value] : headers.all()) {
    if (!equal_ignoring_case(name, "Connection")) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      if (equal_ignoring_case(header_token(rest.substr(0, comma)), "Upgrade")) return true;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return false;
}

/// Only protocols of Kubernetes: another one (h2c) would carry requests that are not checked here.
std::string protocol_of(const HttpRequest& request) {
  const std::string_view wanted = header_token(request.headers.get("Upgrade"));
  if (!connection_names_upgrade(request.headers)) return {};
  for (const char* known : {"SPDY/3.1", "websocket"}) {
    if (equal_ignoring_case(wanted, known)) return known;
  }
  return {};
}

bool streams(const HttpRequest& request, const ProxiedRequest& proxied) {
  if (!proxied.protocol.empty() || flag(request, "watch") || flag(request, "follow")) return true;
  const auto path = parse_resource_path(proxied.path);
  return path && (path->subresource == "proxy" || path->subresource.starts_with("proxy/"));
}

}  // namespace

std::string upgrade_protocol(const HttpRequest& request) { return protocol_of(request); }

bool is_proxied_stream(const HttpRequest& request) {
  const auto proxied = proxied_request(request);
  return proxied && proxied.value().streams;
}

bool is_proxied(std::string_view path) {
  const auto found = parse_resource_path(path);
  return found && found->group == "cluster.karmada.io" && found->version == "v1alpha1" &&
         found->resource == "clusters" && found->ns.empty() && !found->name.empty() &&
         (found->subresource == "proxy" || found->subresource.starts_with("proxy/"));
}

Result<ProxiedRequest> proxied_request(const HttpRequest& request) {
  static constexpr std::array kMethods = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"};
  if (std::ranges::find(kMethods, request.method) == kMethods.end()) {
    return Error{ErrorCode::kMethodNotAllowed, "clusters/proxy does not support the method " + request.method};
  }
  const std::string_view target = request.target;
  const size_t mark = std::min(target.find('?'), target.size());
  std::string_view raw = target.substr(0, mark);
  ProxiedRequest proxied;
  SHIPLOG_TRY(proxied.cluster, take_cluster(raw));
  const bool trailing = raw.ends_with('/');
  while (!raw.empty()) {
    raw.remove_prefix(1);  // the slash
    const size_t slash = std::min(raw.find('/'), raw.size());
    if (slash > 0) {
      SHIPLOG_TRY(append_segment(raw.substr(0, slash), proxied));
    }
    raw.remove_prefix(slash);
  }
  if (proxied.path.empty()) proxied.path = proxied.target = "/";
  if (trailing && !proxied.target.ends_with('/')) proxied.target += '/';
  proxied.target += target.substr(mark);
  proxied.protocol = protocol_of(request);
  proxied.streams = streams(request, proxied);
  const bool reads = request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS";
  proxied.changes = !reads || !proxied.protocol.empty();
  return proxied;
}

}  // namespace shiplog::api
