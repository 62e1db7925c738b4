#pragma once

#include <optional>

#include "services/api/context.h"

namespace shiplog::api {

/// Why a ResourceInterpreterCustomization may not stand beside those there are (L-17): another one has a
/// script for the same operation of the same kind. nullopt: it may, or this is about another kind. It reads the
/// projection: a few objects, and only for this kind. Errors of reading are told as they are.
std::optional<Error> refuse_customization(Server& server, const Context& context, const Value& object);

}  // namespace shiplog::api
