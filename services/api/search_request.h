#pragma once

#include <string>
#include <string_view>

#include "events/base/result.h"
#include "services/api/proxied_request.h"

// Which request a path below search.karmada.io/v1alpha1/search or .../proxying stands for. Pure.
namespace shiplog::api {

/// A request to the cache of members' objects, or to the global proxy.
struct SearchRequest {
  bool proxying = false;  ///< proxying/ANY/proxy/PATH; else search/CATEGORY/PATH
  std::string category;   ///< of a search: "cache" is the one that is served
  ProxiedRequest native;  ///< the request behind the prefix; its `cluster` is empty
};

/// Whether the (decoded) path of a request is one below search/ or proxying/NAME/proxy.
bool is_search(std::string_view path);

/// ProxiedRequest::streams; false if the request is refused anyway.
bool is_search_stream(const HttpRequest& request);

/// Of a request whose path is_search(). Errors: those of proxied_request(); kBadRequest also, the request behind the
/// prefix is for the global proxy again.
Result<SearchRequest> search_request(const HttpRequest& request);

}  // namespace shiplog::api
