#pragma once

#include <string>

#include "events/base/error.h"
#include "events/base/value.h"

namespace shiplog::api {

/// What an error is about, as far as known: goes into Status.details and into the message.
struct StatusDetails {
  std::string group;
  std::string kind;      ///< "Deployment"; empty: unknown
  std::string resource;  ///< "deployments"
  std::string name;
};

/// The HTTP status of an error. One table for the whole server.
int http_status(ErrorCode code);
/// Kubernetes' reason: "NotFound", "AlreadyExists", "Conflict", ...
const char* reason_of(ErrorCode code);

/// A metav1.Status of status Failure.
Value failure_status(const Error& error, const StatusDetails& subject = {});
/// The same from an HTTP status alone (what the server itself refuses before an API handler sees it).
Value failure_status(int http_status, const std::string& message);
/// metav1.Status of status Success, as an immediate delete answers it.
Value success_status(const StatusDetails& subject, const std::string& uid);

// The messages that kubectl's users know, with their codes.
Error not_found(const StatusDetails& subject);       ///< deployments.apps "x" not found
Error already_exists(const StatusDetails& subject);  ///< deployments.apps "x" already exists
Error conflict(
    const StatusDetails& subject);  ///< Operation cannot be fulfilled on ...: the object has been modified; ...
Error conflict(const StatusDetails& subject, const std::string& why);
/// Deployment.apps "x" is invalid: spec.replicas: Required value; several in brackets.
Error invalid(const StatusDetails& subject, std::vector<FieldCause> causes);
/// The causes in one text: "FIELD: MESSAGE", or "[FIELD: MESSAGE, FIELD: MESSAGE]" of several.
std::string text_of(const std::vector<FieldCause>& causes);
Error forbidden(const StatusDetails& subject, const std::string& why);
Error method_not_allowed(const StatusDetails& subject, const std::string& verb);

}  // namespace shiplog::api
