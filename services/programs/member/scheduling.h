#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog::member {

/// Role "pod-scheduler": one key stands for all pods, so that only one decision about the nodes' room is under way.
std::unique_ptr<Role> make_pod_scheduler();

}  // namespace shiplog::member
