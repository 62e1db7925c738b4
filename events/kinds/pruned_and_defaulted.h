#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "events/base/value.h"
#include "events/kinds/schema.h"

namespace shiplog {

/// prune(), then with_defaults(). Nearly every object that is read is left as it is by both, for which this needs one
/// walk and no copy.
Value pruned_and_defaulted(const Schema& schema, Value value);

/// A default of the schema without the fields that the schema does not define, which `unknown` reports; unknown fields
/// of the metadata of embedded resources are no error.
Value prune_default(const Schema& schema, Value value, bool& unknown);

/// Most bytes of defaults, as JSON, that are filled into one object: as many as etcd's largest request has. Defaults
/// within defaults multiply: without a bound, a definition of some KB would make objects of some GB.
constexpr size_t kMostDefaultBytes = 3U << 19U;

struct DefaultedValue {
  Value value;
  std::optional<std::string> left_out;  ///< defaults are too many: path of the first field that is one too much
};

/// with_defaults(), which fills in kMostDefaultBytes. If they are more, the value stays as it is: such an object can be
/// read, and written without its finalizers. `left`: how many bytes may be filled in; those that were are subtracted.
DefaultedValue fill_in_defaults(const Schema& schema, Value value, size_t& left);

}  // namespace shiplog
