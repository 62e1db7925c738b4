#pragma once

#include "events/base/value.h"
#include "projections/audit/audit_query.h"

namespace shiplog::api {

/// An entry of the journal as an audit.k8s.io/v1 Event, at level Metadata and stage ResponseComplete, for programs that
/// read this format: who requested what of which object, and the result. What the format has no field for is in
/// annotations below shiplog.io/. An entry of a service has the user name "system:shiplog:SERVICE".
Value kubernetes_event(const AuditRow& entry);

}  // namespace shiplog::api
