#pragma once

#include <string_view>

namespace shiplog::api {

/// Every read-only view has this label with the value "true", and admission refuses to store a ReplicaSet or
/// ControllerRevision with it. It is a label because `kubectl rollout undo` copies the annotations of a ReplicaSet
/// to its Deployment.
inline constexpr std::string_view kViewLabel = "shiplog.io/view";

}  // namespace shiplog::api
