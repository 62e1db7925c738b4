#pragma once

#include <string>
#include <vector>

#include "events/base/value.h"
#include "events/kinds/kinds.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// Drops a second reference to the same owner, with a warning (META-14).
void unite_owners(Value& metadata, std::vector<std::string>& warnings);

/// metadata of a new object or of a replacement: name, labels, annotations, finalizers, owners (META-12, META-14).
void check_metadata(const Kind& kind, const Value& metadata, Causes& causes);

/// Labels at `field` of whatever carries some (a pod template).
void check_labels(const Value& labels, const std::string& field, Causes& causes);

/// Names and the total size of metadata.annotations.
void check_annotations(const Value& annotations, Causes& causes);

/// DEL-7: nothing new may hold up a deletion that has begun.
void check_new_finalizers(const Value& old, const Value& metadata, Causes& causes);

}  // namespace shiplog::api
