#pragma once

#include <string>
#include <string_view>

#include "events/base/value.h"
#include "events/kinds/kinds.h"

namespace shiplog::api {

/// What the documents of all groups define: the metadata of lists and objects, Status, DeleteOptions, Scale.
const Value& shared_schemas();

/// GET /openapi/v3/api/v1, /openapi/v3/apis/GROUP/VERSION (OA-11): schemas and operations. Null: unknown.
Value openapi_document(const Kinds& kinds, std::string_view group, std::string_view version);

}  // namespace shiplog::api
