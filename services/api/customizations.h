#pragma once

#include <optional>

#include "services/api/stored_objects.h"

namespace shiplog::api {

/// Why a ResourceInterpreterCustomization may not stand beside those there are (L-17): another one has a
/// script for the same operation of the same kind. nullopt: it may. Reads the projection: a few objects. Errors of
/// reading are returned as they are.
std::optional<Error> refuse_customization(const StoredObjects& objects, const Value& object);

}  // namespace shiplog::api
