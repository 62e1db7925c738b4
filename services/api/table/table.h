#pragma once

#include <span>
#include <string>

#include "events/base/time.h"
#include "events/base/value.h"
#include "events/kinds/kinds.h"

namespace shiplog::api {

/// includeObject of a Table request.
enum class IncludeObject { kNone, kMetadata, kObject };

/// The columns and rows that `kubectl get` prints. metadata of the Table (resourceVersion, continue) is the caller's.
/// `api_version` is that of the Table: "meta.k8s.io/v1" or "meta.k8s.io/v1beta1". Ages count up to `now`.
Value table_of(const Kind& kind, std::span<const Value> objects, IncludeObject include, UtcMillis now,
               const std::string& api_version, bool with_columns = true);

/// Of the Scale objects that the subresource scale of any kind consists of: what table_of() needs.
const Kind& scale_kind();

/// metav1.PartialObjectMetadata of an object.
Value partial_metadata(const Value& object, const std::string& api_version);

}  // namespace shiplog::api
