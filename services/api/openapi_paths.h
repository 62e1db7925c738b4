#pragma once

#include "events/base/value.h"
#include "events/kinds/kinds.h"

namespace shiplog::api {

/// Adds to the `paths` of an OpenAPI 3 document those of a kind, its subresources included whose bodies the document
/// defines: what each operation is called, takes and answers. Sources: registerResourceHandlers() in
/// apiserver/pkg/endpoints/installer.go, and the builder of apiextensions-apiserver for custom resources.
void add_paths(Value& paths, const Kind& kind);

}  // namespace shiplog::api
