#pragma once

#include <string>
#include <utility>
#include <vector>

namespace shiplog {

/// What a caller can act on differently. `services/api/status.cc` maps each to an HTTP status and a Kubernetes reason.
enum class ErrorCode {
  kBadRequest,    ///< the request cannot be read: malformed body, unknown parameter value
  kUnauthorized,  ///< no valid credentials
  kForbidden,     ///< known, but not allowed
  kNotFound,      ///< the object or the resource type does not exist
  kMethodNotAllowed,
  kAlreadyExists,
  kConflict,  ///< the object has moved on: read it again and decide again
  kGone,      ///< a revision or a continue token that retention no longer holds
  kTooLarge,
  kUnsupportedMediaType,
  kNotAcceptable,
  kInvalid,  ///< well formed, but a field's value is not allowed; see Error::causes
  kTooManyRequests,
  kUnavailable,     ///< not now: a peer is unreachable, another process holds a lease
  kUnknownOutcome,  ///< an append whose fate is not known: retry with the same entry id
  kTimeout,
  kCorrupt,   ///< stored bytes are not what was written
  kIo,        ///< the operating system reports an error (disk full, permission)
  kInternal,  ///< a bug or a broken invariant, reported instead of crashing
};

/// One field that is wrong; becomes an entry of a Status object's details.causes.
struct FieldCause {
  std::string field;    ///< path, e.g. "spec.replicas"
  std::string reason;   ///< Kubernetes' word: FieldValueRequired, FieldValueInvalid, FieldValueNotSupported, ...
  std::string message;  ///< a sentence without the field's name in front
  bool operator==(const FieldCause&) const = default;
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  ///< names the object, the field and the cause
  std::vector<FieldCause> causes = {};
  bool operator==(const Error&) const = default;

  /// The same error with words in front of its message: "reading x.yaml: <message>".
  [[nodiscard]] Error context(const std::string& words) const { return {code, words + ": " + message, causes}; }
};

/// The code's stable snake_case name, for logs.
const char* name_of(ErrorCode code);

}  // namespace shiplog
