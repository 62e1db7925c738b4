#pragma once

namespace shiplog::estimators {

// The operations under which estimators' answers are stored: the methods of the protocol.
inline constexpr const char* kMaxAvailableReplicas = "MaxAvailableReplicas";
inline constexpr const char* kMaxAvailableComponentSets = "MaxAvailableComponentSets";
inline constexpr const char* kGetUnschedulableReplicas = "GetUnschedulableReplicas";

}  // namespace shiplog::estimators
