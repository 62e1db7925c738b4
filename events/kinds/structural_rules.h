#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "events/base/error.h"
#include "events/base/value.h"

namespace shiplog {

/// A schema may have very many errors, each with a long path: no more are looked for.
inline constexpr size_t kEnoughCauses = 100;

/// Appends what kube-apiserver refuses in a schema although it can be read (see read_structural_schema()): the rules
/// that keep a schema structural, of lists and maps, of embedded resources and of the metadata. `document` is at
/// `path`. Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/{validation,complete}.go, and
/// ValidateCustomResourceDefinitionOpenAPISchema of pkg/apis/apiextensions/validation.
void check_structural_rules(const Value& document, const std::string& path, std::vector<FieldCause>& causes);

/// The same of a version that has a status subresource.
void check_root_beside_status(const Value& document, const std::string& path, std::vector<FieldCause>& causes);

}  // namespace shiplog
