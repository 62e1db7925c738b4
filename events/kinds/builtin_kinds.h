#pragma once

#include <memory>
#include <vector>

#include "events/kinds/kinds.h"

namespace shiplog {

/// The kinds of schemas/kinds/builtin. Built from the tables at each call.
std::vector<Kind> builtin_kinds();

/// The schema of ObjectMeta, the `metadata` of every object.
const std::shared_ptr<const Schema>& object_meta_schema();

}  // namespace shiplog
