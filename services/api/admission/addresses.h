#pragma once

#include <string_view>

#include "events/base/networks.h"
#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// Refuses addresses in `denied` where an object names what the control plane is to call: members, webhooks and
/// estimators. An address that `old` has already stays as it is: nothing connects there anyway. Names are checked
/// when they are connected to.
void check_addresses(std::string_view type, const Value& object, const Value& old, const Networks& denied,
                     Causes& causes);

}  // namespace shiplog::api
