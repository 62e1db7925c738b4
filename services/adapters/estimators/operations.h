#pragma once

namespace shiplog::estimators {

// The operations that answers of estimators are kept under: the protocol's methods.
inline constexpr const char* kMaxAvailableReplicas = "MaxAvailableReplicas";
inline constexpr const char* kMaxAvailableComponentSets = "MaxAvailableComponentSets";

}  // namespace shiplog::estimators
