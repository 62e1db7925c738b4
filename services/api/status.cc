#include "services/api/status.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "events/base/utf8.h"

// Wording: ERR-1 to ERR-8, which is what kubectl prints and what client libraries look for.

namespace shiplog::api {
namespace {

std::string group_resource(const StatusDetails& subject) {
  return subject.group.empty() ? subject.resource : subject.resource + "." + subject.group;
}

std::string group_kind(const StatusDetails& subject) {
  return subject.group.empty() ? subject.kind : subject.kind + "." + subject.group;
}

// Names may be up to 253 characters long.
std::string quoted_name(const StatusDetails& subject) { return '"' + printable(subject.name, 253) + '"'; }

struct StatusRow {
  ErrorCode code;
  int http;
  const char* reason;
};

// One row a code. What a caller cannot distinguish (a disk error, a bug) is InternalError to it; logs have the code.
constexpr StatusRow kRows[] = {
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

const StatusRow& row_of(ErrorCode code) {
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const StatusRow& each) { return each.code == code; });
  static constexpr StatusRow kUnknown{ErrorCode::kInternal, 500, "InternalError"};
  return row == std::end(kRows) ? kUnknown : *row;
}

Value status_object(const char* status) {
  return Value::object({{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Value::object()}, {"status", status}});
}

void set_if(Value& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.set(key, text);
}

/// ERR-3: 422 names the Kind, everything else the resource.
Value details_of(const StatusDetails& subject, bool by_kind) {
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

Value failure_status(const Error& error, const StatusDetails& subject) {
  const StatusRow& row = row_of(error.code);
  std::string message = error.message;
  // Client libraries recognise a version from the future by this beginning (LIST-11).
  if (error.code == ErrorCode::kTimeout && !message.starts_with("Timeout: ")) message = "Timeout: " + message;
  if (error.code == ErrorCode::kUnauthorized && message.empty()) message = "Unauthorized";

  Value status = status_object("Failure");
  status.set("message", std::move(message));
  status.set("reason", row.reason);
  // kubectl shows the message only if there are no details to make a text of: neither causes nor kind and name.
  const bool message_only = error.code == ErrorCode::kInvalid && error.causes.empty();
  Value details = message_only ? Value::object() : details_of(subject, error.code == ErrorCode::kInvalid);
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
      std::find_if(std::begin(kRows), std::end(kRows), [&](const StatusRow& each) { return each.http == http; });
  // 409 alone stands for two reasons; of a refused upgrade or the like we know nothing better than the code.
  status.set("reason", row != std::end(kRows) ? (http == 409 ? "Conflict" : row->reason)
                       : http >= 500          ? "InternalError"
                                              : "BadRequest");
  status.set("code", http);
  return status;
}

Value success_status(const StatusDetails& subject, const std::string& uid) {
  Value status = status_object("Success");
  Value details = details_of(subject, false);
  set_if(details, "uid", uid);
  status.set("details", std::move(details));
  return status;
}

Error not_found(const StatusDetails& subject) {
  if (subject.resource.empty()) return {ErrorCode::kNotFound, "the server could not find the requested resource"};
  return {ErrorCode::kNotFound, group_resource(subject) + " " + quoted_name(subject) + " not found"};
}

Error already_exists(const StatusDetails& subject) {
  return {ErrorCode::kAlreadyExists, group_resource(subject) + " " + quoted_name(subject) + " already exists"};
}

Error conflict(const StatusDetails& subject) {
  return conflict(subject,
                  "the object has been modified; please apply your changes to the latest version and try again");
}

Error conflict(const StatusDetails& subject, const std::string& why) {
  return {ErrorCode::kConflict,
          "Operation cannot be fulfilled on " + group_resource(subject) + " " + quoted_name(subject) + ": " + why};
}

std::string text_of(const std::vector<FieldCause>& causes) {
  std::vector<std::string> sentences;
  std::set<std::string> known;
  for (const FieldCause& cause : causes) {
    std::string sentence = cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
    if (known.insert(sentence).second) sentences.push_back(std::move(sentence));
  }
  if (sentences.size() == 1) return sentences.front();
  std::string text;
  for (const std::string& sentence : sentences) text += (text.empty() ? "[" : ", ") + sentence;
  return text.empty() ? text : text + "]";
}

Error invalid(const StatusDetails& subject, std::vector<FieldCause> causes) {
  std::string message = group_kind(subject) + " " + quoted_name(subject) + " is invalid";
  if (!causes.empty()) message += ": " + text_of(causes);
  return {ErrorCode::kInvalid, std::move(message), std::move(causes)};
}

Error forbidden(const StatusDetails& subject, const std::string& why) {
  std::string message = group_resource(subject);
  if (!message.empty() && !subject.name.empty()) message += " " + quoted_name(subject);
  message += message.empty() ? "forbidden: " : " is forbidden: ";
  return {ErrorCode::kForbidden, without_markup(message + why)};
}

Error method_not_allowed(const StatusDetails& subject, const std::string& verb) {
  if (subject.resource.empty()) {
    return {ErrorCode::kMethodNotAllowed, "the server does not allow this method on the requested resource"};
  }
  return {ErrorCode::kMethodNotAllowed,
          verb + " is not supported on resources of kind \"" + group_resource(subject) + "\""};
}

}  // namespace shiplog::api
