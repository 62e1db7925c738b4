#pragma once

#include <string>

#include "events/base/value.h"

namespace shiplog {

/// A Namespace as an API server makes it: labelled with its name, held by its finalizer until it is empty.
inline Value new_namespace(const std::string& name) {
  return Value::object(
      {{"apiVersion", "v1"},
       {"kind", "Namespace"},
       {"metadata",
        Value::object({{"name", name}, {"labels", Value::object({{"kubernetes.io/metadata.name", name}})}})},
       {"spec", Value::object({{"finalizers", Value::array({"kubernetes"})}})},
       {"status", Value::object({{"phase", "Active"}})}});
}

}  // namespace shiplog
