#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/api/admission/admission.h"

// What kube-apiserver reports when it decodes an object.
namespace shiplog::api {

/// How the error about an object that cannot be decoded begins (kBadRequest).
std::string cannot_be_handled(const Kind& kind);

/// Drops the fields that the kind and ObjectMeta do not define. Returns their paths, sorted by the names of the root's
/// fields.
std::vector<std::string> drop_unknown_fields(const Kind& kind, Value& object);

/// The same with a warning about each of them and of the admission's repeated ones, unless they are ignored. Error:
/// kBadRequest, they are to be refused (CRU-6).
Result<void> drop_unknown(Admission& admission, Value& object);

}  // namespace shiplog::api
