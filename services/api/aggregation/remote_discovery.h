#pragma once

#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/base/value.h"

// What aggregated servers say about the resources that they serve. They are not trusted: only what has the form of
// discovery is taken over.
namespace shiplog::api {

/// The resources of the APIResourceList that a server answered /apis/GROUP/VERSION with: an array of APIResources with
/// known fields only. Pure. Error: kUnavailable, it is no such list, or is one of another group and version.
Result<Value> read_resource_list(std::string_view body, std::string_view group, std::string_view version);

/// The same resources as they stand in aggregated discovery (DISC-8), subresources below their resource.
Value aggregated_resources(const Value& resources, std::string_view group, std::string_view version);

}  // namespace shiplog::api
