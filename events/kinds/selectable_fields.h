#pragma once

#include <string>
#include <vector>

#include "events/base/error.h"
#include "events/base/value.h"
#include "events/kinds/schema.h"

namespace shiplog {

/// Reads spec.versions[].selectableFields of a CustomResourceDefinition: the paths of fields that field selectors may
/// name, without the dot that they begin with. `path` is where the list stands; errors are appended to `causes`.
/// Source: ValidateCustomResourceSelectableFields of Kubernetes.
std::vector<std::string> read_selectable_fields(const Value& list, const Schema& schema, const std::string& path,
                                                std::vector<FieldCause>& causes);

}  // namespace shiplog
