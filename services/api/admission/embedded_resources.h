#pragma once

#include <string>
#include <vector>

#include "events/base/value.h"
#include "events/kinds/schema.h"
#include "services/api/admission/causes.h"
#include "services/api/custom_rules/rule_set.h"

namespace shiplog::api {

/// The kind, the apiVersion and the metadata of the resources that are embedded in a custom one, at every depth.
/// Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/objectmeta/validation.go.
void check_embedded_resources(const Schema& schema, const Value& object, Causes& causes);

/// The defaults of a schema at `path` whose embedded resources are invalid, or which `rules`, those of the schema,
/// refuse. Source: pkg/apiserver/schema/defaulting/validation.go.
void check_defaults(const Schema& schema, const RuleSet* rules, const std::string& path, Causes& causes);

}  // namespace shiplog::api
