#include "events/state/object.h"

#include <algorithm>

namespace shiplog {

bool has_finalizer(const Value& object, std::string_view finalizer) {
  const auto finalizers = object["metadata"]["finalizers"].items();
  return std::any_of(finalizers.begin(), finalizers.end(),
                     [&](const Value& item) { return item.as_string() == finalizer; });
}

}  // namespace shiplog
