#pragma once

#include <cstdint>
#include <string>

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// restartPolicy and restartPolicyRules of a container, which stands at `field`.
void check_restart_policy(const Value& container, const std::string& field, Causes& causes);

/// resizePolicy of a container of the PodSpec `spec`; `field`: where the policies stand.
void check_resize_policies(const Value& container, const Value& spec, const std::string& field, Causes& causes);

/// The signal that stops a container, at `field`, in a pod for the operating system `os`.
void check_stop_signal(const Value& signal, const Value& os, const std::string& field, Causes& causes);

/// Whether the container of the PodSpec `spec` may run again after it ended with this code.
bool runs_again(const Value& container, const Value& spec, int64_t exit_code);

/// Whether the end of one container may restart all of them.
bool may_restart_all(const Value& spec);

}  // namespace shiplog::api
