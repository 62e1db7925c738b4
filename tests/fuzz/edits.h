#pragma once

#include <string_view>

#include "events/base/value.h"

namespace shiplog::fuzz {

/// Changes `object` as the bytes say: four of them replace, take away, repeat or add one part of it. Most changes of a
/// text leave no JSON; these always do.
void edit(Value& object, std::string_view bytes);

}  // namespace shiplog::fuzz
