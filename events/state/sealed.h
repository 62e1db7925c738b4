#pragma once

#include "events/base/value.h"

namespace shiplog {

/// Whether the payload of objects of this kind is sealed in the journal (docs/decisions/0011-sealed-secrets.md). What
/// is computed from such an object, or reported by processes that read it in clear text, must not get there by
/// another way. A member's object and a template are both recognized by their kind.
inline bool is_sealed(const Value& object) {
  return object["kind"].as_string() == "Secret" && object["apiVersion"].as_string() == "v1";
}

}  // namespace shiplog
