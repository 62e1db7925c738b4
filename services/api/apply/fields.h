#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "events/kinds/schema.h"
#include "services/api/apply/field_set.h"

namespace shiplog::api {

// What a value consists of, seen through its schema: objects and lists with keys are taken apart, atomic ones are whole
// (SSA-13 to SSA-15). A field that the schema does not know is taken apart like an object; lists there
// are atomic.

/// All fields of `value`, which is applied. Error: kBadRequest, an element of a list twice, or one without its key
/// (SSA-2), in the words of structured-merge-diff.
Result<FieldSet> fields_of(const Value& value, const Schema& schema);

/// Of several elements with the same key, which a stored list may have, there is only the key: its manager owns them
/// all.
struct FieldChanges {
  FieldSet changed;  ///< new, or with another value than before
  FieldSet removed;
};
FieldChanges compare_fields(const Value& before, const Value& after, const Schema& schema);

/// `live` with `wanted` put on top of it: objects and lists with keys are merged, all else is replaced. Elements that
/// only `live` has keep their place before the element that follows them; of several with the same key, one in `wanted`
/// takes the place.
Value merge_fields(const Value& live, const Value& wanted, const Schema& schema);

/// `value` without `fields`. An element or object goes as a whole when it is in `fields` itself and nothing below it is
/// in `kept`.
Value without_fields(const Value& value, const FieldSet& fields, const FieldSet& kept, const Schema& schema);

/// The paths of the lists and objects in `value` that are atomic: putting `value` on top of something replaces them.
std::vector<std::string> atomic_fields(const Value& value, const Schema& schema);

}  // namespace shiplog::api
