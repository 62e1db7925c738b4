#pragma once

#include <span>
#include <string_view>

#include "events/kinds/kinds.h"

namespace shiplog {

/// The fields of metadata that a write to the status of an object changes too (SUB-1). Of a custom resource there are
/// none.
/// Source: PrepareForUpdate of kube-apiserver's status strategies.
std::span<const std::string_view> status_metadata(const Kind& kind);

}  // namespace shiplog
