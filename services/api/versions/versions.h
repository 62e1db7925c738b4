#pragma once

#include "events/base/value.h"
#include "events/kinds/kinds.h"

namespace shiplog::api {

/// Whether the object, of the kind of `kind`, gets the form of its version only from the definition's conversion
/// webhook (conversion/converter.h). The functions below do not change such an object.
bool needs_conversion(const Kind& kind, const Value& object);

/// An object, stored in whatever version of its kind, as `kind` shows it (GRP-3, CRD-10, EVENT-1). Kinds that users
/// define look alike in all versions; so do the built-in ones but autoscaling/v1 and events.k8s.io/v1, which are views
/// of autoscaling/v2 and of core Events. What autoscaling/v1 has no fields for stands in annotations, as Kubernetes
/// does, so that no conversion loses a value. Defaults that the version in which the object is stored was given later
/// are filled in (CRD-7); those of `kind`, if it is another version, are those of writes. Done twice, it changes no
/// more.
Value in_version(const Kind& kind, Value object);

/// in_version() without the fields that the definition of `kind` does not have (any longer): how clients read what
/// another version of the definition admitted, and how a version is stored that is not the stored one (CRD-7). An
/// object without such fields is not copied.
Value pruned_in_version(const Kind& kind, Value object);

/// Whether objects of the version that is stored are shown as they are, if their definition has not changed since.
bool is_shown_as_stored(const Kind& kind);

/// A stored object as a conversion webhook is given it: with the defaults of its own version, and without the fields
/// that this version does not have.
Value completed_as_stored(const Kind& kind, Value object);
/// What a request has written in another version, or a conversion webhook has made, in the version of `kind`, which is
/// stored: without the fields that this version does not have, and with no more defaults than it has.
Value written_in_version(const Kind& kind, Value object);

}  // namespace shiplog::api
