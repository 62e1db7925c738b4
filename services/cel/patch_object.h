#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/cel/cel_function.h"
#include "services/cel/cel_value.h"

// The objects that an expression of a mutation makes: Object{spec: Object.spec{replicas: 3}} is a part of a Kubernetes
// object, in which each type is named by the path of the field that holds it, and JSONPatch{op: "add", path: "/a",
// value: 1} is an operation. Source: k8s.io/apiserver/pkg/cel/mutation.
namespace shiplog::cel {

inline constexpr std::string_view kObjectTypeName = "Object";
inline constexpr std::string_view kJsonPatchTypeName = "JSONPatch";

/// nullopt: no type of patches has that name. Each call makes a type that equals no other one.
std::optional<CelType> patch_type(const std::string& name);

/// A value of the type `type_name` with these fields.
CelValue patch_object(std::string type_name, std::shared_ptr<const CelMap> fields);

/// The functions of expressions of mutations: kubernetes_functions(), and jsonpatch.escapeKey.
const CelFunctions& mutation_functions();

/// The JSON of the value of an expression. The work and the size of the result are charged to `meter`. With
/// `checks_types`, a patch object must have the type name that its place demands: that of the object around it and the
/// name of the field. Error: kInvalid, that is not so, or there is no JSON of such a value; or the cost limit is
/// exceeded.
Result<Value> json_of(const CelValue& value, bool checks_types, CelMeter& meter);

}  // namespace shiplog::cel
