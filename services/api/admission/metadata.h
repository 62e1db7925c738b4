#pragma once

#include <string>
#include <vector>

#include "events/base/value.h"
#include "events/kinds/kinds.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// Drops a second reference to the same owner, with a warning (META-14). `after_webhooks`: mutating ones have made it.
void unite_owners(Value& metadata, std::vector<std::string>& warnings, bool after_webhooks = false);

/// metadata of a new object or (`creates` is false) of a replacement: name, labels, annotations, finalizers, owners
/// (META-12, META-14).
void check_metadata(const Kind& kind, const Value& metadata, bool creates, Causes& causes);

/// Warns of finalizers that `before` lacks and that other controllers may use too. Of custom resources, whose
/// finalizers need not be qualified (META-12).
void warn_of_finalizers(const Value& before, const Value& metadata, std::vector<std::string>& warnings);

/// Labels at `field` of whatever carries some (a pod template).
void check_labels(const Value& labels, const std::string& field, Causes& causes);

/// Names and the total size of metadata.annotations.
void check_annotations(const Value& annotations, Causes& causes, const std::string& field = "metadata.annotations");

/// metadata.ownerReferences, or such a list at `list`.
void check_owners(const Value& owners, const std::string& list, Causes& causes);

/// DEL-7: nothing new may hold up a deletion that has begun.
void check_new_finalizers(const Value& old, const Value& metadata, Causes& causes);

}  // namespace shiplog::api
