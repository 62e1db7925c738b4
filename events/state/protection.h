#pragma once

#include "events/base/value.h"
#include "events/state/object.h"

namespace shiplog {

namespace label {
inline constexpr const char* kDeletionProtected = "resourcetemplate.karmada.io/deletion-protected";
}  // namespace label

/// It cannot be deleted before the label is removed (D-41).
inline bool deletion_protected(const Value& object) { return label_of(object, label::kDeletionProtected) == "Always"; }

/// The denial of such a deletion.
inline constexpr const char* kDeletionProtectedWords =
    "admission webhook \"resourcedeletionprotection.karmada.io\" denied the request: This resource is protected, "
    "please "
    "make sure to remove the label: resourcetemplate.karmada.io/deletion-protected";

}  // namespace shiplog
