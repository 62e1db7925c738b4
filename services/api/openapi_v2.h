#pragma once

#include <string>

#include "events/base/value.h"

namespace shiplog::api {

/// The Swagger 2.0 form of an OpenAPI 3 document of ours: {definitions, paths}. What version 2 lacks is left out
/// so that a client that validates with it refuses nothing valid (OA-4, OA-6, OA-13).
Value to_swagger(const Value& document);

/// The parts of the protobuf form (openapi.v2.Document of gnostic) of what to_swagger() made, to be joined with those
/// of other documents (OA-5).
struct SwaggerParts {
  std::string definitions;  ///< NamedSchema fields of Definitions
  std::string paths;        ///< NamedPathItem fields of Paths
};
SwaggerParts encode_swagger(const Value& swagger);
/// The whole of them.
std::string encode_swagger_document(const std::string& definitions, const std::string& paths);

}  // namespace shiplog::api
