#pragma once

#include <string>
#include <string_view>

#include "events/base/value.h"
#include "services/api/admission/causes.h"

// Names of resources in quotas and limits. Source: pkg/apis/core/helper and validation of Kubernetes.

namespace shiplog::api {

/// One that quotas are tracked for: "requests.cpu", "pods". Names with a domain ("example.com/gpu") are not among
/// these.
bool is_standard_quota_name(std::string_view name);
/// "example.com/gpu", "count/jobs.batch": not one of Kubernetes' own.
bool is_extended_resource(std::string_view name);
/// A resource of which there may be more promised than there is: not hugepages and extended resources.
bool can_be_overcommitted(std::string_view name);

void check_resource_name(std::string_view name, const std::string& field, Causes& causes);
/// Of a container's or a pod's resource.
void check_container_resource_name(std::string_view name, const std::string& field, Causes& causes);

/// An amount that is not negative, and whole if the resource is counted.
void check_resource_amount(std::string_view name, const Value& amount, const std::string& field, Causes& causes);
/// The `hard` of a quota.
void check_quota_list(const Value& list, const std::string& field, Causes& causes);

}  // namespace shiplog::api
