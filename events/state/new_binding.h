#pragma once

#include <string>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/value.h"

namespace shiplog {

// Parts of bindings that two roles create: the binder for what a policy selects, the distributor for what that
// refers to.

/// Annotation of a binding: digest of its template when last made, without status and bookkeeping. It distinguishes a
/// template that has really changed, and must give the binding a new generation (D-22), from one whose status moved.
inline constexpr const char* kTemplateDigestAnnotation = "binding.shiplog.io/template-digest";

/// Digest of a template without status, resourceVersion, managedFields (D-5) and generation, in two parts: of what is
/// the user's, and of what may change without one (D-6: labels and annotations of karmada.io and shiplog.io).
std::string template_digest(const Value& object);
/// Its first part; empty when `template_digest` has no parts.
std::string_view user_digest(std::string_view template_digest);

/// The permanent id of a binding of this template: a UUID, the same on every replica, without chance.
std::string binding_permanent_id(const Value& object, const ObjectKey& binding);

/// The template as the binding's controlling owner (D-21).
Value owner_reference_to(const Value& object);

/// Whether the binding is the object's: it was made of it or, as its own template was deleted without its dependents
/// (Orphan), it was left without a controlling owner and refers to an object of this kind and name. One whose owner has
/// another uid is not: garbage collection removes it (D-30).
bool belongs_to(const Value& binding, const Value& object);

/// spec.resource (D-22). `resource_version`: of the template as it was when it last really changed.
Value resource_reference_to(const Value& object, const Value& resource_version);

}  // namespace shiplog
