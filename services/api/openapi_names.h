#pragma once

#include <string>
#include <string_view>

#include "events/base/value.h"
#include "events/kinds/kinds.h"

// The names of what OpenAPI documents define. Generated clients bear them.

namespace shiplog::api {

constexpr std::string_view kListMetaDefinition = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
constexpr std::string_view kObjectMetaDefinition = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
constexpr std::string_view kStatusDefinition = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
constexpr std::string_view kDeleteOptionsDefinition = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
constexpr std::string_view kScaleDefinition = "io.k8s.api.autoscaling.v1.Scale";
constexpr std::string_view kJsonSchemaDefinition =
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

std::string definition_of(const Kind& kind);
/// Of a list of such objects.
std::string list_definition_of(const Kind& kind);

/// {"$ref": ...}, in version 3.
Value reference_to(std::string_view definition);

/// x-kubernetes-group-version-kind.
Value group_version_kind(const Kind& kind, const std::string& name);

}  // namespace shiplog::api
