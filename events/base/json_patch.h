#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog {

/// How a patch is read where RFC 6902 and kube-apiserver's library (gopkg.in/evanphx/json-patch.v4) differ.
enum class JsonPatchRules {
  kStandard,
  /// `replace` of a missing member adds it; a missing member equals null in `test` and is copied as null; a negative
  /// index counts from the end of the list, and "+1" and "01" are indices too; an operation without a value has the
  /// value null; the text before the first slash of a path is ignored. Only `replace` and `test` may have an empty
  /// path. What is wrong with a single operation is kInvalid.
  kKubernetes,
};

/// RFC 6902. Errors: kBadRequest, the patch is malformed; kInvalid, an operation cannot be applied or a test fails;
/// kTooLarge, more than 10,000 operations (HTTP-9), copies of more than 3 MiB, or operations that together move more
/// than 32 million elements of lists and objects. `failed_test`: of an error, whether it is that of a test that found
/// another value.
Result<Value> apply_json_patch(const Value& object, const Value& patch,
                               JsonPatchRules rules = JsonPatchRules::kStandard, bool* failed_test = nullptr);

/// An RFC 6901 pointer, step by step, with ~0 and ~1 read; nullopt when it is none.
using JsonPointer = std::vector<std::string>;
std::optional<JsonPointer> parse_json_pointer(std::string_view text);
/// What the pointer leads to; nullptr when there is nothing.
const Value* find_at(const Value& document, const JsonPointer& pointer);
/// The same for writing. The pointer is known to lead somewhere.
Value& edit_at(Value& document, const JsonPointer& pointer);

}  // namespace shiplog
