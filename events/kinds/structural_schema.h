#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/base/error.h"
#include "events/base/value.h"
#include "events/kinds/schema.h"

namespace shiplog {

/// Reads spec.versions[].schema.openAPIV3Schema of a CustomResourceDefinition: a structural schema. `path` is its
/// location; errors are appended to `causes`, and then the result must not be used.
/// Source: CRD-1, CRD-6; the Kubernetes documentation of structural schemas.
std::shared_ptr<const Schema> read_structural_schema(const Value& document, const std::string& path,
                                                     std::vector<FieldCause>& causes);

}  // namespace shiplog
