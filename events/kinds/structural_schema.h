#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "events/base/error.h"
#include "events/base/value.h"
#include "events/kinds/pruned_and_defaulted.h"
#include "events/kinds/schema.h"

namespace shiplog {

/// What the schemas of one definition may still need: their authors are not trusted.
struct DefinitionBudget {
  size_t default_bytes = kMostDefaultBytes;     ///< of what is filled into all their defaults
  size_t pattern_bytes = 8U << 20U;             ///< of all their compiled patterns
  std::set<std::string, std::less<>> patterns;  ///< those that are counted
};

/// Reads spec.versions[].schema.openAPIV3Schema of a CustomResourceDefinition: a structural schema. `path` is its
/// location; errors are appended to `causes`, and then the result must not be used. `budget`: nullptr, defaults,
/// patterns and what a schema can be read without (structural_rules.h) are not checked (stored_definition.h).
/// Source: CRD-1, CRD-6; the Kubernetes documentation of structural schemas.
std::shared_ptr<const Schema> read_structural_schema(const Value& document, const std::string& path,
                                                     DefinitionBudget* budget, std::vector<FieldCause>& causes);

/// The schema of a definition that has no other one.
inline std::shared_ptr<const Schema> read_structural_schema(const Value& document, const std::string& path,
                                                            std::vector<FieldCause>& causes) {
  DefinitionBudget budget;
  return read_structural_schema(document, path, &budget, causes);
}

}  // namespace shiplog
