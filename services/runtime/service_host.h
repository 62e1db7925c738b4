#pragma once

#include <string>

#include "events/base/value.h"

namespace shiplog {

/// The host under which this process, which is in no member's network, calls a Service of the control plane: its
/// externalName, or its cluster IP, in brackets when that is IPv6. Empty: it has neither, as a headless one.
std::string service_host(const Value& service);

}  // namespace shiplog
