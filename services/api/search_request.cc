#include "services/api/search_request.h"

#include <algorithm>
#include <utility>

#include "services/api/request.h"

namespace shiplog::api {
namespace {

constexpr std::string_view kGroupPath = "/apis/search.karmada.io/v1alpha1/";
constexpr std::string_view kProxying = "proxying/";
constexpr std::string_view kSearching = "search/";
constexpr std::string_view kProxy = "/proxy";

Error malformed() {
  return {ErrorCode::kBadRequest, "the path must begin with " + std::string{kGroupPath} +
                                      "proxying/NAME/proxy or .../search/cache, without escapes"};
}

/// The part up to the next slash, which stays; cut off `rest`.
std::string_view take_segment(std::string_view& rest) {
  const size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const std::string_view segment = rest.substr(0, end);
  rest.remove_prefix(end);
  return segment;
}

}  // namespace

bool is_search(std::string_view path) {
  const auto found = parse_resource_path(path);
  if (!found || found->group != "search.karmada.io" || found->version != "v1alpha1" || !found->ns.empty() ||
      found->name.empty()) {
    return false;
  }
  if (found->resource == "search") return true;
  return found->resource == "proxying" && (found->subresource == "proxy" || found->subresource.starts_with("proxy/"));
}

bool is_search_stream(const HttpRequest& request) {
  const auto parsed = search_request(request);
  return parsed && parsed.value().proxying && parsed.value().native.streams;
}

Result<SearchRequest> search_request(const HttpRequest& request) {
  SearchRequest made;
  std::string_view rest = request.target;
  if (!rest.starts_with(kGroupPath)) return malformed();
  rest.remove_prefix(kGroupPath.size());
  made.proxying = rest.starts_with(kProxying);
  if (!made.proxying && !rest.starts_with(kSearching)) return malformed();
  rest.remove_prefix(made.proxying ? kProxying.size() : kSearching.size());
  const std::string_view name = take_segment(rest);
  if (name.empty() || name.find('%') != std::string_view::npos) return malformed();
  if (made.proxying) {
    const bool whole = rest.starts_with(kProxy) &&
                       (rest.size() == kProxy.size() || rest[kProxy.size()] == '/' || rest[kProxy.size()] == '?');
    if (!whole) return malformed();
    rest.remove_prefix(kProxy.size());
  } else {
    made.category = name;
  }
  // What follows is read as the cluster proxy reads it: the same rules about escapes and dot segments.
  HttpRequest as_proxied;
  as_proxied.method = request.method;
  as_proxied.headers = request.headers;
  as_proxied.query = request.query;
  as_proxied.target = "/apis/cluster.karmada.io/v1alpha1/clusters/x/proxy" + std::string{rest};
  SHIPLOG_TRY(made.native, proxied_request(as_proxied));
  made.native.cluster.clear();
  if (is_search(made.native.path)) {
    return Error{ErrorCode::kBadRequest, "a request through the global proxy cannot be for the global proxy again"};
  }
  return made;
}

}  // namespace shiplog::api
