#pragma once

#include <string>
#include <string_view>

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// The sources of a pod's volumes; `field`: "spec.volumes".
void check_volumes(const Value& volumes, const std::string& field, Causes& causes);

/// A path without an element "..".
void check_no_backsteps(const Value& path, const std::string& field, Causes& causes);
/// A path below some directory: relative, and without "..".
void check_descending_path(const Value& path, const std::string& field, Causes& causes);

}  // namespace shiplog::api
