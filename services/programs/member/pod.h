#pragma once

#include <string>
#include <string_view>

#include "events/base/time.h"
#include "events/state/quota.h"
#include "events/state/state.h"

namespace shiplog::member {

/// The time at which a pod was placed on its node, in milliseconds; no field of a Pod has this precision.
inline constexpr const char* kStartedAt = "member.shiplog.io/started-at";

/// A pod of `owner`, created from its pod template; not yet placed on a node.
Value new_pod(const Value& owner, const std::string& name, const Value& pod_template);
ObjectKey pod_key(const Value& pod);

/// Neither finished nor being deleted.
bool is_active(const Value& pod);
bool has_finished(const Value& pod);
bool is_ready(const Value& pod);
/// Ready for at least that long.
bool is_available(const Value& pod, int64_t min_ready_seconds, UtcMillis now);
/// How long until a ready pod is available; 0 when it is, or is not ready.
Millis until_available(const Value& pod, int64_t min_ready_seconds, UtcMillis now);

UtcMillis started_at(const Value& pod);

/// The resources that the scheduler reserves for it: the sum over containers, or the largest init container if that is
/// more.
ResourceList requests_of(const Value& pod);

}  // namespace shiplog::member
