#pragma once

#include <string>

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// A list of DeviceSelectors: CEL expressions about the variable `device`. They are compiled and never evaluated here.
void check_device_selectors(const Value& selectors, const std::string& field, Causes& causes);

}  // namespace shiplog::api
