#pragma once

#include <optional>
#include <string_view>

#include "events/kinds/kinds.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// The kind that a word means (find_resource()) though its CustomResourceDefinition has been deleted: its objects are
/// gone with it, and have a history still. nullopt: there was none, or retention has deleted its definition. Blocks on
/// the projection.
Result<std::optional<Kind>> former_kind(const View& view, const Kinds& kinds, std::string_view word);

}  // namespace shiplog::api
