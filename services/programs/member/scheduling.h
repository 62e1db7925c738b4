#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog::member {

/// Role "pod-scheduler": a single key for all pods, so that only one decision about the nodes' capacity is in progress.
std::unique_ptr<Role> make_pod_scheduler();

}  // namespace shiplog::member
