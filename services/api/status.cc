#include "services/api/status.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "events/base/utf8.h"

// Wording: ERR-1 to ERR-8, which is what kubectl prints and what client libraries look for.

namespace shiplog::api {
namespace {

std::string group_resource(const Subject& subject) {
  return subject.group.empty() ? subject.resource : subject.resource + "." + subject.group;
}

std::string group_kind(const Subject& subject) {
  return subject.group.empty() ? subject.kind : subject.kind + "." + subject.group;
}

// Names may be up to 253 characters long.
std::string quoted_name(const Subject& subject) { return '"' + printable(subject.name, 253) + '"'; }

struct Row {
  ErrorCode code;
  int http;
  const char* reason;
};

// One row a code. What a caller cannot tell apart (a disk error, a bug) is InternalError to it; logs have the code.
constexpr Row kRows[] = {
    {ErrorCode::kBadRequest, 400, "BadRequest"},
    {ErrorCode::kUnauthorized, 401, "Unauthorized"},
    {ErrorCode::kForbidden, 403, "Forbidden"},
    {ErrorCode::kNotFound, 404, "NotFound"},
    {ErrorCode::kMethodNotAllowed, 405, "MethodNotAllowed"},
    {ErrorCode::kNotAcceptable, 406, "NotAcceptable"},
    {ErrorCode::kAlreadyExists, 409, "AlreadyExists"},
    {ErrorCode::kConflict, 409, "Conflict"},
    {ErrorCode::kGone, 410, "Expired"},
    {ErrorCode::kTooLarge, 413, "RequestEntityTooLarge"},
    {ErrorCode::kUnsupportedMediaType, 415, "UnsupportedMediaType"},
    {ErrorCode::kInvalid, 422, "Invalid"},
    {ErrorCode::kTooManyRequests, 429, "TooManyRequests"},
    {ErrorCode::kCorrupt, 500, "InternalError"},
    {ErrorCode::kIo, 500, "InternalError"},
    {ErrorCode::kInternal, 500, "InternalError"},
    {ErrorCode::kUnavailable, 503, "ServiceUnavailable"},
    {ErrorCode::kUnknownOutcome, 504, "Timeout"},
    {ErrorCode::kTimeout, 504, "Timeout"},
};

const Row& row_of(ErrorCode code) {
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& each) { return each.code == code; });
  static constexpr Row kUnknown{ErrorCode::kInternal, 500, "InternalError"};
  return row == std::end(kRows) ? kUnknown : *row;
}

Value status_object(const char* status) {
  return Value::object({{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Value::object()}, {"status", status}});
}

void set_if(Value& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.set(key, text);
}

/// ERR-3: 422 tells the Kind, everything else the resource.
Value details_of(const Subject& subject, bool by_kind) {
  Value details = Value::object();
  set_if(details, "name", subject.name);
  set_if(details, "group", subject.group);
  set_if(details, "kind", by_kind ? subject.kind : subject.resource);
  return details;
}

Value causes_of(const std::vector<FieldCause>& causes) {
  Value list = Value::array();
  for (const FieldCause& cause : causes) {
    Value item = Value::object();
    set_if(item, "reason", cause.reason);
    set_if(item, "message", cause.message);
    set_if(item, "field", cause.field);
    list.push_back(std::move(item));
  }
  return list;
}

/// ERR-6: what people sent must not read as markup in a browser.
std::string without_markup(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

int http_status(ErrorCode code) { return row_of(code).http; }
const char* reason_of(ErrorCode code) { return row_of(code).reason; }

Value failure_status(const Error& error, const Subject& subject) {
  const Row& row = row_of(error.code);
  std::string message = error.message;
  // Client libraries recognise a version from the future by this beginning (LIST-11).
  if (error.code == ErrorCode::kTimeout && !message.starts_with("Timeout: ")) message = "Timeout: " + message;
  if (error.code == ErrorCode::kUnauthorized && message.empty()) message = "Unauthorized";

  Value status = status_object("Failure");
  status.set("message", std::move(message));
  status.set("reason", row.reason);
  Value details = details_of(subject, error.code == ErrorCode::kInvalid);
  if (!error.causes.empty()) details.set("causes", causes_of(error.causes));
  if (error.code == ErrorCode::kTooManyRequests || error.code == ErrorCode::kTimeout) {
    details.set("retryAfterSeconds", 1);
  }
  if (details.size() > 0) status.set("details", std::move(details));
  status.set("code", row.http);
  return status;
}

Value failure_status(int http, const std::string& message) {
  Value status = status_object("Failure");
  status.set("message", message);
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& each) { return each.http == http; });
  // 409 alone stands for two reasons; of a refused upgrade or the like we know nothing better than the code.
  status.set("reason", row != std::end(kRows) ? (http == 409 ? "Conflict" : row->reason)
                       : http >= 500          ? "InternalError"
                                              : "BadRequest");
  status.set("code", http);
  return status;
}

Value success_status(const Subject& subject, const std::string& uid) {
  Value status = status_object("Success");
  Value details = details_of(subject, false);
  set_if(details, "uid", uid);
  status.set("details", std::move(details));
  return status;
}

Error not_found(const Subject& subject) {
  if (subject.resource.empty()) return {ErrorCode::kNotFound, "the server could not find the requested resource"};
  return {ErrorCode::kNotFound, group_resource(subject) + " " + quoted_name(subject) + " not found"};
}

Error already_exists(const Subject& subject) {
  return {ErrorCode::kAlreadyExists, group_resource(subject) + " " + quoted_name(subject) + " already exists"};
}

Error conflict(const Subject& subject) {
  return conflict(subject,
                  "the object has been modified; please apply your changes to the latest version and try again");
}

Error conflict(const Subject& subject, const std::string& why) {
  return {ErrorCode::kConflict,
          "Operation cannot be fulfilled on " + group_resource(subject) + " " + quoted_name(subject) + ": " + why};
}

Error invalid(const Subject& subject, std::vector<FieldCause> causes) {
  std::vector<std::string> sentences;
  std::set<std::string> known;
  for (const FieldCause& cause : causes) {
    std::string sentence = cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
    if (known.insert(sentence).second) sentences.push_back(std::move(sentence));
  }
  std::string message = group_kind(subject) + " " + quoted_name(subject) + " is invalid";
  if (sentences.size() == 1) message += ": " + sentences.front();
  if (sentences.size() > 1) {
    message += ": [";
    for (size_t i = 0; i < sentences.size(); ++i) message += (i == 0 ? "" : ", ") + sentences[i];
    message += "]";
  }
  return {ErrorCode::kInvalid, std::move(message), std::move(causes)};
}

Error forbidden(const Subject& subject, const std::string& why) {
  std::string message = group_resource(subject);
  if (!message.empty() && !subject.name.empty()) message += " " + quoted_name(subject);
  message += message.empty() ? "forbidden: " : " is forbidden: ";
  return {ErrorCode::kForbidden, without_markup(message + why)};
}

Error method_not_allowed(const Subject& subject, const std::string& verb) {
  if (subject.resource.empty()) {
    return {ErrorCode::kMethodNotAllowed, "the server does not allow this method on the requested resource"};
  }
  return {ErrorCode::kMethodNotAllowed,
          verb + " is not supported on resources of kind \"" + group_resource(subject) + "\""};
}

}  // namespace shiplog::api
