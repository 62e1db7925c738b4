#pragma once

#include <string>
#include <string_view>

// What of a request's body is different for the member that it is passed on to (6.4.5). Pure.
namespace shiplog::api {

/// The body of a PUT, PATCH or DELETE for the cluster, whose object the client knows from the cache: without the
/// annotation of the cache, and with the cluster's own resourceVersion in place of the one over clusters, also in the
/// preconditions of a deletion. Of protobuf all else stays, also fields that this build does not know; what is YAML
/// becomes JSON, which is YAML, too. A body that is none of these stays as it is.
std::string body_for_member(const std::string& method, std::string_view content_type, const std::string& body,
                            const std::string& cluster);

}  // namespace shiplog::api
