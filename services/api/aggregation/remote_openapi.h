#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/base/value.h"

// OpenAPI of aggregated servers. They are not trusted: a document that cannot be read is left out, and none of them
// changes what is said of kinds that are served here.
namespace shiplog::api {

/// The description of one group and version by the server that serves it.
struct RemoteOpenApi {
  std::string body;  ///< the OpenAPI 3 document
  std::string hash;  ///< of the body
  Value swagger;     ///< its version 2 form: {definitions, paths}
};

/// Where the server's index /openapi/v3 says that the document of the group and version is: a path of that server with
/// its query. nullopt: the index has none, or one of another server. Pure.
std::optional<std::string> document_path(std::string_view index, std::string_view group, std::string_view version);

/// Reads a document, of whose paths only those of the group and version count. Pure. Error: kUnavailable, it is no
/// OpenAPI 3 document.
Result<std::shared_ptr<const RemoteOpenApi>> read_openapi(std::string body, std::string_view group,
                                                          std::string_view version);

/// Adds definitions and paths of `swagger` to `whole`. A definition of a name that `whole` has with another content
/// gets a name of its own, which ends in `suffix`; references follow. Paths that are there stay. Pure.
void merge_swagger(Value& whole, const Value& swagger, const std::string& suffix);

}  // namespace shiplog::api
