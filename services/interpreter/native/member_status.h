#pragma once

#include <string_view>

#include "events/base/result.h"
#include "events/base/value.h"

/// What members report as the status of built-in kinds, checked against the types of Kubernetes. Upstream decodes it
/// into them. A value of another type in a template's status would keep typed clients from reading the template, and
/// every list that contains it. Only the fields that are aggregated are looked at. Pure.
namespace shiplog::interpreter::native {

/// Checks the `status` of a member's object of this kind ("apps/v1/Deployment"). Null, and one of a kind that is not
/// aggregated, is not checked.
/// Error: kInvalid, with the field and what it is: "status.replicas is 9223372036854775807, not a whole number of 32
/// bits"; kTooLarge, no template could have it.
Result<void> check_member_status(std::string_view kind, const Value& status);

/// The same for the binding's aggregatedStatus items, which together must fit into a template. The message names the
/// member cluster.
Result<void> check_member_items(std::string_view kind, const Value& items);

}  // namespace shiplog::interpreter::native
