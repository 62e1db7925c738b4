#pragma once

#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/base/value.h"
#include "events/kinds/kinds.h"

namespace shiplog {

/// The JSON form of an application/vnd.kubernetes.protobuf body: the four bytes "k8s\0", a runtime.Unknown with
/// apiVersion and kind, and in it the object's own message, which is read by the schema of the built-in kind. Bodies
/// that are not kinds are also supported: DeleteOptions (under any group and version), Scale, TokenRequest, Eviction
/// and Binding. Zeros of fields that are neither pointers nor messages are dropped, as Go's omitempty does; fields that
/// the schema does not define are skipped. Errors: kBadRequest names the field that cannot be read;
/// kUnsupportedMediaType, the kind is not built in.
Result<Value> decode_protobuf(const Kinds& kinds, std::string_view body);

/// The inverse. Fields that the schema does not define are omitted; missing fields are not written. Errors: kInvalid
/// names the field whose value has no protobuf form; kUnsupportedMediaType as above.
Result<std::string> encode_protobuf(const Kinds& kinds, const Value& object);

/// The message of objects with this apiVersion and kind; nullptr if they have no protobuf form.
const Schema* protobuf_message(const Kinds& kinds, std::string_view api_version, std::string_view kind);

}  // namespace shiplog
